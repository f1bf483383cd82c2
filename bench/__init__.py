"""Benchmarks: bench/micro (hot paths), bench/grid (recorded sessions under every variant and budget),
bench/gate (what may not get worse). None of it ships with the package, none of it uses a network."""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # litellm would fetch its prices on import
