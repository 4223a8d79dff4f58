"""LIT110: one more callback beside what `callbacks=` is given, which may be a callback itself."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = (
    "from pytorch_lightning import Callback, Trainer, callbacks\n"
    "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint, TQDMProgressBar\n\n\n"
    "class Mine(Callback):\n    pass\n\n\n"
)
BAR = "TQDMProgressBar(refresh_rate=5)"


@pytest.mark.parametrize(
    ("before", "given", "wanted"),
    [
        ("c = ModelCheckpoint()", "c", "[c, BAR]"),
        ("c = callbacks.Timer()", "c", "[c, BAR]"),
        ("c = Mine() if n else EarlyStopping('a')\nc = Mine()", "c", "[c, BAR]"),
        ("if n:\n    c = Mine()\nelse:\n    c = EarlyStopping('a')", "c", "[c, BAR]"),
        ("", "Mine()", "[Mine(), BAR]"),
        ("def found():\n    return [Mine()]\n", "found()", "[*found(), BAR]"),
        ("def found():\n    a = []\n    a.append(Mine())\n    return a\n\n\nc = found()", "c", "[*c, BAR]"),
    ],
)
def test_what_is_given_is_seen(before: str, given: str, wanted: str) -> None:
    text = f"{HEAD}{before}\nTrainer(progress_bar_refresh_rate=5, callbacks={given})\n"
    [found] = run_rules({"a.py": text}, rule("LIT110"), unsafe=True).findings
    assert "is a list" not in found.reason
    after = rewritten({"a.py": text}, rule("LIT110"), unsafe=True)["a.py"]
    assert after.endswith(f"\nTrainer(callbacks={wanted.replace('BAR', BAR)})\n")
    assert rewritten({"a.py": after}, rule("LIT110"), unsafe=True)["a.py"] == after


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ("c = Mine()\nif n:\n    c = [c]", "c"),
        ("c = Mine()\ndel c\nc = found()", "c"),
        ("def build(c=Mine()):\n    return Trainer(progress_bar_refresh_rate=5, callbacks=c)\n", ""),
        ("def found():\n    return [Mine()] if n else Mine()\n", "found()"),
        ("def found():\n    a = []\n    if n:\n        a = Mine()\n    return a\n", "found()"),
        ("def found():\n    if n:\n        return [Mine()]\n", "found()"),
        ("def found(a):\n    go()\n    return a or []\n", "found(Mine())"),
        ("@cached\ndef found():\n    return [Mine()]\n", "found()"),
        ("def found():\n    return [Mine()]\nfound = other", "found()"),
        ("", "callbacks.find()"),
        ("", "found()"),
    ],
)
def test_what_may_be_either_is_assumed(before: str, given: str) -> None:
    call = f"Trainer(progress_bar_refresh_rate=5, callbacks={given})\n" if given else ""
    files = {"a.py": f"{HEAD}{before}\n{call}"}
    assert rewritten(files, rule("LIT110")) == files
    [found] = run_rules(files, rule("LIT110"), unsafe=True).findings
    assert "is a list" in found.reason or "is not a list" in found.reason


def test_two_arguments_go_among_the_callbacks() -> None:
    text = f"{HEAD}c = Mine()\nTrainer(progress_bar_refresh_rate=5, weights_summary='full', callbacks=c)\n"
    after = rewritten({"a.py": text}, rule("LIT110"))["a.py"]
    assert after.endswith(f"Trainer(callbacks=[c, {BAR}, ModelSummary(max_depth=-1)])\n")


def test_a_tuple_is_no_list() -> None:
    assert (
        "is not a list"
        in refusals({"a.py": f"{HEAD}Trainer(weights_summary='full', callbacks=(Mine(),))\n"}, "LIT110")[0]
    )


def test_names_that_lead_to_each_other_end() -> None:
    text = f"{HEAD}\ndef main(b):\n    a = c\n    c = a\n    Trainer(progress_bar_refresh_rate=5, callbacks=a)\n"
    [found] = run_rules({"a.py": text}, rule("LIT110"), unsafe=True).findings
    assert "could not check" not in found.message
    assert "`progress_bar_refresh_rate=`" in found.message
