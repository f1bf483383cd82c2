"""What a program offers and needs. OpenAPI and Swagger: operations with their parameters and answers, schemas
with their fields. package.json and npm lock files: what is depended on, and what the scripts run.
"""

from __future__ import annotations

from typing import Any

from aider_gardener.compress.documents import Document, Lines, items, limited, listed, mapping, word

VERBS = ("get", "put", "post", "patch", "delete", "head", "options")

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


def openapi(value: Any) -> Document | None:
    """An API description in OpenAPI 3 or Swagger 2."""
    if not isinstance(value, dict) or not ("openapi" in value or "swagger" in value):
        return None
    return Document("OpenAPI description", lambda detail: _lines(value, detail))


def _lines(value: dict[str, Any], detail: int) -> Lines:
    info = mapping(value, "info")
    head = f"openapi {word(value.get('openapi') or value.get('swagger'))}: "
    head += ", ".join(word(info[key], 80) for key in ("title", "version") if key in info)
    servers = [server.get("url", "") for server in items(value, "servers") if isinstance(server, dict)]
    base = listed(servers, 2) or "".join(word(value.get(key, "")) for key in ("host", "basePath"))
    return [
        f"{head}{' at ' + base if base and detail < 3 else ''}",
        *limited(_operations(value, detail)),
        *limited(_schemas(value, detail)),
    ]


def _operations(value: dict[str, Any], detail: int) -> Lines:
    lines = []
    for path, methods in mapping(value, "paths").items():
        verbs = [(verb, mapping(methods, verb)) for verb in mapping(methods) if verb in VERBS]
        if detail == 3:
            lines.append(f"{path}: {', '.join(verb for verb, _ in verbs)}")
            continue
        for verb, operation in verbs:
            codes = ", ".join(map(str, mapping(operation, "responses")))
            said = word(operation.get("summary") or operation.get("operationId") or "", 70)
            asked = _parameters(operation) if detail == 0 else ""
            lines.append(
                f"{verb.upper()} {path}{asked} → {codes}{' — ' + said if said and detail < 2 else ''}"
            )
    return lines


def _parameters(operation: dict[str, Any]) -> str:
    names = [
        f"{parameter.get('name') or str(parameter.get('$ref', '')).rpartition('/')[2]}"
        f"{'' if parameter.get('required') else '?'}"
        for parameter in items(operation, "parameters")
        if isinstance(parameter, dict)
    ]
    body = " + body" if "requestBody" in operation else ""
    return f" ({listed(names)}){body}" if names else body


def _schemas(value: dict[str, Any], detail: int) -> Lines:
    schemas = mapping(value, "components", "schemas") or mapping(value, "definitions")
    if detail == 3:
        return [f"schemas: {listed(schemas, 60)}"] if schemas else []
    lines = []
    for name, schema in schemas.items():
        needed = items(schema, "required")
        fields = [
            f"{field}{'' if field in needed or detail else '?'}{_type(kind) if not detail else ''}"
            for field, kind in mapping(schema, "properties").items()
        ]
        choices = items(schema, "enum")
        told = listed(fields, 20 if detail < 2 else 8) or (f"one of {listed(choices)}" if choices else "")
        lines.append(f"schema {name}: {told}")
    return lines


def _type(kind: Any) -> str:
    if not isinstance(kind, dict):
        return ""
    choices = items(kind, "enum")
    if choices:
        return f" {'|'.join(word(choice, 20) for choice in choices[:6])}"
    named = kind.get("format") or kind.get("type") or str(kind.get("$ref", "")).rpartition("/")[2]
    return f" {word(named, 30)}" if named else ""


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
