"""Making the patch series anew from the package: what `tools/refresh_patches.py` is made of."""
