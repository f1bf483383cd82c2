"""The adapter for aider: a table of patch points, their hooks, and how wrappers are put in and taken out."""
