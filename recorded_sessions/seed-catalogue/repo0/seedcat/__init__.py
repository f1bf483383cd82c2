"""The seed cupboard of the Tarn Lane allotment society."""

__version__ = "0.3.1"
