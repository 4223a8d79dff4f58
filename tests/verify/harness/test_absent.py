"""Packages that are not installed, in whose place there is something as long as nothing uses it."""

from __future__ import annotations

import importlib.util
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.harness.absent import Absent

NAME = "package_of_nobody"
TAKEN = f"from {NAME}.inner import Kind, make\nimport {NAME}.inner\n"


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, None]]:
    found: dict[str, None] = {}
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "moved_names.py").write_text("kept = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    Absent([NAME, "moved_names:gone"], tmp_path / "tree", found).in_place()
    (tmp_path / "tree").mkdir()
    yield found
    for name in [name for name in sys.modules if name.startswith((NAME, "moved_names"))]:
        del sys.modules[name]


def run(place: Path, text: str) -> None:
    place.write_text(text)
    linecache.checkcache(str(place))
    exec(compile(text, str(place), "exec"), {"__name__": "train", "NAME": NAME})


@pytest.mark.parametrize(
    "text",
    [
        "class Own(Kind):\n    pass\n\n\ndef f(x: make.Type | None = None) -> Kind:\n    return x\n",
        "assert not isinstance(1, Kind)",
        f"assert {NAME}.inner.deeper.name is not None",
    ],
)
def test_it_can_be_named_and_inherited_from(text: str, tmp_path: Path, used: dict[str, None]) -> None:
    run(tmp_path / "tree" / "train.py", TAKEN + text)
    assert [*used] == [NAME]


@pytest.mark.parametrize(
    "text",
    [
        "make(1)", "Kind()", "class Own(Kind):\n    pass\n\n\nOwn()", "@make\ndef f():\n    pass\n", "make.of.many()",
        "if make.FLAG:\n    pass\n", "not make",
    ],
)  # fmt: skip
def test_its_use_is_the_error_of_its_import(text: str, tmp_path: Path, used: dict[str, None]) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}"):
        run(tmp_path / "tree" / "train.py", TAKEN + text)


@pytest.mark.parametrize(
    "text", ["[*make]", "make + 1", "make[0]", "make.rows[1:]", "len(make)", "with make:\n    pass\n"]
)
def test_other_uses_fail_too(text: str, tmp_path: Path, used: dict[str, None]) -> None:
    with pytest.raises(TypeError):
        run(tmp_path / "tree" / "train.py", TAKEN + text)


@pytest.mark.parametrize(
    "text",
    [
        f"try:\n    import {NAME}\nexcept ImportError:\n    found = True\nassert found",
        f"try:\n    import {NAME}\nexcept (ValueError, ModuleNotFoundError):\n    found = True\nassert found",
        f"try:\n    from {NAME} import make\nexcept:\n    found = True\nassert found",
        f"def load():\n    import {NAME}\n\n\ntry:\n    load()\nexcept Exception:\n    found = True\nassert found",
        "import importlib.util\nassert importlib.util.find_spec(NAME) is None",
    ],
)
def test_who_does_without_it_finds_nothing(text: str, tmp_path: Path, used: dict[str, None]) -> None:
    run(tmp_path / "tree" / "train.py", text)
    assert not used


@pytest.mark.parametrize(
    "text", ["import package_of_nobodies", f"try:\n    import {NAME}_else\nexcept ValueError:\n    pass\n"]
)
def test_other_packages_are_not_there(text: str, tmp_path: Path, used: dict[str, None]) -> None:
    with pytest.raises(ModuleNotFoundError):
        run(tmp_path / "tree" / "train.py", text)


def test_libraries_find_nothing(tmp_path: Path, used: dict[str, None]) -> None:
    with pytest.raises(ModuleNotFoundError):
        run(tmp_path / "library.py", f"import {NAME}")
    assert importlib.util.find_spec(NAME) is None and not used


def test_a_name_that_a_package_dropped_can_be_taken_from_it(tmp_path: Path, used: dict[str, None]) -> None:
    text = "from moved_names import gone, kept\nassert kept == 1\n"
    run(tmp_path / "tree" / "train.py", text)
    assert [*used] == ["moved_names:gone"]
    with pytest.raises(ImportError, match="cannot import name 'gone' from 'moved_names'"):
        run(tmp_path / "tree" / "train.py", text + "gone(1)")


@pytest.mark.parametrize(
    ("place", "text", "error"),
    [
        ("tree/train.py", "from moved_names import other", ImportError),
        ("library.py", "from moved_names import gone", ImportError),
        ("tree/train.py", "import moved_names\nmoved_names.gone", AttributeError),
        ("tree/train.py", "import moved_names\nassert hasattr(moved_names, 'gone')", AssertionError),
        (
            "tree/train.py",
            "try:\n    from moved_names import gone\nexcept ImportError:\n    raise KeyError from None",
            KeyError,
        ),
    ],
)
def test_other_names_are_not_there(
    place: str, text: str, error: type[Exception], tmp_path: Path, used: dict[str, None]
) -> None:
    with pytest.raises(error):
        run(tmp_path / place, text)
    assert not used
