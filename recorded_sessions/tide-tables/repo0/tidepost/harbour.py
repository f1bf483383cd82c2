from dataclasses import dataclass, field


@dataclass(frozen=True)
class Harbour:
    """A harbour; amplitudes and z0 in metres, phases are Greenwich phases in degrees."""

    id: str
    name: str
    zone: str
    z0: float
    constituents: dict = field(default_factory=dict)  # name -> (amplitude, phase)
