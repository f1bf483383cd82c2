"""CloudFormation templates and Compose files: each resource or service on a line."""

from __future__ import annotations

from collections import Counter
from typing import Any

from aider_gardener.compress.documents.fields import (
    Document,
    Lines,
    items,
    joined,
    limited,
    listed,
    mapping,
    word,
)

SHORT_VALUE = 60


def cloudformation(value: Any) -> Document | None:
    """A CloudFormation or SAM template."""
    resources = mapping(value, "Resources")
    if not resources or not all(isinstance(one, dict) and "Type" in one for one in resources.values()):
        return None
    return Document("CloudFormation template", lambda detail: _template(value, resources, detail))


def _template(value: dict[str, Any], resources: dict[str, Any], detail: int) -> Lines:
    kinds = Counter(word(resource["Type"]) for resource in resources.values())
    lines = [
        f"{len(resources)} resources: " + ", ".join(f"{kind} × {number}" for kind, number in kinds.items())
    ]
    if detail == 3:
        names: dict[str, Lines] = {}
        for name, resource in resources.items():
            names.setdefault(word(resource["Type"]), []).append(name)
        lines = [f"{kind}: {listed(own, 30)}" for kind, own in names.items()]
    else:
        lines += limited([_resource(name, one, detail) for name, one in resources.items()])
    return [*lines, *_sections(value, detail)]


def _resource(name: str, one: dict[str, Any], detail: int) -> str:
    properties = mapping(one, "Properties")
    if detail == 0:
        told = listed((_property(key, item) for key, item in properties.items()), 10, 90)
    else:
        told = listed(properties, 8) if detail == 1 else ""
    after = listed(
        [one["DependsOn"]] if isinstance(one.get("DependsOn"), str) else items(one, "DependsOn"), 3
    )
    tail = f" after {after}" if after and detail < 2 else ""
    when = f" if {word(one['Condition'])}" if "Condition" in one and detail < 2 else ""
    return f"{name}: {word(one['Type'])}{' (' + told + ')' if told else ''}{tail}{when}"


def _property(key: str, item: Any) -> str:
    if isinstance(item, dict) and len(item) == 1:
        name, inner = next(iter(item.items()))
        if name in ("Ref", "Fn::Ref", "!Ref", "Fn::GetAtt", "!GetAtt") and not isinstance(inner, dict):
            return f"{key}=→{'.'.join(map(str, inner)) if isinstance(inner, list) else word(inner)}"
    if isinstance(item, dict | list) or len(str(item)) > SHORT_VALUE:
        return key
    return f"{key}={word(item)}".replace("=!Ref ", "=→").replace("=!GetAtt ", "=→")


def _sections(value: dict[str, Any], detail: int) -> Lines:
    lines = []
    for key in ("Parameters", "Conditions", "Mappings", "Outputs"):
        section = mapping(value, key)
        if section:
            names = [
                f"{name}={word(mapping(one)['Default'], 30)}"
                if detail == 0 and "Default" in mapping(one)
                else name
                for name, one in section.items()
            ]
            lines.append(f"{key}: {listed(names, 40 if detail < 2 else 12)}")
    return lines


def compose(value: Any) -> Document | None:
    """A Compose file."""
    services = mapping(value, "services")
    known = ("image", "build", "extends", "<<")
    if not services or not all(any(key in mapping(one) for key in known) for one in services.values()):
        return None
    return Document("Compose file", lambda detail: _compose(value, services, detail))


def _compose(value: dict[str, Any], services: dict[str, Any], detail: int) -> Lines:
    lines = limited([_service(name, mapping(one), detail) for name, one in services.items()])
    for key in ("volumes", "networks", "secrets", "configs"):
        if mapping(value, key):
            lines.append(f"{key}: {listed(mapping(value, key), 20)}")
    return lines


def _service(name: str, one: dict[str, Any], detail: int) -> str:
    build = one.get("build")
    made = word(one["image"], 90) if "image" in one else f"build {word(mapping(build).get('context', build))}"
    parts = [made]
    ports = [word(mapping(port).get("published", port)) for port in items(one, "ports")]
    parts.append(f"ports {listed(ports, 6)}" if ports else "")
    if detail < 3:
        parts.append(f"needs {listed(_names(one.get('depends_on')), 8)}" if one.get("depends_on") else "")
        parts.append(f"command {word(one['command'], 90)}" if one.get("command") else "")
    if detail < 2:
        env = _names(one.get("environment"), values=detail == 0)
        parts.append(f"env {listed(env, 14)}" if env else "")
        parts.append(f"volumes {listed(one['volumes'], 6)}" if items(one, "volumes") else "")
    if detail == 0:
        limits = mapping(one, "deploy", "resources", "limits")
        parts += [f"{key} {word(limits[key])}" for key in limits]
        parts.append(f"restart {word(one['restart'])}" if "restart" in one else "")
        test = mapping(one, "healthcheck").get("test")
        parts.append(
            f"healthcheck {word(' '.join(map(str, test)) if isinstance(test, list) else test, 70)}"
            if test
            else ""
        )
    return f"{name}: {joined(parts)}"


def _names(value: Any, *, values: bool = True) -> list[str]:
    """The entries of a list or an object of variables or services, with or without their values."""
    if isinstance(value, dict):
        plain = values and not any(isinstance(item, dict | list) for item in value.values())
        return [f"{key}={word(item)}" if plain else str(key) for key, item in value.items()]
    entries = [word(item) for item in value] if isinstance(value, list) else []
    return entries if values else [entry.partition("=")[0] for entry in entries]
