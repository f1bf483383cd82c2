"""Documents whose fields are known: manifests, lock files, API and deployment descriptions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

PACKAGE_LIMIT = 60
POD_FIELDS = frozenset({
    "image", "replicas", "containerPort", "port", "command", "args", "cpu", "memory", "schedule", "type",
    "host", "path", "storage", "name", "value",
})  # fmt: skip
VERBS = ("get", "put", "post", "patch", "delete", "head", "options")
Lines = list[str]


def known_document(value: Any) -> tuple[str, Lines] | None:
    """(what it is, its lines) for a document of a known kind, or None."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("lockfileVersion"), int) and isinstance(
        value.get("packages") or value.get("dependencies"), dict
    ):
        return "npm lock file", _npm_lock(value)
    if "openapi" in value or "swagger" in value:
        return "OpenAPI description", _openapi(value)
    if isinstance(value.get("Resources"), dict) and all(
        isinstance(v, dict) and "Type" in v for v in value["Resources"].values()
    ):
        return "CloudFormation template", _cloudformation(value)
    if isinstance(value.get("name"), str) and any(
        key in value for key in ("scripts", "dependencies", "devDependencies")
    ):
        return "package.json", _package(value)
    if "apiVersion" in value and "kind" in value:
        return f"Kubernetes {value['kind']}", _kubernetes(value)
    return None


def _dict(value: dict[str, Any], key: str) -> dict[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _package(value: dict[str, Any]) -> Lines:
    lines = []
    for key in (
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
    ):
        if key in value and len(_dump(value[key])) < 300:
            lines.append(f'"{key}": {_dump(value[key])}')
    for key in (
        "scripts",
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
        "overrides",
    ):
        part = value.get(key)
        if isinstance(part, dict):
            names = ", ".join(
                f"{name}: {what}" if key == "scripts" else f"{name}@{what}"
                for name, what in list(part.items())[:PACKAGE_LIMIT]
            )
            lines.append(f'"{key}": {names or "none"}')
    rest = [key for key in value if not any(line.startswith(f'"{key}"') for line in lines)]
    return [*lines, f"… other keys: {', '.join(rest)}"] if rest else lines


def _npm_lock(value: dict[str, Any]) -> Lines:
    packages = value.get("packages") or value.get("dependencies") or {}
    root = _dict(packages, "")
    direct = {**_dict(root, "dependencies"), **_dict(root, "devDependencies")}
    head = f'"name": {_dump(value.get("name"))}, "lockfileVersion": {value["lockfileVersion"]}'
    lines = [f"{head}, {len(packages)} packages"]
    pins = []
    for path, entry in packages.items():
        name = path.rsplit("node_modules/", 1)[-1]
        if name and isinstance(entry, dict) and (name in direct or not direct):
            pins.append(f"{name}@{entry.get('version', '?')}")
    lines.append(
        f"direct: {', '.join(pins[:PACKAGE_LIMIT])}"
        + (f", … {len(pins) - PACKAGE_LIMIT} more" if len(pins) > PACKAGE_LIMIT else "")
    )
    return lines


def _openapi(value: dict[str, Any]) -> Lines:
    info = _dict(value, "info")
    named = {key: info[key] for key in ("title", "version") if key in info}
    lines = [f"openapi {value.get('openapi') or value.get('swagger')}: {_dump(named)}"]
    paths = _dict(value, "paths")
    for path, methods in paths.items():
        if not isinstance(methods, dict):
            continue
        for verb, operation in methods.items():
            if verb in VERBS and isinstance(operation, dict):
                codes = ", ".join(map(str, _dict(operation, "responses")))
                said = str(operation.get("summary") or operation.get("operationId") or "")[:70]
                lines.append(f"{verb.upper()} {path} → {codes}{' — ' + said if said else ''}")
    parts = _dict(value, "components")
    schemas = parts.get("schemas") or value.get("definitions") or {}
    for name, schema in schemas.items() if isinstance(schemas, dict) else ():
        fields = schema.get("properties", {}) if isinstance(schema, dict) else {}
        lines.append(f"schema {name}: {', '.join(list(fields)[:20]) if isinstance(fields, dict) else ''}")
    return lines


def _cloudformation(value: dict[str, Any]) -> Lines:
    kinds = Counter(str(resource["Type"]) for resource in value["Resources"].values())
    lines = [
        f"{len(value['Resources'])} resources: "
        + ", ".join(f"{kind} × {number}" for kind, number in kinds.items())
    ]
    for name, resource in value["Resources"].items():
        keys = resource.get("Properties", {})
        lines.append(
            f"{name}: {resource['Type']} ({', '.join(list(keys)[:8]) if isinstance(keys, dict) else ''})"
        )
    for key in ("Parameters", "Outputs"):
        if isinstance(value.get(key), dict):
            lines.append(f"{key}: {', '.join(value[key])}")
    return lines


def _kubernetes(value: dict[str, Any]) -> Lines:
    meta = _dict(value, "metadata")
    named = {key: meta[key] for key in ("name", "namespace", "labels") if key in meta}
    lines = [f"{value['apiVersion']} {value['kind']}: {_dump(named)}"]
    if isinstance(value.get("items"), list):
        for item in value["items"][:PACKAGE_LIMIT]:
            one = item if isinstance(item, dict) else {}
            name, phase = _dict(one, "metadata").get("name", ""), _dict(one, "status").get("phase", "")
            lines.append(f"- {one.get('kind', '')} {name} {phase}".rstrip())
        return lines
    stack: list[tuple[str, Any]] = [("spec", value.get("spec")), ("data", value.get("data"))]
    while stack and len(lines) < PACKAGE_LIMIT:
        path, node = stack.pop(0)
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, item in pairs:
            if isinstance(item, dict | list) and key not in POD_FIELDS:
                stack.append((f"{path}.{key}", item))
            elif path == "data" or (key in POD_FIELDS and not isinstance(item, dict)):
                lines.append(f"{path}.{key}: {_dump(item)[:120]}")
    return lines
