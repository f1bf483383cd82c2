"""Published benchmarks of long-term memory, read from their files: `python -m bench.public`."""
