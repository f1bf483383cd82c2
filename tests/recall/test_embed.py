"""The embedder: the real model from local files, the same vector for the same text, honest refusals."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.recall import embed
from aider_gardener.recall.embed import (
    Embedder,
    EmbedderError,
    MiniLM,
    RegisteredModel,
    find_embedder,
    load_embedder,
    loaded,
)

MISSING = [name for name in (embed.LIBRARY, embed.MODEL_PACKAGE) if importlib.util.find_spec(name) is None]
NEEDS_MODEL = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def model() -> Embedder:
    found, reason = load_embedder()
    assert found is not None, reason
    return found


def fresh(model: Embedder) -> MiniLM:
    """The same model with an empty memory of texts."""
    assert isinstance(model, MiniLM)
    twin = MiniLM(model.model_file)
    twin._model = model._model
    return twin


@NEEDS_MODEL
def test_vectors_are_unit_rows(model: Embedder) -> None:
    found = model.embed(["one text", "", "another, longer text\nwith two lines"])
    assert found.shape == (3, 384) and found.dtype == np.float32
    assert np.allclose((found**2).sum(axis=1), 1.0, atol=1e-5)
    assert model.embed([]).shape == (0, 384)


@NEEDS_MODEL
def test_meaning_is_nearer_than_words(model: Embedder) -> None:
    question, answer, chance = model.embed(
        [
            "Why does the request give up so early?",
            "The timeout of the HTTP client is two seconds.",
            "The early bird sings why it does.",
        ]
    )
    assert question @ answer > question @ chance


@NEEDS_MODEL
def test_a_text_has_one_vector_whatever_stands_beside_it(model: Embedder) -> None:
    texts = [
        "short",
        "def f(x):\n    return x + 1\n" * 12,
        "E       AssertionError: 3 != 4",
        "数据库连接失败",
        "a" * 1_500,
    ]
    together = fresh(model).embed(texts)
    for row, text in enumerate(texts):
        assert (fresh(model).embed([text])[0] == together[row]).all()
    assert (fresh(model).embed(texts[::-1])[::-1] == together).all()
    assert (model.embed([*texts, *texts])[5:] == together).all()


@NEEDS_MODEL
@given(text=st.text(st.characters(exclude_categories=()), max_size=200))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_can_be_embedded(model: Embedder, text: str) -> None:
    assert np.isfinite(model.embed([text])).all()


@NEEDS_MODEL
def test_a_huge_text_costs_no_more_than_a_long_one(model: Embedder) -> None:
    long = "word " * 1_000
    assert (model.embed([long + "x " * 3_000_000])[0] == model.embed([long])[0]).all()


@NEEDS_MODEL
def test_unloading_and_loading_again(model: Embedder) -> None:
    before = model.embed(["the same again"])
    model.unload()
    assert not model.loaded
    assert (fresh(model).embed(["the same again"]) == before).all()
    model.load()
    assert model.loaded
    assert find_embedder()[0] is model


@NEEDS_MODEL
def test_threads_share_a_model(model: Embedder) -> None:
    twin = fresh(model)
    texts = [f"text number {n} of a thread" for n in range(8)]
    expected = fresh(model).embed(texts)
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(bool((twin.embed(texts) == expected).all())))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 3


@NEEDS_MODEL
@pytest.mark.parametrize("damage", ["one byte", "cut", "empty", "gone"])
def test_a_damaged_model_is_refused(model: Embedder, tmp_path: Path, damage: str) -> None:
    assert isinstance(model, MiniLM)
    path = tmp_path / "model.onnx"
    shutil.copy(model.model_file, path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    content = {"one byte": bytes(data), "cut": bytes(data[:-1]), "empty": b""}.get(damage)
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(EmbedderError, match=r"cannot be read|is damaged"):
        MiniLM(path).load()


@NEEDS_MODEL
def test_a_file_that_is_no_model_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match="cannot be loaded") as refused:
        MiniLM(path, sha256=hashlib.sha256(b"not a model").hexdigest()).load()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [embed.LIBRARY, embed.MODEL_PACKAGE])
def test_a_missing_package_is_a_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda asked, *rest: None if asked == name else real(asked, *rest)
    )
    found, reason = load_embedder()
    assert found is None and name.replace("_", "-") in reason.replace("_", "-")


@NEEDS_MODEL
def test_a_model_that_cannot_be_loaded_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "MODEL_SHA256", "0" * 64)
    monkeypatch.setattr(embed, "_shared", {})
    monkeypatch.setattr(embed, "MiniLM", lambda path, threads: MiniLM(path, threads=threads, sha256="0" * 64))
    found, reason = load_embedder()
    assert found is None and "damaged" in reason


def test_the_tokenizer_is_the_one_that_belongs_to_the_model() -> None:
    embed.check_file(embed.TOKENIZER_DIRECTORY / "tokenizer.json", embed.TOKENIZER_SHA256)
    assert "Apache License" in (embed.TOKENIZER_DIRECTORY / "NOTICE").read_text("utf-8")


def test_importing_loads_no_library() -> None:
    heavy = "{'numpy', 'fastembed', 'onnxruntime', 'tokenizers', 'apsw'}"
    code = f"import sys, aider_gardener.recall.embed, aider_gardener.recall.backlog; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@NEEDS_MODEL
def test_loading_writes_no_file_and_forked_children_print_nothing(tmp_path: Path, root: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from aider_gardener.recall.embed import load_embedder\n"
        "found, reason = load_embedder()\n"
        "assert found, reason\n"
        "found.embed(['a text', 'another'])\n"
        "if hasattr(os, 'fork'):\n"
        "    subprocess.run([sys.executable, '-c', ''], preexec_fn=lambda: None)\n"
    )
    before = sorted(embed.TOKENIZER_DIRECTORY.iterdir())
    env = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    assert list(tmp_path.rglob("*")) == [] and sorted(embed.TOKENIZER_DIRECTORY.iterdir()) == before


@NEEDS_MODEL
def test_a_model_that_is_not_here_is_a_reason_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    name = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
    found, reason = loaded(lambda: RegisteredModel(name))
    assert found is None and name in reason and "fetch it once" in reason and "\n" not in reason
    found, reason = loaded(lambda: RegisteredModel("nobody/knows-it"))
    assert found is None and "knows no model nobody/knows-it" in reason
    assert capfd.readouterr() == ("", "")


@NEEDS_MODEL
def test_a_registered_model_on_this_machine_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The real loading, from a cache that holds the bundled model under the name of the registry's own."""
    from fastembed import TextEmbedding

    bundled, reason = load_embedder()
    assert bundled is not None, reason
    name = "sentence-transformers/all-MiniLM-L6-v2"
    described = next(each for each in TextEmbedding.list_supported_models() if each["model"] == name)
    folder = tmp_path / "fast-all-MiniLM-L6-v2"
    (folder / described["model_file"]).parent.mkdir(parents=True)
    shutil.copy(bundled.model_file, folder / described["model_file"])  # type: ignore[attr-defined]  # reason: a MiniLM
    for file in embed.TOKENIZER_DIRECTORY.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    found, reason = loaded(lambda: RegisteredModel(name))
    assert found is not None, reason
    sha = hashlib.sha256((folder / described["model_file"]).read_bytes()).hexdigest()
    assert found.dim == 384 and found.name == f"fastembed:{name}@{sha[:12]}"
    texts = ["the client gives up after two seconds", "数据库连接失败"]
    assert np.allclose(found.embed(texts), bundled.embed(texts), atol=1e-3)
    found.unload()
    assert not found.loaded
