"""What secrets look like: the credentials of known services, and what belongs to a name that speaks of one.

Of services, as data, the prefixes, alphabets and lengths that they document; lengths are lower bounds where a
service has changed its own. Of names, what one says of its value, and of a value, whether by its looks it can
be the name's secret.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from aider_gardener.reading.late import late


class Format(NamedTuple):
    """A credential's form: `expression` is looked for in the lines that hold one of `words` (lower case); the
    secret is its last group, or all of it."""

    kind: str
    words: tuple[str, ...]
    expression: re.Pattern[str]


_PREFIXES = {
    r"[A-Za-z0-9]{20,}": """dapi dop_v1_ doo_v1_ dor_v1_ lin_api_ lin_oauth_ shpat_ shpss_ shpca_ shppa_ ntn_
        secret_ npm_ AKCp cio LTAI napi_ snyk_ gsk_ xai- pplx- r8_ hf_ api_org_ fw_ csk- jina_ e2b_ tgp_v1_
        fc- GR1348941 rzp_live_ rzp_test_ shippo_live_ shippo_test_ ico- p8e- tfp_ rnd_ CCIPAT_ CCIPRJ_ API-
        live_ test_ sk_ nsec1 ck_ cs_ eyJhIjoi eyJhdXRocy""",
    r"[A-Za-z0-9-]{19,}": """xkeysib- xsmtpsib- PMAK- NRAK- NRJS- NRII- CFPAT- HRKU- pul- pnu_ pnb_ rdme_
        FLWSECK FLWSECK_TEST- pat-na1- pat-eu1- access-sandbox- access-production- access-development-
        amzn.mws. tk-us- xaat- xapt-""",
    r"[\w-]{20,}": """AIza nvapi- tvly- rubygems_ figd_ figo_ sbp_ sb_secret_ phx_ nfp_ nfc_ sgp_ slk_ aio_
        bkua_ bkct_ CLOJARS_ tskey- ya29. 1//0 GOCSPX- dckr_pat_ dckr_oat_ hvs. hvb. hvr. github_pat_ ghp_
        gho_ ghu_ ghs_ ghr_ pypi- sk- sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ xapp- xoxa- xoxb-
        xoxe- xoxe.xoxp- xoxp- xoxr- xoxs- duffel_live_ duffel_test_ fio-u- dnkey- s-s4t2ud- s-s4t2af- squ_
        sqp_ sqa_ sm_aat_ sm_pat_ sm_sat_ lsv2_pt_ lsv2_sk_ pcsk_ hcaik_ pylf_v1_ wandb_v1_ vcp_ ABSK AQVN
        ops_""",
    r"[\w.=+/-]{20,}": """glpat- gldt- glrt- glptt- glcbt- glagent- glsoat- glft- glimt- glffct- gloas- ATATT3
        ATCTT3 ATSTT3 ATBB sq0atp- sq0csp- dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit. dt0c01.
        pscale_tkn_ pscale_pw_ pscale_oauth_ EZAK EZTK fo1_ fm2_ oy2 glsa_ glc_ sntrys_ sntryu_ whsec_
        access_token$production$""",
    r"[\w.-]{60,}": "EAA SG. sk. v1.0-",
    r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}": "re_",
    r"[0-9a-f]{32}(?!\w)": "SK key-",
    r"[\w-]{20,26}\.[\w-]{6,7}\.[\w-]{27,70}": "MD MT Mj Mz ND NT Nj Nz OD OT",
    r"[A-Z0-9]{16}(?!\w)": "AKIA ASIA ABIA ACCA",
    r"[A-Z0-9]{50,}": "AGE-SECRET-KEY-1",
    r"[A-Za-z0-9]{100,}": "xprv yprv zprv",
    r"[\w-]{8,2000}\.eyJ[\w-]{8,}(?:\.[\w-]*)?": "eyJ",
    r"[A-Za-z0-9]{14}\.[a-f0-9]{64}": "pat",
    r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,5}": "A3-",
}
"""What follows the first characters of tokens that begin so."""

_VALUE = r"""["']?((?<=")[^"$\n]{4,200}(?=")|(?<=')[^'\n]{4,200}(?=')|[^\s"'$<|-][^\s"'|<>]{3,200})"""
_WORD = r"(?!(?:the|and|for|from|with|that|must|not|your?|keys?)\b)[a-z]{3,12}"
_ROWS = r"""
# tokens known by a mark within them, and what crypt(3) makes of passwords
token ~ .atlasv1.,-us,sha256~,:aa,q~,$apr1$,$2a$,$2b$,$2y$,$1$,$5$,$6$,$y$,$argon2,
    {sha,{ssha,{crypt},pbkdf2,scram-sha ~
    \b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}|\b[0-9a-f]{32}-us\d{1,2}\b|sha256~[\w-]{43}|(?<!\d)\d{8,10}:AA[\w-]{33}
    |[\w.~-]{3}\dQ~[\w.~-]{31,34}
    |(?:[${](?:\w{1,4}|SS?HA\d{3}|argon2\w{1,2})[$}]|\b(?:pbkdf2|SCRAM)[\w-]{1,20}\$(?:\d+:)?)
    \$?(?:\w{1,9}=[\w=,]{1,40}\$){0,2}((?=\S{0,60}\d)(?:[\w./$=,+-]|(?<==):){20,200})
# a signed address: who has it needs no login
token ~ sig=,signature=,?code=,&code=,samlresponse= ~
    (?i)(?<![a-z])(?:sig(?:nature)?|(?<=[?&])code|samlresponse)=([\w%+/=-]{30,})
# keys of chains and ids that are secrets, in hexadecimal digits that elsewhere are hashes
token ~ accounts,secret id,secret_id,secretid,"keyname" ~
    (?i)"keyname"[^{}]{0,160}"value": "([\w+/=]{40,200})"|(?:accounts|secret[_ ]?id)\b.{0,40}?\b(?:0x)?
    ([\da-f]{64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\b
# an API's client is made of an account and its token, which have no names
token ~ client(,init(,')(,")( ~
    (?i)(?:client|init|["']\))\(\s{0,9}["'][\w-]{8,60}["'],\s{1,9}["']((?=\D{0,99}\d)[\w-]{20,200})["']
# who knows the path may post or call
webhook ~ hooks.slack.com,/webhooks/,webhook.office.com,infura.io,alchemy.com ~
    (?:slack\.com/\w{8,9}|/webhooks|/webhookb2|(?:infura\.io|alchemy\.com)(?:/ws)?/v\d)/([\w@/-]{20,})
# a user and a password before the host, or a token alone
url-password ~ :// ~
    ://(?:[^\s/:@"'`<>\[]{0,200}:((?!\d{1,5}[/?#])(?:[^\s"'`<>:]|:(?!//)){1,200})|([\w-]{20,}))@(?=[\w.\[-])
# the same in a DSN without ://
url-password ~ @tcp(,@/,@unix( ~ (?<![^\s"'`=])[\w.-]{1,100}:([^\s"'`]{4,200})@(?:(?:tcp|unix)\(|/\w)
# a line of .pgpass, of Postfix's sasl_passwd or of Dovecot's users
password ~ :5432:,:3306:,:*:,]:587,]:465,]:25,{plain} ~
    ^[\w.@-]{1,60}:\{PLAIN\}([^\s:]{4,200})
    |^(?:[\w.*-]+:(?:\d+|\*):[\w.*-]+:[\w.*-]+|\[[\w.-]+\]:\d+\s{1,9}[\w.@+-]+):(\S{4,200})\s{0,9}$
# headers, also where a sentence quotes one
authorization ~ bearer,basic,auth plain,auth login ~
    (?i)(?:bearer|basic|auth (?:plain|login))(?:\s{1,9}|(?<=er)(?: is|[:=])\s)([\w+/=.~-]{16,})
# a session's cookie is as good as a login
cookie ~ cookie,sessionid=, -b ' ~ -setcookie (\S{6,})|(?<![\w.-])[\w.-]{1,40}=(?![/.])([^\s;,()"'&]{16,})
cookie ~ sid",session",sessionid" ~ "[\w.-]{0,40}(?i:sid|session|sessionid)",\s{0,40}
    "value":\s?"([^"\s]{16,})"
# user:password as one argument
password ~  -u,"-u",'-u',-user, -a ,-auth ~
    (?:\b(?:curl|etcdctl|https?(?=\s)|(?:smb|rpc)client|lftp)\b.{0,200}?[\s"']--?(?:[uUa]|(?:proxy-)?user)
    |\s--[a-z]{1,9}-auth)[ =]?["', ]{0,4}[^\s:%,"']{1,200}[:%,]([^\s"']{4,200})
# options of one letter: of programs that mean a password by it, glued to it, or beside a user's option
password ~  -p,"-p,'-p,/p:, /p , /rp , -w , -a , -k , -n , -x , -hp ~
    (?:\b(?:7za?|zip|unzip|u?n?rar|redis-cli|sshpass|login|ldap\w+|sqlcmd|openssl\s[a-z]+|snmp\w+|twine|mongo\w*
    |plink|pscp|security|ssh-keygen|usermod|keytool|schtasks|xfreerdp|mcrcon|signtool)\b.{0,200}?
    \s(?:-[apPwkNAX]w?[ =]{1,2}|/r?p[: ]|-h?p(?!bkdf)(?=\S*\d))
    |\b(?:mysql|mariadb)\w*\b.{0,200}?["'\s]-p(?=["']?[^\s"']{6})
    |\s-[uUlp] \w\S{0,80}\s(?:.{0,80}?\s)??-[pPw][ =]?(?=\S*\d))(?![-/.]|\d+\s)VALUE
# a call that logs in: the text behind a user's name
password ~ auth(,auth=(,auth ",tication(,credential(,
    credentials(,connect(,nection(,login(,begin(,sqli(,pdo(,:basic ~
    (?i)(?:auth(?:entication)?|credentials?|connect(?:ion)?|\.login|\.begin|mysqli|pdo|:basic)
    (?:=?\(|,? (?=["']))
    [^()\n]{0,120}?["'][\w.@\\-]{1,60}["'],\s{0,3}(?:Some\()?["'](?=[^"'\n]*\d)([^"'\n/:]{6,200})["']
# the second password of an SNMP user
password ~  -x  ~ \bsnmp\w+\b.{0,200}\s-X\s{1,9}VALUE
# what is put into a vault by a command, whatever its name
password ~ secrets set ~ secrets set\s(?:.{0,200}?\s)??[A-Za-z]\w{1,60}=VALUE
# the key that a text is signed or ciphered with
password ~ hmac(,hmac.new(,aes.new(,cipher,fernet(,jwt.,getbytes(,[]byte( ~
    (?i)(?:\b(?:\w{0,6}hmac|aes|\w{0,6}cipher\w{0,6}|fernet|jwt)(?:\.\w{1,20})?\([^"'\n]{0,60}?
    |(?:(?:jwt|sign|secur|hmac)\w{0,20}key|secret)\w{0,20}\W.{0,60}?(?:getbytes|\[\]byte)\()
    (?:["'][\w-]{3,20}["'], ?)?b?["'](?!sha|md5|aes|des|rsa)([^"'\n]{8,200})["'](?!\s?:)
# Oracle's user/password@database
password ~ thin:,exp ,imp ,expdp ,impdp ,sqlldr ,rman  ~
    (?:\bthin:|\b(?:exp|imp|expdp|impdp|sqlldr|rman)\s(?:.{0,80}?[\s=])?["']?)
    [\w$#]{1,60}/([^\s"'@/]{4,60})@(?=[\w/(:])
# user / password, as people list them
password ~  /  ~
    (?<![^\s:(|"'])(?:[\w.@-]{2,60} / (?=\S*[!*^%~#$&@+])
    |[\w.-]{0,30}(?:admin|root|user|demo|test|guest|@[\w.-]{4,60}) / (?=\S*[A-Z])(?=\S*(?:[-_]|\d[a-z])))
    ((?=\S*\d)(?=\S*[a-zA-Z])[^\s"'/=(){},]{7,60}[^\s"'/=(){},.])(?=[\s,.]|$)
# a product key in five groups
token ~ t key,tkey,t_key,s key,d key,e key,licen,serial,activation ~
    \b((?=[A-Z-]*\d)[A-Z\d]{5}(?:-[A-Z\d]{5}){4})(?![\w-])
# words without a sign between, as routers, SNMP, .netrc and openssl have them
password ~ password ,psk ,secret ,requirepass ,bindpw ,masterauth ,rootpw ,pass:,
    community,snmp,string 7 ,md5 7 ,key 7  ~
    (?:\b(?:nmcli|ipmitool)\b.{0,200}?|^\s{0,9}(?:machine \S{1,200} |default )?
    (?:(?:login|user(?:name)?) \S{1,60}|enable)(?: privilege \d+)?)\s{1,9}(?:password|psk|secret)
     (?:\d )?VALUE|-pass(?:in|out)?\s{1,9}pass:([^\s"'$]{4,200})
    |^(?:(?i:config set) )?(?:requirepass|bindpw|masterauth|rootpw)\s{1,9}(\S{4,200})$
    |\b(?:(?:snmp(?:-server)? |r[ow])community6?|snmp(?:walk|get|set|bulk)\w*\s(?:.{0,99}?\s)??-c)
    \s{1,9}(?!public|private|string)VALUE
    |\b(?:password|key(?:-string)?|md5) 7 ([\dA-F]{8,200})\b
# expect scripts: what is sent when a password is asked for
password ~ assword,passphrase ~
    (?i)ass(?:word|phrase)[^\n"']{0,40}["'][\s{},)]{0,40}(?:\w{1,20}\.)?send(?:line)?[\s(]{1,3}(?:-- )?
    ["']([^"'\n$]{4,200}?)(?:\\[rn]|["'])
# what a command reads that asks for a password
password ~ echo ,printf ,<<< ~
    (?:echo|printf)(?: -n)?(?: ["']?%s\S{0,4})?\s{1,9}["']?(?:\w{1,40}:)?([^\s"'$]{6,200})["']?\s{1,9}\|
    (?=.{0,80}(?:pass|secret|sudo -S|luks|login|stdin|kinit|users|crypt))
    |(?:sudo -S|-stdin|chpasswd|luks|kinit).{0,80}(?<!<)<<<(?!<) ?VALUE
# commands whose argument behind the user is a password
password ~ net use,add_user,adduser,user add,nickserv ~
    (?:net\suser|net\suse\s\S{1,9}|add_?user|user add
    |(?i:nickserv\S{0,40}\s:?identify))(?: -\S{1,20}){0,3}(?: \S{1,60})?
    (?:\s/\S{1,99}){0,3}\s["']?((?=\S*\d)[^\s/*\-"'\\]\S{4,100}?)["']?(?=\s|$)
# what guards a Wi-Fi, a disk or a key may be words
password ~ psk,key content,wi-fi,wifi,wlan,passphrase ~
    (?i)^\s*(?:psk=|key content\s{1,30}: )((?=.*[^a-z\s])\S.{3,62})$
    |(?:passphrase|psk|(?:wi-?fi|wlan)[ _-]?(?:key|schl.ssel|pass\w{0,6}))\b
    (?:(?:[^"'\n:=]{0,40}?\s(?:is|ist|est|es))?\s{0,9}["']|[^"'\n:=]{0,40}?[:=]\s{0,9}["']?
    |[^"'\n:=.]{0,40}? (?:is|ist|est|es) (?=(?:WORD ){3})
    (?!(?:[a-z]{1,12} ){0,9}(?:[a-z]{0,12}(?:ed|ing|ly)|only|never|when|what|how|very|too|also|case)\b))
    ((?:WORD ){2,9}WORD)(?=["'.,]|\s*$)
# what a command prints that makes secrets
password ~ pwgen,openssl rand,urandom,genkey,genpsk,gen.secret,token_hex,token_urlsafe,rails secret ~
    ^[^\n;=]{0,40}(?:\b(?:pwgen|openssl rand|wg gen(?:key|psk)|rails secret)|urandom|gen\.secret
    |token_\w{3,7}\()[^\n<>]{0,120}\n["' ]{0,8}
    ((?:["' ]{0,2}\n?(?=\S{0,99}\d)[^\s"'<>(){}\[\]:;,.=]{8,200}={0,2}(?=["'\s]|\Z)){1,99})["' ]{0,9}(?![^\n])
# a file of two lines, a user and a password
password ~ cat  ~ \bcat \S{0,99}(?:auth|cred|login|pass)[^\s/]{0,40}\n[\w.@-]{1,60}\n
    ((?=\S*\d)(?=\S*[a-z])[^\s=:;"'(){}<>]{6,100})(?![^\n]|\n[^\n$#>`]+$)
# Bundler's settings of a gem host hold user:password
password ~ bundle_,bundle config ~
    (?:\bBUNDLE_(?!BUILD__|LOCAL__|MIRROR__)(?=\w{1,99}__)\w{1,200}["']?\s?[:=]
    |\bbundle config\b.{0,60}?\s(?:https?://)?(?!build\.|local\.|mirror\.)[\w-]{1,60}(?:\.[\w-]{1,60}){1,9}/?\s)
    \s{0,9}["']?(?:(\w{16,200}):x-oauth-basic|[^\s:"'/@$<{]{1,100}:([^\s"'/@$<{][^\s"'/@]{3,200}))
# conda's hosts take a token in the path
token ~ /t/ ~
    \b(?:(?:conda|repo|pkgs)\.anaconda\.(?:org|com|cloud)(?:/repo)?/t/((?=[\w-]{0,99}\d)[\w-]{8,200})
    |[\w.-]{1,99}(?::\d{1,5})?/t/([a-z]{2}-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}))(?![\w-])
# installers that print the first password at a line's end
password ~ temporary password,password for ~
    (?i)(?:temporary password [^:\n]{0,80}|password for \S{1,80}(?=:.*\d)): (\S{6,60})$
# ODBC's braces, within which any character may stand
password ~ pwd={ ~ (?i)pwd=\{((?:[^}\n]|\}\}){4,200})\}
# log in as somebody with a password, in a sentence
password ~  as , using , als , comme , como , come , met  ~
     (?:as|using|als|com[eo]|comme|met) ["'`]?[\w.@-]{1,60}["'`]? (?:with|using|and|mit|avec|con|com|met)
    (?: \w{2,12}){0,3}? ["'`]?((?=\S{0,60}\d)(?=\S{0,60}[!*^%~#$&@])[^\s"'`]{8,200})
# the seed of one-time codes, in base 32
token ~ app password,setup key,secret key,manual entry,entry key,key manually,totp,2fa ~
    \b((?=[A-Z]*[2-7])[A-Z2-7]{16,64})(?!\w)
    |\w+ \w+[^:\n]{0,40}(?::| is)\s{1,9}((?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{4})(?!\w)
# four to eight digits are no secret but where they are called a PIN
pin ~ pin ,pin:,pin= ~
    (?i)\bpin\b[^.,:\d\n"]{0,40}?(?:(?: is| ist| lautet| est?| [eéè]|:)\s{0,3}|=)(\d{4,8})(?![\w./:-])
# codes that replace a second factor
pin ~ recovery code,backup code ~
    (?i)(?:recovery|backup) codes?\b.{0,80}?(?::|are|\n)((?:\s{1,9}(?:[-*] |\d{1,2}[.)] |and )?
    (?=[a-z-]{0,20}\d)[a-z\d]{4,10}(?:-[a-z\d]{4,10}){0,4},?(?=\s|$)){2,20})
# the words of a wallet
phrase ~ mnemonic,phrase,seed,bip39,bip-39,wallet ~
    (?i)(?:mnemonic|phrase|seed|bip-?39|wallet)\b[^\n]{0,60}?\W((?:WORD[ ,]{1,2}){11,23}WORD)\b
"""
"""Tokens without a prefix, and credentials that are known by what stands around them: why, then kind, words,
and form; a line that is indented goes on with the one before."""


def _format(row: str) -> Format:
    kind, words, form = row.replace("VALUE", _VALUE).replace("WORD", _WORD).split(" ~ ", 2)
    return Format(kind, tuple(words.split(",")), late(form, re.ASCII | re.MULTILINE))


_WHOLE = _ROWS.replace(" ~\n    ", " ~ ").replace("\n    ", "").strip().splitlines()
FORMATS = tuple(_format(row) for row in _WHOLE if not row.startswith("#"))
TELLING = (
    "sqlplus|alias set|> auth |setuser|securestring"
    "|add-mask::|issecret=true|wifi:|wifi |account is|creds|d'api|chiave api|chave de api".split("|")
)
"""Commands, calls and words in whose line what looks like a secret is one."""
_BY_FIRST: dict[str, list[str]] = {}
for _rest, _row in _PREFIXES.items():
    for _prefix in _row.split():
        _BY_FIRST.setdefault(_prefix[0], []).append(re.escape(_prefix[1:]) + _rest)
TOKEN = re.compile(
    r"\b(?=[\w.=+/$-]{19})(?:[nrt](?<=\\[nrt]))?("
    + "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in _BY_FIRST.items())
    + ")",
    re.ASCII,
)
"""A token with a prefix; it may follow on a `\\n` as strings write it."""


class Looks(IntEnum):
    """What a value looks like: no secret, words, letters and digits, these in no order, many of them. Nothing
    looks like NEVER."""

    NONE, WORD, MIX, RANDOM, STRONG, NEVER = range(6)


FOREIGN_WORDS = (
    "kennwort|contrase|senha|wachtwoord|hasło|haslo|lösenord|parola|şifre|clave|heslo|salasana|jelsz"
    "|adgangskode|kodeord|lozink|geslo|parool|парол|密码|密碼|口令|パスワード|비밀번호|암호|पासवर्ड|סיסמ"
    "|كلمة المرور|كلمة مرور|كلمة السر|كلمة سر|κωδικ|mật khẩu|รหัสผ่าน|kata sandi"
)
"""What a password is called in other languages, without endings."""
PASSWORD_WORDS = (
    r"pass(?:w(?:or)?[dt]|ord)|passphrase|passcode|(?<!by)(?<!com)passe?\b|pwd|(?<!b)pw\b|identified\b"
    rf"|(?:psk|pre[_-]?shared[_-]?key)\b|(?:wi-?fi|wlan)[_. -]?(?:key|schlüssel)\b"
    rf"|\bmdp\b|(?:{FOREIGN_WORDS})\w{{0,3}}"
)
SECRET_NAME = late(
    rf"(?i){PASSWORD_WORDS}|(?<!existing)secret(?!sm|ar[iy]|i(?:on|ve)|ly)|token(?!i[sz])|credential|\bcreds\b"
    r"|\b_?auth\b|authorization|(?:\b|_)(?:salt|seed|pepper)$"
    r"|(?:api|access|auth|private|client|account|service|encryption|record|unseal"
    r"|master|app|licen[cs]e|shared|webhook|consumer|subscription|deploy)[_. -]?(?:key|schlüssel)"
    r"|signing[_. -]key|(?:zugangs|zugriffs|lizenz)schlüssel|密钥|密鑰"
)
"""A name that speaks of a secret."""
PASSWORD = late(rf"(?i)(?:{PASSWORD_WORDS})(?:e?[snt])?$")
"""A name whose value is a secret however it looks."""
CHOSEN = late(rf"(?i){PASSWORD_WORDS}|secret")
"""A name whose value people may choose; others are made by machines, and never words."""
KEY_NAME = late(
    r"(?i)\A(?!.*(?:public|cache|sort|partition))"
    r".*(?:keys?\W*|_api|_pat|[._]login)$"
)
"""A name that speaks of a secret only if its value is one by its looks."""
STRONG = re.compile(
    r"(?=[^\d\s]*\d+[^\d\s]+\d)(?=(?:[^\d\s]*\d){3})"
    r"(?:(?=\S*[a-z])(?=\S*[A-Z])|(?=(?:0x)?(?:[0-9a-f]{32}|[0-9A-F]{48})))[\w+/=~-]{20,4000}"
)
"""A value that no name, number or word looks like."""
NO_SECRETS_END = late(
    r"(?i)(?:algo|algorithm|arn|backend|class|cost|count|encoding|endpoint|error|expires|expiry|field|file|format"
    r"|from|hash|header|help|hint|id|index|kind|label|length|limit|message|mode|name|path|pattern|placeholder"
    r"|policy|prefix|provider|publickeytoken|ref|regex|rule|second|size|state|status|stdin|text|title|ttl|type"
    r"|uri|url|validator|version)s?\W*$"
)
"""Words at the end of a name that speak of a secret and hold none."""
NO_VALUE = late(
    r"""(?ix)^(?:
    [<\[{(%*.\#^\\].*|.*(?:\$\{|\{\{|%s|<[a-z_ -]+>).*  # a template
    |.*(?:\.\.\.|…|x{5}|\*{3}|\[a-z|\[0-9|\\[sdwb]).*  # a part, a pattern
    |\$[a-z_(].*|!(?:vault|secret|env)|0x(?:[\da-f]{1,16}|[\da-f]{40})|your[_ -].*  # a look-up, an address
    |[,+;)}&?:|=].*[(){};=].*|[a-z_]{2,40}=[^=].*|(?:required|string)\|.*  # code, a setting, a form's rule
    |-{1,2}[a-z][a-z-]*\d{0,5}(?:[\s=,].*)?  # an option
    |\d{1,4}|[\d./%:]*[./%:][\d./%:]*|\d{4}-\d\d-\d\d[t\d:.z+-]*|\W+  # a number, a time, signs
    |(?:(?:big)?u?int|float|str|bytes|utf-?)\d{1,3}(?:array|_t|mb4|le|be)?  # a type
    |(?-i:_?[A-Z]+(?:\d?_[A-Z\d]+)*_?|Test[A-Z]\w*)  # a constant, a test
    |(?:MIGfMA0|MII[BC]IjAN|MFkwEwYH).*  # a public key
    |(?-i:g[0-9a-f]{9})  # a message's id, which notes have behind any word
    )$"""
)
"""A value that by its form is none."""
WEAK = late(
    r"(?=.*[^\W\d_])(?!(?:\D*\d){5})(?:[\d\W_x]|test(?:ing|er)?|demo|dummy|error|warn|fake|mock|sample|example"
    r"|placeholder|wrong|invalid|bad|good|foo|bar|any|boolean|none|null|nil|never|unknown|plain|hashed|encrypted"
    r"|new|old|my|your|some|the|users?|admin|guest|root|secret|pass(?:w[o0]rd|wd|phrase)?|pwd|pw|tokens?|key"
    r"|credentials?|baz|abc|xyz|qwerty|default|local|dev|value|str(?:ing)?|bytes|number|integer|object"
    r"|true|false|undefined|optional|required|name|login|auth|api|client|letmein|change|me|text"
    r"|option|flag|argument|hidden|email|data|bool|int|float|uuid|char|list|array|dict|map)+"
)
"""A value of such words, in small letters, and at most four digits guards nothing: a test's login."""
LABEL = late(
    r"(?i)(?=[^\W\d_]+(?:\d?[-_/.:][^\W\d_]+){0,20}[-_.]?v?\d?\Z)"
    rf"(?:.*(?:[\W_]|(?-i:[a-z](?=[A-Z]))))?(?:{PASSWORD_WORDS}|pass|secret|token|auth|login|credential|user|reset|key).*"
)
PLACE = re.compile(r"[\w.]+\(.*|arn:.*|(?:[a-z]+://|\.{0,2}/|~/).*|[a-z][\w.]*@[\w-]+(?:\.[\w-]+)+")
"""Calls, paths, addresses."""
SENTENCE = late(
    rf"(?i).*[.?!:…]|.*(?:{PASSWORD_WORDS}|secret|token|login|credential|\bkeys?\b).*"
    r"|(?:.*\s)?(?:is|are|be|must|not|your?|please|required|invalid|ist|bitte|nicht|est|votre)(?:\s.*)?"
)
"""Words for people: what ends as a sentence, names what it asks for, or has a sentence's small words."""
MIXED = re.compile(r"(?=.*\d)(?=.*[^\W\d_])", re.DOTALL)
_SEPARATES = r"-_./:+\s"
WORDY = re.compile(
    rf"(?s)(?=.{{0,15}}\Z|[{_SEPARATES}]*[^{_SEPARATES}]+[{_SEPARATES}]+[^{_SEPARATES}])"
    rf"[{_SEPARATES}]*(?:(?:[A-Za-z]+\d{{0,2}}|\d{{1,4}}|v\d+)(?:[{_SEPARATES}]+|\Z))*"
)
"""Words and a short number: `step-3`, `user_token_v2`, `test/fixture1.json`."""


def kind_of(name: str) -> str:
    """What a name says of its value: "password", a secret however it looks; "secret", one if it looks so;
    "token", one if it is no words; "key", one if it looks like nothing else; "", none. A number
    at its end says nothing."""
    return _kind_of(name.rstrip("_-.0123456789"))


@lru_cache(4_096)
def _kind_of(name: str) -> str:
    if NO_SECRETS_END.search(name):
        return ""
    if SECRET_NAME.search(name):
        return "password" if PASSWORD.search(name) else "secret" if CHOSEN.search(name) else "token"
    return "key" if KEY_NAME.search(name) else ""


def looks(value: str) -> Looks:
    """What a value looks like that belongs to a name."""
    if len(value) < 4 or NO_VALUE.fullmatch(value) or WEAK.fullmatch(value.lower()) or LABEL.fullmatch(value):
        return Looks.NONE
    if (PLACE.fullmatch(value) and not STRONG.fullmatch(value)) or (
        " " in value and SENTENCE.fullmatch(value)
    ):
        return Looks.NONE
    if len(value) >= 8 and len(set(value)) >= 7 and MIXED.match(value) and not WORDY.fullmatch(value):
        return Looks.STRONG if STRONG.fullmatch(value) else Looks.RANDOM
    if MIXED.match(value):
        return Looks.MIX
    return Looks.NONE if value.isalpha() and not value.isascii() else Looks.WORD


def is_idle(kind: str, value: str) -> bool:
    """Whether what stands in a secret's place is none: a template, a word, the port of `http://a:8080@x`."""
    if kind == "pin":  # of any digits
        return False
    is_name = kind in ("authorization", "cookie") and WORDY.fullmatch(value.rstrip("=")) is not None
    return is_name or NO_VALUE.match(value) is not None or WEAK.fullmatch(value.lower()) is not None
