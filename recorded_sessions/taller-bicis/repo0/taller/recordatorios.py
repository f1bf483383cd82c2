"""Avisos por SMS a los clientes."""

from datetime import date, datetime, time, timedelta

HORA = time(9, 0)
"""A qué hora sale un aviso."""

REVISION = timedelta(days=365)
"""Cuánto después de la entrega se propone la revisión."""


class Aviso:
    """Un SMS con su momento."""

    def __init__(self, telefono, momento, texto):
        self.telefono = telefono
        self.momento = momento
        self.texto = texto


def aviso_revision(orden):
    """El aviso de la revisión anual de una bici entregada."""
    dia = orden.entregada + REVISION
    texto = (
        "Hola %s, hace un año que pasó por el taller su bicicleta %s. Le proponemos una revisión: "
        "llámenos o conteste a este mensaje y le damos hora. Un saludo de todo el equipo del taller."
        % (orden.cliente, orden.bici)
    )
    return Aviso(orden.telefono, datetime.combine(dia, HORA), texto)


def avisos(ordenes, hoy):
    """Los avisos que salen el día `hoy`."""
    salen = []
    for orden in ordenes:
        if orden.entregada is None:
            continue
        aviso = aviso_revision(orden)
        if aviso.momento.date() == hoy:
            salen.append(aviso)
    return salen


def avisos_entre(ordenes, desde, hasta):
    """Los avisos de todos los días entre dos fechas, ambas incluidas."""
    salen = []
    dia = date(desde.year, desde.month, desde.day)
    while dia <= hasta:
        salen += avisos(ordenes, dia)
        dia += timedelta(days=1)
    return salen
