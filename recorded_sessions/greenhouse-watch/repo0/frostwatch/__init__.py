"""Greenhouse readings: parse, sum up, alert."""

__version__ = "0.4.1"
