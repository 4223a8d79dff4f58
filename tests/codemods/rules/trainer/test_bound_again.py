"""Names that a script or a notebook binds again for its next Trainer, checkpoint or dictionary."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codemods.support import notebook, refusals, rewritten, rule, run_rules

HEAD = (
    "from pytorch_lightning import Trainer\nfrom pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n"
)
RESUMED = "t = Trainer(resume_from_checkpoint={0})\nt.fit(m)\nt.test(m)\n"
MOVED = "t = Trainer()\nt.fit(m, ckpt_path={0})\nt.test(m)\n"


def inside(text: str) -> str:
    """The text as the body of a function."""
    return "def main(m):\n" + "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


@pytest.mark.parametrize("how", [str, inside])
def test_each_fit_takes_the_checkpoint_of_its_own_trainer(how: Any) -> None:
    before = HEAD + how(RESUMED.format("'a'") + "\n" + RESUMED.format("'b'"))
    after = HEAD + how(MOVED.format("'a'") + "\n" + MOVED.format("'b'"))
    assert rewritten({"train.py": before}, rule("LIT112"))["train.py"] == after


def test_a_notebook_builds_one_trainer_after_another() -> None:
    before = notebook(HEAD, RESUMED.format("'a'"), RESUMED.format("'b'"))
    after = notebook(HEAD, MOVED.format("'a'"), MOVED.format("'b'"))
    assert rewritten({"train.ipynb": before}, rule("LIT112"))["train.ipynb"] == after


@pytest.mark.parametrize(
    "text",
    [
        "if r:\n    t = Trainer(resume_from_checkpoint='a')\nelse:\n    t = n()\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nfor k in r:\n    t.fit(m)\n    t = Trainer()\n",
        "t = Trainer()\n\n\ndef go():\n    t.fit(m)\n\n\ngo()\nt = Trainer(resume_from_checkpoint='a')\ngo()\n",
        "t = Trainer(resume_from_checkpoint='a')\ntry:\n    t = build()\nexcept OSError:\n    pass\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nkept = t\nt = Trainer()\nt.fit(m)\nkept.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nt = t if r else Trainer()\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\n[t.fit(m) for t in r]\n",
        "t = Trainer(resume_from_checkpoint='a')\ng = (t.fit(x) for x in r)\nt = Trainer()\nlist(g)\n",
        "t = Trainer(resume_from_checkpoint='a')\ntry:\n    t = Trainer()\n    go()\nfinally:\n    t.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nwith suppress(E):\n    go()\n    t = Trainer()\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nwith step():\n    go()\n    t = Trainer()\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nwith step():\n    t = Trainer(**go())\n    t.test(m)\nt.fit(m)\n",
        "t = Trainer(resume_from_checkpoint='a')\nwhile t.fit(m):\n    t = Trainer()\n",
        "t = Trainer(resume_from_checkpoint='a')\nmatch r:\n    case {'x': 1, **t}:\n        pass\nt.fit(m)\n",
    ],
)
@pytest.mark.parametrize("how", [str, inside])
def test_a_trainer_that_may_be_another_one_stays(text: str, how: Any) -> None:
    assert refusals({"train.py": HEAD + how(text)}, "LIT112")


def test_a_nested_function_that_binds_the_name_anew() -> None:
    nested = "def again():\n    nonlocal t\n    t = Trainer()\n\n\nagain()\n"
    text = inside(f"t = Trainer(resume_from_checkpoint='a')\n{nested}t.fit(m)\n")
    assert refusals({"train.py": HEAD + text}, "LIT112")


TUNED = "t = Trainer(auto_lr_find=True)\nt.tune(m)\nt.fit(m)\n"


def test_each_trainer_is_tuned_where_it_was() -> None:
    after = rewritten({"train.py": f"{HEAD}{TUNED}\n{TUNED}"}, rule("LIT113"), unsafe=True)["train.py"]
    assert after.count("Tuner(t).lr_find(m)") == 2 and "auto_lr_find" not in after


KEPT = "c = ModelCheckpoint(monitor={0})\nt = Trainer(checkpoint_callback=c)\n"


@pytest.mark.parametrize("how", [str, inside])
@pytest.mark.parametrize(
    "text",
    [
        KEPT.format("'a'") + KEPT.format("'b'"),
        "if r:\n    c = ModelCheckpoint()\nelse:\n    c = ModelCheckpoint('b')\nt = Trainer(checkpoint_callback=c)\n",
        "c = EarlyStopping('a')\nc = ModelCheckpoint('a')\nt = Trainer(checkpoint_callback=c)\n",
    ],
)
def test_whatever_reaches_the_trainer_is_a_checkpoint(text: str, how: Any) -> None:
    after = rewritten({"train.py": HEAD + how(text)}, rule("LIT110"))["train.py"]
    assert "checkpoint_callback" not in after and "callbacks=[c]" in after


@pytest.mark.parametrize("how", [str, inside])
@pytest.mark.parametrize(
    "text",
    [
        "c = ModelCheckpoint('a')\nif r:\n    c = False\nt = Trainer(checkpoint_callback=c)\n",
        "c = False\nwith suppress(E):\n    c = ModelCheckpoint('a')\nt = Trainer(checkpoint_callback=c)\n",
        "c = False\nwith step():\n    c = ModelCheckpoint('a')\nt = Trainer(checkpoint_callback=c)\n",
    ],
)
def test_a_checkpoint_or_none_is_asked_for_where_the_trainer_is_built(text: str, how: Any) -> None:
    after = rewritten({"train.py": HEAD + how(text)}, rule("LIT110"))["train.py"]
    assert "t = Trainer(enable_checkpointing=bool(c), callbacks=[c] if c else [])" in after


@pytest.mark.parametrize(
    "text",
    [
        "c = ModelCheckpoint('a')\nif r:\n    c = EarlyStopping('a')\nt = Trainer(checkpoint_callback=c)\n",
        "c = ModelCheckpoint('a')\nfor k in r:\n    t = Trainer(checkpoint_callback=c)\n    c = k\n",
        "c = ModelCheckpoint('a')\nc = wrapped(c)\nt = Trainer(checkpoint_callback=c)\n",
        "c = ModelCheckpoint('a')\n[Trainer(checkpoint_callback=c) for c in (True, False)]\n",
        "c = 1\ntry:\n    c = ModelCheckpoint('a')\nfinally:\n    t = Trainer(checkpoint_callback=c)\n",
    ],
)
@pytest.mark.parametrize("how", [str, inside])
def test_what_may_be_no_checkpoint_stays(text: str, how: Any) -> None:
    made = run_rules({"train.py": HEAD + how(text)}, rule("LIT110"))
    assert made.changes == () and {item.fix for item in made.findings} == {"manual"}


@pytest.mark.parametrize(
    "body",
    [
        "if m:\n        c = ModelCheckpoint(m)\n    return Trainer(checkpoint_callback=c)\n",
        "if c is None:\n        c = ModelCheckpoint(m)\n    return Trainer(checkpoint_callback=c, logger=m)\n",
        "global g\n    g = ModelCheckpoint(m)\n    other()\n    return Trainer(checkpoint_callback=g)\n",
    ],
)
def test_what_a_caller_or_another_may_give_is_not_known(body: str) -> None:
    made = run_rules({"train.py": f"{HEAD}def build(m, c=True):\n    {body}"}, rule("LIT110"))
    assert made.changes == () and [item.fix for item in made.findings] == ["manual"]


def test_a_parameter_that_is_none_or_a_checkpoint_may_be_anything() -> None:
    body = "    if c is None:\n        c = ModelCheckpoint(m)\n    return Trainer(checkpoint_callback=c)\n"
    assert refusals({"train.py": f"{HEAD}def build(m, c=None):\n{body}"}, "LIT110")


def test_what_a_function_gives_back_is_what_it_kept_last() -> None:
    given = (
        "from pytorch_lightning import Trainer\n\n\ndef make(m):\n    t = Trainer()\n    t.fit(m)\n"
        "    t = Other()\n    return t\n"
    )
    used = "from a import make\n\nt = make(1)\nfound = t.tuner.lr_find(m)\n"
    assert run_rules({"a.py": given, "b.py": used}, rule("LIT113")).changes == ()


def test_a_tune_beside_one_that_is_rewritten_is_told() -> None:
    text = f"{HEAD}{TUNED}\nt = Trainer()\nt.tune(m)\n"
    made = run_rules({"train.py": text}, rule("LIT113"))
    assert [(item.fix, item.span.line) for item in made.findings] == [("unsafe", 4), ("unsafe", 9)]  # nothing to tune
    asking = text.replace("\nt = Trainer()", "\nt = Trainer(auto_lr_find=flag())")
    made = run_rules({"train.py": asking}, rule("LIT113"))
    assert [(item.fix, item.span.line) for item in made.findings] == [("unsafe", 4), ("manual", 8)]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("ValueError", True),
        ("(KeyError, OSError)", True),
        ("torch.cuda.OutOfMemoryError", True),
        ("torch.cuda.Other", False),
        ("(KeyError, TypeError)", False),
        ("TypeError", False),
    ],
)
def test_a_handler_of_other_errors_is_no_fallback(error: str, told: bool) -> None:
    text = f"{HEAD}try:\n    Trainer(resume_from_checkpoint='a').fit(m)\nexcept {error}:\n    Trainer().fit(m)\n"
    assert bool(run_rules({"train.py": text}, rule("LIT112")).findings) is told
