"""Secrets go, everything else stays. The secrets here are made up from the formats' descriptions."""

from __future__ import annotations

import json
import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.store import secrets
from aider_gardener.archive.store.looks import looks
from aider_gardener.archive.store.redact import (
    KNOWN_SECRETS,
    Known,
    Redacted,
    Redactor,
    is_telling,
    pieces,
    placeholder,
    redact,
)
from aider_gardener.archive.store.secrets import find
from aider_gardener.reading import seeking
from bench.secrets import HALVES, RESULTS, rates, snippets

HEX = "0123456789abcdef0123456789ABCDEF"
MIXED = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA"

SECRETS = [
    ("Password of the user was reset.\nNew value: {}", "-ljBos3iczc0CJabL8jS"),
    ("key = {}", "sk-ant-api03-" + MIXED * 2),
    ("{}", "xoxb-" + "1234567890-abcdefABCDEF"),
    ("id {}", "AKIA" + "ABCDEFGH12345678"),
    ("Authorization: Bearer {}", MIXED),
    ("postgres://app:{}@db.local:5432/x", "s3cr3t-pw"),
    ("curl -u admin:{} http://x", "pa55word"),
    ("etcdctl --user root:{} get x", "pa55word"),
    ("cqlsh -u me -p {}", MIXED),
    ("tool --password={} run", "Tr0ub4dor"),
    ("wget --http-password={} https://files.example.com/a.tgz", "gartentor"),
    ("DB_PASSWORD={}", "hunter2"),
    ("password: {}", "hunter2"),
    ("const apiKey = '{}';", MIXED),
    ('"client_secret": "{}"', MIXED),
    ('curl -H "apiKey: {}" http://x', MIXED),
    ("api_token: |\n  {}\nx: 1", "p@ss:w0rd/1"),
    ('{{"a": "{{\\"b\\": \\"{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}\\"}}"}}', "hunter22"),
    ("A=1\0DB_PASSWORD={}\0B=2", "hunter22"),
    ("-----BEGIN%20PRIVATE%20" + "KEY-----%0A{}%0A-----END%20PRIVATE%20KEY-----", MIXED * 3),
    ('user,password\n"Doe, J",{}', "hunter22"),
    ("| User | API token |\n|---|---|\n| a | {} |", MIXED),
    ("NAME   PASSWORD   AGE\na      {}   3d", "hunter22"),
    ("$ vault login {}", MIXED),
    ("$ heroku auth:token\n{}", "3f2b1c9a-7d4e-4f6a-9b1c-2d3e4f5a6b7c"),
    ("sops --age {} -e x", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0" * 4),
    ("set snmp community {} authorization read-only", "acme88ro!x"),
    ("mc alias set mine https://minio.example.com minioadmin {}", "Sommer2024"),
    ('expect "*?assword:*" {{ send -- "{}\\r" }}', "correcthorse"),
    ("child.expect('Password: ')\nchild.sendline('{}')", "correcthorse"),
    *(
        (f"name: DB_PASSWORD, {word}: {{}}", "hollowbadgerlamp")
        for word in ("Value", "default", "body", "string")
    ),
    ("https://hooks.slack.com/services/{}", "T00000000/B00000000/" + MIXED[:24]),
]


@pytest.mark.parametrize(
    ("frame", "secret"), SECRETS, ids=[frame[:24] + str(n) for n, (frame, _) in enumerate(SECRETS)]
)
def test_secrets_go(frame: str, secret: str) -> None:
    text = "before é\n" + frame.format(secret) + "\nafter"
    result = redact(text)
    assert secret not in result.text
    assert result.text.startswith("before é\n") and result.text.endswith("\nafter")
    assert "[redacted:" in result.text
    assert restored(text, result) == text


@pytest.mark.parametrize(
    "text",
    [
        "$ git rev-parse token\n9fceb02d0ae598e95dc970b74767f19372d61af8",
        "Please login my-new-feature-branch-24",
        'expect "password:"\nsend "$password\\r"',
        "mc alias set mine https://minio.example.com minioadmin $SECRET",
        "it reads the token\nconfiguration",
        "- thinking_tokens\n- name: model-sonnet-4-20250514",
        'password = config.get("main")\npassword = row["kennung"]\n<Input password={formFields} />',
        "connect(user=u, password=db_pw_v2, host=h)",
        "chrome --password-store=basic --x --password=<password> --password-file=pw.txt --token=ci run",
        'token: "tok12"\nauth: "oauth2"',
        'st.text_input("Passwort2", type="password")',
        "> what about the password field? (g9bbe3d68a)\n>   → a token of 370, here [g12ab34cd5]",
        'BUNDLE_WITHOUT: "development:test"',
        'BUNDLE_BUILD__MYSQL2: "--with-opt:one"',
        'BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "https://mirror.acme.io:8080/"',
        'BUNDLE_GEMS__ACME__COM: "${USER}:${TOKEN}"',
        '{"##pin": 8091, "pin": 9231}',
        '"password": "must have at least eight characters"',
        "--- PASS: TestInk0 (0.00s)\n=== RUN   TestInk1\n--- PASS: TestInk1 (0.00s)",
        "W1011 a password should have NoEcho\nstack.yaml:3:3\n",
        "bundle config set --global gems.acme.com username:password",
        "bundle config set mirror.https://rubygems.org https://mirror.acme.io:4443",
        "https://community.anaconda.cloud/t/conda-23-1-release/1234",
        "https://conda.anaconda.org/t/<TOKEN>/acme",
        "https://discuss.acme.org/t/what-is-new-in-2026/77",
        "<<<<<<< SEARCH\nlogin(user2)\n=======",
        "the led pin: 13, pin 4410 is free, PIN must be 4 digits, pin = 2026-03-02",
        "mysql --login-path=x <<< 'select 1;'",
        "backup codes are in vault2, see page3\nmake test4",
        "secretsmanager: eu-central-1",
        "const pin = 2048; int pin = 1337",
        f"{HEX[:16] * 2}01234567 is the commit that broke the token",
        f"{HEX[:16] * 2}01234567 (token refresh)",
        f"{HEX[:16] * 2}  # md5 of the token",
        'Cipher.getInstance("AES/CBC/PKCS5Padding")',
        'jwt.decode(id_token, options={"verify_signature": False})',
        "see ``Retry.DEFAULT``. Pass a\n    :class:`~urllib3.util.retry.Retry` object",
        "'amdplpa': {'id': 'AMDPLPA', 'deprecated': False}",
        "the login via OAuth2Client fails",
        "<string>Unlock your passwords</string>\n<key>CFBundleIdentifier</key>",
        'type C struct {\n\tPassword string `json:"password"`\n}',
        'the passphrase is "not set" or "please try again later"',
        "'password' => 'string|min:8'",
        'bucket.Put([]byte("answer-key"), []byte("user:1234"))',
        "which version did I pass?\n0.15.0-rc.1\n",
        f"private key: (hidden)\n\npeer: {MIXED * 2}=",
        f"Topic: token-issued\tTopicId: {MIXED}",
        "the passphrase is stored encrypted inside the keychain",
        "the passphrase of that key is very long but easy",
        "test / TestCase2, admin / Settings2024, press key 7 again",
        "rocommunity public\nsnmpwalk -c public 10.0.0.1",
        "the rate of tokens: **70% less**",
        "$ openssl rand -hex 16 > a.txt\n$ ls2go-x",
        "$ cat login.py\nimport2\nb64x-y\nc",
    ],
)
def test_what_only_stands_where_a_secret_would_stays(text: str) -> None:
    assert redact(text).text == text


def test_the_labelled_set() -> None:
    found, held = rates(snippets()), json.loads(RESULTS.read_text("utf-8"))["rates"]
    for half in HALVES:
        assert found[half]["gone"] >= held[half]["gone"], half
        assert found[half]["unchanged"] >= held[half]["unchanged"], half


def test_redacting_what_is_labelled_twice_changes_nothing_more() -> None:
    for one in snippets():
        result = redact(one.text)
        assert restored(one.text, result) == one.text
        assert redact(result.text).text == result.text, one.id


def test_what_stands_for_a_secret_names_none() -> None:
    for line in (f"| a | {MIXED} | [redacted:token:21056c]", "[redacted:password:21056c] Wm7xQ-2vLr9"):
        assert redact(line).text == line


def test_a_colour_stays_and_what_it_colours_goes() -> None:
    for text in (
        "\x1b[36mDB_PASSWORD\x1b[0m=\x1b[33mn1mbusCloud\x1b[0m",
        "\\u001b[36mDB_PASSWORD\\u001b[0m=\\u001b[33mn1mbusCloud\\u001b[0m",
    ):
        result = redact(text)
        assert result.text == text.replace("n1mbusCloud", placeholder("n1mbusCloud", "password"))


def test_copies_that_were_broken_over_lines_go_too() -> None:
    secret = "aB3dE6gH9jK2mN5pQ8rS1tU4"
    for wrapped in (
        f"{secret[:9]}\n{secret[9:]}",
        f"{secret[:15]}\\\n   {secret[15:]}",
        f"\x1b[1m{secret[:5]}\x1b[0m{secret[5:]}",
    ):
        left = redact(f"it printed {wrapped} there", Known([secret])).text
        assert "[redacted:known:" in left and left.endswith("] there")
        assert secret[:5] not in left and secret[15:] not in left


def test_each_line_of_a_key_is_known_from_then_on() -> None:
    lines = [f"{n}{MIXED}{n}{HEX}"[:64] for n in range(4)]
    clean = Redactor()
    frame = "-----{} RSA PRIVATE " + "KEY-----"
    told = clean("\n".join([frame.format("BEGIN"), *lines, frame.format("END")]))
    assert [line for line in lines if line in told.text] == []
    assert lines[2] not in clean(f"the third is {lines[2]}").text
    assert pieces("\n" + "\n".join(lines)) == lines
    clean.forget()
    assert lines[2] in clean(f"the third is {lines[2]}").text


@pytest.mark.parametrize("mark", ["", "+", "7:", "    "])
def test_the_end_of_a_key_is_enough_and_words_before_it_are_none(mark: str) -> None:
    ends = "-----END RSA PRIVATE " + "KEY-----"
    lines = [MIXED * 2, HEX * 2, MIXED[:22]]
    told = redact("\n".join(["what it prints:", *[mark + line for line in [*lines, ends]]])).text
    assert told.startswith("what it prints:\n") and told.endswith(ends)
    assert [line for line in lines if line in told] == []
    for text in (f"the last line is\n{mark}{ends}", f"it\nends\n{mark}{ends}", ends):
        assert redact(text) == Redacted(text)


def test_another_kind_of_frame_and_one_that_is_not_closed() -> None:
    ssh = "---- {} SSH2 ENCRYPTED PRIVATE " + "KEY ----"
    body = "\n".join([MIXED * 2] * 3)
    assert MIXED not in redact(f"{ssh.format('BEGIN')}\n{body}\n{ssh.format('END')}\n").text
    begins = "-----BEGIN PRIVATE " + "KEY-----"
    two = redact(f"it begins with {begins} as told.\nHere: {begins}\n{body}")
    assert MIXED not in two.text and "as told.\nHere: " in two.text


def test_no_more_secrets_are_remembered_than_there_is_room_for() -> None:
    clean = Redactor()
    for number in range(KNOWN_SECRETS + 20):
        clean(f'password = "x{number}-marker-9"')
    assert len(clean.known) == KNOWN_SECRETS


def test_secrets_that_begin_alike_take_time_by_their_number() -> None:
    text = "".join(f'password{n} = "gartentor{n}x"\n' for n in range(4_000))
    began = time.thread_time()
    assert len(redact(text).spans) == 4_000
    assert time.thread_time() - began < 8


def test_of_two_that_begin_alike_the_longer_goes_and_a_copy_that_a_line_cuts_off() -> None:
    known = Known(["s3cr3t-value-9", "s3cr3t-value-99x", "s3cr3t-vault-17"])
    left = redact("s3cr3t-value-99x, s3cr3t-value-9 and s3cr3t-vau\nnext", known).text
    assert re.sub(r"redacted:known:\w{6}", "", left) == "[], [] and []\nnext"


def test_placeholders_are_stable_and_name_the_kind() -> None:
    one, two = redact('password = "hunter22"'), redact("url postgres://u:hunter22@h/")
    assert one.text == f'password = "{placeholder("hunter22", "password")}"'
    assert one.text[-8:-2] == two.spans[0].placeholder[-7:-1]
    assert redact('password = "hunter23"').text != one.text


def test_the_password_of_an_address_ends_before_the_next_address() -> None:
    left = redact("go://x:go://ada:gartentor@h").text
    assert left == f"go://x:go://ada:{placeholder('gartentor', 'url-password')}@h"


def test_behind_the_end_of_an_element_nothing_is_its_value() -> None:
    left = redact("<password>gartentor</password>\n<serial>Zx81-Plover9k</serial>").text
    assert "gartentor" not in left and "Zx81-Plover9k" in left


def test_known_secrets_go_wherever_they_stand() -> None:
    secret = "s3cr3t-value-99"
    assert secret not in redact(f"it printed {secret}!", Known([secret])).text
    assert "s3cr3t-val" not in redact("it printed s3cr3t-val… and stopped", Known([secret])).text
    assert redact("nothing of it", Known([secret])).spans == ()
    assert redact("postgres is up", Known(["postgres1234"])).spans == ()
    assert is_telling(secret) and not is_telling("password") and not is_telling("123456789")


@given(
    st.lists(st.one_of(st.text(max_size=20), st.sampled_from([f.format(s) for f, s in SECRETS])), max_size=8),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_redacting_is_reversible_in_place_and_a_placeholder_no_secret(parts: list[str], lines: bool) -> None:
    text = ("\n" if lines else " ").join(parts)
    result = redact(text)
    assert restored(text, result) == text
    again = redact(result.text).text  # a line that is shorter now may show one more
    assert all(span.placeholder in again for span in result.spans)
    positions = [result.position(offset) for offset in range(len(text) + 1)]
    assert positions == sorted(positions) and positions[-1] == len(result.text)
    ends = [result.position(offset, end=True) for offset in range(len(text) + 1)]
    assert ends == sorted(ends) and all(end >= start for start, end in zip(positions, ends, strict=True))


@pytest.mark.parametrize(
    "unit",
    [*"x test str pass - a. a- a= &a A1 token= pass, eyJabcdefgh. a:@/b".split(), "1 ", '\\\\"', "key | "],
)
def test_a_long_value_is_judged_at_once(unit: str) -> None:
    value = unit * 5_000
    for text in (
        f'password = "{value[:3_900]}Q"',
        f"DB_PASSWORD={value}Q",
        f"curl -u a:{value}Q",
        f"password: |\n {value}Q",
    ):
        began = time.thread_time()
        redact(text)
        assert time.thread_time() - began < 5


def test_each_row_of_a_long_dump_is_searched_once() -> None:
    rows = 200
    found = find("(id, password, token) values (1, 'aB3dE5fG7hJ9', 'x')\n" * rows)
    assert rows <= len(found) <= 5 * rows


@pytest.mark.parametrize("name", ["token", "secret", "auth", "password", "creds"])
def test_a_line_is_searched_once_however_many_names_it_has(name: str) -> None:
    text = f"{name} " * 12 + "or what aB3dE5fG7hJ9kL2mN4pQ6 may be"
    assert 1 <= len(find(text)) <= 4


def test_a_value_beside_its_name_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(secrets, "looks", lambda value: (looked.append(value), looks(value))[1])
    assert len(find("DB_PASSWORD=aB3dE5fG7hJ9kL2m\n")) == 1 == len(looked)


def test_many_known_secrets_take_no_more_time_than_few() -> None:
    rng = random.Random(1)
    known = Known("".join(rng.choices(MIXED, k=16)) for _ in range(20_000))
    text = "".join(rng.choices(MIXED, k=400_000))
    began = time.thread_time()
    redact(text, known)
    assert time.thread_time() - began < 3


def test_known_secrets_cost_a_text_that_has_none_next_to_nothing() -> None:
    rng = random.Random(1)
    known = Known("".join(rng.choices(MIXED, k=16)) for _ in range(KNOWN_SECRETS))
    text = "is kept as it was. " * 9
    began = time.thread_time()
    for _ in range(500):
        redact(text)
    alone = time.thread_time() - began
    for _ in range(500):
        redact(text, known)
    assert time.thread_time() - began < 4 * alone


def restored(text: str, result: Redacted) -> str:
    """The text again, from the redacted one and the spans."""
    out = result.text
    for span in reversed(result.spans):
        at = result.position(span.start)
        assert out[at : at + len(span.placeholder)] == span.placeholder
        out = out[:at] + text[span.start : span.end] + out[at + len(span.placeholder) :]
    return out


def test_a_very_long_text_is_redacted_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(form.format(secret) for form, secret in SECRETS) + "\nthen hünter22é and wörd-7-tail\n"
    text += r"a line\nghp_" + "Wm7xQ2vLr9Tz4Kc8Nd3Bp6Hs1Jf5Yg0Ae" + "\n"
    known = Known(["hünter22é", "wörd-7-tail-that-is-cut-off", "ab12\ncd34efgh"])
    short = redact(text, known)
    monkeypatch.setattr(seeking, "LONG_CHARS", 0)
    assert redact(text, known) == short and len(short.spans) >= len(SECRETS) // 2


@pytest.mark.parametrize("digit_at", range(8))
def test_a_value_near_its_name_goes_wherever_its_digit_stands(digit_at: int) -> None:
    value = "wBkDfGhK"[:digit_at] + "7" + "wBkDfGhK"[digit_at + 1 :]
    assert value not in redact(f"password of ana\n\n{value}\n").text


HEADINGS = st.lists(st.sampled_from(["password", "user", "a", '"', "'", ",", ", ", "|", "  ", "\t", "x1"]))


@given(HEADINGS, HEADINGS)
@settings(max_examples=500, deadline=None)
def test_what_is_quoted_in_a_heading_ends_no_scan(heading: list[str], row: list[str]) -> None:
    redact("".join(["password", *heading, "\n", *row]))
    redact("".join([*heading, "password", *row, "\n"]))


def test_a_name_within_quotes_is_its_cells() -> None:
    text = '"host, port, password", user\nhunter22, ana\n'
    assert redact(text).text.count("ana") == 1
    redact('@mark("tool, button, key, password",\n')
