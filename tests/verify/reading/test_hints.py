"""What is read of configuration files for modules alone, whatever is written in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.reading.hints import hints
from verify.reading.sources import Sources

MANY = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]", "a: &a {b: *a}", MANY, "a: " + "[" * 300 + "]" * 300, "a: !!timestamp x", "a: !!int ''",
        "a: !!bool x", "? [a]\n: b", "a: !own x\nb: [", "\x00",
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_followed_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.py").write_text("class Model: ...\n")
    (tmp_path / "bad.yaml").write_text(text)
    (tmp_path / "good.yaml").write_text("width: &width 7\nagain: *width\n")
    assert hints(Sources(tmp_path), "model.py").values == {"width": [7], "again": [7]}


def test_fields_of_classes_are_values_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "from dataclasses import dataclass, field\nclass Config:\n    kind: str = 'cosine'\n    steps: int = 0\n"
        "    widths: list = field(default_factory=lambda: [1, 2])\n    rate: float = field(default=0.1)\n"
        "    made: list = field(default_factory=list)\n    given: int\n    plain = 3\n"
    )
    values = hints(Sources(tmp_path), "model.py").values
    values.pop("default")
    assert values == {"kind": ["cosine"], "widths": [[1, 2]], "rate": [0.1]}


def test_what_a_checkpoint_is_loaded_with_are_arguments_and_its_place_is_none(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("class Net(Base):\n    def __init__(self, size, rate=0.1, **more): ...\n")
    (tmp_path / "test.py").write_text(
        "net.Net.load_from_checkpoint('best.ckpt', 'cpu', size=9, strict=False)\n"
        "Net.load_from_checkpoint(checkpoint_path='last.ckpt', map_location='cpu', rate=0.5)\n"
    )
    found = hints(Sources(tmp_path), "net.py")
    assert sorted(found.calls["Net"], key=str) == [{"rate": 0.5}, {"size": 9}]
    assert found.values["size"] == [9]
