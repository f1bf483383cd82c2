"""The package's exceptions. Each message is one line and says what to do next."""

from __future__ import annotations


class GardenerError(Exception):
    """Base of all errors the package raises on purpose."""


class UsageError(GardenerError):
    """The call cannot be carried out as written (exit code 2)."""


class SeamError(GardenerError):
    """The installed aider lacks a seam or has another signature; nothing was changed."""


class StoreError(GardenerError):
    """The archive cannot be opened, read or written."""


class SessionError(GardenerError):
    """A recorded session or history file cannot be read."""


class ReplayError(GardenerError):
    """A replay left its recording, or two results may not be compared."""


class PatchError(GardenerError):
    """A patch cannot be read, or a tree of aider is not one that it applies to; nothing was changed."""
