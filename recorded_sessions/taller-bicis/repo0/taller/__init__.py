"""Programa del mostrador de un taller de bicicletas."""

__version__ = "1.4.0"
