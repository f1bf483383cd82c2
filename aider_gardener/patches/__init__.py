"""The patches for aider itself: reading them, applying them to a tree of aider, making them."""
