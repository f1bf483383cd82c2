"""The universal sentence encoder: the real model where its package is installed, refusals everywhere."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.recall import use
from aider_gardener.recall.embed import MINILM_SCALE, Embedder, EmbedderError, Scale
from aider_gardener.recall.use import UniversalSentenceEncoder, load_use

NEEDS_MODEL = pytest.mark.skipif(
    importlib.util.find_spec(use.LIBRARY) is None, reason=f"not installed: {use.PACKAGE}"
)


@pytest.fixture(scope="module")
def model() -> Embedder:
    found, reason = load_use()
    assert found is not None, reason
    return found


def folder_of(model: Embedder) -> Path:
    assert isinstance(model, UniversalSentenceEncoder)
    return model.folder


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


@NEEDS_MODEL
@given(text=st.text(st.characters(exclude_categories=()), max_size=200))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_can_be_embedded(model: Embedder, text: str) -> None:
    assert np.allclose((model.embed([text]) ** 2).sum(), 1.0, atol=1e-4)


@NEEDS_MODEL
def test_a_huge_text_costs_no_more_than_a_long_one(model: Embedder) -> None:
    long = "word " * 1_000
    assert (model.embed([long + "x " * 3_000_000])[0] == model.embed([long])[0]).all()


@NEEDS_MODEL
def test_unloading_and_loading_again(model: Embedder) -> None:
    before = model.embed(["the same again"])
    model.unload()
    assert not model.loaded
    assert (model.embed(["the same again"]) == before).all()
    assert model.loaded and load_use()[0] is model


@NEEDS_MODEL
def test_threads_share_a_model_and_leave_the_process_s_threads_alone(model: Embedder) -> None:
    before = blas_threads()
    texts = [f"text number {n} of a thread" for n in range(8)]
    expected = model.embed(texts)
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(bool((model.embed(texts) == expected).all())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4
    assert blas_threads() == before


def blas_threads() -> list[int]:
    """How many threads each of numpy's libraries would use; [] where nothing tells."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return []
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


@NEEDS_MODEL
@pytest.mark.parametrize("file", list(use.USE_FILES))
@pytest.mark.parametrize("damage", ["one byte", "gone"])
def test_a_damaged_model_is_refused(model: Embedder, tmp_path: Path, file: str, damage: str) -> None:
    for name in use.USE_FILES:
        shutil.copy(folder_of(model) / name, tmp_path / name)
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
    monkeypatch.setattr(use, "LIBRARY", "broken_encoder")
    files = {"weights.npz": hashlib.sha256(b"w").hexdigest()}
    with pytest.raises(EmbedderError, match="cannot be loaded") as refused:
        UniversalSentenceEncoder(tmp_path, files=files).load()
    assert "\n" not in str(refused.value)


def test_a_missing_package_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., object] = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda asked, *rest: None if asked == use.LIBRARY else real(asked, *rest)
    )
    found, reason = load_use()
    assert found is None and use.PACKAGE in reason


@NEEDS_MODEL
def test_loading_writes_no_file_and_asks_no_network(tmp_path: Path, root: Path) -> None:
    code = (
        "import sys\n"
        "sys.addaudithook(lambda event, _: event.startswith('socket.') and sys.exit(event))\n"
        "from aider_gardener.recall.use import load_use\n"
        "found, reason = load_use()\n"
        "assert found, reason\n"
        "found.embed(['a text', 'another'])\n"
    )
    env = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    assert list(tmp_path.rglob("*")) == []


def test_a_scale_puts_cosines_beside_minilm_s() -> None:
    own = Scale(0.3, 0.2)
    assert own.similarity(0.3) == pytest.approx(0.1) and own.similarity(0.5) == pytest.approx(0.7)
    assert own.similarity(0.4) == pytest.approx(0.4) and own.similarity(0.0) < 0
    assert MINILM_SCALE.similarity(0.123456) == 0.123456
