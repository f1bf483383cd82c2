"""Adapters: each puts the core into one host."""
