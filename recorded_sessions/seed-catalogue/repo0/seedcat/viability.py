"""How long seed keeps."""

YEARS = {"Tomato": 6, "Carrot": 3}
DEFAULT_YEARS = 3


def keeps_until(crop, packed):
    """The year in which a packet is too old; `packed` is YYYY-MM."""
    return int(packed[:4]) + YEARS.get(crop, DEFAULT_YEARS)


def is_old(crop, packed, year):
    """Whether a packet should not be sown any more in this year."""
    return year > keeps_until(crop, packed)
