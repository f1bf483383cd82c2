"""CI pipelines of GitHub, GitLab and CircleCI: triggers, and what each job runs on, needs and does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.documents import Document, Lines, items, joined, listed, mapping, word

SETTINGS = (
    "stages", "variables", "default", "include", "workflow", "image", "services", "cache", "before_script",
    "after_script",
)  # fmt: skip
"""What a GitLab pipeline holds beside its jobs."""

SCRIPT_SIZES = (150, 80, 40)


def github(value: Any) -> Document | None:
    """A GitHub (or Gitea, Forgejo) workflow."""
    jobs = mapping(value, "jobs")
    like = sum(1 for job in jobs.values() if any(key in mapping(job) for key in ("steps", "uses")))
    if not like or like < 0.6 * len(jobs):
        return None
    if not any(key in value for key in ("on", "true", "name", "permissions")) or "version" in value:
        return None
    return Document("CI workflow", lambda detail: _github(value, jobs, detail))


def _github(value: dict[str, Any], jobs: dict[str, Any], detail: int) -> Lines:
    lines = [
        joined(
            [
                f"name: {word(value['name'])}" if "name" in value else "",
                f"on: {_triggers(value.get('on', value.get('true')))}",
            ]
        )
    ]
    env = mapping(value, "env")
    if env and detail < 2:
        lines.append("env: " + listed((f"{key}={word(item, 40)}" for key, item in env.items()), 12))
    for name, job in jobs.items():
        job = mapping(job)
        lines.append(f"job {name}: {joined(_github_job(job, detail))}".rstrip(": "))
        lines += _steps(items(job, "steps"), detail)
    return lines


def _triggers(on: Any) -> str:
    if not isinstance(on, dict):
        return listed(on, 8) if isinstance(on, list) else word(on)
    return ", ".join(f"{name} {word(how, 70)}" if how else str(name) for name, how in on.items())


def _github_job(job: dict[str, Any], detail: int) -> Iterator[str]:
    for key, told in (
        ("runs-on", "on"),
        ("needs", "needs"),
        ("if", "if"),
        ("uses", "uses"),
        ("environment", "environment"),
        ("timeout-minutes", "minutes"),
    ):
        if key in job and (detail < 2 or key in ("runs-on", "needs", "uses")):
            value = job[key]
            yield f"{told} {listed(value, 6) if isinstance(value, list) else word(value, 90)}"
    matrix = mapping(job, "strategy", "matrix")
    if matrix:
        yield "matrix " + ", ".join(
            f"{key} {word(value, 90 if detail < 2 else 40)}" for key, value in matrix.items()
        )


def _steps(steps: list[Any], detail: int) -> Lines:
    """One line a step; in short all of a job's steps on one line."""
    if detail < 2:
        return [f"  - {_step(mapping(step) or {'run': step}, SCRIPT_SIZES[detail])}" for step in steps]
    told = [_step_name(mapping(step) or {"run": step}) for step in steps]
    return ["  " + listed(told, 30 if detail == 2 else 6, 40 if detail == 2 else 26)] if told else []


def _step_name(step: dict[str, Any]) -> str:
    uses = str(step.get("uses", "")).partition("@")[0]
    run = step.get("run")
    command = run.get("name") or run.get("command") if isinstance(run, dict) else run
    return word(step.get("name") or uses or command or next(iter(step), ""), 40)


def _step(step: dict[str, Any], size: int) -> str:
    parts = [word(step["name"])] if "name" in step else []
    if "uses" in step:
        given = ", ".join(
            f"{key}: {word(value, 40)}" for key, value in list(mapping(step, "with").items())[:4]
        )
        parts.append(
            f"uses {_pinned(word(step['uses'], 90))}{' (' + given + ')' if given and size > 100 else ''}"
        )
    run = step.get("run")
    if isinstance(run, dict):
        parts.append(word(run.get("name", "")))
        run = run.get("command")
    if run:
        parts.append(f"$ {_script(str(run).splitlines(), size)}")
    if "if" in step and size > 40:
        parts.append(f"if {word(step['if'], size)}")
    return ": ".join(part for part in parts if part) or word(step, size)


def _pinned(action: str) -> str:
    """An action without most of the digits of the commit it is pinned to."""
    return re.sub(r"(@[0-9a-f]{7})[0-9a-f]{33}$", r"\1", action)


def _script(lines: list[str], size: int) -> str:
    """The first commands of a script, as many as fit, and the number of the others."""
    told: list[str] = []
    lines = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        if told and sum(map(len, told)) + len(line) > size:
            return "; ".join(told) + f"; … {len(lines) - len(told)} more"
        told.append(word(line, size))
    return "; ".join(told)


def gitlab(value: Any) -> Document | None:
    """A GitLab pipeline."""
    if not isinstance(value, dict):
        return None
    jobs = {
        key: job
        for key, job in value.items()
        if isinstance(job, dict) and (key not in SETTINGS or "script" in job)
    }
    scripts = sum(1 for job in jobs.values() if "script" in job or "trigger" in job)
    if (
        not scripts
        or scripts < 0.5 * len(jobs)
        or not ("stages" in value or any("stage" in job for job in jobs.values()))
    ):
        return None
    return Document("GitLab pipeline", lambda detail: _gitlab(value, jobs, detail))


def _gitlab(value: dict[str, Any], jobs: dict[str, Any], detail: int) -> Lines:
    lines = [
        f"{key}: {word(value[key], 160)}"
        for key in SETTINGS
        if key in value and key not in jobs and (detail < 2 or key == "stages")
    ]
    size = SCRIPT_SIZES[min(detail, 2)]
    for name, job in jobs.items():
        parts = [
            f"{key} {listed(job[key], 4) if isinstance(job[key], list) else word(job[key])}"
            for key in ("stage", "image", "needs", "extends", "when", "environment", "only")
            if key in job and (detail < 2 or key in ("stage", "needs"))
        ]
        rules = [word(mapping(rule).get("if", rule), 60) for rule in items(job, "rules")]
        parts += [f"if {listed(rules, 3)}"] if rules and detail == 0 else []
        script = job.get("script")
        commands = (
            [str(line) for line in script] if isinstance(script, list) else str(script or "").splitlines()
        )
        parts += [f"$ {_script(commands, size)}"] if commands and detail < 3 else []
        lines.append(f"job {name}: {joined(parts)}")
    return lines


def circleci(value: Any) -> Document | None:
    """A CircleCI pipeline."""
    jobs = mapping(value, "jobs")
    if not jobs or not ("workflows" in value or "orbs" in value) or "version" not in value:
        return None
    return Document("CircleCI pipeline", lambda detail: _circleci(value, jobs, detail))


def _circleci(value: dict[str, Any], jobs: dict[str, Any], detail: int) -> Lines:
    orbs = mapping(value, "orbs")
    lines = ["orbs: " + listed(map(word, orbs.values()), 8)] if orbs and detail < 2 else []
    for name, job in jobs.items():
        images = [mapping(one).get("image") for one in items(job, "docker")]
        parts = [
            f"{key} {word(mapping(job)[key])}"
            for key in ("executor", "parallelism", "resource_class")
            if key in mapping(job)
        ]
        lines.append(
            f"job {name}: {joined([*(f'image {word(image)}' for image in images if image), *parts])}".rstrip(
                ": "
            )
        )
        lines += _steps(items(job, "steps"), detail)
    for name, flow in mapping(value, "workflows").items():
        steps = []
        for job in items(flow, "jobs"):
            own, how = next(iter(job.items())) if isinstance(job, dict) and job else (job, {})
            needs = listed(items(how, "requires"), 6)
            steps.append(f"{word(own)}{' after ' + needs if needs else ''}")
        lines.append(f"workflow {name}: {'; '.join(steps)}")
    return lines
