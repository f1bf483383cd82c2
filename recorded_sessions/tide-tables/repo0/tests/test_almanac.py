"""Our heights against the almanac of the Harbour Office."""

import csv
from datetime import datetime
from pathlib import Path

import pytest

from tidepost.library import load
from tidepost.predict import height

FILES = sorted((Path(__file__).parent / "almanac").glob("*.csv"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_hourly_heights(path):
    harbour = load(path.stem.split("-")[0])
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    theirs = [float(row["height"]) for row in rows]
    ours = [height(harbour, datetime.fromisoformat(row["utc"])) for row in rows]
    assert ours == pytest.approx(theirs, abs=0.004)
