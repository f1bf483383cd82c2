"""The embedders: the encoder that comes with us, and what other packages offer; refusals in one line everywhere."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_lines import put
from made_search import found
from made_vectors import LetterCounts

from aider_gardener.archive.store import open_store
from aider_gardener.errors import UsageError
from aider_gardener.recall import embed
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import (
    Embedder,
    EmbedderError,
    UniversalSentenceEncoder,
    load_use,
    loading,
)
from aider_gardener.settings import Settings

HAS_MODEL = importlib.util.find_spec(embed.LIBRARY) is not None
NEEDS_MODEL = pytest.mark.skipif(not HAS_MODEL, reason=f"not installed: {embed.PACKAGE}")


@pytest.fixture(scope="module")
def model() -> Embedder:
    return UniversalSentenceEncoder()


# The encoder


@NEEDS_MODEL
def test_vectors_are_unit_rows(model: Embedder) -> None:
    found = model.embed(["one text", "", "another, longer text\nwith two lines"])
    assert found.shape == (3, model.dim) and found.dtype == np.float32
    assert np.allclose((found**2).sum(axis=1), 1.0, atol=1e-5)
    assert model.embed([]).shape == (0, model.dim)


@NEEDS_MODEL
@pytest.mark.parametrize(
    "question",
    [
        "Why does the request give up so early?",
        "Warum gibt die Anfrage so früh auf?",
        "为什么请求这么早就放弃了？",
        "لماذا يتوقف الطلب مبكرًا هكذا؟",
    ],
)
def test_a_question_in_another_language_is_near_its_answer(model: Embedder, question: str) -> None:
    asked, answer, chance = model.embed(
        [question, "The timeout of the HTTP request is two seconds.", "The bird has green feathers."]
    )
    assert asked @ answer > asked @ chance + 0.1


@NEEDS_MODEL
def test_a_text_has_one_vector_whatever_stands_beside_it(model: Embedder) -> None:
    texts = [
        "short",
        "def f(x):\n    return x + 1\n" * 12,
        "E       AssertionError: 3 != 4",
        "数据库连接失败",
        "a" * 1_500,
    ]
    together = model.embed(texts)
    for row, text in enumerate(texts):
        assert (model.embed([text])[0] == together[row]).all()
    assert (model.embed(texts[::-1])[::-1] == together).all()


def package_folder() -> Path:
    spec = importlib.util.find_spec(embed.LIBRARY)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def package() -> Any:
    found = importlib.import_module(embed.LIBRARY).USE(threads=1)
    found.encode("")
    return found


@NEEDS_MODEL
@given(
    text=st.text(st.characters(exclude_categories=()), max_size=60)
    | st.text("abcdefghij ,.0127_/", max_size=200)
)
@example(text="why did we set that limit to 1000077")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_vectors_are_those_of_the_package(package: Any, model: Embedder, text: str) -> None:
    """The encoder reads its files itself, and only as far as the text needs it."""
    assert (model.embed([text])[0] == package.encode(embed.readable(text))).all()


@NEEDS_MODEL
def test_threads_share_a_model_and_leave_the_process_s_threads_alone(model: Embedder) -> None:
    before = blas_threads()
    texts = [f"text number {n} of a thread" for n in range(8)]
    expected = model.embed(texts)
    with ThreadPoolExecutor(4) as threads:
        assert all((found == expected).all() for found in threads.map(model.embed, [texts] * 4))
    assert blas_threads() == before


def blas_threads() -> list[int]:
    """How many threads each of numpy's libraries would use; [] where nothing tells."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return []
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


@NEEDS_MODEL
@pytest.mark.parametrize("file", list(embed.USE_FILES))
@pytest.mark.parametrize("damage", ["one byte", "gone"])
def test_a_damaged_model_is_refused(tmp_path: Path, file: str, damage: str) -> None:
    for name in embed.USE_FILES:
        shutil.copy(package_folder() / "resources" / name, tmp_path / name)
    path = tmp_path / file
    if damage == "gone":
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.raises(EmbedderError, match=r"cannot be read|is damaged"):
        UniversalSentenceEncoder(tmp_path).load()


def test_a_package_that_breaks_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_encoder.py").write_text("raise RuntimeError('two\\nlines')")
    (tmp_path / "weights.npz").write_bytes(b"w")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(embed, "LIBRARY", "broken_encoder")
    monkeypatch.setattr(embed, "USE_FILES", {"weights.npz": hashlib.sha256(b"w").hexdigest()})
    with pytest.raises(EmbedderError, match="cannot be loaded") as refused:
        UniversalSentenceEncoder(tmp_path).load()
    assert "\n" not in str(refused.value)


def test_a_missing_package_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "LIBRARY", "no_such_encoder")
    monkeypatch.setattr(embed.ENCODER, "_model", None)
    with pytest.raises(EmbedderError, match=embed.PACKAGE):
        load_use()


@NEEDS_MODEL
def test_loading_writes_no_file_and_asks_no_network(tmp_path: Path, root: Path) -> None:
    code = (
        "import sys\n"
        "sys.addaudithook(lambda event, _: event.startswith('socket.') and sys.exit(event))\n"
        "from aider_gardener.recall.embed import load_use\n"
        "load_use().embed(['a text', 'another'])\n"
    )
    env = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    assert list(tmp_path.rglob("*")) == []


def test_an_exit_waits_for_the_call_under_way_and_lets_no_other_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "_ending", False)  # and back again afterwards
    inside, done = threading.Event(), threading.Event()

    def call() -> None:
        with embed.native():
            inside.set()
            time.sleep(0.2)
            done.set()

    threading.Thread(target=call).start()
    assert inside.wait(120)
    embed.wait_for_native()
    assert done.is_set()
    with pytest.raises(EmbedderError, match="the process is ending"):
        UniversalSentenceEncoder().embed(["a text"])


# What other packages offer


def offered(monkeypatch: pytest.MonkeyPatch, **loads: object) -> None:
    """Let these be the embedders of installed packages."""
    module = ModuleType("another_package")
    vars(module).update(loads)
    monkeypatch.setitem(sys.modules, "another_package", module)
    found = [
        importlib.metadata.EntryPoint(name, f"another_package:{name}", "aider_gardener.embedders")
        for name in loads
    ]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda *, group: importlib.metadata.EntryPoints(found).select(group=group),
    )


def backlog_of(choice: str, text: str = "passage") -> Backlog:
    """The backlog of an archive of one passage, with the embedder that the setting names."""
    store = open_store(None)
    put(store, text)
    return Backlog(store, load=loading(Settings(embedder=choice).embedder), background=False)


def test_an_embedder_that_a_package_offers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = LetterCounts()
    offered(monkeypatch, letters=lambda: letters, other=Mock(side_effect=AssertionError))
    backlog = backlog_of("letters")
    assert backlog.drain() == 1 and letters.embedded == ["passage"] and letters.loads == 1
    vector = backlog.query_vector("passage")
    assert vector is not None and backlog.embedder_name == "letters"
    chunks = backlog.store.evidence([]).chunks
    assert backlog.store.similarities(vector, embedder="letters", chunks=chunks)[0] > 0.99


def test_an_unknown_name_gives_one_line_that_says_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, letters=LetterCounts)
    backlog = backlog_of("minilm")
    assert backlog.drain() == 0 and backlog.off
    assert backlog.take_notice() == (
        "recall works by full text alone, not by meaning:"
        " no installed package offers an embedder minilm; there are use, none, letters"
    )


def raising() -> Any:
    raise OSError("no server\nanswers")


def with_a_broken_model() -> Any:
    class Broken(LetterCounts):
        def load(self) -> None:
            raise ValueError("two\nlines")

    return Broken()


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (raising, "OSError: no server answers"),
        (with_a_broken_model, "ValueError: two lines"),
        (lambda: None, "AttributeError"),
        ("no callable", "TypeError"),
        (None, "ModuleNotFoundError"),
    ],
)
def test_an_offered_embedder_in_trouble_gives_one_line_and_full_text_alone(
    monkeypatch: pytest.MonkeyPatch, load: object, said: str
) -> None:
    offered(monkeypatch, theirs=load)
    if load is None:  # the package cannot be imported
        monkeypatch.delitem(sys.modules, "another_package")
    backlog = backlog_of("theirs", "the importer is slow")
    assert backlog.drain() == 0 and backlog.query_vector("importer") is None
    notice = backlog.take_notice()
    assert "embedder theirs" in notice and said in notice and "\n" not in notice
    assert backlog.take_notice() == ""
    assert len(found(backlog.store, "importer")) == 1


def test_nobody_looks_for_packages_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = Mock()
    monkeypatch.setattr(importlib.metadata, "entry_points", looked_up)
    assert loading("none") is None
    assert loading("use") is load_use
    assert loading("letters") is not None, "not before it is loaded"
    looked_up.assert_not_called()


@pytest.mark.parametrize("choice", ["", "litellm:openai/model", "fastembed:", "use:", "two words"])
def test_the_setting_refuses_the_rest(choice: str) -> None:
    with pytest.raises(UsageError, match="embedder must be one of use, none, NAME") as refused:
        Settings(embedder=choice)
    assert "\n" not in str(refused.value)
