"""Trainers that something stands before, which may do other than hand on what it is given: they are told, and stay."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\nfrom pytorch_lightning.callbacks import EarlyStopping\n"


def levels(text: str, code: str) -> list[tuple[int, str]]:
    """The lines behind the head and the levels of what is found, of which nothing may be rewritten."""
    made = run_rules({"train.py": HEAD + text}, rule(code))
    assert (made.bugs, made.changes) == ((), ())
    return [(item.span.line - HEAD.count("\n"), item.fix) for item in made.findings]


FACTORY = "def make({}, **rest):\n    return Trainer(**rest)\nmake({})\n"


@pytest.mark.parametrize(
    ("own", "given", "code"),
    [
        ("enable_checkpointing=None", "checkpoint_callback=False", "LIT110"),
        ("*, enable_checkpointing=None", "checkpoint_callback=False", "LIT110"),
        ("use_distributed_sampler=True", "replace_sampler_ddp=False", "LIT110"),
        ("accelerator=None", "gpus=2", "LIT101"),
        ("devices=None", "gpus=2", "LIT101"),
    ],
)
def test_a_function_that_keeps_the_new_name_for_itself(own: str, given: str, code: str) -> None:
    assert levels(FACTORY.format(own, given), code) == [(3, "manual")]


def test_a_function_that_keeps_another_name_for_itself() -> None:
    text = HEAD + FACTORY.format("seed=None", "replace_sampler_ddp=False")
    after = rewritten({"train.py": text}, rule("LIT110"))["train.py"]
    assert after == text.replace("replace_sampler_ddp", "use_distributed_sampler")


GIVEN = ["progress_bar_refresh_rate=5", "weights_summary=None"]


@pytest.mark.parametrize("given", [", ".join(GIVEN), ", ".join(reversed(GIVEN))])
def test_what_a_class_cannot_hand_on_is_told_beside_what_it_can(given: str) -> None:
    own = "class Own(Trainer):\n    def __init__(self, **rest):\n"
    own += f"        super().__init__(callbacks=[EarlyStopping('x')], **rest)\nOwn({given})\n"
    made = run_rules({"train.py": HEAD + own}, rule("LIT110"))
    found = {item.message.split("=")[0].strip("`"): item.fix for item in made.findings}
    assert found == {"progress_bar_refresh_rate": "manual", "weights_summary": "safe"}
    assert "weights_summary=None" not in made.final()["train.py"].decode()


PARTIAL = HEAD + "from functools import partial\nmake = partial(Trainer, weights_summary=None)\nmake()\n"


def test_a_partial_that_another_file_calls_too() -> None:
    other = "from pytorch_lightning import Trainer\nfrom a import make\nmake(weights_summary='top')\n"
    made = run_rules({"a.py": PARTIAL, "b.py": other}, rule("LIT110"))
    assert (made.bugs, made.changes) == ((), ())
    assert [(item.path, item.span.line, item.fix) for item in made.findings] == [
        ("a.py", 4, "manual"),
        ("b.py", 3, "manual"),
    ]


def test_a_partial_that_no_other_file_has() -> None:
    other = "def make():\n    from a import trainer\n"
    after = rewritten({"a.py": PARTIAL, "b.py": other}, rule("LIT110"))
    assert after["a.py"] == PARTIAL.replace("weights_summary=None", "enable_model_summary=False")
