"""A patch as a mail of `git format-patch`: what it says, what it changes, what it needs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aider_gardener import files
from aider_gardener.errors import PatchError

FILE_NAME = re.compile(r"(?P<number>\d{4})-(?P<slug>[a-z0-9-]+)\.patch")
FIELD = re.compile(r"^([A-Z][A-Za-z-]+): (.*)$", re.M)
MAIL_FIELDS = ("From", "Date", "Subject")
NOTE_FIELDS = ("Needs",)
"""Fields below the `---`: `git am` leaves them out. Needs: numbers of other patches. No fix has it. What else
is to be said of a patch stands in notes.yml, because a mail is sent as it stands."""


@dataclass(frozen=True, eq=False)
class PatchMail:
    """One patch of the series."""

    name: str
    number: int
    text: str
    subject: str
    fields: dict[str, str]

    @cached_property
    def diffs(self) -> dict[str, str]:
        """The diff of each file that it touches, by the file's path.

        Raises PatchError on anything but a change of one file in place, or on a file outside of the tree.
        """
        parts = re.split(r"^(?=diff --git )", self.text, flags=re.M)[1:]
        return {changed_path(part): part for part in parts}

    @property
    def slug(self) -> str:
        return self.name.split("-", 1)[1].removesuffix(".patch")

    @property
    def needs(self) -> tuple[int, ...]:
        """Numbers of the patches that this one cannot do without."""
        return needed_numbers(f"Needs: {self.fields.get('Needs', '')}")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_fix(self) -> bool:
        return self.subject.startswith("fix:")


def changed_path(diff: str) -> str:
    """The path of the file that a diff changes. Raises PatchError as `PatchMail.diffs` does."""
    named = re.match(r"diff --git a/(.+) b/\1\n", diff)
    if named is None:
        raise PatchError(f"not a plain change of one file: {diff.splitlines()[0]}")
    if named[1].startswith("/") or ".." in named[1].split("/"):
        raise PatchError(f"a patch may not reach outside of its tree: {named[1]}")
    return named[1]


def needed_numbers(mail: str) -> tuple[int, ...]:
    """The numbers in the mail's field Needs."""
    found = re.search(r"^Needs: (.*)$", mail, re.M)
    return tuple(int(number) for number in re.findall(r"\d+", found[1])) if found else ()


def read_mail(path: Path) -> PatchMail:
    """Read a patch. Raises PatchError, naming what is missing, when it is not such a mail."""
    return parse_mail(path.name, files.read(path, files.PEOPLE_BYTES, follow=True).decode("utf-8"))


def parse_mail(name: str, text: str) -> PatchMail:
    """The patch that has this file name and text. Raises PatchError as `read_mail` does."""
    named = FILE_NAME.fullmatch(name)
    if named is None:
        raise PatchError(f"{name}: a patch is named like 0001-what-it-fixes.patch")
    head, _, rest = text.partition("\n\n")
    _, mark, after = rest.partition("\n---\n")
    notes = after.partition("\ndiff --git ")[0]
    head = re.sub(r"\n[ \t]+", " ", head)
    fields = {
        key: value
        for part, keys in ((head, MAIL_FIELDS), (notes, NOTE_FIELDS))
        for key, value in FIELD.findall(part)
        if key in keys
    }
    missing = [key for key in MAIL_FIELDS if not fields.get(key)]
    if missing or not mark:
        raise PatchError(f"{name} lacks {', '.join(missing) or 'the line --- below its text'}")
    subject = re.sub(r"^\[PATCH[^\]]*\] *", "", fields["Subject"])
    return PatchMail(name, int(named["number"]), text, subject, fields)
