"""A grammar of forms: wherever a name says that it is a secret, its value goes, however the two are joined; code,
placeholders and counts in the same places stay."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.store.redact import redact

NAMES = (
    "password DB_PASSWORD dbPassword admin_passwd smtp_pass userPwd db_pw passphrase Kennwort Passwort contraseña "
    "senha mot_de_passe wachtwoord hasło пароль 密码 パスワード"
).split()
TOKENS = "api_key API_TOKEN clientSecret auth_token accessToken SECRET_KEY webhook_secret".split()
JOINED = (
    "{0} = '{1}'",
    '{0}="{1}"',
    "{0}={1}",
    "{0}: {1}",
    '{0}: "{1}"',
    "{0} := `{1}`",
    '"{0}" => "{1}",',
    "{0} -> {1}",
    "{0} → {1}",
    '{{"{0}": "{1}"}}',
    '{{"name": "{0}", "value": "{1}"}}',
    "- name: {0}\n  value: {1}",
    '<{0} value="{1}"/>',
    '<entry key="{0}">{1}</entry>',
    "<{0}>{1}</{0}>",
    '[{0}, "{1}"]',
    'set("{0}", "{1}")',
    "export {0}={1}",
    "run --set a.{0}={1},b=c",
    "{0}: |\n  {1}",
    "{0} = [\n  '{1}',\n]",
    '#define {0} "{1}"',
    'const char *{0} = "{1}";',
    'let {0}: &str = "{1}";',
    "| user | {0} |\n|---|---|\n| ada | {1} |",
    "user;{0}\nada;{1}",
    "the {0} is {1}, as told",
    "({0}: {1})",
    "Enter {0} for ada: {1}",
    "https://x.test/?a=b&{0}={1}&c=d",
    "# {0}: {1}",
)
LETTERS, DIGITS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"


@st.composite
def values(draw: st.DrawFn) -> str:
    """Long values of letters and digits in no order."""
    groups = st.lists(
        st.tuples(st.sampled_from(LETTERS), st.sampled_from(DIGITS)), min_size=11, max_size=16, unique=True
    )
    text = "".join(letter + digit for letter, digit in draw(groups))
    return f"k{text}Q"


@given(st.sampled_from(NAMES + TOKENS), st.sampled_from(JOINED), values())
@settings(max_examples=150, deadline=None)
def test_a_value_that_is_joined_to_a_secrets_name_goes(name: str, joined: str, value: str) -> None:
    text = f"first\n{joined.format(name, value)}\nlast"
    left = redact(text).text
    assert value not in left
    assert left.startswith("first\n") and left.endswith("\nlast")
    assert redact(left).text == left


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("cf login -u ada -p otter-Cobalt4RB", "otter-Cobalt4RB"),
        ("xfreerdp /u:ada /p:otter-Cobalt4RB /v:10.0.0.4", "otter-Cobalt4RB"),
        ("echo 'root:otter-Cobalt4RB' | chpasswd", "otter-Cobalt4RB"),
        ("use otter-Cobalt4RB as the password", "otter-Cobalt4RB"),
        ("log in with ada / otter-Cobalt4RB", "otter-Cobalt4RB"),
        ('HTTPBasicAuth("ada", "otter-Cobalt4RB")', "otter-Cobalt4RB"),
        ("WIFI:T:WPA;S:attic;P:otter-Cobalt4RB;;", "otter-Cobalt4RB"),
        ('expect "Password:"\nsend "otter-Cobalt4RB\\r"', "otter-Cobalt4RB"),
        ("PUK: 48291733", "48291733"),
        ("seed phrase: " + "witch collapse practice feed " * 3 + "shame", "collapse practice"),
        ("tokens:\n  - aB3dE6gH9jK2mN5pQ8rS\n  - tU4vW7xY0zA1bC2dE3fG", "tU4vW7xY0zA1bC2dE3fG"),
        ("$ cat config/master.key\nf078f195c4297aa45b5bbc9ae3753b6a", "f078f195c4297aa4"),
        ("$ vault kv get -field=password secret/db\nTruhe22xq", "Truhe22xq"),
        ("uri ldaps://l.test\nbindpw otter.Cobalt\nssl on", "otter.Cobalt"),
        ("[wifi-security]\npsk=otter on 2 stones\n", "otter on 2 stones"),
        ("UID=sa;PWD={otter;Co}}balt};Encrypt=yes", "otter;Co}}balt"),
        ("java -Ddb.password=ottercobalt -jar a.jar", "ottercobalt"),
        ("ENV API_TOKEN ottercobalt", "ottercobalt"),
        ('admin_password = """otter#Cobalt;4"""', "otter#Cobalt;4"),
        ("u8 APPKEY[16] = { 0xBB, 0x97, 0x71, 0xD7, 0x9F, 0x0E, 0x1F, 0x85 };", "0x97, 0x71"),
        ("postgresql://u:p@ss/w9rd@db.test:5432/d", "p@ss/w9rd"),
        ("default login ada password otter", "otter"),
        ("ada:$2y$10$abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTU", "abcdefghijklmnop"),
        ("A temporary password is generated for root@localhost: k/Wq8x,Lm2pZ", "k/Wq8x,Lm2pZ"),
        ("redis-cli -h a.test -p 6380 -a otterCobalt4 ping", "otterCobalt4"),
        ("our db password: otter-ranke-3 (rotate soon)", "otter-ranke-3"),
        ("password  cTdIdk1hcGxlLVN0cmVldC00NA==\n", "cTdIdk1hcGxlLVN0"),
        ("data:\n  password: cTdIdk1hcGxlLVN0cmVldC00NA==\n", "cTdIdk1hcGxlLVN0"),
        ('user admin\n(gdb) print cfg->password\n$1 = 0x5555 "otter-Cobalt4RB"', "otter-Cobalt4RB"),
    ],
)
def test_a_value_without_a_name_beside_it_goes(text: str, secret: str) -> None:
    assert secret not in redact(text).text


HARMLESS = (
    "{0} = get_{0}()",
    "{0}: str",
    "{0} = os.environ['X1']",
    '{0} = "<your-{0}>"',
    '{0} = "changeme"',
    '{0} = "${{X1}}"',
    "{0} must have 12 characters",
    "def check({0}, size2): pass",
    '"{0}": None',
    "fixed the {0} form\n\ncommit 1f0c8b7a9d3e5f60718293a4b5c6d7e8f9012345",
    'self.{0} = {0}\nself.etag = "e868e9a179feda3820c596ccc289a844"',
    "{0} reset of 550e8400-e29b-41d4-a716-446655440000",
    "{0} changed 2026-03-02T09:14:11Z in 0.156313ms",
    "tests/{0}_test2.py::test_b12 passed",
    "{0}_length=412/423",
    "see the {0} in src/app/page2.html",
    "import {0}\nfrom model import claude-sonnet-4-20250514",
)


@pytest.mark.parametrize("form", HARMLESS)
def test_what_is_no_value_stays(form: str) -> None:
    for name in [*NAMES, *TOKENS, "token", "secret", "primary_key", "auth", "pass", "seed"]:
        text = form.format(name)
        assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "docker run -u root -p 127.0.0.1:5432:5432 postgres:16",
        '{"error": "invalid_token", "request_id": "req_9f86d081884c7d65"}',
        "use argon2id as the password hash",
        '<input type="password" id="pw2" class="form-control-lg2">',
        "compile pass 2: O3 -march=x86-64-v3",
        "jq -r '.data[\"db-password\"] | @base64d' secret.json",
        "salt = hash(password, rounds=12)",
        "$ cat tests/password_test.py\nimport os2",
        "$ kubectl delete secret db-password\nsecret/db-password2 deleted",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/ledger-AbC12x",
        "'password' => 'required|string|min:8|confirmed',",
        't.string :encrypted_password, default: ""\nt.string :reset_password_digest2',
        "SECRET_SCAN_EXCLUDED_PATHS: 'tests/fixtures9/a1b2c3'",
        "temporary password: see the mail",
        "password   required\n",
        "passed in (0.156313ms)",
    ],
)
def test_another_names_value_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('DB_PASSWORD="mein Hund 4 Pfoten"', "mein Hund 4 Pfoten"),
        ('psk="sieben Schraubenzieher"', "sieben Schraubenzieher"),
        ('#define WIFI_PASS "76106458110614338407"', "76106458110614338407"),
        ("| user | Password |\n|---|---|\n| ada | kranich-mai |", "kranich-mai"),
        ("smtp:\n  user: bot\n  password: mein kleiner Esel 9\n", "mein kleiner Esel 9"),
        ("mysql --password=laubfrosch app", "laubfrosch"),
        ("CREATE USER bob IDENTIFIED BY 'blauerhimmel';", "blauerhimmel"),
        ('char pass[] = "laubfrosch";', "laubfrosch"),
        ('{:user "x" :password "laubfrosch"}', "laubfrosch"),
        ("env:\n  - name: DB_PASSWORD\n    value: feldhamster\n", "feldhamster"),
        ("CYPRESS_RECORD_KEY: 6685cdfc-2dd0-4669-a31b-fbe7d95c97d0", "6685cdfc-2dd0-4669"),
    ],
)
def test_words_under_a_passwords_name_go(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    user: str\n    password: SecretStr\n",
        "const form = {\n  user,\n  password: plaintext\n}\n",
        "password = raw\nuser = x\n",
        "    password=pw,\n    token=tok\n)\n",
        '{"password": "Type at least 8 of them", "new_password": "is required"}',
        "Password must contain a digit.\nToken refresh failed\n",
        "password    requisite    pam_pwquality.so retry=3\n",
        "run --password-file=%d/db-password --password-stdin registry.example",
        "[user]\n\tsigningkey = 3AA5C34371567BD2\n",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        '{"Test":"TestLevel0","Output":"--- PASS: TestLevel0"}',
        '("DEEPSEEK_API_KEY", "deepseek")',
        "secret: my-app-tls\n",
        "def encode(\n    private_key: ed25519.Ed25519PrivateKey,\n)",
        "the password moved to: app2x9Kq.fixtures7b and on",
        "password was changed on 2026-03-02T09:14:11Z, by hand",
        "to rerun pass `-p part_2 --lib`",
        "pass: 12345\n",
        "password: !vault |\n",
    ],
)
def test_what_is_recognisably_no_secret_stays(text: str) -> None:
    assert redact(text).text == text
