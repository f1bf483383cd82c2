"""Informes para el gestor: existencias y órdenes."""

from taller.precios import euros, totales


def informe_existencias(piezas):
    """Una línea por referencia y el valor del almacén a coste."""
    lineas = ["%-11s %-30s %-10s %6s %9s %10s" % ("codigo", "nombre", "familia", "exist.", "coste", "valor")]
    suma = 0
    for pieza in sorted(piezas.values(), key=lambda una: una.codigo):
        valor = pieza.existencias * pieza.coste
        suma += valor
        lineas.append(
            "%-11s %-30s %-10s %6d %9s %10s"
            % (pieza.codigo, pieza.nombre[:30], pieza.familia, pieza.existencias, euros(pieza.coste), euros(valor))
        )
    lineas.append("%-69s %10s" % ("VALOR DEL ALMACEN", euros(suma)))
    return lineas


def informe_ordenes(ordenes, piezas):
    """Una línea por orden con su base, su IVA y el margen de las piezas."""
    lineas = ["%-12s %-20s %-10s %10s %9s %10s %9s" % ("numero", "cliente", "estado", "base", "iva", "total", "margen")]
    for orden in ordenes:
        base, iva, total = totales(orden)
        margen = 0
        for linea in orden.lineas:
            if linea.codigo in piezas:
                margen += linea.cantidad * (linea.precio - piezas[linea.codigo].coste)
        lineas.append(
            "%-12s %-20s %-10s %10s %9s %10s %9s"
            % (orden.numero, orden.cliente[:20], orden.estado, euros(base), euros(iva), euros(total), euros(margen))
        )
    return lineas
