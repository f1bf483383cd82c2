"""Lee y escribe los datos del taller."""

import csv
import json
from datetime import date

from taller.modelos import Linea, Orden, Pieza

CAMPOS = ["codigo", "nombre", "familia", "coste", "pvp", "existencias", "minimo"]


def leer_piezas(ruta):
    """Las piezas de un CSV con punto y coma, por código."""
    piezas = {}
    with open(ruta, encoding="utf-8", newline="") as fichero:
        for fila in csv.DictReader(fichero, delimiter=";"):
            piezas[fila["codigo"]] = Pieza(
                fila["codigo"],
                fila["nombre"],
                fila["familia"],
                float(fila["coste"].replace(",", ".")),
                float(fila["pvp"].replace(",", ".")),
                int(fila["existencias"]),
                int(fila["minimo"]),
            )
    return piezas


def guardar_piezas(ruta, piezas):
    """Escribe las piezas tal como se leen."""
    with open(ruta, "w", encoding="utf-8", newline="") as fichero:
        salida = csv.writer(fichero, delimiter=";", lineterminator="\n")
        salida.writerow(CAMPOS)
        for pieza in piezas.values():
            salida.writerow(
                [
                    pieza.codigo,
                    pieza.nombre,
                    pieza.familia,
                    ("%.2f" % pieza.coste).replace(".", ","),
                    ("%.2f" % pieza.pvp).replace(".", ","),
                    pieza.existencias,
                    pieza.minimo,
                ]
            )


def leer_ordenes(ruta):
    """Las órdenes del fichero JSON, en su orden."""
    with open(ruta, encoding="utf-8") as fichero:
        filas = json.load(fichero)
    return [orden_de(fila) for fila in filas]


def orden_de(fila):
    entregada = fila.get("entregada")
    return Orden(
        numero=fila["numero"],
        cliente=fila["cliente"],
        telefono=fila["telefono"],
        bici=fila["bici"],
        entrada=date.fromisoformat(fila["entrada"]),
        lineas=[Linea(**linea) for linea in fila["lineas"]],
        estado=fila["estado"],
        entregada=date.fromisoformat(entregada) if entregada else None,
        club=fila.get("club", ""),
    )
