"""Tide tables from harmonic constituents."""

__version__ = "0.7.2"
