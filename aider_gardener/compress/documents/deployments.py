"""Kubernetes, CloudFormation and Compose: each resource or service on a line, with its images, ports, limits,
environment, routes and state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.documents import (
    Document,
    Lines,
    items,
    joined,
    limited,
    listed,
    mapping,
    word,
)

TOLD = frozenset({
    "replicas", "type", "schedule", "host", "path", "storage", "storageClassName", "clusterIP", "port",
    "targetPort", "minReplicas", "maxReplicas", "averageUtilization", "restartPolicy", "serviceAccountName",
    "ingressClassName", "secretName", "nodePort", "maxSurge", "maxUnavailable", "concurrencyPolicy",
    "backoffLimit", "suspend", "revisionHistoryLimit", "terminationGracePeriodSeconds",
    "progressDeadlineSeconds",
    "minAvailable", "activeDeadlineSeconds", "completions", "parallelism", "accessModes", "cidr",
    "externalName", "loadBalancerIP", "targetCPUUtilizationPercentage", "averageValue", "key", "operator",
    "effect",
    "priorityClassName", "hostNetwork", "protocol", "pathType", "image",
    "provider", "issuer", "group", "scope", "verbs", "resources", "claimName",
    "mountPath", "kind", "number",
})  # fmt: skip
"""Fields that say something wherever they stand."""

FEW = frozenset({"replicas", "type", "schedule", "host", "storage", "minReplicas", "maxReplicas"})
"""Those that stay when room is short."""

CONTAINER_TOLD = frozenset({
    "name", "image", "ports", "resources", "command", "args", "env", "livenessProbe", "readinessProbe",
    "startupProbe", "volumeMounts", "terminationMessagePath", "terminationMessagePolicy",
})  # fmt: skip
WALK_LIMIT = 2_000
TOLD_LIMIT = 24

SHORT_VALUE = 60


def kubernetes(value: Any) -> Document | None:
    """One resource, several in a stream, or a List as `kubectl get -o yaml` prints it."""
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, dict) and "apiVersion" in one and "kind" in one for one in found):
        return None
    resources = [one for top in found for one in (items(top, "items") or [top])]
    name = f"Kubernetes {found[0]['kind']}" if len(found) == 1 else f"Kubernetes, {len(found)} resources"
    return Document(name, lambda detail: _lines(resources, detail))


def _lines(resources: list[Any], detail: int) -> Lines:
    parent = str(mapping(resources[0]).get("kind", "")).removesuffix("List") if resources else ""
    return limited([_kubernetes_resource(mapping(one), parent, detail) for one in resources])


def _kubernetes_resource(one: dict[str, Any], parent: str, detail: int) -> str:
    meta = mapping(one, "metadata")
    space = f"{word(meta['namespace'])}/" if meta.get("namespace") and detail < 2 else ""
    head = (
        f"{word(one.get('kind', parent))} {space}{word(meta.get('name') or meta.get('generateName') or '')}"
    )
    pods = list(_pod_specs(one.get("spec")))
    parts = [", ".join(_told(one, detail))]
    for pod in pods[:3]:
        both = [*items(pod, "initContainers"), *items(pod, "containers")]
        parts += [_container(mapping(container), detail) for container in both]
    parts += [_data(one, detail), _state(one)]
    return f"{head}: {joined(parts)}".rstrip(": ")


def _pod_specs(spec: Any) -> Iterator[dict[str, Any]]:
    """The specifications of pods under a resource's own, at any of the usual depths."""
    here = mapping(spec)
    for _ in range(6):
        if items(here, "containers"):
            yield here
            return
        here = (
            mapping(here, "jobTemplate", "spec") or mapping(here, "template", "spec") or mapping(here, "spec")
        )


def _told(one: dict[str, Any], detail: int) -> Iterator[str]:
    """`key=value` for the telling fields of the specification, pods left out."""
    names = TOLD if detail < 2 else FEW
    waiting: list[Any] = [
        mapping(one, "spec"),
        *items(one, "rules"),
        *items(one, "subjects"),
        mapping(one, "roleRef"),
    ]
    at = written = 0
    while at < len(waiting) and at < WALK_LIMIT and written < TOLD_LIMIT:
        node = waiting[at]
        at += 1
        for key, item in node.items() if isinstance(node, dict) else ():
            if (
                key in names
                and not isinstance(item, dict)
                and not (isinstance(item, list) and any(isinstance(x, dict) for x in item))
            ):
                written += 1
                yield f"{key}: {word(item)}"
            elif key not in ("containers", "initContainers", "selector", "status", "valueFrom"):
                waiting += [item] if isinstance(item, dict) else item[:20] if isinstance(item, list) else []


def _container(one: dict[str, Any], detail: int) -> str:
    ports = [port.get("containerPort") for port in items(one, "ports") if isinstance(port, dict)]
    parts = [f"{word(one.get('name', ''))} {word(one.get('image', ''), 90)}".strip()]
    if ports:
        parts.append(f"port {listed(ports, 4)}")
    if detail < 2:
        for name in ("requests", "limits"):
            sizes = mapping(one, "resources", name)
            parts += (
                [f"{name} {listed((f'{key} {word(size)}' for key, size in sizes.items()), 6)}"]
                if sizes
                else []
            )
        parts += [
            f"{key} {listed(one[key], 8)}" for key in ("command", "args") if isinstance(one.get(key), list)
        ]
    if detail == 0:
        env = [_variable(mapping(pair)) for pair in items(one, "env")]
        parts += [f"env {listed(env, 20)}"] if env else []
        parts += [
            f"{name} {_probe(mapping(one, name))}"
            for name in ("livenessProbe", "readinessProbe", "startupProbe")
            if mapping(one, name)
        ]
        mounts = [word(mapping(mount).get("mountPath", "")) for mount in items(one, "volumeMounts")]
        parts += [f"mounts {listed(mounts, 8)}"] if mounts else []
        rest = {key: item for key, item in one.items() if key not in CONTAINER_TOLD}
        parts += [f"{key} {word(item, 160)}" for key, item in rest.items()]
    return " ".join(parts)


def _probe(probe: dict[str, Any]) -> str:
    """What is asked of a container and when: `/ready:8081 initialDelaySeconds 5`."""
    parts = []
    for key, item in probe.items():
        inner = mapping(item)
        if "port" in inner:
            parts.append(f"{word(inner.get('path', key if key != 'httpGet' else ''))}:{word(inner['port'])}")
        elif inner:
            parts.append(f"{key} {listed(inner.get('command') or inner.values(), 8)}")
        else:
            parts.append(f"{key} {word(item)}")
    return " ".join(parts)


def _variable(pair: dict[str, Any]) -> str:
    source = mapping(pair, "valueFrom")
    if not source:
        return f"{word(pair.get('name', ''))}={word(pair.get('value', ''))}"
    inner = next((one for one in source.values() if isinstance(one, dict)), {})
    told = "/".join(word(inner[key]) for key in ("name", "key", "fieldPath") if key in inner)
    return f"{word(pair.get('name', ''))} from {told}"


def _data(one: dict[str, Any], detail: int) -> str:
    data = {**mapping(one, "data"), **mapping(one, "stringData")}
    if not data:
        return ""
    if detail >= 2 or one.get("kind") == "Secret":
        return f"keys {listed(data, 20)}"
    return ", ".join(
        f"{key}={word(value, 80 if detail == 0 else 30)}" for key, value in list(data.items())[:20]
    )


def _state(one: dict[str, Any]) -> str:
    status = mapping(one, "status")
    parts = [word(status[key]) for key in ("phase", "podIP", "reason", "message") if status.get(key)]
    for container in items(status, "containerStatuses"):
        restarts = mapping(container).get("restartCount")
        parts += [f"{word(restarts)} restarts"] if restarts else []
        for name in ("state", "lastState"):
            ended = mapping(container, name, "waiting") or mapping(container, name, "terminated")
            before = ["before:"] if ended and name == "lastState" else []
            parts += [
                *before,
                *(word(ended[key], 80) for key in ("reason", "exitCode", "message") if ended.get(key)),
            ]
    parts += [
        f"{word(unmet.get('type', ''))} {word(unmet.get('status'))}: "
        + " ".join(word(unmet[key], 120) for key in ("reason", "message") if unmet.get(key))
        for unmet in map(mapping, items(status, "conditions"))
        if unmet.get("status") in (False, "False", "Unknown")
    ][:6]
    ready = [
        f"{key} {word(status[key])}" for key in ("readyReplicas", "unavailableReplicas") if key in status
    ]
    return " ".join([*parts, *ready])


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
        lines += limited([_stack_resource(name, one, detail) for name, one in resources.items()])
    return [*lines, *_sections(value, detail)]


def _stack_resource(name: str, one: dict[str, Any], detail: int) -> str:
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


COMPOSED = frozenset({"version", "name", "include", "services", "volumes", "networks", "secrets", "configs"})


def compose(value: Any) -> Document | None:
    """A Compose file."""
    services = mapping(value, "services")
    known = ("image", "build", "extends", "<<")
    if any(key not in COMPOSED and not str(key).startswith("x-") for key in mapping(value)):
        return None
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
