"""package.json and npm lock files: what is depended on, and what the scripts run."""

from __future__ import annotations

from typing import Any

from aider_gardener.compress.documents.fields import Document, Lines, listed, mapping, word

FIELDS = (
    "name",
    "version",
    "type",
    "private",
    "main",
    "module",
    "bin",
    "exports",
    "engines",
    "packageManager",
    "workspaces",
)
DEPENDENCIES = (
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "overrides",
    "resolutions",
)
MOST = (80, 60, 40, 25)


def package(value: Any) -> Document | None:
    """A package.json."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    if not any(key in value for key in ("scripts", "dependencies", "devDependencies")):
        return None
    return Document("package.json", lambda detail: _package(value, detail))


def _package(value: dict[str, Any], detail: int) -> Lines:
    sizes = (300, 160, 80, 40)
    lines = [f'"{key}": {word(value[key], sizes[detail])}' for key in FIELDS if key in value]
    scripts = mapping(value, "scripts")
    if scripts:
        told = listed((f"{name}: {what}" for name, what in scripts.items()), MOST[detail], sizes[detail] // 2)
        lines.append(f'"scripts": {told}')
    for key in DEPENDENCIES:
        part = mapping(value, key)
        if part and detail < 3:
            lines.append(
                f'"{key}": {listed((f"{name}@{word(what)}" for name, what in part.items()), MOST[detail])}'
            )
        elif part:
            lines.append(f'"{key}": {listed(part, MOST[detail])}')
    rest = [key for key in value if key not in (*FIELDS, "scripts", *DEPENDENCIES)]
    return [*lines, f"… other keys: {listed(rest, 20)}"] if rest else lines


def npm_lock(value: Any) -> Document | None:
    """A package-lock.json of any version."""
    if not isinstance(value, dict) or not isinstance(value.get("lockfileVersion"), int):
        return None
    packages = mapping(value, "packages") or mapping(value, "dependencies")
    return Document("npm lock file", lambda detail: _lock(value, packages, detail)) if packages else None


def _lock(value: dict[str, Any], packages: dict[str, Any], detail: int) -> Lines:
    root = mapping(packages, "")
    direct = {**mapping(root, "dependencies"), **mapping(root, "devDependencies")}
    pins = []
    for path, entry in packages.items():
        name = path.rpartition("node_modules/")[2]
        if name and isinstance(entry, dict) and (name in direct or not direct):
            pins.append(f"{name}@{word(entry.get('version', '?'))}")
    head = f'"name": {word(value.get("name"))}, "lockfileVersion": {value["lockfileVersion"]}'
    return [f"{head}, {len(packages)} packages", f"direct: {listed(pins, MOST[detail])}"]
