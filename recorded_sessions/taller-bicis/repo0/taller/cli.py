"""La línea de órdenes del mostrador."""

import argparse
from datetime import date

from taller.almacen import leer_ordenes, leer_piezas
from taller.informes import informe_existencias, informe_ordenes
from taller.presupuesto import presupuesto
from taller.recordatorios import avisos_entre

PIEZAS = "datos/piezas.csv"
ORDENES = "datos/ordenes.json"


def analizador():
    """El analizador de argumentos con sus órdenes."""
    raiz = argparse.ArgumentParser(prog="taller")
    ordenes = raiz.add_subparsers(dest="orden", required=True)
    una = ordenes.add_parser("presupuesto", help="el presupuesto de una orden")
    una.add_argument("numero")
    una = ordenes.add_parser("informe", help="un informe para el gestor")
    una.add_argument("cual", choices=["existencias", "ordenes"])
    una = ordenes.add_parser("recordatorios", help="los SMS que salen")
    una.add_argument("--hoy", type=date.fromisoformat, required=True)
    una.add_argument("--hasta", type=date.fromisoformat)
    return raiz


def main(argumentos=None):
    """Hace lo que se pide; 0 si ha ido bien, 1 si no existe lo pedido."""
    pedido = analizador().parse_args(argumentos)
    if pedido.orden == "presupuesto":
        for orden in leer_ordenes(ORDENES):
            if orden.numero == pedido.numero:
                print("\n".join(presupuesto(orden)))
                return 0
        print("no existe la orden %s" % pedido.numero)
        return 1
    if pedido.orden == "informe":
        piezas = leer_piezas(PIEZAS)
        if pedido.cual == "existencias":
            print("\n".join(informe_existencias(piezas)))
        else:
            print("\n".join(informe_ordenes(leer_ordenes(ORDENES), piezas)))
        return 0
    for aviso in avisos_entre(leer_ordenes(ORDENES), pedido.hoy, pedido.hasta or pedido.hoy):
        print("%s  %s  %s" % (aviso.momento.strftime("%Y-%m-%d %H:%M"), aviso.telefono, aviso.texto))
    return 0
