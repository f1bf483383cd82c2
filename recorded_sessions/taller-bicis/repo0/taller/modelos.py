"""Lo que maneja el taller: piezas, líneas y órdenes de reparación."""

from dataclasses import dataclass, field
from datetime import date
from typing import List, Optional


@dataclass
class Pieza:
    """Una referencia del almacén; `coste` y `pvp` sin IVA."""

    codigo: str
    nombre: str
    familia: str
    coste: float
    pvp: float
    existencias: int
    minimo: int


@dataclass
class Linea:
    """Una pieza o un rato de trabajo de una orden."""

    concepto: str
    cantidad: float
    precio: float
    mano_obra: bool = False
    codigo: str = ""


@dataclass
class Orden:
    """Una bici que ha entrado en el taller."""

    numero: str
    cliente: str
    telefono: str
    bici: str
    entrada: date
    lineas: List[Linea] = field(default_factory=list)
    estado: str = "abierta"
    entregada: Optional[date] = None
    club: str = ""


def siguiente_numero(ordenes, hoy):
    """El número de la próxima orden."""
    return "T-%d-%04d" % (hoy.year, len(ordenes) + 1)
