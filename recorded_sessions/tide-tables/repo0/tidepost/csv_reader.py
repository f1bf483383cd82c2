"""Harbours from CSV: a head of `# key: value` lines, then name, amplitude, phase."""

import csv

from .constituents import TABLE
from .harbour import Harbour
from .zones import parse_offset

UNITS = {"m": 1.0, "cm": 0.01, "ft": 0.3048}


def read_csv(path):
    head, rows = {}, []
    with open(path, encoding="utf-8", newline="") as file:
        for line in file:
            if line.startswith("#"):
                key, _, value = line[1:].partition(":")
                head[key.strip()] = value.strip()
            elif line.strip():
                rows.append(line)
    scale = UNITS[head.get("unit", "m")]
    offset = parse_offset(head.get("phases", "utc"))
    found = {}
    for row in csv.DictReader(rows):
        name = row["constituent"].strip().upper()
        phase = float(row["phase"]) + TABLE[name].speed * offset
        found[name] = (float(row["amplitude"]) * scale, phase % 360)
    return Harbour(head["harbour"], head["name"], head["zone"], float(head["z0"]) * scale, found)
