"""Documents and plans: each line under its true parent, what keys tell, the odd value."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aider_gardener.compress import trees
from aider_gardener.compress.outline import Note

COMPOSE = """
services:
  web:
    image: shop/web:2.1
    ports:
    - "8080:80"
    healthcheck:
      timeout: 5s
  db:
    image: postgres:15
    container_name: orders
volumes:
  data: {}
"""
POD = """
Name:         api-6d9f
Namespace:    shop
Containers:
  api:
    Image:          reg.shop/api:2.3.1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Exit Code:    137
    Restart Count:  7
    Container ID:   containerd://3f1
Events:
  Type     Reason   Age  Message
  ----     ------   ---  -------
  Warning  BackOff  1m   Back-off restarting failed container
"""
PLAN = """
Terraform will perform the following actions:

  # aws_db_instance.orders must be replaced
-/+ resource "aws_db_instance" "orders" {
      ~ arn               = "arn:aws:rds:1" -> (known after apply)
      ~ engine_version    = "14.7" -> "15.4"
      ~ storage_encrypted = false -> true # forces replacement
        name              = "orders"
    }

Plan: 1 to add, 0 to change, 1 to destroy.
"""
STATUS = """
Changes to be committed:
  (use "git restore --staged <file>..." to unstage)
        new file:   docs/plan.md
        deleted:    old.py

Unversionierte Dateien:
        notes.txt
        run_1.log
Unmerged paths:
        both modified:   src/scale.py
"""


def chain(lines: Sequence[str], notes: dict[int, Note], row: int) -> list[str]:
    """The lines above a row that it needs, nearest first."""
    found = []
    while (row := notes[row].above) >= 0:
        found.append(lines[row].strip())
    return found


def explained(text: str, line: str) -> tuple[Note, list[str]]:
    """The note of the line that has these words, and what it needs above it."""
    lines = text.split("\n")
    notes = trees.read(lines)
    row = next(at for at, other in enumerate(lines) if line in other)
    return notes[row], chain(lines, notes, row)


@pytest.mark.parametrize(
    ("text", "line", "above"),
    [
        (COMPOSE, "postgres:15", ["db:", "services:"]),
        (COMPOSE, "8080:80", ["ports:", "web:", "services:"]),
        (COMPOSE, "data:", ["volumes:"]),
        (POD, "Exit Code", ["Last State:     Terminated", "api:", "Containers:"]),
        (POD, "restarting", ["Type     Reason   Age  Message", "Events:"]),
        (PLAN, "engine_version", ['-/+ resource "aws_db_instance" "orders" {', PLAN.split("\n")[1]]),
        (STATUS, "deleted", ["Changes to be committed:"]),
        (STATUS, "run_1.log", ["Unversionierte Dateien:"]),
        (STATUS, "src/scale.py", ["Unmerged paths:"]),
        ("[a]\nx = 1\ny = 2\n[b.c]\nx = 3\nz = 4\nw = 5\n", "z = 4", ["[b.c]"]),
        ('[[p]]\nname = "x"\n[p.extra]\nv = "2"\nw = "3"\n', '"2"', ["[p.extra]"]),
        ("- name: a\n  image: i\n- env: x\n  name: b\n  image: odd\n- name: c\n", "odd", ["- env: x"]),
    ],
)
def test_a_line_stands_under_its_true_parent(text: str, line: str, above: list[str]) -> None:
    assert explained(text, line)[1] == above
