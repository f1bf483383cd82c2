"""Names of programming languages, and the guess of a language from code alone."""

from __future__ import annotations

import re

from aider_gardener.reading.late import late

ALIASES = {
    "py": "python", "python3": "python", "pycon": "python", "pyi": "python", "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript", "jsx": "javascript", "node": "javascript", "ts": "typescript", "mts": "typescript",
    "golang": "go", "rs": "rust", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "hpp": "cpp", "h": "c",
    "cs": "csharp",
    "c#": "csharp", "rb": "ruby", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash",
    "shell-session": "bash", "ps1": "powershell", "kt": "kotlin", "kts": "kotlin", "htm": "html",
    "yml": "yaml",
    "jsonc": "json", "json5": "json", "md": "markdown", "markdown": "markdown", "ini": "toml", "cfg": "toml",
    "tf": "hcl", "pl": "perl", "ex": "elixir", "exs": "elixir", "hs": "haskell", "jl": "julia",
    "patch": "diff",
    "make": "make", "makefile": "make", "docker": "dockerfile", "sqlite": "sql", "postgresql": "sql",
    "pgsql": "sql",
    "mysql": "sql", "vue": "vue", "scss": "scss", "sass": "scss", "php": "php",
}  # fmt: skip

EXTENSIONS = set(
    """py js ts tsx java go rs c h cpp cc cxx hpp cs rb sh bash zsh jsx mjs cjs mts kt kts swift scala
    php pl lua r sql html htm css scss vue svelte dart ex exs hs jl ps1 zig proto graphql tf pyi""".split()
)

DECLARES = frozenset({"sql", "css", "html"})
"""Languages whose texts have hardly a body to fold: what a program prints of them are rows, often alike."""

GUESS_LINES, GUESS_WIDTH = 120, 240
"""So many lines, and so much of each, are looked at to guess a language."""

STRUCTURED = frozenset({"json", "yaml", "toml", "csv", "tsv", "jsonl", "ndjson", "xml"})
PROSE = frozenset({"markdown", "rst", "txt"})
LOGS = frozenset({"log", "output", "logs"})
NOT_CODE = STRUCTURED | PROSE | LOGS | {"diff", "text", "plain", "plaintext", "", "console"}

_HINTS: dict[str, tuple[str, ...]] = {
    "python": (
        r"^\s*(?:async )?def \w+\(.*", r"^\s*class \w+(?:\(.*\))?:\s*$", r"^from [\w.]+ import ",
        r"^import [\w.]+(?: as \w+)?$",
        r"^\s*(?:if|elif|for|while|with|try|except|else|finally)\b[^{]*:\s*(?:#.*)?$",
        r"^\s*@\w[\w.]*(?:\(|$)",
        r"\bself\.\w", r"^\s*\"\"\"", r"\b(?:None|True|False)\b", r"^if __name__ ==",
        r"^\s*(?:raise|return|yield|assert)\b[^;]*$",
    ),
    "javascript": (
        r"^\s*(?:export )?(?:default )?(?:async )?function\b", r"^\s*(?:export )?const \w+ = ",
        r"^\s*(?:let|var) \w+",
        r"=>\s*[{(]?", r"\brequire\(['\"]", r"^import .* from ['\"]", r"===|!==", r"\bconsole\.\w+\(",
        r"\bmodule\.exports\b",
        r"^\s*\}\)?;?\s*$", r"^\s*(?:describe|it|test|expect)\(",
    ),
    "typescript": (
        r"^\s*(?:export )?(?:interface|type|enum) \w+", r"\b\w+\??: (?:string|number|boolean|unknown"
                                                        r"|any|void|never)\b",
        r"^import type ", r"\bas (?:const|unknown|any)\b", r"\): (?:Promise<|\w+(?:<.*>)?(?:\[\])?) ?[{=]",
        r"^\s*(?:private|public|protected|readonly) \w+[?:(]", r"^import .* from ['\"]",
        r"^\s*(?:export )?const \w+", r"=>",
        r"^\s*\}\)?;?\s*$", r"===",
    ),
    "java": (
        r"^package [\w.]+;", r"^import (?:static )?[\w.]+\*?;",
        r"^\s*(?:public|private|protected) (?:static |final |abstract )*"
        r"(?:class|interface|enum|record|void|[\w<>\[\], ?]+ \w+)\b",
        r"^\s*@(?:Override|Test|Nullable|\w+)\b", r"\bnew \w+[<(]",
        r"^\s*(?:final )?\w+(?:<.*>)? \w+ = .*;", r"\bthrows \w+", r"^\s*\}\s*$",
    ),
    "go": (
        r"^package \w+$", r"^func (?:\(\w+ \*?[\w\[\]]+\) )?\w+[\[(]", r":= ", r"^import \($|^import \"",
        r"^\s*if err != nil",
        r"^type \w+ (?:struct|interface|func)", r"^\s*defer |^\s*go func", r"\bfunc\(",
        r"^\s*return\b.*nil", r"\bmap\[\w+\]", r"^\t+\}",
    ),
    "rust": (
        r"^\s*(?:pub(?:\(\w+\))? )?(?:async )?(?:unsafe )?fn \w+",
        r"^\s*(?:pub )?(?:struct|enum|trait|mod) \w+", r"^\s*impl\b.*\{",
        r"^\s*(?:pub )?use [\w:]+", r"\blet (?:mut )?\w+", r"#!?\[\w+", r"->\s*[\w<&]", r"\b\w+!\(",
        r"::<|\b\w+::\w+", r"=> \{?",
        r"&mut |&self", r"^\s*//[/!]",
    ),
    "c": (
        r"^#include [<\"]", r"^#(?:define|if|ifdef|ifndef|endif|else|undef|pragma)\b",
        r"^(?:static |const |extern |unsigned |inline )*"
        r"(?:void|int|char|long|size_t|struct \w+|bool|double|float|\w+_t)\b[ *]+\w+", r"->\w+",
        r"\b(?:NULL|sizeof)\b",
        r"^\s*typedef\b", r"^\s*\w+\(.*\);\s*$", r"^\}\s*$",
    ),
    "cpp": (
        r"^#include <\w+>$", r"\bstd::", r"^\s*(?:template|namespace|using namespace)\b",
        r"\b(?:public|private|protected):\s*$",
        r"\bauto \w+ =", r"\bnullptr\b", r"::\w+\(", r"\bconst \w+&", r"\bvirtual\b|\boverride\b",
    ),
    "csharp": (
        r"^using [\w.]+;", r"^\s*namespace [\w.]+", r"\{ get;",
        r"^\s*(?:public|private|internal|protected) (?:static |readonly |sealed |"
        r"override |async |virtual |abstract |partial )*[\w<>\[\]?,]+ ", r"\bvar \w+ = ",
        r"\bstring\b|\bTask<", r"^\s*\[\w+(?:\(.*\))?\]\s*$",
        r"\$\"", r"^\s*///\s*<", r"=> ",
    ),
    "ruby": (
        r"^\s*def (?:self\.)?\w+[?!]?(?:\(.*\))?\s*$", r"^\s*end\s*$", r"^\s*(?:class|module) [A-Z]\w*",
        r"^require(?:_relative)? ['\"]",
        r"\bdo(?: \|.*\|)?\s*$", r"(?<![\w@])@\w+(?: [=+|]|[.\[)])",
        r"^\s*(?:it|describe|context|let|before|attr_\w+|should)\b", r"\.(?:each|map|nil\?|new)\b",
        r":\w+ =>",
        r"^\s*(?:if|unless|elsif|when|rescue|else|ensure)\b[^:{]*$", r"^# ",
    ),
    "bash": (
        r"^#!.*\b(?:ba|z|da)?sh\b", r"^\s*(?:if|elif|while|until) \[\[? ",
        r"^\s*(?:fi|done|esac|then|do)\b", r"^\s*\w+\(\) ?\{", r"\$\{?\w+",
        r"^\s*(?:echo|export|local|set -|cd|source|exit|printf|read|trap|shift)\b", r"^\s*\w+=[\"'$\w(]",
        r"\|\||&&| \| [a-z]",
        r"^\s*for \w+ in ", r"^\s*(?:sudo|apt|apt-get|git|docker|curl|mkdir|rm|cp|mv|grep|sed|awk|pip"
                            r"|npm|python3?) ", r"\$\(",
    ),
    "php": (r"<\?php", r"\$\w+->", r"^\s*(?:public|private|protected) function", r"^\s*\$\w+ = ",
    r"^use [\w\\]+;"),
    "sql": (
        r"(?i:^\s*(?:select|insert into|update \w+ set|delete from|begin|commit|drop table|alter table)\b)",
        r"(?i:^\s*create (?:table|index|view|unique)\b)",
        r"(?i:^\s*(?:from|where|(?:left |inner )?join|group by|order by|having|limit|values)\b)",
        r"(?i:\b(?:not null|primary key|foreign key|integer|varchar|references)\b)",
    ),
    "html": (r"^\s*</?(?:html|head|body|div|span|p|a|ul|li|table|tr|td|script|style|link|meta|h[1-6]"
             r"|form|input|button)\b", r"<!DOCTYPE"),
    "css": (r"^\s*[.#@]?[\w-]+(?:[ ,:>.#][\w-]+)* \{\s*$", r"^\s*[\w-]+: [^;]+;\s*$"),
    "kotlin": (r"^\s*(?:private |override |suspend |internal )*fun \w+", r"\bval \w+",
    r"^\s*(?:data |sealed )?class \w+", r"^import [\w.]+$", r"\bwhen \("),
    "swift": (r"^\s*(?:public |private |@\w+ )*func \w+", r"\b(?:let|var) \w+(?:: \w+)? =", r"^import \w+$",
    r"\bguard let\b|\bif let\b", r"^\s*(?:struct|extension|protocol) \w+"),
}  # fmt: skip
_ANY = {name: late("|".join(f"(?:{hint})" for hint in hints)) for name, hints in _HINTS.items()}


def language_name(word: str) -> str:
    """The tree-sitter name of a fence's language or a file extension; the word itself if unknown."""
    word = word.strip().lower().lstrip(".")
    return ALIASES.get(word, word)


def language_of_path(path: str) -> str:
    """The language that a path's name stands for, or ""."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    if name in ("makefile", "dockerfile"):
        return "make" if name == "makefile" else "dockerfile"
    if name.endswith(".lock"):
        return "toml"
    extension = name.rsplit(".", 1)[-1] if "." in name else ""
    if (
        extension in EXTENSIONS
        or extension in STRUCTURED
        or extension in ("yml", "md", "rst", "txt", "log", "diff", "patch")
    ):
        return language_name(extension)
    return ""


def guess_language(lines: list[str]) -> tuple[str, float]:
    """The likeliest language of the lines and its strength: the share of lines with a sign of it.

    0.25 and more is code in practice; a strength of 0 has no language.
    """
    solid = [line[:GUESS_WIDTH] for line in lines if line.strip()]
    if len(solid) > GUESS_LINES:
        solid = solid[: GUESS_LINES // 2] + solid[GUESS_LINES // 2 :: len(solid) // (GUESS_LINES // 2)]
    if not solid:
        return "", 0.0
    head = "\n".join(solid)
    best, best_score = "", 0.0
    for name, any_hint in _ANY.items():
        hit = sum(map(bool, map(any_hint.search, solid))) / len(solid)
        if hit > best_score:
            hints = _HINTS[name]  # compiled as they are needed: together they take a hundredth of a second
            variety = sum(1 for hint in hints if re.search(hint, head, re.MULTILINE)) / len(hints)
            score = hit * min(1.0, 0.4 + variety)
            if score > best_score:
                best, best_score = name, score
    return best, best_score
