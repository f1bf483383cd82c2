"""What compilers call errors, warnings and notes in the languages that they are translated into."""

from __future__ import annotations

FATAL_WORDS = (
    "erreur fatale", "error fatal", "errore fatale", "erro fatal", "фатальная ошибка",
    "критическая ошибка", "фатальна помилка", "致命错误", "致命的错误", "嚴重錯誤", "致命錯誤",
    "致命的エラー", "致命的なエラー", "치명적 오류", "치명적인 오류", "błąd krytyczny", "krytyczny błąd",
    "ölümcül hata", "önemli hata", "fatale fout",
)  # fmt: skip
ERROR_WORDS = (
    "error", "Error", "ERROR", "fatal error", "syntax error", "internal compiler error",
    "sorry, unimplemented", "Fehler", "schwerwiegender Fehler",
    "interner Compiler-Fehler", "Schwerwiegend", "erreur", "errore", "erro", "ошибка",
    "помилка", "错误", "錯誤", "エラー", "오류", "에러", "błąd", "hata", "fel", "fout", "fejl",
    "virhe", "chyba", "σφάλμα", "eroare", "ralat", "kesalahan", "lỗi", *FATAL_WORDS,
)  # fmt: skip
WARNING_WORDS = (
    "warning", "Warning", "WARNING", "Warnung", "attention", "avertissement", "aviso",
    "advertencia", "advertência", "attenzione", "avviso", "предупреждение",
    "попередження", "警告", "경고", "ostrzeżenie", "uyarı", "varning", "waarschuwing",
    "advarsel", "varoitus", "varování", "προειδοποίηση",
)  # fmt: skip
NOTE_WORDS = (
    "note", "Note", "info", "remark", "hint", "message", "Anmerkung",
    "Hinweis", "nota", "замечание", "примечание", "附注", "备注", "附註", "注意", "備考", "注釈",
    "참고", "알림", "uwaga", "notka", "bilgi", "not", "anteckning", "opmerking", "примітка",
    "зауваження",
)  # fmt: skip
STYLE_WORDS = ("style", "performance", "portability", "information")

SEVERITY = {
    **dict.fromkeys(ERROR_WORDS, "error"),
    **dict.fromkeys((*WARNING_WORDS, *STYLE_WORDS), "warning"),
    **dict.fromkeys(NOTE_WORDS, "note"),
}
"""The severity that each word stands for: "error", "warning" or "note"."""

ANY_SEVERITY = "|".join(sorted(SEVERITY, key=len, reverse=True))
