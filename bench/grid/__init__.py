"""All recorded sessions under every variant and history budget: `make bench`."""
