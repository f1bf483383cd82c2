"""Lines that tell of trouble: errors, warnings, refusals and exits, in the languages that tools speak.

Words of the larger languages as compilers, shells, servers and installers write them. What says that there
was no trouble (`0 errors`, `failed=0`, `exit code 0`) is no alarm, nor is a word within a path or a name.
"""

from __future__ import annotations

import errno
import re
from functools import lru_cache

from aider_gardener.reading.late import late

LINE_CHARS = 400
"""So much of a line is searched from each end."""

CACHED_WORDS = 100_000
"""So many words are remembered with what they tell: the words of outputs repeat far more than their lines."""

CACHED_LINES = 20_000
"""So many lines are remembered with what they tell: several readers ask for it."""


class _Words:
    """A list of words; one that ends with `*` stands for all words that begin so. Sets answer where a pattern
    of all takes milliseconds to compile."""

    def __init__(self, words: str) -> None:
        self._whole = frozenset(words.split())
        self._begun = tuple(word[:-1] for word in self._whole if word.endswith("*"))

    def __contains__(self, word: str) -> bool:
        is_plain = word.replace("_", "").isalnum()
        return word in self._whole or (is_plain and word.startswith(self._begun))


def _pieces(*lists: str) -> re.Pattern[str]:
    """What finds one of the pieces, which commas separate."""
    return late("|".join(re.escape(piece.strip()) for pieces in lists for piece in pieces.split(",")))


ERROR_WORDS = _Words(
    # English; German, Dutch, Swedish, Danish, Norwegian; French; Spanish, Portuguese, Italian, Romanian;
    # Polish, Czech, Hungarian, Finnish, Turkish, Indonesian
    """error errors errored err err! fail fails failed failing failure failures fatal panic panicked exception
    exceptions traceback critical severe emerg emergency abort aborted aborting crash crashed crashes killed
    oom segfault denied refused forbidden unauthorized rejected invalid illegal malformed corrupt corrupted
    corruption cannot can't can’t couldn't couldn’t doesn't doesn’t unable undefined unresolved unhandled
    uncaught unexpected unsupported unreachable unavailable unhealthy unsatisfied unsatisfiable unmet missing
    mismatch mismatched conflict conflicts conflicting violates violated violation violations deadlock
    deadlocked leak leaked leaks broken lost insufficient exceeds exceeded exhausted expired evicted timeout
    timed-out time-out disconnected terminated dead wrong bad vulnerability vulnerabilities non-zero nonzero
    replaced replacement destroy destroyed rollback revert reverted blocked diverged overflow underflow
    fehler* fehlgeschlagen* gescheitert ungültig* verweigert abgelehnt abgebrochen abbruch fehlt unbekannt*
    zeitüberschreitung fout fouten mislukt* geweigerd ongeldig* misslyckades fejl mislykkedes
    feil mislyktes
    erreur erreurs échec échecs échoué* refusé* introuvable* impossible invalide* abandon* expiré* interdit
    interdite manquant* indéfini* inconnu inconnue
    errore error errores fallo falló falla fallida fallido fallidos denegado denegada rechazado rechazada
    inválido inválida agotado agotada indefinido indefinida desconocido desconocida erro erros falha* falhou
    negado negada recusado recusada fallito fallita negato negata rifiutato rifiutata impossibile errori
    scaduto scaduta eroare eșuat
    błąd błęd* niepowodzeni* odmow* nieprawidłow* chyba selhal* nelze odepřen* hiba sikertelen virhe
    epäonnistui hata hatası başarısız* reddedildi bulunamadı geçersiz galat gagal kesalahan ditolak"""
)
WARNING_WORDS = _Words(
    """warn warns warning warnings deprecat* caution attention retry retrying retries slow delayed skipped
    skipping stopped giving required ignored dropped drift* stale outdated warnung* waarschuwing varning
    advarsel avertissement avertissements advertencia advertencias aviso avisos avviso avvertimento
    ostrzeżeni* varování figyelmeztetés varoitus uyarı peringatan"""
)
NAMES = late(
    r"(?:[\w$]+\.)*\w*(?:Error|Exception|Failure)(?:s|Group)?|\w*[a-z](?:Failed|BackOff|Killed|Denied|Timeout|"
    r"Exceeded|Evicted|Failing)\w*|(?:Failed|Unhealthy|BackOff|Evicted|NotReady|OOMKill|CrashLoop)\w*|"
    r"ERR_\w+|[A-Z]+_(?:ERROR|ERR|FAILED|FAILURE)"
)
"""Names of exceptions, of error codes, and of states as clusters write them."""

PHRASES = late(
    r"not (?:found|permitted|allowed|supported|exist|available|ready|recogni[sz]ed|valid|ok|start|connect|"
    r"load|open|be |met|match|satisf|implemented|resolve)|"
    r"did not|does not|too many|no (?:such|space|route|matching|version|module|rule|suitable)|"
    r"can not|could ?n[o']t|must be|"
    r"out of (?:memory|range|disk|date)|core dumped|segmentation fault|bus error|tim(?:ed|e) out|reset by|"
    r"giving up|rolled back|exit(?:ed|s)?(?: with)?(?: code| status)?[:=]? ?-?[1-9]|returned (?:a )?non|"
    r"nicht (?:gefunden|möglich|definiert|vorhanden)|(?:konnte|kann) nicht|niet gevonden|"
    r"no se (?:pud|pued|enc|ha)|não (?:foi|enc|pode|é pos|existe)|non (?:trov|riusc|valid|defin|è )|"
    r"nie (?:uda|znal|moż)|không (?:thể|tìm)|thất bại|từ chối|no (?:encontrad|válid)"
)
TRIGGERS = frozenset(
    "not no did does too can could couldn must out core segmentation bus timed time reset giving rolled exit "
    "exited exits "
    "returned nicht konnte kann niet não non nie không thất từ".split()
)
UNSPACED_ERRORS = _pieces(
    "ошибк, сбой, отказ, не удалось, не найден, неверн, недопустим, невозможно, прерван, превышен, исключени",
    "неопредел, помилк, не вдалося, грешка, σφάλμα, αποτυχία, lỗi",
    "错误, 錯誤, 失败, 失敗, 异常, 異常, 拒绝, 拒絕, 无法, 無法, 未找到, 找不到, 超时, 超時, 崩溃, 崩潰",
    "致命, 不存在, 无效, 無效, 未定义, 未定義, 不正确",
    "エラー, 例外, 拒否, 見つかりません, できません, できない, タイムアウト, 無効, 障害, 中断, 存在しません",
    "오류, 에러, 실패, 예외, 거부, 찾을 수 없, 없습니다, 시간 초과, 잘못된",
    "خطأ, فشل, رفض, تعذر, خطا, שגיאה, נכשל, त्रुटि, विफल, असफल, ত্রুটি, ব্যর্থ, ข้อผิดพลาด, ล้มเหลว",
    "✗, ✘, ✖, ❌, 🔴, ❗, 🚫",
)
UNSPACED_WARNINGS = _pieces(
    "предупрежд, попередж, προειδοποίηση, cảnh báo, 警告, 注意, 遅延, 延迟, 延遲, 경고",
    "تحذير, אזהרה, चेतावनी, সতর্ক, คำเตือน, ⚠",
)
CALM = late(
    r"\b(?:no|0|zero|without|not? any|keine|aucune?|sin|sem|nessun\w*) "
    r"(?:new |known )?(?:errors?|failures?|failed|warnings?|problems?|issues?|vulnerabilities|conflicts?|"
    r"fehler|warnungen|erreurs?|errores|erros|errori)|0 ?[个個件] ?(?:错误|警告|錯誤|エラー)|"
    r"\b(?:errors?|failed|failures?|fail|unreachable|rescued|ignored|warnings?|lost|errs?|dropped|missing)"
    r" ?[=: ] ?0\b(?![.\d])|(?:exit(?:ed)?(?: with)?(?: code| status)?|status|rc|errno|returncode)[ =:]+0\b|"
    r"errors? handling|error-?free|fail-?safe|fail-?over"
)
"""What says that there is no trouble, in small letters."""

OUTCOME = late(
    r"(?:g?make|mingw32-make|nmake|ninja)(?:\[\d+\])?: .*(?:\*\*\*|not remade|stopped|fatal)|collect2: |"
    r"##\[error\]|Killed$|Terminated$|Aborted|B(?:UILD (?:FAILED|SUCCESSFUL)|"
    r"uild (?:failed|succeeded|FAILED))|Command failed"
)
ENDED = late(
    r"exit(?<=\bexit)(?:ed)?(?: with)?(?: status| code|\()|Process completed with exit code|"
    r"returned (?:a )?non-zero|core dumped|linker command failed|symbol\(s\) not found|ELIFECYCLE"
)
"""How a command ended: at the beginning of a line, and within."""

_PARTS = late(r"[^\s=:,;|()\[\]{}<>\"'`“”‘’«»„*?!]+!?")
_CODES = frozenset(errno.errorcode.values()) | {f"SIG{name}" for name in "ABRT BUS FPE ILL KILL SEGV".split()}
"""Codes of errors, and the signals by which a program crashes or is killed."""


@lru_cache(maxsize=CACHED_WORDS)
def _word(word: str) -> int:
    """2 for a word of errors, 1 of warnings, 0 for others; -1 for one that may begin a phrase."""
    small = word.lower()
    if word == "×" or (word != small and (word in _CODES or NAMES.fullmatch(word.rstrip(".")))):
        return 2
    plain = small.strip(".-_+#~>")
    if plain in ERROR_WORDS:
        return 2
    if plain in WARNING_WORDS or word.endswith("Warning"):
        return 1
    return -1 if plain in TRIGGERS else 0


@lru_cache(maxsize=CACHED_LINES)
def alarm(line: str) -> str:
    """ "error", "warning" or "": what a line tells of, by its words alone; the ends of a long line count."""
    if len(line) > 2 * LINE_CHARS:
        line = f"{line[:LINE_CHARS]} {line[-LINE_CHARS:]}"
    level = _level(line)
    if level and CALM.search(line.lower()):
        level = _level(CALM.sub(" ", line.lower()))
    return ("", "warning", "error")[level]


@lru_cache(maxsize=CACHED_LINES)
def is_outcome(line: str) -> bool:
    """True for a line that says how a command ended."""
    return bool(OUTCOME.match(line, 0, 5 * LINE_CHARS) or ENDED.search(line, 0, 5 * LINE_CHARS))


def _level(line: str) -> int:
    found = set(map(_word, _PARTS.findall(line)))
    level = max(found, default=0)
    if level < 2 and -1 in found and PHRASES.search(line.lower()):
        return 2
    if level < 2 and not line.isascii():
        small = line.lower()
        level = 2 if UNSPACED_ERRORS.search(small) else max(level, int(bool(UNSPACED_WARNINGS.search(small))))
    return max(level, 0)
