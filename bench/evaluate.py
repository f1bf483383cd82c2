"""How well a corpus of files is classified and compressed: a confusion matrix and ratios by class.

    python -m bench.evaluate DIR [--json FILE]

A file's true class is told by its folder's name. Neither the folder nor the file name is shown to
the classifier: it sees the content only.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress import compress_message
from aider_gardener.messages import ContentClass, Source, TokenCounter
from aider_gardener.reading.classify import dominant_class
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import infer_source

FOLDER_CLASSES: tuple[tuple[str, ContentClass], ...] = (
    (r"test_|ci_build|build|npm_pip|lint|log(?:_|s?$)", ContentClass.LOG),
    (r"traceback|error", ContentClass.ERROR),
    (r"json|ya?ml|toml|csv", ContentClass.STRUCTURED),
    (r"diff|patch", ContentClass.DIFF),
    (r"grep|ls\b|git_log|listing|table|tree", ContentClass.LISTING),
    (r"source_md|prose|docs", ContentClass.PROSE),
    (r"source|code", ContentClass.CODE),
)
"""Pattern at the beginning of a folder's name → class; the first that matches counts."""


@dataclass(frozen=True)
class FileResult:
    """One file: its true class, the class found, its tokens before and after, and the time in ms."""

    path: str
    truth: ContentClass
    found: ContentClass
    kind: str
    tokens_before: int
    tokens_after: int
    ms: float


@dataclass
class Report:
    """All files of a corpus."""

    files: list[FileResult] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        right = sum(1 for file in self.files if file.truth is file.found)
        return right / len(self.files) if self.files else 0.0

    def matrix(self) -> Counter[tuple[str, str]]:
        """How often each (true, found) pair of classes occurs."""
        return Counter((file.truth.value, file.found.value) for file in self.files)

    def by_class(self) -> dict[str, dict[str, float]]:
        """For each true class: files, tokens before and after, overall and median ratio, median ms."""
        table: dict[str, dict[str, float]] = {}
        for cls in dict.fromkeys(file.truth for file in self.files):
            files = [file for file in self.files if file.truth is cls]
            before, after = (
                sum(file.tokens_before for file in files),
                sum(file.tokens_after for file in files),
            )
            ratios = [file.tokens_after / file.tokens_before for file in files if file.tokens_before]
            table[cls.value] = {
                "files": len(files), "tokens_before": before, "tokens_after": after,
                "ratio": round(after / before, 4) if before else 1.0,
                "median_ratio": round(statistics.median(ratios), 4) if ratios else 1.0,
                "median_ms": round(statistics.median(file.ms for file in files), 2),
            }  # fmt: skip
        return table

    def record(self) -> dict[str, Any]:
        """The report as one JSON value."""
        return {
            "files": len(self.files),
            "accuracy": round(self.accuracy, 4),
            "matrix": [
                {"truth": truth, "found": found, "files": number}
                for (truth, found), number in sorted(self.matrix().items())
            ],
            "by_class": self.by_class(),
            "wrong": [
                {"path": f.path, "truth": f.truth.value, "found": f.found.value, "kind": f.kind}
                for f in self.files
                if f.truth is not f.found
            ],
        }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of folders named for a class")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args(argv)
    report = evaluate_corpus(options.folder, default_counter()) if options.folder.is_dir() else Report()
    if not report.files:
        parser.error(f"{options.folder} has no files in folders whose names stand for a class")
    print(render(report))
    if options.json:
        options.json.write_text(json.dumps(report.record(), indent=1) + "\n", encoding="utf-8")
    return 0


def class_of_folder(name: str) -> ContentClass | None:
    """The class that a corpus folder's name stands for, or None."""
    return next((cls for pattern, cls in FOLDER_CLASSES if re.match(pattern, name.lower())), None)


def evaluate_corpus(folder: Path, count: TokenCounter) -> Report:
    """Classify and compress every file of every class folder. Raises OSError when one can't be read."""
    report = Report()
    for group in sorted(path for path in folder.iterdir() if path.is_dir()):
        truth = class_of_folder(group.name)
        if truth is None:
            continue
        for path in sorted(path for path in group.rglob("*") if path.is_file()):
            text = path.read_bytes().decode("utf-8", "replace")
            report.files.append(evaluate_text(text, f"{group.name}/{path.name}", truth, count))
    return report


def evaluate_text(text: str, path: str, truth: ContentClass, count: TokenCounter) -> FileResult:
    """One text, seen as a message that tells nothing of its origin but what its own wrapper says."""
    source = infer_source("user", text)
    source = source if source.detail else Source()
    started = time.perf_counter()
    parts = segment(text, source)
    found = dominant_class(text, source, parts)
    result = compress_message(text, source, segments=parts, count=count)
    ms = (time.perf_counter() - started) * 1000
    kind = max(parts, key=lambda part: part.end - part.start).kind if parts else ""
    return FileResult(path, truth, found, kind, count(text), count(result.text), ms)


def render(report: Report) -> str:
    """The confusion matrix, the ratios by class and the files that were taken for something else."""
    names = [
        cls.value for cls in ContentClass if any(cls in (file.truth, file.found) for file in report.files)
    ]
    matrix = report.matrix()
    width = max(map(len, names)) + 2
    lines = ["true class".ljust(width + 2) + "".join(name.rjust(width) for name in names)]
    for truth in names:
        if any(matrix[(truth, found)] for found in names):
            lines.append(
                truth.ljust(width + 2)
                + "".join((str(matrix[(truth, found)] or "·")).rjust(width) for found in names)
            )
    right = sum(1 for file in report.files if file.truth is file.found)
    lines += ["", f"{right} of {len(report.files)} right: {report.accuracy:.1%}", ""]
    lines.append(
        "class".ljust(width)
        + "files".rjust(7)
        + "tokens".rjust(10)
        + "after".rjust(10)
        + "ratio".rjust(8)
        + "median".rjust(8)
        + "ms".rjust(8)
    )
    for name, row in report.by_class().items():
        lines.append(
            name.ljust(width) + f"{row['files']:>7}{row['tokens_before']:>10,}{row['tokens_after']:>10,}"
            f"{row['ratio']:>8.3f}{row['median_ratio']:>8.3f}{row['median_ms']:>8.1f}"
        )
    wrong = [file for file in report.files if file.truth is not file.found]
    lines += [
        "",
        *(f"{file.path}: {file.truth.value} taken for {file.found.value} {file.kind}" for file in wrong),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
