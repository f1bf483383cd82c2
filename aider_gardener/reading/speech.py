"""The words by which a sentence sets a rule, decides something or rules it out, language by language.

A pattern stands for a form of speech (an order, a ban, "from now on", …), never for a topic. It is tried
on a lower-case sentence whose quotations and inline code are masked by `MASK`, and where words are named
beside it only if one of them stands there: most sentences have none, and most chats none of most languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from aider_gardener.reading.late import late

MASK = "\x00"
"""Stands for each character of a quotation or of inline code: what is quoted orders nothing."""
WORD = late(r"\w+")
LAST_LATIN = "\u03ff"
"""Beyond it are the letters of languages whose words run together or join others: none are named for them."""
QUOTED = late(r"`[^`\n]+`|\"[^\"\n]{2,200}\"|“[^”\n]{2,200}”|«[^»\n]{2,200}»|(?<!\w)'[^'\n]{3,120}'(?!\w)")
QUOTES = frozenset("`\"“«'")
"""What is quoted begins with one of these."""


class Forms(NamedTuple):
    """Patterns for forms of speech, and the words of which one stands in whatever these find. Where letters
    beyond LAST_LATIN stand they are tried without."""

    words: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]


def forms(words: str, *patterns: str) -> Forms:
    """Forms by their words, with blanks between, and their patterns, compiled when they are first tried."""
    return Forms(frozenset(words.split()), tuple(map(late, patterns)))


OPENERS = (
    r"please|pls|plz|and|but|so|then|also|just|again|ok(?:ay)?|yes|yep|nope|good|great|fine|thanks|hey|hi"
    r"|btw|remember|important|note|rule \d+|reminder|however|in general|generally|otherwise|bitte"
)
START = rf"(?:^\W*|[,;:–—(]\s*|\s-+\s|\b(?:{OPENERS})\b[,:]?\s+)"
"""Where an order can begin: at the head of a sentence or of a clause, or behind a word of politeness."""

ORDERS = (
    r"(?:do not|don'?t|never|avoid|stop(?= [a-z]+ing\b))(?: (?:ever|just|even|simply|you))? [a-z\x00]{2,}",
    r"(?:there (?:must|should) be )?no (?:new|more|extra|additional|external|third[- ]party|other|global"
    r"|hard-?coded|magic|breaking|runtime|further|unrelated|silent) [a-z\x00]+(?: [a-z\x00]+)?"
    r"(?=\W*$|[,;:.(!]| (?:please|and|or|also|in|for|to|without|at|until|unless|ever)\b)",
    r"no [a-z\x00]+(?: [a-z\x00]+){0,3} (?:please|anywhere|at all|ever|whatsoever|until"
    r"|in production|unless)\b",
    r"(?:hands off|keep away from|keep your hands off|stay away from|stay out of|steer clear of)\b",
    r"(?:leave) .{1,60}\b(?:alone|as (?:it |they )?(?:is|are)|untouched|unchanged|in place)\b",
    r"always (?![a-z]+[^s]s\b)[a-z\x00]{2,}",
    r"(?:you )?(?:make sure|be sure|ensure|take care|see to it|be careful)(?: (?:that|to|not)| [a-z\x00]+)",
    r"keep [a-z\x00].{0,80}",
    r"(?:remember|bear in mind|keep in mind|mind you)(?: that|:| to\b)",
    r"only (?:ever )?(?:use|touch|change|edit|modify|write|add|log|allow|run|import|call|commit|do|read)\b",
    r"(?:stick|adhere|conform) (?:to|with)\b",
    r"(?:follow|respect|obey|honou?r) (?:our|my|pep"
    r"|(?:the|these) .{0,30}(?:rule|convention|style|guide|pattern|scheme|standard|polic|naming))",
    r"prefer [a-z\x00]+",
)
"""What begins there. Tried at once: each by itself would take as long to compile as START."""
ORDERED = forms(
    "not don dont never avoid stop no hands keep stay steer leave always sure ensure care see careful"
    " remember bear mind only stick adhere conform follow respect obey honor honour prefer",
    rf"{START}(?:{'|'.join(ORDERS)})",
)
BANS = forms(
    "not don dont never shouldn shouldnt mustn mustnt shan shant forbidden prohibited off out taboo banned"
    " mandatory frozen no only nothing nobody one",
    r"\byou (?:should not|shouldn'?t|may not|must not|mustn'?t) (?:ever )?(?:use|touch|change"
    r"|edit|add|remove|rename|modify|commit|push|run|write|call|import|delete|install|rewrite|move|log)\b",
    r"\b(?:we|i) (?:do not|don'?t|never) (?:want|allow)\b"
    r"|\bwe (?:do not|don'?t|never) (?:use|ship|touch|support|store|log|put|commit|edit)\b",
    r"\b(?:must|shall|should|may) (?:not ever|never)\b|\b(?:mustn'?t|must not|shall not|shan'?t|may not)\b",
    r"\b(?:is|are|remains?|stays?) (?:strictly |absolutely )?(?:not allowed|not permitted|forbidden"
    r"|prohibited|off[- ]limits|out of bounds|taboo|banned|mandatory(?! reading)|frozen|a no-go|not an option"
    r"|not to be \w+)\b",
    r"^\W*(?:and |but |so |please )?no [a-z-]+s (?:in|for|on|at|outside"
    r"|inside) (?:[a-z\x00_]+ ?){1,4}(?:, please)?[.!]*$",
    r"^\W*(?:\S+ ){1,6}only[.!]*$|\bwe (?:support|allow|accept|use|ship|want) only\b",
    r"^\W*(?:and |but |so |please )?no [a-z\x00-]+(?: [a-z\x00-]+)?s(?: please)?[.!]*$",
    r"\b(?:nothing|nobody|no one) (?:else )?(?:may|must|should|shall|is allowed|goes)\b",
)
COMMANDMENTS = forms(
    "must shall should may has have always only want expect insist strictly prefer rather stay stays",
    r"\b(?:must|shall|should) (?:always|only)\b|\bmay only\b|\bmust(?: (?:be|stay|remain|have|keep|go|pass"
    r"|work|run|match|use|return|support|contain|happen|come|start|end|fit|hold|still|also|both|all|do|live"
    r"|not)\b| [a-z]+\b)",
    r"\b(?:has|have) to (?:be|stay|remain|keep|go|run|work|support|use|match|pass|fit|come|still)\b",
    r"\b(?:we|i) always (?:use|want|write|put|keep|add|do|name|call|log|prefer)\b",
    r"\b(?:use|touch|change|edit|log|allow|run) only\b",
    r"\b(?:we|i) (?:want you to|expect you to|insist|strictly|(?:would |'d )?prefer|'d rather"
    r"|would rather)\b",
    r"\bstays? (?:as (?:it |they )?(?:is|are|was|were)|unchanged|untouched|the same|frozen|stable|private"
    r"|pure|a pure|[\w.-]+ only|backwards?|below|under|within|off|disabled)\b",
)
CHOICES = forms(
    "use",
    rf"(?:{START}|\b(?:should|must|always|to|shall|will|we|you"
    rf"|please) )use [^.?!]{{1,80}}?(?:,? (?:and )?not "
    r"(?!only|yet|sure)|\binstead of\b|\binstead\b|\brather than\b|\bover\b|, never\b)",
)
LASTING = forms(
    "from forward henceforth rest rule future until unless without every whenever exception exceptions"
    " circumstances times",
    r"\bfrom (?:now|today|this point|this moment) on(?:wards?)?\b|\b(?:going|moving) forward\b|\bhenceforth\b"
    r"|\bfor the rest of (?:this|the|our)\b|\bas a (?:general )?rule\b|\bin future\b|\bin the future\b"
    r"|\buntil i (?:say|tell|ask|give)\b|\bunless i (?:say|tell|ask)\b|\bwithout my (?:ok|okay|consent)\b"
    r"|\bevery time you\b|\bwhenever you\b|\bno exceptions?\b|\bunder no circumstances\b|\bat all times\b",
)
GERMAN = forms(
    "nie niemals nicht immer nur kein keine keinen keinesfalls grundsätzlich künftig zukunft ab von darf"
    " darfst dürfen soll sollst sollen muss musst müssen verwende verwenden benutze benutzen nutze nutzen"
    " nimm darauf sicher daran vergiss ist sind bleibt bleiben vermeide vermeiden behalte bevorzuge lass",
    r"\b(?:ab (?:jetzt|sofort|heute)|von nun an|von jetzt an|künftig|in zukunft|auf keinen fall|keinesfalls"
    r"|unter keinen umständen|grundsätzlich (?:nur|nie|kein\w*|immer|alles))\b",
    r"^\W*(?:bitte )?(?:nie|niemals|immer|nur)\b(?! (?:noch|wieder|mal|gut|schön))",
    r"^\W*(?:bitte )?(?:nimm|gib|lass|lauf|fasse?|(?:schreib|halt|mach|benutz|verwend|nutz|ruf|lösch|änder"
    r"|leg|setz|füg|speicher|verschieb|entfern|installier|importier|kopier|start|führ|rühr|berühr|bearbeit"
    r"|erstell|push|commit)t?e?) .{0,80}\b(?:nie|niemals|nicht|immer|kein(?:en?)?|nur)\b",
    r"\b(?:du )?(?:darfst|darf|dürfen|sollst|soll|sollen|muss|müssen|musst)\b.{0,80}"
    r"\b(?:nicht|nie|niemals|immer|nur|kein(?:en?)?|bleiben|sein|werden|laufen|gehen|passen|stehen|haben)\b",
    r"\bwir (?:(?:speichern|schreiben|verwenden|nutzen|nehmen|loggen|testen) )?(?:immer|nie|niemals)\b"
    r"(?! (?:wieder|noch|das gleiche))",
    r"\b(?:verwende|benutze|nutze|nimm|verwenden|benutzen|nutzen)\b.{1,80}\b(?:statt|anstatt|anstelle"
    r"|und nicht|nicht)\b",
    r"\b(?:achte darauf|achten sie darauf|stelle? sicher|stellen sie sicher|denk daran|vergiss nicht)\b",
    r"^\W*(?:bitte )?kein(?:en?)? [a-zäöüß\x00]+(?: [a-zäöüß\x00]+){0,4}[.!]?$",
    r"\b(?:ist|sind|bleibt|bleiben) (?:tabu|verboten|unangetastet|unverändert|pflicht|gesperrt"
    r"|nicht erlaubt)",
    r"^\W*(?:bitte )?(?:vermeide|vermeiden sie|behalte|bevorzuge)\b|\blass\b.{1,50}\b(?:unverändert|in ruhe"
    r"|so wie)\b",
)
FRENCH = forms(
    "pas jamais toujours plus rien aucun aucune merci veuillez prière pense pensez veille veillez assure"
    " assurez évite évitez garde gardez oublie oubliez désormais dorénavant maintenant avenir faut doit dois"
    " devez doivent utilise utilisez utiliser préfère préférez emploie uniquement est sont reste restent",
    r"(?:^\W*|[,;:]\s*|\b(?:et|mais|donc|s'il te pla[iî]t|svp|stp|merci de)\b,? )(?:ne |n['’])"
    r"[a-zéèêàçîôûœ]+(?:-[a-z]+)? (?:\w+ )?(?:pas|jamais|plus|rien|aucune?)\b",
    r"\b(?:merci de|veuillez|prière de|pense à|pensez à|veille à|veillez à|assure-toi|assurez-vous|évite"
    r"|évitez|garde|gardez|n'oublie pas|n'oubliez pas)\b",
    r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir|en aucun cas|sous aucun prétexte)\b",
    r"\b(?:il (?:ne )?faut|on (?:ne )?doit|tu (?:ne )?dois|vous (?:ne )?devez|doi(?:t|vent)(?: (?:toujours"
    r"|rester|être|pas|jamais))|ne doi(?:t|vent))\b",
    r"\b(?:utilise|utilisez|utiliser|préfère|préférez|emploie)\b.{1,80}\b(?:au lieu d|plutôt qu|et non"
    r"|et pas|pas )",
    r"^\W*(?:toujours|jamais (?!vu|eu)|uniquement|pas de|pas d['’]|aucune?)\b"
    r"|\b(?:utilise|écris|mets|fais|lance|ajoute)z? toujours\b",
    r"\b(?:est|sont|reste|restent) (?:interdite?s?|obligatoires?|inchangée?s?|intouchables?)\b",
)
SPANISH_BANS = forms(
    "no",
    r"(?:^\W*|[,;:]\s*|\b(?:y|pero|así que|por favor)\b,? )no (?:me |lo |la |los |las |te )?(?:(?:us|utilic"
    r"|toqu|cambi|modifiqu|edit|borr|elimin|agregu|instal|import|ejecut|llam|guard|mezcl|dej|cre|registr"
    r"|public)e[sn]?|(?:sub|añad|escrib|pong|hag|romp|met|mov|mezcl)a[sn]?)\b",
)
SPANISH = forms(
    "nunca jamás siempre evita mantén mantenga prefiere prohibido prohibida prohibidos prohibidas partir"
    " adelante ningún asegúrate asegúrese cuenta recuerda olvides hay debe deben debes puede tiene tienen"
    " tienes usa usad usar utiliza utilice",
    r"(?:^\W*|[,;:]\s*|\b(?:y|pero|por favor)\b,? )(?:nunca|jamás|siempre|evita|mantén|mantenga|prefiere"
    r"|prohibido)\b",
    r"\b(?:a partir de (?:ahora|hoy)|de ahora en adelante|en adelante|bajo ningún concepto|en ningún caso"
    r"|asegúrate|asegúrese|ten en cuenta que|recuerda que|no olvides)\b",
    r"\b(?:hay que|no (?:se )?debe[ns]?|debe[ns]? (?:ser|estar|quedar|usar|seguir|ir|siempre)"
    r"|no se puede (?:tocar|cambiar|usar)|tiene[ns]? que (?:ser|estar|usar|seguir|quedar))\b",
    r"\b(?:usa|utiliza|utilice|usad|usar)\b.{1,80}\b(?:en lugar de|en vez de|y no)\b",
    r"\b(?:usa|utiliza|escribe|pon|añade|ejecuta) siempre\b|\b(?:está|están|queda|quedan) prohibid[oa]s?\b",
)
PORTUGUESE = forms(
    "nunca jamais sempre não nada evite mantenha agora diante hipótese proibido proibida proibidos proibidas"
    " apenas só deve devem vez invés",
    r"(?:^\W*|[,;:]\s*|\b(?:e|mas|por favor),? )(?:(?:nunca|jamais|sempre|não) (?:use|toque|altere|mude|mexa"
    r"|edite|apague|remova|adicione|escreva|faça|coloque|instale|importe|chame|modifique|guarde|rode)|nada de"
    r"|evite|mantenha)\b|\b(?:a partir de agora|de agora em diante|daqui em diante|em hipótese alguma"
    r"|proibid[oa]s?|use (?:apenas|só)|devem? (?:ser|ficar|usar|sempre)(?! [oa]\b)"
    r"|não podem? (?:mudar|ser))\b|\buse\b.{1,60} (?:em vez de|ao invés de)\b",
)
ITALIAN = forms(
    "non mai evita mantieni niente ora nessun vietato vietata vietati vietate solo soltanto sempre deve"
    " devono invece posto",
    r"\bnon (?:usare|toccare|cambiare|modificare|cancellare|aggiungere|scrivere|mettere|installare|importare"
    r"|fare|rimuovere|chiamare)\b|^\W*(?:mai [a-z]+[aei]re|evita|mantieni)\b|^\W*niente (?!da\b|di\b)[a-z]+\b"
    r"|\b(?:d'ora in (?:poi|avanti)|in nessun caso|vietat[oaie]|non dev(?:e|ono)|(?:usa|salva|scrivi|lancia"
    r"|metti|tieni|aggiungi|chiedi|esegui) (?:solo|soltanto|sempre)|dev(?:e|ono) (?:essere in|restare|sempre"
    r"|usare))\b|\busa(?:re)?\b.{1,60} (?:invece d|al posto d|e non )",
)
TURKISH = forms(
    "asla sakın kesinlikle zaman daima mutlaka sadece yalnızca yerine bundan yasak yasaktır yasaktir",
    r"\b(?:asla|sakın|kesinlikle) .{0,60}\w+m[ae](?:y[ıi]n)?\W*$",
    r"\b(?:her zaman|daima|mutlaka|sadece|yalnızca|yerine) .{0,80}(?:kullan|sakla|yaz|çalıştır|koru|tut)"
    r"(?:[ıiuü]n|y?aca[ğk]ız|y?eceğiz|alım|elim)?\W*$|\b(?:bundan sonra|bundan böyle)\b"
    r"|\byasak(?:t[ıi]r)?\b",
)
TURKISH_ENDINGS = late(
    r"\b(?:\w+m[ae]l[ıi](?:d[ıi]r)?|(?:dokun|değiştir|kullan|sil|ekle|yaz|çalıştır|kaldır)m[ae](?:y[ıi]n)?"
    r"(?: lütfen)?)\W*$"
)
"""What is set by the ending of the last word."""
NAMED = forms(
    "rule rules regel regeln regla reglas règle règles regra regras regole",
    r"^\W*(?:rules?|regeln?|reglas?|règles?|regras?|regole|правил[оа])(?: \d+)?: \S+ \S",
    r"(?:规则|規則|ルール|규칙) ?\d*[:：] ?\S{3}",
)
"""What says of itself that it is a rule, and which."""
CHINESE = (
    r"(?:请勿|切勿|不要|不得|不许|不准|禁止|严禁|千万别|千万不|永远不|绝不|绝对不|从不要|别(?:再|用|改|动|碰|删|加|写|提交|忘))",
    r"(?:必须|务必|一律|一定要|请始终|始终(?:使用|保持|用)|总是(?:使用|用|要)|只能(?:用|使用)|只(?:用|使用|允许|改))",
    r"(?:从现在(?:起|开始)|今后|以后(?:都|请|要|不)|确保|请保持|保持.{1,20}不变)",
    r"(?:使用|用|采用).{1,30}(?:而不是|而非|不要用|代替|取代)",
)
JAPANESE = (
    r"(?:しないで|ないでください|ないで下さい|てはいけ(?:ない|ません)|てはならない|てはなりません|ではいけません|禁止"
    r"|使わないで|触らないで|変えないで|消さないで|やめてください)",
    r"(?:必ず|絶対に|常に|今後は?|これからは|以後).{0,40}(?:ください|下さい|こと|ように|する|しない|使う)",
    r"(?:なければならない|なければなりません|ようにしてください|ようにして下さい|のみ使用|だけを?使)",
    r"(?:ではなく|の代わりに|じゃなくて).{1,40}(?:使|して|にして|用い)",
)
RUSSIAN = (
    r"(?:^\W*|[,;:–—]\s*|\b(?:и|но|пожалуйста),? )(?:никогда |больше )?не [а-яё]+"
    r"(?:й|(?<!с)ь|[йь]те|ите|(?<!л)и)(?:ся|сь)?\b|\bникаких? [а-яё]+|^\W*ни в коем случае\b"
    r"|\b(?:нельзя(?! ли)|запрещен[аоы]?|запрещён)\b",
    r"\bвсегда [а-яё]+(?:[йь]|[йь]те|ите|(?<!л)и|ем|им|ть)\b|\b(?:используй(?:те)?|используем"
    r"|использовать|пиш(?:и|ем|ите)) (?:.{1,60} вместо|только)\b|\bдолж(?:ен|на|ны) (?:быть|оставаться)\b"
    r"|\b(?:с этого момента|отныне|впредь)\b",
)
ARABIC = (
    r"(?:^\W*|، ?|فضلك )لا ت(?!عمل|ظهر|وجد|نجح|زال|قلق|نس)|\bي(?:جب|نبغي)(?! علي\b)\b|إياك|من الآن فصاعد"
    r"|ممنوع|يُ?منع\b|محظور",
    r"^\W*(?:استخدم|اكتب|احفظ|ضع|شغّ?ل) .{1,60}(?:بدل|عوض|وليس|فقط|دائما)",
)
HINDI = (
    r" (?:मत|न) (?!में|से)\S+\W*$|नहीं \S+ना है|हमेशा .{1,60}(?:ना|नी|ने|ओ|ें|ो)(?: (?:है|हैं|चाहिए))?\W*$"
    r"|(?:होन[ाेी]|रहन[ाेी]) चाहिए|मना है|वर्जित|निषिद्ध|अब से |आगे से ",
    r"(?:केवल|सिर्फ़?|की जगह|के बजाय) .{1,60}(?:उपयोग|इस्तेमाल|प्रयोग) कर|केवल .{1,40}न[ाेी] हैं?\W*$",
)
ENGLISH = (ORDERED, BANS, COMMANDMENTS, CHOICES, LASTING)
BEYOND_LATIN = forms("", *CHINESE, *JAPANESE, *RUSSIAN, *ARABIC, *HINDI)
RULES = (*ENGLISH, GERMAN, FRENCH, SPANISH_BANS, SPANISH, PORTUGUESE, ITALIAN, TURKISH, NAMED, BEYOND_LATIN)

NO_RULE = late(
    r"\b(?:use|stick with) (?:it|that|this|the (?:other|first|second|third|last|same) one)\b"
    r"|\bread[- ]only\W*$|,? (?:right|correct|why|or not|isn'?t it|doesn'?t it|i (?:think|guess|believe"
    r"|suppose))\W*$|\bkeep (?:it|that|this|them|those|both)\W*$"
    r"|^\W*never (?:(?!\w*eed\b|embed\b)[a-z]+ed|had|seen|been|heard"
    r"|got|did|was|saw|knew|thought|has|[a-z]+[^s]s)\b|\balways run into\b|\bprefer not to\b"
    r"|\bmust not (?:have|of)\b|\b(?:has|have) to be (?:some|a bug|the)|^\W*(?:and |but |so |hm+,? )?(?:why"
    r"|who|where|how (?:come|does|do|did|is|are)|what (?:is|are|does|do|did|about)|does|did|was|were|is (?:it"
    r"|this|that|there))\b|\balways forget|\bdon'?t (?:(?:you|we|they|i)\b|know|think|worry|mind\b|care|see"
    r"|get it|understand|believe|bother|remember|have|seem|work|recall)|\bnever ?mind\b|\balways (?:good|nice"
    r"|great|happy|fun|a pleasure|the same|wondered)\b|\bno (?:(?:new|more|other|further) )?(?:idea|problem"
    r"|luck|worries|doubt|matter|wonder|clue|rush|hurry|errors?|failures?|problems|issues|results|matches"
    r"|hits|thanks|differences?|changes? (?:since|here|there)|output|tests? (?:ran|fail)|need|way|reason"
    r"|warnings?)\b|\bmust (?:have|of) (?:been|\w+(?:ed|en|ne|own|ost|ept|ot)\b)|\bmust'?ve\b"
    r"|^\W*must be (?:a|an|the|some|something|somewhere)\b|\bwhat (?:we|you|i|they) (?:do|must|should|may)\b"
    r"|\b(?:it|that|this|there|he|she|they|something|someone|somebody|i|you|we) must (?:be|have|say|admit"
    r"|confess)\b|\bi (?:must|have to) (?:say|admit|confess|go|leave|run|be|think|check|explain|look)\b"
    r"|\b(?:i|we|you) (?:have|need) to (?:go|run|be|work|keep|use|match|pass|fit|come|still)\b"
    r"|\bkeep (?:going|it up|on\b|up\b|me |us |you |seeing|getting|having|failing|telling|asking|wondering"
    r"|calm)|\bmust (?:we|i|you|it|they)\b|\bin (?:the )?future (?:we|i|it|they|there|versions?"
    r"|releases?) (?:might|may|could|will|would)\b|\b(?:hope|think|guess|wonder|suspect|believe|assume|afraid"
    r"|heard|told|says?|said|complains?|claims?|asks?|asked|reads?|reported|reports?) (?:that |whether |if "
    r"|why |me |us |him )?.{0,40}\b(?:must|never|always|don'?t)\b|\bder fehler"
    r"|\bkeine?n? (?:ahnung|fehler|probleme?|idee|treffer|ausgabe|zeit|eile)\b"
    r"|\bsiempre (?:falla|da|sale|me|ha|pasa|que)\b|\bnunca (?:termina|ha|llega|funciona|se|lleg|he)\b"
    r"|\b(?:toujours|jamais) (?:le même|la même|pareil|en échec)\b|\bno (?:funciona|sé|entiendo|pasa|es|hay"
    r"|está|puedo)\b|^\W*(?:immer|nie) (?:das gleiche|dasselbe|der gleiche)\b|\bich muss\b|\bmuss ich\b"
    r"|\bsoll ich\b|\bn['’]est pas\b|^\W*ne (?:marche|fonctionne|sait|comprend)|必须要?吗|不要紧|要不要"
    r"|是不是必须"
    r"|で(?:すか|しょうか)|ますか|\bsorun\b",
)
"""Forms that look like a rule and are none: doubt, reports, small talk."""

FOR_NOW = late(
    r"今回|今だけ|^\W*(?:这次|這次|先不|暂时|इस बार|هذه المرة|в этот раз|пока не |bu sefer|só desta vez"
    r"|per questa volta)|\b(?:yet|todavía|aún)\b\W*(?:$|,)|\bnoch nicht\b|\b(?:pas encore|encore pas)\b|まだ"
    r"|\bfor this (?:\w+ )?only\b|\bonly (?:for )?this (?:once|time)\b|\bsolo (?:por )?esta vez\b"
    r"|^\W*(?:please )?just\b(?! use\b).*\b(?:any|no)thing else\b"
    r"|\b(?:por ahora|de momento|dieses mal|diesmal|vorerst|cette fois)\b|\bpour l['’]instant\b"
    r"|\b(?:for now|(?<!from )now|for the moment|at the moment|just this once|this time|today)\W*$",
)
"""What holds for a while, or for what is asked now."""

ASKED_POLITELY = late(
    r"^\W*(?:can|could|would|will) you (?:please |pls )?(?:always|never|make sure|keep|ensure|not|only"
    r"|stick)\b|^\W*(?:puedes|podrías|könntest du|kannst du|peux-tu|pourrais-tu) .{0,20}\b(?:siempre|nunca"
    r"|immer|nie|toujours)\b",
)
"""Questions that are rules all the same."""

ANNOUNCES = forms(
    "rule rules constraint constraints convention conventions guideline guidelines requirement requirements"
    " restriction restrictions boundaries regeln vorgaben règles contraintes reglas restricciones",
    r"\b(?:ground rules|rules?|constraints?|conventions?|guidelines?|requirements?|restrictions?|boundaries"
    r"|regeln|vorgaben|règles|contraintes|reglas|restricciones)\b[^.?!]{0,60}:?\s*$|(?:规则|约束|要求|ルール|規則"
    r"|制約)[：:]?\s*$",
)
"""A line that says that the items below it are rules."""

LIFTS = late(
    r"\b(?:you (?:can|may)|it'?s (?:fine|ok|okay|allowed) (?:now )?to|(?:is|are) (?:now )?(?:allowed|fine"
    r"|ok)(?: now| again)?|no longer (?:need(?:ed)?|have|must|required|forbidden|a rule)|forget (?:the|what"
    r"|about|my)|doesn'?t have to)\b"
    r"|\b(?:darf|dürfen) (?:jetzt|wieder|doch)\b|\b(?:darfst|dürft) du\b|\bdu (?:darfst|kannst)\b"
    r"|\bkannst du (?:jetzt|wieder)\b|\bjetzt kannst du\b|\bvergiss (?:das|die|den|was)\b"
    r"|\b(?:tu peux|vous pouvez|on peut)\b|\bplus besoin d|\boubliez? (?:ce|le|la|les)\b"
    r"|\b(?:puedes|podéis|podemos|se puede)\b|\bolvida(?:d|te)? (?:lo|el|la|de)\b"
    r"|\b(?:agora (?:você )?pode|(?:ora|adesso) puoi|теперь (?:снова )?можно|больше не (?:нужно|надо))\b"
    r"|\bart[ıi]k\b.{0,60}(?:abilir|ebilir|serbest|gerek yok)|يمكنك الآن|لم يعد|अब .{0,60}सकते"
    r"|(?:现在可以|不再需要|可以了)|(?:ても(?:いい|良い|よい)|もう.{0,20}(?:ても|必要はない))",
)
"""Allows what a rule bans, or asks for no more: it stands behind the rule."""

REVOKES = late(
    r"\b(?:rules?|restrictions?|bans?|constraints?)\b.{0,60}\b(?:no longer (?:appl|hold|count|valid|needed)"
    r"|(?:apply|hold|count|needed) any ?more|doesn'?t (?:apply|hold)|(?:is|are) (?:gone|lifted|dropped|void))"
    r"|\b(?:forget|drop|lift|scrap|ignore) (?:the|that|my|this) (?:constraint|(?:[\w/.'-]+ ){0,3}(?:rule"
    r"|restriction|ban)s?)\b"
    r"|\b(?:regeln?|vorgaben?|einschränkung(?:en)?|verbote?)\b.{0,60}\b(?:(?:gilt|gelten) nicht (?:mehr"
    r"|länger)|entfällt|entfallen|(?:ist|sind) aufgehoben)\b"
    r"|\b(?:hebe?|streiche?|vergiss|ignoriere?) (?:bitte )?(?:die|das) (?:regeln?|vorgaben?|verbot"
    r"|einschränkung)"
    r"|\b(?:musst|müsst|muss|müssen|brauchst|brauchen)\b.{0,60}\bnicht (?:mehr|länger)\b"
    r"|\b(?:ist|sind) (?:(?:ab jetzt|jetzt|ab sofort|nun|doch|wieder) )+(?:erlaubt|ok(?:ay)?|in ordnung)\b"
    r"|\breglas?\b.{0,60}\bno (?:vale|se aplica|aplica)\b|\bno hace falta que\b"
    r"|\bya no (?:vale|se aplica|aplica|hace falta|es necesari[oa]|hay que|tienes que)\b"
    r"|\b(?:olvida|quita|ignora|anula) (?:la|esa|las|esas) (?:regla|norma|restricci)"
    r"|\b(?:règle|consigne|contrainte|interdiction)\b.{0,60}\bne (?:s'applique|vaut|tient|compte) plus\b"
    r"|\b(?:oublie|enlève|ignore|annule)z? (?:la|cette|ma) (?:règle|consigne|contrainte|interdiction)",
)
"""Says of a rule that it holds no more, and sets none itself; half of what it names is the rule's subject."""

TAKES_BACK = Forms(
    frozenset(
        "can may fine ok okay allowed longer forget doesn doesnt rule rules restriction restrictions ban"
        " bans constraint constraints drop lift scrap ignore darf darfst dürfen dürft kannst vergiss regel"
        " regeln vorgabe vorgaben einschränkung einschränkungen verbot verbote heb hebe streich streiche"
        " ignorier ignoriere musst müsst muss müssen brauchst brauchen ist sind peux peut pouvez plus"
        " oublie oubliez règle consigne contrainte interdiction enlève enlèvez ignorez annule annulez"
        " puedes podéis podemos puede olvida olvidad olvidate regla reglas hace ya quita ignora anula"
        " pode puoi artık artik теперь больше".split()
    ),
    (LIFTS, REVOKES),
)

CORRECTS = late(
    r"\W*(?:(?:no|nope|sorry|wait|oops|actually|rather|better|correction|i meant?|(?:make|change) (?:it|that)"
    r"|nein|doch|lieber|sondern|korrektur|non|plutôt|pardon|mejor|perdón|corrección|não|aliás|нет|точнее)\b"
    r"|いや|いいえ|違|不[，,是对對]|改成|아니)",
    re.IGNORECASE,
)
"""How a message begins that takes back what was said just before it."""

BOUNDS = late(
    r"\b(?:only|at (?:most|least)|max(?:imum)?|min(?:imum)?|up to|(?:no|not) (?:more|less|fewer) than|limit"
    r"|cap|between|below|above|must|shall|should|may|from now on|rule|nur|höchstens|mindestens|maximal"
    r"|minimal|bis zu|nicht mehr als|zwischen|muss|soll|darf|ab jetzt|regel|seulement|au (?:plus|moins)"
    r"|maxim\w+|entre|doit|désormais|règle|sólo|solo|como (?:máximo|mínimo)|máximo|mínimo|hasta|debe|regla)\b"
    r"|最多|至少|必须|之间|以内|以下|まで",
)
"""Says of a figure that it is one to keep to, rather than one that was measured."""

RULE_WORDS = frozenset(
    "must never always only ever should shall may can cannot don't dont not no nor keep make sure ensure"
    " use using used prefer avoid stop please from now on instead rather than over want need needs have has"
    " want like do does remember note that this these those them it its is are be been stay stays remain"
    " leave alone new any anything everything every all each add change touch edit write run put set get let"
    " allow allowed forbidden rule rules going forward future until unless say tell ask time whenever again"
    " also just still yet here there our your my you we us me in of to for with without at by and or but so"
    " if when then as the a an will would could".split()
)
"""Words that say how, not what: they are no part of a rule's subject."""

LIFT_WORDS = frozenset(
    "it's fine longer need regel regeln gilt gelten niemals immer jetzt wieder keine neue neuen okay erlaubt"
    " darf darfst brauchst werden regla vale aplica pued puedes volver nunca siempre nada ahora hace falta"
    " uses usa usar quita olvida los las que règle jamais toujours pas utilise n'utilise utiliser peux"
    " nouveau никогда теперь можно снова больше нужно أبدا أبداً الآن يمكنك कभी मत सकते".split()
)
"""Nor of what a sentence lifts, or one in another language."""

SETTLES = (
    forms(
        "ll will shall going let lets go went stick sticking stay staying chose chosen choose picked"
        " settle settled opt opted rejected decided agreed decision ruled discarded scope table won wont"
        " worth longer out dead support switch switched replace replaced name call",
        r"\b(?:we|i)(?:'ll| will| shall|'m going to|'re going to| are going to| am going to) (?:use|keep"
        r"|go with|take|stick|drop|skip|leave|not|do it|call|switch|stay|store)\b|\blet'?s (?:go with|use"
        r"|keep|take|stick|drop|call|do it|not|skip|stay|make it|say)\b|\b(?:go|going|went) (?:with"
        r"|for) \S+|\b(?:stick|sticking|stay|staying) with\b|\b(?:we|i)(?:'ve| have)? (?:chose|chosen"
        r"|choose|picked|settled? (?:on|for)|opt(?:ed)? for|rejected)\b|\b(?:(?:we|i)(?:'ve"
        r"| have)? decided\b|(?:was|were|is|been) (?:decided|agreed|settled)\b|decided (?:to|on|that"
        r"|against|for)|decision:|(?:as|we|i|you) (?:have )?agreed\b|the decision (?:is|was))"
        r"|^\W*(?:agreed|decided)\b|\b(?:(?:is|are|was|were|you|we|i) (?:rejected|ruled out|discarded)"
        r"|out of scope|off the table|(?:we|i) won'?t (?:do|use|fix|add|change)|is not worth"
        r"|we no longer (?:use|need)|is (?:out|dead)(?! of| there)|are (?:dead|out)(?! of| there)"
        r"|(?:drop|dropping|dropped) support)\b|^\W*(?:switch to|replace .{1,60} (?:with|by))\b|\b(?:we"
        r"|i) (?:switch(?:ed)? to|replaced)\b|\b(?:name|call) (?:it|them|this|the \w+) \S+",
    ),
    forms(
        "wir entschieden beschlossen stattdessen abgelehnt verworfen",
        r"\b(?:wir (?:nehmen|verwenden|bleiben|lassen)|entschieden|beschlossen|stattdessen|abgelehnt"
        r"|verworfen)\b",
    ),
    forms(
        "garde prend utilise part décidé choisi lieu plutôt rejeté écarté",
        r"\b(?:on (?:garde|prend|utilise|part sur)|décidé|choisi|au lieu de|plutôt que|rejeté|écarté)\b",
    ),
    forms(
        "usar usaremos quedamos decidimos decidido lugar vez descartado",
        r"\b(?:vamos a usar|usaremos|nos quedamos con|decidimos|decidido|en lugar de|en vez de|descartado)\b",
    ),
    forms(
        "verdik kullanacağız usar usaremos deciso useremo usiamo",
        r"\b(?:karar verdik|kullanacağız|vamos usar|usaremos|abbiamo deciso|useremo|usiamo)\b",
    ),
    forms(
        "",
        r"(?:决定|我们(?:使用|采用|就用)|改用|而不是|放弃)|(?:に決め|決定|採用|にしま(?:す|しょう)|ことにした|ではなく|却下|見送)"
        r"|(?:решили|выбрали|будем использовать)|(?:قررنا|سنستخدم|اخترنا)|(?:तय किया|(?:उपयोग|इस्तेमाल) करेंगे)",
    ),
)

CHOICE = late(
    r"^(?:ok(?:ay)?|good|fine|yes|agreed|then|go|do)?[\W_]*(?:option |variant |no\.? ?)?(?:[a-h]"
    r"|\d{1,2})\b(?:[.:,;] | then\b| it is\b| and \d| please\b|$)",
    re.IGNORECASE,
)
"""A pick among what was offered: "C.", "option 2 then"."""
ASKS = late(r"[?？؟][\"')\s]*$")
IF = late(
    r"^\W*(?:if|when|should|shall|whether|maybe|perhaps|could|would|do you|ob|wenn|si|如果|もし)\b"
    r"|\b(?:not (?:yet )?decided|undecided|to be decided|have to decide|need to decide|decisions? (?:you|we"
    r"|i) (?:need|have))\b"
)
"""What only might be settled is not."""
PREFERS = forms(
    "instead rather favor favour opposed but and statt lieu lugar vez",
    r"\b(?:instead of|rather than|in favou?r of|as opposed to|but not|and not)\b|\bnot (?:a|the) \S+ but\b"
    r"|(?:而不是|ではなく)|\b(?:statt|au lieu de|en lugar de|en vez de)\b",
)


def masked(sentence: str) -> str:
    """The sentence with each character of its quotations as MASK and plain apostrophes."""
    if not QUOTES.isdisjoint(sentence):
        sentence = QUOTED.sub(lambda match: MASK * len(match.group()), sentence)
    return sentence.replace("’", "'")


def decides(sentence: str, *, is_users: bool = True) -> bool:
    """Whether a sentence settles or rejects something; of the model's only what it says it will do or
    has agreed to, for "instead of" explains in most of its sentences. Questions and conditions settle
    nothing."""
    lowered = sentence.lower()  # reason: a search that ignores case takes several times as long
    settles = finds((*SETTLES, PREFERS) if is_users else SETTLES, masked(lowered))
    return settles and not (ASKS.search(lowered) or IF.search(lowered))


def finds(spoken: Iterable[Forms], sentence: str) -> bool:
    """Whether one of the forms is in a lower-case sentence."""
    words = _words_in(sentence)
    beyond = not sentence.isascii() and any(sign > LAST_LATIN and sign.isalpha() for sign in sentence)
    tried = (each.patterns for each in spoken if beyond or not words.isdisjoint(each.words))
    return any(pattern.search(sentence) for patterns in tried for pattern in patterns)


@lru_cache(maxsize=2_048)
def _words_in(sentence: str) -> frozenset[str]:
    """The words of a sentence, which is tried with one list of forms after another."""
    return frozenset(WORD.findall(sentence))
