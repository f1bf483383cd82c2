from datetime import date

import pytest

from tidepost.library import load
from tidepost.table import day_table

PUBLISHED = {
    ("skerrow", "2024-03-31"): ["LW 03:28 1.24", "HW 09:23 4.77", "LW 15:56 1.24", "HW 21:56 4.43"],
    ("skerrow", "2024-09-18"): ["HW 06:04 5.79", "LW 12:13 0.08", "HW 18:32 5.76"],
    ("lanvoe", "2024-10-27"): ["LW 01:46 1.17", "HW 06:56 1.95", "LW 13:28 0.95", "HW 19:49 1.93"],
    ("marrow", "2024-04-07"): ["HW 04:09 1.52", "LW 10:19 0.38", "HW 16:28 1.54", "LW 22:42 0.30"],
    ("averna", "2024-04-09"): ["HW 02:21 3.22", "LW 08:26 0.97", "HW 14:33 3.24", "LW 20:45 0.91"],
}


@pytest.mark.parametrize(("name", "day"), PUBLISHED)
def test_day_table(name, day):
    assert day_table(load(name), date.fromisoformat(day)) == PUBLISHED[name, day]
