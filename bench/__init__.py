"""Benchmarks: bench/micro (hot paths), bench/peers (other compressors on the same texts), bench/grid
(recorded sessions under every variant and budget). None of it ships with the package."""
