"""Other compressors beside ours on the same texts in the same run: `make bench-peers`."""
