"""The constituents that we know: multiples of T, s, h and p, a constant, the nodal bucket."""

from dataclasses import dataclass

from .astro import RATE_H, RATE_P, RATE_S


@dataclass(frozen=True)
class Constituent:
    name: str
    T: int
    s: int
    h: int
    p: int
    const: float
    bucket: str

    @property
    def speed(self):
        """Degrees an hour."""
        return 15 * self.T + (self.s * RATE_S + self.h * RATE_H + self.p * RATE_P) / 24

    def argument(self, lon):
        """V, the equilibrium argument in degrees."""
        return self.T * lon.T + self.s * lon.s + self.h * lon.h + self.p * lon.p + self.const


TABLE = {
    row[0]: Constituent(*row)
    for row in [
        ("M2", 2, -2, 2, 0, 0.0, "M2"),
        ("S2", 2, 0, 0, 0, 0.0, ""),
        ("N2", 2, -3, 2, 1, 0.0, "M2"),
        ("K2", 2, 0, 2, 0, 0.0, "K1"),
        ("K1", 1, 0, 1, 0, -90.0, "K1"),
        ("O1", 1, -2, 1, 0, 90.0, "O1"),
        ("P1", 1, 0, -1, 0, 90.0, ""),
        ("M4", 4, -4, 4, 0, 0.0, "M4"),
        ("MS4", 4, -2, 2, 0, 0.0, "M2"),
        ("SA", 0, 0, 1, 0, 0.0, ""),
        ("SSA", 0, 0, 2, 0, 0.0, ""),
    ]
}
