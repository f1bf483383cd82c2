from datetime import date

from taller.modelos import Linea, Orden, siguiente_numero
from taller.precios import euros, totales
from taller.presupuesto import presupuesto


def orden(*lineas, club="", numero="T-2025-0001"):
    return Orden(numero, "Marta Gil", "600000001", "Vela Urbana", date(2025, 11, 3), list(lineas), club=club)


def test_euros_con_miles():
    assert euros(123450) == "1.234,50"
    assert euros(5) == "0,05"


def test_euros_negativo():
    assert euros(-995) == "-9,95"


def test_el_iva_se_redondea_por_linea():
    # 3 x 2,45 = 7,35 -> 1,5435; dos líneas iguales dan 3,08 y no 3,09
    base, iva, total = totales(orden(Linea("camara", 3, 2.45), Linea("camara", 3, 2.45)))
    assert (base, iva, total) == (1470, 308, 1778)


def test_medio_centimo_hacia_arriba():
    # 0,50 al 21 % son 10,5 céntimos
    assert totales(orden(Linea("tapon", 1, 0.5))) == (50, 11, 61)


def test_mano_de_obra_al_diez():
    assert totales(orden(Linea("centrado", 0.5, 38.0, mano_obra=True))) == (1900, 190, 2090)


def test_el_presupuesto_lleva_el_total():
    papel = presupuesto(orden(Linea("cadena", 1, 19.9)))
    assert papel[-1].split() == ["TOTAL", "24,08"]


def test_los_numeros_no_se_repiten():
    quedan = [orden(numero="T-2025-0001"), orden(numero="T-2025-0003")]
    assert siguiente_numero(quedan, date(2025, 11, 3)) == "T-2025-0004"


def test_cada_anyo_empieza_en_uno():
    assert siguiente_numero([orden(numero="T-2025-0412")], date(2026, 1, 2)) == "T-2026-0001"
