"""A pytest plugin for aider's own tests: records each outcome, denies the network, and installs the gardener if asked.

tools/upstream_tests.py loads it with `-p upstream_plugin` into both runs. Environment: UPSTREAM_OUTCOMES is the
file that gets one JSON line per report, UPSTREAM_GARDENER=1 installs the gardener before anything is collected.
"""

from __future__ import annotations

import json
import os

import pytest
from offline import deny_network


def pytest_configure(config: pytest.Config) -> None:
    """Runs before collection, so that the gardener is in place before a test module binds a name of aider's."""
    deny_network()
    from aider.coders import Coder

    if os.environ.get("UPSTREAM_GARDENER") == "1":
        import aider_gardener

        stock = dict(vars(Coder))
        aider_gardener.install()
        if stock == dict(vars(Coder)):
            raise pytest.UsageError("install() changed nothing: a comparison would show nothing")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each phase of a test; the reader takes the worst of them."""
    failed_outside_call = report.failed and report.when != "call"
    note(report.nodeid, "error" if failed_outside_call else report.outcome)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that cannot be imported counts as one test of its name that ended in an error."""
    if report.failed:
        note(report.nodeid, "error")


def note(name: str, outcome: str) -> None:
    with open(os.environ["UPSTREAM_OUTCOMES"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps({"name": name, "outcome": outcome}) + "\n")
