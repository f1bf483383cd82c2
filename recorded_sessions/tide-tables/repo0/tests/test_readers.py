import json

import pytest

from tidepost.csv_reader import read_csv
from tidepost.json_reader import read_json
from tidepost.library import load

HEAD = {"harbour": "x", "name": "X", "zone": "Europe/Oslo", "z0": "100"}


def csv_file(folder, rows, **head):
    lines = [f"# {key}: {value}" for key, value in {**HEAD, **head}.items()]
    path = folder / "x.csv"
    path.write_text("\n".join([*lines, "constituent,amplitude,phase", *rows]) + "\n", encoding="utf-8")
    return path


def json_file(folder, rows, **data):
    path = folder / "x.json"
    whole = {"id": "x", "name": "X", "zone": "Europe/Oslo", "z0": 100, "constituents": rows, **data}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def test_csv_local_phases_become_greenwich(tmp_path):
    harbour = read_csv(csv_file(tmp_path, ["M2,50,100.0", "O1,10,5.0"], unit="cm", phases="+02:00"))
    assert harbour.constituents["M2"] == pytest.approx((0.5, 42.0317917), abs=1e-6)
    assert harbour.constituents["O1"] == pytest.approx((0.1, 337.1139287), abs=1e-6)


def test_json_local_phases_become_greenwich(tmp_path):
    rows = [{"name": "M2", "amp": 50, "phase": 100.0}, {"name": "O1", "amp": 10, "phase": 5.0}]
    harbour = read_json(json_file(tmp_path, rows, unit="cm", phases="+02:00"))
    assert harbour.constituents["M2"] == pytest.approx((0.5, 42.0317917), abs=1e-6)
    assert harbour.constituents["O1"] == pytest.approx((0.1, 337.1139287), abs=1e-6)


@pytest.mark.parametrize(("unit", "metres"), [("m", 100.0), ("cm", 1.0), ("ft", 30.48)])
def test_units_hold_for_z0_too(tmp_path, unit, metres):
    assert read_csv(csv_file(tmp_path, [], unit=unit)).z0 == pytest.approx(metres)
    assert read_json(json_file(tmp_path, [], unit=unit)).z0 == pytest.approx(metres)


def test_names_in_small_letters_and_blanks(tmp_path):
    assert list(read_csv(csv_file(tmp_path, [" m2 ,1,2", "", "ms4,1,2"])).constituents) == ["M2", "MS4"]


@pytest.mark.parametrize("name", ["skerrow", "lanvoe", "marrow", "averna"])
def test_what_comes_with_the_package(name):
    harbour = load(name)
    assert harbour.id == name
    assert 0.3 < max(amplitude for amplitude, _ in harbour.constituents.values()) < 3
    assert harbour.z0 < 6
