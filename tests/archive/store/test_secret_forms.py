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


HARMLESS = (
    "{0} = get_{0}()",
    "{0}: str",
    "{0}: FieldInfo",
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
    "apt\tbase-{0}\t3.6.1\napt\tbash\t5.2.15-2+b8",
    "COPY t (id, {0}_id, {0}) FROM stdin;\n1\t77\t\\N\n",
    "{0} plugin\nplugin: caching_sha2_password",
    "existingSecret: shop-{0}-v2",
    "import {0}\nfrom model import claude-sonnet-4-20250514",
)


@pytest.mark.parametrize("form", HARMLESS)
def test_what_is_no_value_stays(form: str) -> None:
    for name in [*NAMES, *TOKENS, "token", "secret", "primary_key", "auth", "pass", "seed"]:
        text = form.format(name)
        assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("oc login --token=sha256~" + "k2Qw9Zx4" * 6, "k2Qw9Zx4"),
        ("AUTH PLAIN AGFkYQBvdHRlci1Db2JhbHQ0UkI=", "AGFkYQBvdHRlci"),
        ("sessionid=8f2kq0zxw7v3m5n1", "8f2kq0zxw7v3m5n1"),
        ("default login ada password otter", "otter"),
        ("openssl rsa -passin pass:ottercobalt -in k.pem", "ottercobalt"),
        ("gpg --passphrase 'wald und wiese neun' -d x.gpg", "wald und wiese neun"),
        ('mysqldump --password "gartentor" shop', "gartentor"),
        ("A temporary password is generated for root@localhost: k/Wq8x,Lm2pZ", "k/Wq8x,Lm2pZ"),
        ("WIFI:T:WPA;S:attic;P:otter-Cobalt4RB;;", "otter-Cobalt4RB"),
        ("use otter-Cobalt4RB as the password", "otter-Cobalt4RB"),
        ("for db1, Otter!4cobalt since May, is no longer the password", "Otter!4cobalt"),
        ("password=otter;tal7", "tal7"),
        ("htpasswd -b /etc/x mona Treibgut7x", "Treibgut7x"),
        ("username mona secret 5 Hafenkante9", "Hafenkante9"),
        ("[client]\nuser = ada\npassword = gartentor\nport = 1", "gartentor"),
        ("Password\nGartentor88", "Gartentor88"),
        ('<x:Password Type="Text">Garten#tor</x:Password>', "Garten#tor"),
        ("user/password: ada / Garten88tor", "Garten88tor"),
        ('"client_secret": "Gartentor88"', "Gartentor88"),
        ("bindpw wald.und.Wiese", "wald.und.Wiese"),
        ("rabbitmqctl add_user ada 'Garten-Tor1'", "Garten-Tor1"),
        ('BUNDLE_GEMS__CONTRIBSYS__COM: "4c9d2e7f:a81b36d0"', "a81b36d0"),
        ("export BUNDLE_GEMS__ACME__COM=ana:gartentor", "gartentor"),
        ("bundle config set --global gems.contribsys.com 4c9d2e7f:a81b36d0", "a81b36d0"),
        (f"bundle config --local github.com {'ab01' * 10}:x-oauth-basic", "ab01ab01"),
        ("- https://conda.anaconda.org/t/a1b2c3d4e5f6/acme/linux-64", "a1b2c3d4e5f6"),
        ("https://c.acme.io/t/ac-0a1b2c3d-1111-2222-3333-444455556666/get/x", "0a1b2c3d"),
        ("DB_PASSWORD_2=gartentor", "gartentor"),
        ("password: k;Lm2pZ!w", "k;Lm2pZ!w"),
        ("the PIN is 4829", "4829"),
        ("COPY t (id, password) FROM stdin;\n1\tGarten-tor\n\\.\n", "Garten-tor"),
        ('COPY "t" ("id", "passwd") FROM STDIN WITH (FORMAT csv);\n1,Garten-tor\n', "Garten-tor"),
        ("lftp -u ada,Gartentor88 ftp.acme.io", "Gartentor88"),
        *(
            (command, "Gravel7moss")
            for command in (
                "mongo -p Gravel7moss db",
                "sqlcmd -P Gravel7moss -Q x",
                "usermod -p Gravel7moss ada",
                "unrar x -pGravel7moss a.rar",
                "rar a -hpGravel7moss a.rar b",
                "mcrcon -H h -p Gravel7moss list",
                "twine upload -p Gravel7moss dist/*",
                "security unlock-keychain -p Gravel7moss a.keychain",
                "docker login -p Gravel7moss h",
                "openssl enc -k Gravel7moss -in a",
                "['curl', '-u', 'ada:Gravel7moss']",
                'Authentication("ada", "Gravel7moss")',
                'WiFi.begin("attic", "Gravel7moss");',
                "schtasks /create /tn x /ru ada /rp Gravel7moss",
                "hmac.new(b'Gravel7moss', body, sha256)",
                'var jwtKey = []byte("Gravel7moss")',
                'new SymmetricSecurityKey(Encoding.UTF8.GetBytes("Gravel7moss"))',
            )
        ),
        (f"https://{'4f9c1b2a' * 4}@o1.ingest.example/2", "4f9c1b2a"),
        ("value: abc8Q~" + "k2Qw9Zx4" * 4, "k2Qw9Zx4"),
        ("got sha256~" + "k2Qw9Zx4" * 5 + "Abc", "k2Qw9Zx4"),
        ("Şifre: gartentor", "gartentor"),
        ("    storePassword 'Garten-Tor'\n", "Garten-Tor"),
        ("le PIN du badge est 482913", "482913"),
        ("my backup codes are 8f3k-92md and x71p-44qz", "x71p-44qz"),
        ("sudo -S true <<< 'Gar$tentor 8'", "tentor 8"),
        ("the wifi key is 8hFq-22kd-PPz1", "8hFq-22kd-PPz1"),
        ("the TOTP seed of ada is JBSW Y3DP EHPK 3PXP, scan it", "3PXP"),
        (f"{'4f9c1b2a' * 5} is the api token of staging", "4f9c1b2a"),
        (f"{'4f9c1b2a' * 4}  # webhook secret", "4f9c1b2a"),
        (f"What is the api token? {'4f9c1b2a' * 4} is the api token", "4f9c1b2a"),
        ('the passphrase of my key is "seven otters drink coffee", why?', "otters"),
        ("psk=eleven green kites", "green"),
        ("WLAN-Schlüssel: apfelbaum sonne kanu", "sonne"),
        ("WLAN-Schlüssel im Flur: kaffee-um-9-Uhr", "kaffee-um-9"),
        ("hasło do bazy: Garten.Kessel88", "Kessel88"),
        ("the wifi code for guests is Garten-88-Tor", "Garten-88"),
        ("login: ada / Gartentor88", "Gartentor88"),
        (f"seed words: {'river acid novel plunge ' * 3}tiger", "novel"),
        ("<td>Password</td><td>Garten#tor</td>", "Garten#tor"),
        ("AES.new(b'Garten-tor-und-Wald', AES.MODE_CBC, iv)", "Garten-tor"),
        ("jwt.sign(payload, 'Garten-tor-und-Wald', { expiresIn: '1h' })", "Garten-tor"),
        (f'let key = SymmetricKey(data: Data(base64Encoded: "{"k7x/vR2+" * 5}k7x=")!)', "k7x/vR2+"),
        (f"require('twilio')('AC{'4f' * 16}', '{'5e' * 16}')", "5e5e5e"),
        ("$ pwgen 12 2\nGarten88torX\nWiese77bach", "Wiese77bach"),
        (f">>> secrets.token_hex(16)\n'{'4f9c1b2a' * 4}'", "4f9c1b2a"),
        ("$ cat vpn/auth.txt\nada\nGarten-Tor88", "Garten-Tor88"),
        ("demo / Garten-tor88, then click", "Garten-tor88"),
        ("the passphrase of the key is copper walnut bridge seven, so", "walnut"),
        ("/msg NickServ IDENTIFY ada Garten-tor88", "Garten-tor88"),
        ("radius-server key 7 14141B180F0B7B79", "14141B180F0B7B79"),
        ("rwcommunity gartentor", "gartentor"),
        ("snmpget -v2c -c gartentor 10.0.0.1 sysName.0", "gartentor"),
        ("wpa2-pre-shared-key=gartentor", "gartentor"),
        (f"ada:$5$rounds=9000$Tg4$k{'7xvR2' * 8}:1:0", "7xvR2"),
        (f"pbkdf2_sha256$600000$Tg4k$k{'7xvR2' * 8}=", "7xvR2"),
        ("ada:{PLAIN}gartentor::", "gartentor"),
        ('{"name": "PHPSESSID", "value": "4f9c1b2a4f9c1b2a"}', "4f9c1b2a"),
        ("request :basic, 'ada', 'Garten88tor'", "Garten88tor"),
        ("config set masterauth gartentor", "gartentor"),
        ("openssl enc -pbkdf2 -k Gravel7moss -in a", "Gravel7moss"),
        (f"take the api key of the weather: {'4f9c1b2a' * 4}", "4f9c1b2a"),
        ("Secret Access Key [None]: jNtR2wAqaMH/NFOFnaoe+jdwTNeykMHSe", "NFOFnaoe"),
        ("with password **Garten-Tor88**.", "Garten-Tor88"),
        ("the password is **Garten-Tor88**", "Garten-Tor88"),
        ("log in using ada with Garten!tor88", "Garten!tor88"),
        ("log in as ada and Garten!tor88", "Garten!tor88"),
        (f"ada:{{SHA512}}k{'7xvR2' * 8}==", "7xvR2"),
        (f"ada:$argon2id$v=19$m=65536,t=3,p=4$Tg4kTg4k$k{'7xvR2' * 8}", "7xvR2"),
    ],
)
def test_a_form_that_no_labelled_text_has_goes(text: str, secret: str) -> None:
    assert secret not in redact(text).text


def test_a_setting_that_stands_elsewhere_in_code_too_stays_but_not_for_what_is_far_away() -> None:
    setting, code = "[client]\nuser = ada\npassword = gartentor\n", "print(gartentor)\n"
    assert "gartentor" in redact(setting + code).text
    far = redact(setting + "port = 1\n" * 400 + code).text
    assert "password = gartentor" not in far


@pytest.mark.parametrize("name", ["token", "continuationToken", "api_key", "auth"])
@pytest.mark.parametrize("value", ["color.blue.500", "kw_func2", "SCRAM-SHA-256", "page2-of-7"])
def test_words_and_short_numbers_are_no_token_and_may_be_a_password(name: str, value: str) -> None:
    text = f"{name}: {value}\n"
    assert redact(text).text == text
    assert value not in redact(f"password: {value}\n").text
