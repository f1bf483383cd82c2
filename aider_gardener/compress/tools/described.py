"""What `kubectl describe` prints of an object: who it is, what state it and its containers are in, what was
set, the conditions that are not met, and its events, warnings first of all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools.standing import is_bad

ENTRY = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z][\w ./()-]{0,80}?):(?: +(?P<value>.*))?$")
NEEDED = frozenset(
    """
    Name Namespace Node Status Reason Message Image Port Ports State Last-State Exit-Code Ready
    Restart-Count Limits Requests Liveness Readiness Startup Replicas Pods-Status StrategyType
    RollingUpdateStrategy Type Endpoints TargetPort NodePort IP IPs Host Path Backends Taints
    Unschedulable Capacity Allocatable Access-Modes StorageClass Volume Used-By Metrics Min-replicas
    Max-replicas Deployment-pods Schedule Suspend Active-Deadline-Seconds Parallelism Completions
    Pods-Statuses Controlled-By NewReplicaSet OldReplicaSets Command Args LoadBalancer-Ingress Rules TLS
    Default-backend Selector Phase Signal Service-Account Terminating Deletion Ingress-Class
    Last-Schedule-Time Active-Jobs Provisioner ExternalName Session-Affinity Allowed-disruptions
    Min-available
    """.split()
)
IDLE = frozenset(
    """
    Container-ID Image-ID Host-Port Host-Ports QoS-Class Node-Selectors Tolerations Labels Annotations
    Mounts Pod-Template-Hash Controller-Revision-Hash TokenExpirationSeconds ConfigMapName
    ConfigMapOptional DownwardAPI Optional Start-Time CreationTimestamp Priority Priority-Class-Name
    Finalizers Machine-ID System-UUID Boot-ID Kernel-Version OS-Image Operating-System Architecture
    Started Finished Addresses System-Info
    """.split()
)
SECTIONS = {
    "Limits": MUST, "Requests": MUST, "Capacity": MUST, "Allocatable": 3.0, "Environment": 2.5,
    "Mounts": 0.8, "Labels": 0.6, "Annotations": 0.6, "Tolerations": 0.4, "Volumes": 1.2, "System Info":
    0.6, "Addresses": 1.5, "Conditions": MUST, "Command": MUST, "Args": MUST, "Rules": MUST, "Metrics":
    MUST, "Allocated resources": MUST, "Non-terminated Pods": 1.6, "Events": MUST
}  # fmt: skip
REFERENCES = re.compile(r"^(?:SecretName|ClaimName|Name|Path|Server|Secret|ConfigMap)$")
EVENT = re.compile(r"^ +(?P<type>Normal|Warning) +(?P<reason>\S+) +(?P<rest>.*)$")
PRESSURE = re.compile(r"Pressure$|^NetworkUnavailable$|^ReplicaFailure$|^Failed$")
MOST_WARNINGS = 40


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """One object or several, one after the other."""
    reading = Reading(room=1.3)
    path: list[tuple[int, str]] = []
    counts: Counter[str] = Counter()
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        found = ENTRY.match(line[:400])
        section = path[0][1] if path else ""
        indent = len(line) - len(line.lstrip())
        if section == "Events" and indent:
            _event(at, line, counts, reading)
            continue
        if section == "Conditions" and indent and not found:
            _condition(at, line, reading)
            continue
        if not found:
            weight = SECTIONS.get(path[-1][1], 3.0) if path else MUST
            reading.add(at, line, weight if indent or not path else MUST)
            continue
        while path and path[-1][0] >= indent:
            path.pop()
        key, value = found["key"], (found["value"] or "").strip()
        reading.add(at, _shown(line, value), _weight(key, value, [name for _, name in path]))
        counts["objects"] += key == "Name" and not indent
        path.append((indent, key))
    if not counts["objects"]:
        return None
    told = [plural(counts["objects"], "object")]
    told += [f"events: {counts['Warning']} warning, {counts['Normal']} normal"] if counts["events"] else []
    reading.summary = ", ".join(told)
    reading.kept = {"objects": counts["objects"], "warnings": counts["Warning"]}
    return reading


def _shown(line: str, value: str) -> str:
    return f"{line[: len(line) - len(value)].rstrip()} {value}".rstrip() if value else line


def _weight(key: str, value: str, above: Sequence[str]) -> float:
    """How much an entry tells, by its key, its value, and what it stands in."""
    dashed = key.replace(" ", "-")
    if value in ("<none>", "<unset>", "<nil>", "") and key in SECTIONS and value:
        return 0.3 if key not in ("Events", "Limits", "Requests") else 3.0
    if is_bad(value):
        return MUST
    for name in reversed(above):
        if name in SECTIONS and SECTIONS[name] != MUST:
            return 2.6 if name == "Volumes" and REFERENCES.match(key) else SECTIONS[name]
        if name in SECTIONS:
            return MUST
    if above and above[0] in ("Containers", "Init Containers") and len(above) == 1:
        return MUST
    if key in ("Events", "Conditions", "Containers", "Init Containers"):
        return MUST
    if key in SECTIONS:
        return SECTIONS[key]
    if dashed in NEEDED:
        return 0.5 if value in ("<none>", "<unset>") else MUST
    return 0.6 if dashed in IDLE else 2.0


def _event(at: int, line: str, counts: Counter[str], reading: Reading) -> None:
    found = EVENT.match(line)
    if not found:
        reading.add(at, line, 0.2)
        return
    counts["events"] += 1
    counts[found["type"]] += 1
    warned = found["type"] == "Warning"
    weight = MUST if warned and counts["Warning"] <= MOST_WARNINGS else 5.0 if warned else 2.2
    reading.add(at, "  " + re.sub(r" {2,}", "  ", line.strip()), weight)


def _condition(at: int, line: str, reading: Reading) -> None:
    """A condition that is not as it should be must stay."""
    words = line.split()
    state = words[1] if len(words) > 1 else ""
    if words[0].startswith("-") or words[0] == "Type":
        weight = 0.2
    else:
        met = (state == "True") != bool(PRESSURE.search(words[0]))
        weight = 1.5 if met else MUST
    reading.add(at, "  " + re.sub(r" {2,}", "  ", line.strip()), weight)
