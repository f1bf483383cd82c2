"""Harbours from JSON."""

import json

from .constituents import TABLE
from .harbour import Harbour
from .zones import parse_offset

UNITS = {"m": 1.0, "cm": 0.01, "ft": 0.3048}


def read_json(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    scale = UNITS[data.get("unit", "m")]
    offset = parse_offset(data.get("phases", "utc"))
    found = {}
    for row in data["constituents"]:
        name = row["name"].upper()
        phase = row["phase"] + TABLE[name].speed * offset
        found[name] = (row["amp"] * scale, phase % 360)
    return Harbour(data["id"], data["name"], data["zone"], data["z0"], found)
