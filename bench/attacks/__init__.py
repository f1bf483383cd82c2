"""Attacks on the product from outside, each with figures: `python -m bench.attacks.NAME`."""
