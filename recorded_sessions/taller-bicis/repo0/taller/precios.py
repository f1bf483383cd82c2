"""Importes, IVA y descuentos."""

IVA_GENERAL = 0.21
IVA_MANO_OBRA = 0.10

CLUBES = {"Pedal Norte": 0.07}


def euros(importe):
    """Un importe como se escribe en el papel: 1.234,50."""
    texto = "%.2f" % importe
    entero, decimales = texto.split(".")
    return entero + "," + decimales


def tipo_iva(linea):
    return IVA_MANO_OBRA if linea.mano_obra else IVA_GENERAL


def importe_linea(linea):
    """Cantidad por precio, sin IVA."""
    return linea.cantidad * linea.precio


def totales(orden):
    """Base, IVA y total de una orden."""
    base = 0
    iva = 0
    for linea in orden.lineas:
        base += importe_linea(linea)
        iva += importe_linea(linea) * tipo_iva(linea)
    descuento = CLUBES.get(orden.club, 0)
    total = (base + iva) * (1 - descuento)
    return round(base, 2), round(iva, 2), round(total, 2)
