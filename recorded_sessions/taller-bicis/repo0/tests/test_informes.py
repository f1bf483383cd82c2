from taller.informes import informe_existencias
from taller.modelos import Pieza


def test_una_linea_por_pieza():
    piezas = {"CAD-110": Pieza("CAD-110", "Cadena 11v", "cadenas", 11.4, 19.9, 3, 2)}
    assert len(informe_existencias(piezas)) == 3
