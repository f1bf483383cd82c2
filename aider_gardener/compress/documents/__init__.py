"""Documents of a known kind, in dense lines of the fields that matter: one module per family.

Each reader takes a parsed value and returns a Document or None. Values may be of any type anywhere, so
readers reach them through `fields.mapping` and `fields.items`.
"""

from __future__ import annotations

from typing import Any

from aider_gardener.compress.documents.apis import npm_lock, openapi, package
from aider_gardener.compress.documents.deployments import cloudformation, compose, kubernetes
from aider_gardener.compress.documents.fields import Document
from aider_gardener.compress.documents.notebooks import notebook
from aider_gardener.compress.documents.pipelines import circleci, github, gitlab

READERS = (
    npm_lock,
    openapi,
    cloudformation,
    package,
    kubernetes,
    notebook,
    compose,
    github,
    circleci,
    gitlab,
)


def known_document(value: Any) -> Document | None:
    """The document as one of a known kind, or None."""
    return next((found for reader in READERS if (found := reader(value)) is not None), None)


__all__ = ["Document", "known_document"]
