from __future__ import annotations

from pathlib import Path

import pytest

from verify.advice import advice


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("SystemExit: exit status 2: train.py: error: the following arguments are required: --data", "args = [...]"),
        ("ValueError: mutable default <class 'a.b.C'> for field spect is not allowed: use x", "Python 3.10"),
        ("ModuleNotFoundError: No module named 'torch_scatter' at a.py:9", "; torch_scatter could not be installed"),
        ("PackageMissing: taming is not installed, and V of it is used at a.py:3", "; taming could not be installed"),
        ("RuntimeError: No CUDA GPUs are available", "has one"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'Data/x.txt'", "its data is not in the repository"),
        ("AssertionError: datasets should not be an empty iterable at a.py:1", "its data is not in the repository"),
        ("gaierror: [Errno -3] Temporary failure in name resolution", "without network"),
        ("MissingMandatoryValue: Missing mandatory value: data.path", "leaves values open"),
    ],
)
def test_each_reason_says_what_to_do(tmp_path: Path, reason: str, told: str) -> None:
    assert told in advice(reason, tmp_path)


def test_nothing_is_made_up_and_not_all_is_told(tmp_path: Path) -> None:
    assert advice("TypeError: unsupported operand", tmp_path) == ""
    assert advice("ModuleNotFoundError: No module named 'pytorch_lightning.utilities.cli'", tmp_path) == ""
    assert advice("ModuleNotFoundError: No module named 'data.an4' at a.py:1", tmp_path) == ""
    assert advice("FileNotFoundError; gaierror; No CUDA GPUs; arguments are required", tmp_path).count("; ") == 2


def test_what_has_to_be_compiled_is_named(tmp_path: Path) -> None:
    (tmp_path / "align").mkdir()
    (tmp_path / "align" / "core.pyx").write_text("")
    assert "align/core.pyx has to be compiled first" in advice("Error: No module named 'a.align.core' at x", tmp_path)
    assert "align/core.pyx" in advice("ImportError: cannot import name 'align' from partially initialized", tmp_path)
    assert advice("ImportError: cannot import name 'other' from x", tmp_path) == ""
