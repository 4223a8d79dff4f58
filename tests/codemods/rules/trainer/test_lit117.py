"""LIT117: which calls of Hydra build a Trainer, and what of their arguments is named."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import Trainer

from codemods.rules.trainer.lit117 import BUILDER, INSTEAD, OLD
from tests.codemods.support import rule, run_rules


def found(text: str) -> list[str]:
    return [finding.message for finding in run_rules({"a.py": text}, rule("LIT117")).findings]


def test_what_the_trainer_refuses_is_named() -> None:
    assert found(OLD) == [
        f"`{name}=` of Trainer was removed in Lightning 2.0" for name in ("gpus", "resume_from_checkpoint")
    ]
    assert not INSTEAD.keys() & inspect.signature(Trainer).parameters.keys()


@pytest.mark.parametrize(
    "change",
    [
        ("trainer: Trainer", "trainer"),
        ("hydra.utils.instantiate(cfg.trainer", 'hydra.utils.instantiate(cfg["trainer"]'),
        ("import hydra\n", "import hydra.utils\n"),
    ],
)
def test_other_spellings(change: tuple[str, str]) -> None:
    assert len(found(OLD.replace(*change))) == 2


@pytest.mark.parametrize(
    "change",
    [
        ("trainer: Trainer = hydra.utils.instantiate(cfg.trainer", "net = hydra.utils.instantiate(cfg.model"),
        ("trainer: Trainer", "trainer: Engine"),
        ('gpus=2, resume_from_checkpoint="last.ckpt"', 'devices=2, accelerator="gpu"'),
        ("hydra.utils.instantiate(cfg.trainer", "build(cfg.trainer"),
    ],
)
def test_not_spoken_of(change: tuple[str, str]) -> None:
    assert found(OLD.replace(*change)) == []


OWN = """\
def object_from_dict(section, **given):
    return locate(section["type"])(**{**section, **given})
"""


@pytest.mark.parametrize("own", ["", OWN])
def test_what_another_builder_passes_on_is_named(own: str) -> None:
    files = {"a.py": BUILDER, **({"builders.py": own} if own else {})}
    (finding,) = run_rules(files, rule("LIT117")).findings
    assert finding.message == "`checkpoint_callback=` of Trainer was removed in Lightning 1.7"
    assert "`object_from_dict` passes it on" in finding.reason


@pytest.mark.parametrize(
    "own",
    [
        OWN.replace("section,", "section, checkpoint_callback=None,"),
        OWN.replace("**given", "given"),
        "from pytorch_lightning import Trainer\n" + OWN.replace('locate(section["type"])', "Trainer"),
    ],
)
def test_a_builder_of_the_project_that_others_follow_or_that_takes_it_itself(own: str) -> None:
    assert run_rules({"a.py": BUILDER, "builders.py": own}, rule("LIT117")).findings == ()


def test_sections_for_others_are_not_spoken_of() -> None:
    assert found(BUILDER.replace('["trainer"]', '["model"]')) == []
    assert found(BUILDER.replace("from pytorch_lightning.callbacks", "from acme")) == []
