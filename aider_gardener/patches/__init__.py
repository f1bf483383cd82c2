"""The patches for aider itself: reading them, applying them to a source tree or an installation, making them."""
