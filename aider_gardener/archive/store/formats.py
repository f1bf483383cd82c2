"""What credentials of known services look like, as data.

Prefixes, alphabets and lengths are those that the services document; lengths are lower bounds where a service
has changed its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from aider_gardener.reading.late import late

BEFORE_WORD_CHARS = 300
"""So far before its word, in the same line, what must stand there is looked for."""


class Format(NamedTuple):
    """A credential's form: `expression` matches at one of `words` (lower case); `before`, if there is one, is
    found before it in the line. The secret goes from the group of the first that has one to that of the
    last."""

    kind: str
    words: tuple[str, ...]
    before: re.Pattern[str] | None
    expression: re.Pattern[str]


_PREFIXES = {
    r"[A-Za-z0-9]{20,}": """gsk_ xai- pplx- r8_ hf_ api_org_ fw_ csk- jina_ e2b_ tgp_v1_ fc- GR1348941
        rzp_live_ rzp_test_ shippo_live_ shippo_test_ ico- p8e- tfp_ rnd_ CCIPAT_ CCIPRJ_ API- live_ test_
        sk_""",
    r"[A-Za-z0-9]{30,}": """dapi dop_v1_ doo_v1_ dor_v1_ lin_api_ lin_oauth_ shpat_ shpss_ shpca_ shppa_ ntn_
        secret_ npm_ AKCp cio LTAI napi_ snyk_""",
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
    r"[0-9a-f]{32}": "key-",
    r"[0-9a-f]{32}(?!\w)": "SK",
    r"[\w-]{20,26}\.[\w-]{6,7}\.[\w-]{27,70}": "MD MT Mj Mz ND NT Nj Nz OD OT",
    r"[A-Z0-9]{16}(?!\w)": "AKIA ASIA ABIA ACCA",
    r"[A-Z0-9]{50,}": "AGE-SECRET-KEY-1",
    r"[\w-]{8,2000}\.eyJ[\w-]{8,}(?:\.[\w-]*)?": "eyJ",
    r"[A-Za-z0-9]{14}\.[a-f0-9]{64}": "pat",
    r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,5}": "A3-",
}
"""What follows the first characters of tokens that begin so."""

_PARTS = {
    "VALUE": r"""(?:"([^"$]{4,200})"|'([^']{4,200})'|([^\s"'$<|-][^\s"'|<>]{3,200}))""",
    "TELLING": r"""(?<![^\s"'`])((?=[^\s"'`]{0,60}\d)(?=[^\s"'`]{0,60}[A-Za-z])[^\s"'`]{6,200})""",
    "TIGHT": r"""((?=[^\s"'`]{0,60}(?:[A-Za-z]\d[^\s"'`]{0,60}[A-Za-z]|\d[^\s"'`]{0,60}[!*^%~#$&@]"""
    r"""|[!*^%~#$&@][^\s"'`]{0,60}\d))[^\s"'`]{6,200})""",
    "AFTER_USER": r"""([^\s"'`<>]{4,200}(?=@[\w.-]+:\d{2,5}(?:[/\s"']|$))"""
    r"""|[^\s/"'`<>]+|(?!\d{1,5}[/?#])[^\s"'`<>]{4,200})""",
    "ARGUMENT": r"""(?:["'][^"'\n]{1,200}["'](?:\.\w{1,20}\(\))?|[$@]?[\w.]{1,60}"""
    r"""|\{[^{}\n]{0,200}\}),\s{0,9}""",
    "NAME": r"(?:pass\w{0,6}|pwd|pw|kennwort|contrase\S\S?a|senha|wachtwoord|has[lł]o|парол\S|密码|secret"
    r"|\w{0,9}\s?(?:token|key))",
}
_OTHERS = r"""
token ~ .atlasv1. ~ \b([A-Za-z0-9]{14})$ ~ (\.atlasv1\.[\w=-]{40,})
token ~ -us ~ \b([0-9a-f]{32})$ ~ (-us\d{1,2})\b
token ~ infura.io/,alchemy.com/ ~ - ~ \w+\.\w+/(?:ws/)?v\d/([\w-]{20,})
token ~ sha256~ ~ - ~ (sha256~[\w-]{43})
token ~ accounts ~ - ~ accounts\b.{0,40}\b(?:0x)?([0-9a-f]{64})\b
token ~ :aa ~ (?<!\d)(\d{8,10})$ ~ (:AA[\w-]{33})
token ~ 0q~,1q~,2q~,3q~,4q~,5q~,6q~,7q~,8q~,9q~ ~ ([\w.~-]{3})$ ~ (\dQ~[\w.~-]{31,34})(?![\w.~-])
token ~ sig=,signature= ~ - ~ (?i)(?<![a-z])sig(?:nature)?=([\w%+/=-]{30,})
webhook ~ hooks.slack.com ~ - ~ hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})
webhook ~ /api/webhooks/ ~ - ~ /api/webhooks/(\d{10,30}/[\w-]{20,})
webhook ~ webhook.office.com ~ - ~ webhook\.office\.com/webhookb2/([\w@/-]{60,})
url-password ~ :// ~ - ~ ://(?:[^\s/:@"'`<>\[]{0,200}:AFTER_USER|([\w-]{20,}))@(?=[\w.\[-])
url-password ~ @tcp(,@/,@unix( ~ (?<![^\s"'`=])[\w.-]{1,100}:([^\s"'`]{4,200})$ ~ @(?:(?:tcp|unix)\(|/\w)
url-password ~ :thin:,connect ,sqlplus ~ - ~ :?\w{4,7}[: ]\w{1,60}/([^\s@/"']{4,200})(?:@|$)
password ~ :5432:,:3306:,:*: ~ ^[\w.*-]+$ ~ :(?:\d+|\*):[\w.*-]+:[\w.*-]+:(\S{4,200})$
authorization ~ bearer,basic ~ - ~ (?i:bearer|basic)(?:\s{1,9}|(?<=er)(?: is|[:=])\s)([\w+/=.~-]{16,})
authorization ~ authorization,auth plain,auth login ~ - ~
    (?i)(?:authorization["']?\s?[:=]\s?["']?[\w-]{1,30}|auth (?:plain|login))\s{1,9}([\w+/=.~-]{16,})
cookie ~ sessionid=,sessid= ~ - ~ \w{4,9}=([^\s;"']{16,})
cookie ~ sess,sid=,auth,token,jwt,remember ~ (?i)\bcookie["']?[:=]|\bcurl\b ~ [\w.-]{0,40}=([^\s;"']{16,})
password ~  -u,"-u",'-u',--user,--proxy-user ~ \b(?:curl|etcdctl)\b ~
    [\s"']?--?[a-z-]{1,10}[ =]?["', ]{0,4}[^\s:"']{1,200}:([^\s"']+)
password ~ mysql,mariadb ~ - ~ \w{5,12}\b.{0,200}?["'\s]-p["']?([^\s"'$-]{6,})
password ~  -p,/p:, -w , -a , -k , -n , -x , -hp ~
    \b(?:7za?|zip|unzip|u?n?rar|redis-cli|sshpass|login|ldap\w+|sqlcmd|mosquitto_\w+|ipmitool|openssl\s[a-z]+|snmp\w+|twine|mongo\w*|plink|pscp|security|ssh-keygen
    |cqlsh|rabbitmqadmin|usermod|keytool|schtasks|xfreerdp|cf|https?(?=\s|$)|openfortivpn)\b ~
    \s?(?:-[apPwkNAX]w?[ =]{1,2}|/p:|-h?p(?=\S*\d))(?![-/.])(?:[\w.]{1,40}:(?=[^\s/]))?VALUE
password ~ > auth ,> auth" ~ :\d{2,5}(?:\[\d+\])?$ ~ .\s\w{4}\s(?:[\w-]+\s)?["']?([^\s"']{4,200})["']?\s{0,9}$
password ~ password ,psk  ~ \b(?:nmcli|ipmitool)\b ~ \w+\sVALUE
password ~ ]:587 ,]:465 ,]:25  ~ \[[\w.-]+$ ~ \]:\d+\s{1,9}[\w.@+-]+:(\S{4,200})\s{0,9}$
password ~ alias set,host add ~ - ~ \w+ \w+ \S{1,60} https?://\S{1,200} \S{1,100} VALUE
password ~ assword,passphrase ~ - ~
    (?i)\w+[^\n"']{0,40}["'][\s{},)]{0,40}(?:\w{1,20}\.)?send(?:line)?[\s(]{1,3}(?:-- )?
    ["']([^"'\n$]{4,200}?)(?:\\[rn]|["'])
token ~  login  ~ ^[ \t]*(?:\S{0,60}[$#%>] )?(?:sudo )?[\w-]{2,20}$ ~
     login (?:-\S{1,40} ){0,4}((?:s\.|(?=\S{0,60}\d)(?=\S{0,60}[A-Z])(?=\S{0,60}[a-z]))[\w-]{16,200})\s{0,9}$
password ~ echo ,printf  ~ - ~
    (?:echo|printf)(?: -n)?(?: ["']?%s\S{0,4})?\s{1,9}["']?(?:\w{1,40}:)?([^\s"'$]{6,200})["']?\s{1,9}\|
    (?=.{0,80}(?:pass|secret|sudo -S|luks|login|stdin|kinit|users|crypt))
password ~ net use,net user,add_user,adduser,user add ~ - ~
    (?:net\s(?:user\s\S{1,60}|use\s\S{1,9}\s\S{1,200})|[a-z]+[ _]?[a-z]+ (?:-\S{1,20} ){0,3}\S{1,60})
    (?:\s/\S{1,99}){0,3}\s["']?((?=\S*\d)[^\s/*\-"'\\]\S{4,100}?)["']?(?=\s|$)
password ~ login  ~ (?:^\s{0,9}(?:default )?|machine \S+ )$ ~
    login \S{1,60}\s{1,9}password ([^\s"'\\]{4,200})(?=\s{0,9}(?:$|[>|"'\\]))
password ~ $apr1$,$2a$,$2b$,$2y$,$5$,$6$,$y$,{sha},{ssha} ~ - ~ (?i)[${]\w{1,4}[$}]([\w./$=,+-]{20,200})
password ~  password , secret  ~
    ^\s{0,9}(?:machine \S+ )?(?:(?:login|user(?:name)?) \S{1,60}|enable)(?: privilege \d+)?$ ~
    \s\w+ (?:\d )?(\S{4,200})\s{0,9}$
password ~ htpasswd ~ - ~ htpasswd\s.{0,200}?\sVALUE\s{0,20}$
password ~  -u ~ (?:smb|rpc)client\b ~ \s-U\s{0,9}["']?[^\s%"']{1,100}%([^\s"']{4,})
password ~ credential,login,auth,connect,mysqli(,pdo(,basic(,.begin(,user(,.sign(,hmac(,jwt.,bind( ~ - ~
    [\w.:]{1,40}(?:\(|[= ]{1,5}\(|\s(?='))\s{0,9}(?:ARGUMENT){1,4}b?["']((?=\D{0,200}\d)[^"'\s]{6,200})["']
password ~ snmp-server,set snmp,com2sec,rocommunity,rwcommunity,tacacs-,radius-,isakmp ~ - ~
    .{0,200}?(?:community|com2sec6? \S+ \S+|\bkey(?: \d)?|\bauth (?:sha|md5)|\bpriv \w{2,5}(?: \d{2,3})?)
    \s((?![\d ]+\s)[^\s@]{6,200})
password ~ psk=,key content ~ ^\s*$ ~ (?i)(?:psk=|key content\s{1,30}: )((?=.*[^a-z\s])\S.{3,62})$
password ~ pwd={ ~ - ~ (?i)pwd=\{((?:[^}\n]|\}\}){4,200})\}
password ~ pass: ~ -pass(?:in|out)?\s{1,9}$ ~ pass:([^\s"'$]{4,})
password ~ temporary password,initial password,generated password ~ - ~ \w+ [^\n:]{0,80}: ((?=\S*\d)\S{6,60})$
password ~ securestring ~ - ~ (?i:SecureString)\s{1,9}(?:-String\s{1,9})?VALUE
password ~ wifi: ~ - ~ WIFI:[^\n]{0,200}?;P:((?:[^;\\\n]|\\.){4,200});
password ~  as the , as my , as our , is the , is my , is our ~ TELLING["'`]?$ ~
    (?i)["'`]? (?:as|is) (?:the|my|our) (?:[\w-]{1,30} ){0,3}?NAME\b
    (?!.(?:hash|polic|manag|field|encod|algor|file|stor|typ))
password ~ log in,login,creds,credential,auth,zugangsdaten,/pass,/ pass ~ - ~
    (?i)(?:log ?in(?: (?:to|on|at|in) (?:[\w.-]{1,20} ){1,3}with)?|cred\w*|auth[\w.]*|zugangsdaten|[/:] ?p\w+)
    (?: (?:for|f.r|of|to|de|do) [\w .-]{1,30}(?=:))?(?: is| are| with|:){0,2}
    [ =]{1,4}["'`]?(?!\d{4}-)[\w.@-]{1,60}["'`]? ?[/:,|] ?["'`]?
    ((?!/)(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s"'`]{6,200})
password ~ 334 ugfzc3dvcmq6 ~ - ~ \d+ \S+\s{1,9}(?:\S{1,3} )?([\w+/=]{4,200})(?!\S)
password ~ assphrase,assword ~ (?i)^(?:\S{0,60}[$#%>] )?(?:enter|retype|current|\[sudo\]|repeat)\b.{0,40}$ ~
    (?i)\w+[^\n:]{0,90}: (\S[^\n]{3,100})$
password ~ btoa(,base64 ~ ["'][\w.@-]{1,40}:([^"'\s:/]{6,100})["']\)\.\w+\(["']$ ~
    \w+(?:(?:\.\w+)?\(b?["'][\w.@-]{1,40}:([^"'\s:/]{6,100})["']|["'])
password ~ setuser ~ - ~ (?i)setuser \S{1,60} .{0,200}?(?<!\S)[>#<](\S{4,200})
password ~  as , als , comme , como , come , met  ~
    (?i)\b(?:log\w*[ -]?in|sign\w*[ -]in|conn?ec\w*|ssh|authenti\w*
    |(?:an)?(?:ge)?meld\w*|ein(?:ge)?log\w*|acced\w*|entr[ae]\w*|inicia\w*)\b ~
    \s\w+ ["'`]?[\w.@-]{1,60}["'`]? (?:with|using|mit|avec|con|com|met)(?: \w{2,12}){0,3}? ["'`]?TIGHT
token ~ ::add-mask::,issecret=true] ~ - ~ (?i)(?:::add-mask::|\w+=true\])([^\s"']{4,200})
token ~ api ~ (?i)(?:cl[ée]|chiave|clave|chave|klucz|ключ|sleutel|schlüssel)s?(?: de?l? ?| d['’]| )$ ~
    (?i)api\b[^\n\d"'`=:]{0,30}[ :=]["'`]?((?=\S{0,200}\d)[\w.-]{16,200})
token ~ setup key,secret key,manual entry,entry key,key manually ~ - ~
    \w+ \w+[^:\n]{0,40}:\s{1,9}((?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{4})(?!\w)
pin ~ recovery code,backup code,rescue code,scratch code ~ - ~
    (?i)\w+ codes?[^\n:]{0,60}:((?:\s{1,9}(?:[-*] |\d{1,2}[.)] )?
    (?=[a-z-]{0,20}\d)[a-z\d]{4,10}(?:-[a-z\d]{4,10}){0,4},?(?=\s|$)){2,20})
pin ~ pin ,pin:,pin=,puk,otp,tion code,reset code,security code,2fa code,one-time ~ - ~
    (?i)(?<![^\W_])(?:pin|puk|otp|one-time \w{3,8}|(?:(?<=verifica)tion|reset|security|2fa) code)(?: code)?
    (?: is |[:=]\s?| )["']?(\d{4,8})\b(?![.:])
phrase ~ mnemonic,seed phrase,seed:,seed=,recovery phrase ~ - ~
    (?i)(?:mnemonic|(?:seed|recovery)(?: phrase)?)(?: is)?\W{1,9}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b
"""
"""Tokens without a prefix, and credentials that are known by what stands around them: kind, words, what
stands before (- for nothing), and form; a line that is indented goes on with the one before."""


def _format(row: str) -> Format:
    for name, part in _PARTS.items():
        row = row.replace(name, part)
    kind, words, before, form = row.split(" ~ ", 3)
    return Format(
        kind, tuple(words.split(",")), None if before == "-" else _compiled(before), _compiled(form)
    )


def _compiled(form: str) -> re.Pattern[str]:
    return late(form, re.ASCII | re.MULTILINE)


FORMATS = tuple(map(_format, _OTHERS.replace(" ~\n    ", " ~ ").replace("\n    ", "").strip().splitlines()))
PREFIXES = frozenset(" ".join(_PREFIXES.values()).split())
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
