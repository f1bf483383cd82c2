"""pytest-benchmark suites of every hot path: `make bench-micro`."""
