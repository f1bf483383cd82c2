"""The adapter for aider: a table of seams, what stands in each, and how they are put in and taken out."""
