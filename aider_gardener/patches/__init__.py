"""The patches for aider itself: reading them, applying them to a tree of aider, taking them out."""
