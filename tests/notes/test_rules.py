"""Rules in typed words: which sentences set one, which later ones replace it, and where none is looked for."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import aider.help
import pytest
from aider import watch_prompts
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.messages import ContentClass, Entry, entry_id
from aider_gardener.notes.rules import (
    MOST_RULES,
    Amendment,
    Rule,
    is_rule,
    rules_in,
    rules_of,
    typed_words,
)
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import infer_source


def typed(text: str, seq: int = 0) -> Entry:
    source = infer_source("user", text)
    segments = segment(text, source)
    return Entry(
        entry_id("user", text), "s", seq + 1, seq, "user", text, source, ContentClass.PROMPT, segments, 1
    )


def texts(*said: str) -> list[str]:
    return [rule.text for rule in rules_of(typed(text, seq) for seq, text in enumerate(said))]


def test_precision_and_recall_on_the_labelled_sentences(root: Path) -> None:
    """Typed into coding chats, labelled by hand; many of the others hold the very words of rules."""
    labelled = json.loads((root / "tests" / "data" / "labelled_rules.json").read_text("utf-8"))
    rules, others = labelled["rules"], labelled["others"]
    found = [sentence for sentence in rules if rules_in(sentence)]
    false = [sentence for sentence in others if rules_in(sentence)]
    assert len(rules) + len(others) >= 300
    precision, recall = len(found) / (len(found) + len(false)), len(found) / len(rules)
    assert precision >= 0.87, false
    assert recall >= 0.95, sorted(set(rules) - set(found))


@pytest.mark.parametrize(
    "text",
    [
        "please fix this:\n\n```python\n# never call this twice, always lock first\nrun()\n```",
        "the readme says\n\n```\nAlways use tabs. Never use spaces.\n```\n\nwhat do you think?",
        "from a mail:\n\n> You must never deploy on Fridays.\n> Always ask me.\n\nwhat do they mean?",
        "look at this page\n\nHere is the content of https://example.com/rules:\n\nAlways use tabs. Never use X.",
        'it prints "you must never do that" twice',
        "why does `always_use_tabs` exist, must be historical",
        "Here is the content of https://example.com/rules:\n\nAlways use tabs. Never use spaces.",
        "I ran this command:\n\ncat rules.md\n\nAnd got this output:\n\nAlways use tabs.\nNever use spaces.\n",
        "(Quoted from earlier in this chat by aider-gardener, x)\n[1] user (g1):\n> Never use spaces.\n(End of quotes.)",
    ],
)
def test_what_was_not_typed_sets_no_rule(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Stick to the standard library.",
        "Prefer tabs to spaces.",
        "Respect our naming.",
        "Stay away from the vendor folder.",
        "Leave the fixtures untouched.",
        "Bear in mind that the API is public.",
        "No new dependencies, please.",
    ],
)
def test_an_order_is_one_where_a_clause_begins(text: str) -> None:
    assert texts(text) == [text]
    assert texts(f"They said to {text[0].lower()}{text[1:]}") == []


def of_docs(question: str) -> str:
    """What aider says for /help."""
    asked = aider.help.Help.__new__(aider.help.Help)
    asked.retriever = SimpleNamespace(retrieve=lambda _question: [SimpleNamespace(text="", metadata={})])
    return str(asked.ask(question))


@pytest.mark.parametrize(
    "words",
    [watch_prompts.watch_code_prompt, watch_prompts.watch_ask_prompt, of_docs("how?\n\nin two lines")],
)
def test_what_aider_says_in_its_users_name_sets_no_rule(words: str) -> None:
    rest = "\napp.py:\n⋮\n█# always use tabs here, ai!\n  def greet():\n⋮\n\nAlways load conventions.\n"
    assert texts(words.removeprefix("/ask") + rest) == []
    assert texts("# Question: is it slow?\n\nAlways load conventions.") == ["Always load conventions."]


def test_of_a_very_long_message_the_rules_at_its_ends_hold() -> None:
    first, last = "Never use tabs.", "Always log to stderr."
    assert texts("\n\n".join([first, "So it went on for a while. " * 50_000, last])) == [first, last]


def test_the_items_below_an_announcement_are_rules() -> None:
    text = (
        "hi, some ground rules first:\n- stdlib only\n- money in cents\n- port 8080\n\nnow add a test for it"
    )
    assert texts(text) == ["stdlib only", "money in cents", "port 8080"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use tabs.\nUse tabs, not spaces.", "Use spaces, not tabs."),
        ("Never touch the migrations folder.", "From now on always update the migrations folder too."),
        ("Keep the timeout at 30 seconds.", "Keep the timeout at 60 seconds."),
        ("Don't log request bodies.", "please do not log any request bodies, ever"),
    ],
)
def test_a_later_rule_replaces_what_it_repeats_or_contradicts(older: str, newer: str) -> None:
    assert texts(older, newer) == [newer]


def test_a_rule_on_something_else_replaces_nothing() -> None:
    rules = [
        "Never use floats for money.",
        "Money must be stored in cents.",
        "Never touch the vendor folder.",
    ]
    assert texts(*rules) == rules


@pytest.mark.parametrize(
    ("rule", "lift"),
    [
        ("Never touch vendor/.", "The vendor/ rule no longer applies."),
        ("Always use tabs in the Makefile.", "Scrap the tabs rule."),
        ("Fass in vendor/ nichts an, auf keinen Fall.", "Die Regel mit vendor/ gilt nicht mehr."),
        (
            "Verwende ab sofort überall pathlib statt os.path.",
            "Du musst pathlib nicht mehr überall verwenden.",
        ),
        ("Wir dürfen keine neuen Abhängigkeiten einführen.", "Neue Abhängigkeiten sind ab jetzt okay."),
        ("Ändere die öffentliche API nicht.", "Die Einschränkung zur öffentlichen API entfällt."),
        ("Nunca toques nada en vendor/.", "Ya no vale la regla de vendor/: puedes tocarlo."),
        ("Usa siempre tabuladores en el Makefile.", "No hace falta que uses tabuladores en el Makefile."),
        ("Por favor no borres los comentarios nunca.", "Quita la regla de los comentarios."),
        ("Ne touche jamais à vendor/.", "La règle sur vendor/ ne s'applique plus."),
    ],
)
def test_a_rule_can_be_lifted(rule: str, lift: str) -> None:
    other = "Never log a password of a customer."
    assert texts(rule, other, lift) == [other]
    assert texts(rule, "you can touch the readme now", "The billing rule no longer applies.") == [rule]


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("Never use pandas here, plain pyarrow only.", "You may use pandas again, the licence is settled."),
        (
            "From now on every table name begins with tl_.",
            "The tl_ prefix of table names is no longer needed.",
        ),
        ("Never push to main without my consent.", "It's fine to push now."),
        ("Never edit files in vendor/.", "You can read the vendor files for this."),
        ("Nie Pandas benutzen, nur pyarrow.", "Du darfst Pandas wieder benutzen."),
        ("Ab jetzt bitte keine Kommentare im Code.", "Du darfst wieder Kommentare in den Code schreiben."),
        ("N'utilise jamais pandas dans ce projet.", "Finalement, tu peux utiliser pandas de nouveau."),
        ("A partir de ahora, todos los commits en inglés.", "Olvida lo de los commits en inglés."),
        ("Nunca uses pandas en este proyecto, solo pyarrow.", "Puedes volver a usar pandas."),
        ("Nunca altere os arquivos em vendor/.", "Agora pode alterar os arquivos em vendor/."),
        ("Non modificare mai i file in vendor/.", "Ora puoi modificare i file in vendor/."),
        ("Никогда не меняй файлы в vendor/.", "Теперь можно менять файлы в vendor/."),
        ("vendor/ klasörünü asla değiştirme.", "Artık vendor/ klasörünü değiştirebilirsin."),
        ("لا تغيّر مجلد vendor/ أبداً.", "يمكنك الآن تغيير مجلد vendor/."),
        ("vendor/ फ़ोल्डर को कभी मत बदलना।", "अब vendor/ फ़ोल्डर बदल सकते हो।"),
    ],
)
def test_what_is_allowed_later_stands_behind_the_rule(rule: str, allowed: str) -> None:
    assert texts(rule, allowed) == [f"{rule} {allowed}"]
    assert texts(rule, "you can touch the readme now", "you can log the ids now") == [rule]


def test_what_is_allowed_stands_behind_no_rule_that_it_only_touches() -> None:
    assert texts("Never log secrets.", "you can log the ids now") == ["Never log secrets."]


@pytest.mark.parametrize(
    "text",
    [
        "Don't run the tests yet, wait until I'm done.",
        "For this change only, don't touch the tests.",
        "Just rename the function, don't change anything else.",
        "No ejecutes las pruebas todavía, espera a que termine.",
        "Por ahora no toques los ficheros de configuración.",
        "Ändere die Tests noch nicht.",
        "Ne lance pas les tests pour l'instant.",
        "今回だけテストは実行しないでください。",
        "这次不要运行测试。",
        "В этот раз не запускай тесты.",
        "هذه المرة فقط لا تشغّل الاختبارات.",
        "इस बार परीक्षण मत चलाना।",
    ],
)
def test_what_holds_for_now_only_is_no_rule(text: str) -> None:
    assert texts(text) == []


def test_another_figure_for_a_rule_stands_behind_it() -> None:
    rule, other = "Never exceed 80 columns.", "No, 100 columns instead."
    assert texts(rule, other) == [f"{rule} {other}"]
    assert texts(rule, other, "Sorry, 120 columns.") == [f"{rule} {other} Sorry, 120 columns."]
    assert texts(rule, "No, 3 tests are enough.") == [rule]
    assert texts("Never touch the columns.", other) == ["Never touch the columns."]
    dropped = Amendment(f"{rule} {other}", "", 3, 2, 0)
    assert rules_of([typed(rule, 0), typed(other, 1)], [dropped]) == []


def test_a_later_bound_on_the_same_stands_behind_the_rule() -> None:
    rule = "Backfills must run between 01:00 and 05:00 UTC."
    later = "next change, from Ana, final: backfills only 00:00-04:00 UTC since the crews start earlier."
    assert texts(rule, later) == [f"{rule} {later}"]
    assert texts(rule, "The last backfill ran at 06:10 UTC.") == [rule], "that was measured"
    assert texts(rule, "At most 3 backfills may run.", "Why only 00:00-04:00 for backfills?")[0] == rule
    assert texts(rule, "Reports may come until 06:30.") == [rule], "of something else"


def test_of_two_rules_on_the_same_the_earlier_says_that_the_later_has_other_figures() -> None:
    rule = "Backfills must run between 01:00 and 05:00 UTC."
    later = "I talked to Ana, backfills must run between 00:00 and 06:00 UTC, never on the 1st of a month."
    assert texts(rule, later) == [f"{rule} (other figures: [2])", later]


def test_rules_are_capped_and_the_newest_stay() -> None:
    said = [f"Never edit the file part{n}.py again." for n in range(MOST_RULES + 10)]
    assert texts(*said) == said[10:]


@given(st.text(max_size=300))
@settings(max_examples=40, deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    entry = typed(text)
    assert all(rule and len(rule) <= 245 for rule in rules_in(typed_words(entry)))
    assert is_rule(text) in (True, False)


def test_a_long_paste_without_marks_is_read_at_its_edges_only() -> None:
    middle = "\n".join(f"Line {n} of a long text that somebody pasted without a fence." for n in range(200))
    text = f"Never rename the table.\n\n{middle}\n\nAlways drink tea.\n\n{middle}\n\nwhat is wrong here?"
    assert texts(text) == ["Never rename the table."]


def test_what_is_changed_by_hand_stands_where_it_was_said() -> None:
    said = [typed("Always use tabs for indentation.", 0), typed("Never use tabs for indentation.", 2)]
    tabs = Amendment("", "Always use tabs for indentation", 1, 1, 0)
    assert [rule.text for rule in rules_of(said[:1], [tabs])] == ["Always use tabs for indentation"]
    assert [rule.text for rule in rules_of(said, [tabs])] == ["Never use tabs for indentation."]
    dropped = Amendment("Never use tabs for indentation.", "", 3, 2, 0)
    assert rules_of(said, [tabs, dropped]) == []
    assert [rule.text for rule in rules_of([*said, typed("Never use tabs for indentation.", 3)], [dropped])]
    edited = Amendment("Always use tabs for indentation.", "Use four spaces", 2, 0, 0)
    assert rules_of(said[:1], [edited]) == [Rule("Use four spaces", 2, said[0].id, 0)]
