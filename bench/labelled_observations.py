"""Sentences as people type them in different sessions: groups of which each says one thing, and others that
say something near it. The first set is the one that the comparison was made on."""

from __future__ import annotations

GROUPS: tuple[tuple[str, ...], ...] = (
    (
        "no new dependencies please",
        "again: don't add dependencies",
        "No new dependency, I said that last week.",
        "never add a new dependency, the image has no pip",
    ),
    (
        "use httpx, not requests",
        "no, use httpx instead of requests",
        "please use httpx rather than requests here",
        "I told you: httpx, not requests!",
    ),
    (
        "never edit an applied migration",
        "don't edit applied migrations, they are frozen",
        "no: applied migrations are never edited",
    ),
    (
        "keep the public API unchanged",
        "as I said, keep the public API as it is",
        "always keep the public API unchanged because the app parses it",
    ),
    (
        "use pytest fixtures, not setUp methods",
        "no, pytest fixtures instead of setUp methods",
        "again: pytest fixtures, no setUp methods",
    ),
    (
        "don't log e-mail addresses",
        "never log an email address, legal was very clear",
        "no e-mail addresses in logs",
    ),
    (
        "always write docstrings in English",
        "docstrings must be in English",
        "no, docstrings in English please",
    ),
    (
        "named exports only, no default exports",
        "again, no default exports, named exports only",
        "don't use default exports, use named exports",
    ),
    (
        "run the whole test suite before you say it's done",
        "always run the whole test suite before you say done",
        "again: run the whole test suite first",
    ),
    (
        "stop adding comments that repeat the code",
        "no comments that repeat the code please",
        "I said no comments that repeat the code",
    ),
    (
        "verwende immer pathlib statt os.path",
        "nein, pathlib statt os.path",
        "bitte pathlib verwenden, nicht os.path",
    ),
    (
        "keine globalen Variablen",
        "wie gesagt: keine globalen Variablen",
        "nochmal, bitte keine globalen Variablen verwenden",
    ),
    (
        "utilise toujours des f-strings, pas format",
        "non, utilise des f-strings, pas format",
        "comme je l'ai dit, des f-strings, pas format",
    ),
    (
        "usa siempre logging, nunca print",
        "no, usa logging, nunca print",
        "te dije: usa logging en lugar de print",
    ),
    (
        "不要使用全局变量",
        "我说过不要使用全局变量",
        "再说一遍：不要使用全局变量",
    ),
)  # fmt: skip

OTHERS: tuple[str, ...] = (
    "use requests, not httpx",
    "no new migrations in this release",
    "never edit the changelog by hand",
    "use dependencies of the lock file only",
    "keep the public API documented",
    "don't log request bodies",
    "never log card numbers",
    "always write commit messages in English",
    "no default arguments in public functions",
    "use fixtures from conftest, not new ones",
    "quotes must stay under 35 ms at p99",
    "quotes must stay under 50 ms at p99",
    "money is int minor units inside and strings outside",
    "the error envelope has exactly code, message, request_id, no extra keys",
    "columns may only be appended, never reordered, renamed or dropped",
    "never touch tests/almanac",
    "don't loosen a tolerance to get green",
    "a reader that meets something it doesn't know must refuse the file, never guess",
    "no floating point anywhere",
    "manifests are a legal record: open them for reading, never write them",
    "always round down",
    "don't run the tests in parallel",
    "run the linter before you say it's done",
    "no comments in the generated code",
    "comments must be in English",
    "verwende immer os.path statt pathlib",
    "keine globalen Tests",
    "usa siempre print, nunca logging",
    "utilise toujours format, pas des f-strings",
    "不要使用全局函数",
)

NOT_ASKED: tuple[str, ...] = (
    "no edits yet",
    "why did you not use httpx?",
    "no luck with the tests today",
    "no.",
    "again please",
    "the import still fails",
    "I never saw that error",
    "don't worry about the tests for now",
    "hm, no idea",
    "we always run into this",
    "noch keine Änderungen bitte",
    "no toques nada todavía",
)
"""Sentences that set no rule for longer and correct nothing that can be learnt."""

HELD_OUT_GROUPS: tuple[tuple[str, ...], ...] = (
    (
        "keep functions short, under 40 lines",
        "functions must stay under 40 lines",
        "no, split it: functions under 40 lines",
    ),
    (
        "use the logger instead of print",
        "no prints, use the logger",
        "I told you before: the logger, not print",
    ),
    (
        "never commit to main directly",
        "don't commit directly to main please",
        "again: no direct commits to main",
    ),
    (
        "always use UTC for timestamps",
        "timestamps must be in UTC",
        "no, timestamps in UTC, local time only in the templates",
    ),
    (
        "don't touch the generated files in src/api",
        "never edit the generated files under src/api",
        "leave src/api alone, those files are generated",
    ),
    (
        "prefer composition over inheritance",
        "again: composition, not inheritance",
        "use composition rather than inheritance, I said that twice",
    ),
    (
        "errors must be returned, not thrown",
        "don't throw errors, return them",
        "as I said: return errors instead of throwing them",
    ),
    (
        "never hardcode secrets",
        "no hardcoded secrets!",
        "don't hardcode any secrets, read them from the environment",
    ),
    (
        "bitte keine neuen Abhängigkeiten",
        "nein, keine neuen Abhängigkeiten, das Image hat kein pip",
        "füge nie neue Abhängigkeiten hinzu",
    ),
    (
        "n'ajoute pas de nouvelles dépendances",
        "non, pas de nouvelles dépendances",
        "comme je l'ai dit, n'ajoute pas de dépendances",
    ),
    (
        "no toques la carpeta de migraciones",
        "te lo dije: no toques la carpeta de migraciones",
        "nunca toques la carpeta de migraciones, está en producción",
    ),
    (
        "テストでは必ずpytestを使ってください",
        "いや、テストでは必ずpytestを使ってください",
        "もう一度、テストでは必ずpytestを使うこと",
    ),
)  # fmt: skip

HELD_OUT_OTHERS: tuple[str, ...] = (
    "keep functions pure, no clock in there",
    "functions must stay under 60 lines",
    "use the printer module for labels",
    "never commit generated files",
    "timestamps must be sorted",
    "always use UTC offsets with a colon",
    "don't touch the generated tables in docs",
    "never edit files under src/web",
    "prefer inheritance over composition here",
    "errors must be logged, not printed",
    "don't throw away the old rows, return them",
    "never log secrets",
    "no hardcoded ports",
    "keine neuen Dateien im Wurzelverzeichnis",
    "pas de nouvelles routes sans test",
    "no toques la carpeta de plantillas",
    "テストでは必ずモックを使わないでください",
    "the supervisor parses the first line, so don't change its fields",
    "more than 64 waiting must be refused with 503",
    "one commit a cause, with its letter",
)
