"""Since when Trainer takes an argument no more."""

from __future__ import annotations

import pytest

from codemods.lightning.arguments import current, once, removal, signatures


@pytest.mark.parametrize(
    ("name", "release"),
    [("gpus", "2.0"), ("checkpoint_callback", "1.7"), ("distributed_backend", "1.5"), ("train_percent_check", "0.10")],
)
def test_the_release_is_the_first_without_it(name: str, release: str) -> None:
    assert removal(name) == f"`{name}=` of Trainer was removed in Lightning {release}"
    assert removal(name, name) == f"`{name}` of Trainer was removed in Lightning {release}"
    having = [names for line, names in signatures()["__init__"].items() if line.startswith(f"{release}.")]
    assert having and all(name not in names for names in having)


def test_every_argument_that_is_gone_has_its_release() -> None:
    gone = once() - current()
    assert len(gone) > 40
    assert [name for name in gone if " in Lightning " not in removal(name)] == []


def test_what_trainer_never_took_has_none() -> None:
    assert removal("hair_colour") == "`hair_colour=` of Trainer was removed"
