"""A mail without what it has to say is refused, and so is one that reaches further than it may."""

from __future__ import annotations

import re

import pytest
from made_tree import FIXES, SERIES

from aider_gardener.errors import PatchError
from aider_gardener.patches.mail import changed_path, parse_mail


def test_a_mail_tells_its_subject_its_fields_and_what_it_needs() -> None:
    text = FIXES[0].text.replace("Subject: [PATCH] fix:", "Subject: [PATCH 1/9] fix:")
    notes = "\n---\nNeeds: 0010, 0012\n\n"
    mail = parse_mail("0017-a-name.patch", text.replace("\n---\n", notes, 1))
    assert (mail.number, mail.slug, mail.needs) == (17, "a-name", (10, 12))
    assert mail.subject == FIXES[0].subject and mail.is_fix
    assert mail.fields["Needs"] == "0010, 0012"


@pytest.mark.parametrize("field", ["Subject", "From", "Date"])
def test_a_mail_without_a_field_is_refused_by_its_name(field: str) -> None:
    text = re.sub(rf"^{field}: .*\n", "", FIXES[0].text, flags=re.M)
    with pytest.raises(PatchError, match=f"0001-x.patch lacks {field}"):
        parse_mail("0001-x.patch", text)
    with pytest.raises(PatchError, match="named like"):
        parse_mail("first.patch", FIXES[0].text)


def test_a_mail_is_its_head_and_the_diffs_of_its_files() -> None:
    for mail in SERIES.patches:
        assert mail.text.endswith("".join(mail.diffs.values()))
        assert all(diff.startswith(f"diff --git a/{path} ") for path, diff in mail.diffs.items())


@pytest.mark.parametrize(
    "diff",
    [
        "diff --git a/x b/y\nrename from x\nrename to y\n",
        "diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a//x b//x\n--- a//x\n+++ b//x\n@@ -1 +1 @@\n-a\n+b\n",
    ],
    ids=["rename", "outside of the tree", "from the root"],
)
def test_only_files_of_the_tree_are_changed_and_in_place(diff: str) -> None:
    with pytest.raises(PatchError):
        changed_path(diff)
