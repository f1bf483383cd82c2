"""El presupuesto que se imprime para el cliente."""

from taller.precios import euros, importe_linea, tipo_iva, totales

ANCHO = 64


def presupuesto(orden):
    """Las líneas del presupuesto de una orden."""
    lineas = [
        "PRESUPUESTO %s" % orden.numero,
        "%s  (%s)" % (orden.cliente, orden.bici),
        "-" * ANCHO,
    ]
    for linea in orden.lineas:
        lineas.append(
            "%-34s %6g x %9s %4d%%"
            % (linea.concepto[:34], linea.cantidad, euros(linea.precio), tipo_iva(linea) * 100)
        )
        lineas.append("%64s" % euros(importe_linea(linea)))
    base, iva, total = totales(orden)
    lineas.append("-" * ANCHO)
    lineas.append("%-50s %13s" % ("Base", euros(base)))
    lineas.append("%-50s %13s" % ("IVA", euros(iva)))
    lineas.append("%-50s %13s" % ("TOTAL", euros(total)))
    return lineas
