"""Files that are not sound models, and places where no model can be made."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.store.connection import FORMAT
from tests.cli.hardship import HAM, refusal
from tests.tiny_mail import program


def of_format(number: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:60] + number.to_bytes(4, "big") + data[64:]


BAD_MODELS: dict[str, tuple[Callable[[bytes], bytes | None], int, str]] = {
    "missing": (lambda data: None, 66, "model-missing"),
    "empty": (lambda data: b"", 65, "model-empty"),
    "cut short": (lambda data: data[: len(data) // 2], 65, "model-truncated"),
    "cut in the header": (lambda data: data[:50], 65, "model-truncated"),
    "text": (lambda data: b"this is a letter\n" * 1000, 65, "model-foreign"),
    "newer": (of_format(FORMAT + 1), 65, "model-format-newer"),
    "older": (of_format(FORMAT - 1), 65, "model-format-older"),
    "another program's": (lambda data: data[:68] + bytes(4) + data[72:], 65, "model-foreign"),
    "damaged": (lambda data: data[:100] + bytes(len(data) - 100), 65, "model-damaged"),
}

MODEL_COMMANDS = (
    ["classify"],
    ["explain"],
    ["learn", "spam"],
    *(["model", name] for name in ("info", "check", "dump")),
)


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_bad_model_is_refused_and_kept(trained: bytes, tmp_path: Path, source: Path, kind: str) -> None:
    change, status, slug = BAD_MODELS[kind]
    path = tmp_path / "model"
    content = change(trained)
    if content is not None:
        path.write_bytes(content)
    for command in MODEL_COMMANDS:
        refusal(status, slug, path, *command, "-m", path, stdin=HAM[0])
    message = b"Subject: \0\xff\r\n\r\nno end"
    done = program("classify", "-p", "-m", path, stdin=message)
    assert (done.returncode, done.stdout, f"[{slug}]" in done.stderr.decode()) == (75, message, True)
    refusal(status, slug, path, "eval", source, "-m", path)
    refusal(status, slug, path, "train", "--update", source, "-m", path)
    refusal(status, slug, path, "model", "merge", path, path, "-o", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert (path.read_bytes() if path.exists() else None) == content


def test_an_empty_name_is_no_place_for_a_model(source: Path, model: Path) -> None:
    refusal(73, "model-create", "", "train", source, "-m", "", "--replace")
    refusal(73, "model-create", "", "tune", "no-such-mail", "--write", "--replace", "-m", "")
    refusal(73, "model-create", "", "model", "merge", model, model, "-o", "", "--replace")


def test_a_damaged_or_an_empty_model_is_replaced(source: Path, trained: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model"
    for content in (b"", trained[:5000]):
        path.write_bytes(content)
        assert program("train", "--replace", source, "-m", path).returncode == 0
        assert program("model", "check", "-m", path).returncode == 0
