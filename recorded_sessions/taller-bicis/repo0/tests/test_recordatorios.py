from datetime import date

from taller.modelos import Orden
from taller.recordatorios import aviso_revision, avisos_entre


def entregada(dia, cliente="Marta Gil"):
    return Orden("T-2025-0001", cliente, "600000001", "Vela Urbana", dia, estado="entregada", entregada=dia)


def test_revision_al_anyo():
    assert aviso_revision(entregada(date(2024, 11, 4))).momento.date() == date(2025, 11, 4)


def test_avisos_entre_dos_fechas():
    ordenes = [entregada(date(2024, 11, 4)), entregada(date(2024, 11, 6))]
    assert len(avisos_entre(ordenes, date(2025, 11, 3), date(2025, 11, 5))) == 1
