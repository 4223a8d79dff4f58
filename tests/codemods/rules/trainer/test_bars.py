"""Progress bars that may be among the callbacks: what asks for another is certain only where none is."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import RichProgressBar, TQDMProgressBar
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from codemods.finding import Fix
from tests.codemods.support import rule, run_rules

HEAD = (
    "from other import Thing, things\nfrom pytorch_lightning import Callback, Trainer\n"
    "from pytorch_lightning.callbacks import *\nfrom pytorch_lightning.callbacks import EarlyStopping, Timer\n\n\n"
    "class Mine(Callback):\n    pass\n\n\nclass Mixed(Thing, Callback):\n    pass\n\n\n"
)


def test_what_2_makes_of_two_bars_and_of_one_that_is_not_asked_for() -> None:
    with pytest.raises(MisconfigurationException, match="multiple progress bar callbacks"):
        Trainer(accelerator="cpu", logger=False, callbacks=[RichProgressBar(), TQDMProgressBar(refresh_rate=5)])
    with pytest.raises(MisconfigurationException, match="enable_progress_bar=False"):
        Trainer(accelerator="cpu", logger=False, callbacks=[RichProgressBar()], enable_progress_bar=False)


@pytest.mark.parametrize("given", ["progress_bar_refresh_rate=0", "progress_bar_refresh_rate=5", "process_position=2"])
@pytest.mark.parametrize(
    ("before", "callbacks", "level"),
    [
        ("", "None", "safe"),
        ("", "[EarlyStopping('a'), Timer(), Mine()]", "safe"),
        ("c = [Mine()]\nif n:\n    c.append(Timer())\nc.extend([Mine()])", "c", "safe"),
        ("c = [Mine()]\nd = Timer()", "[d] + c", "safe"),
        ("", "[Mine(), Mixed()]", "unsafe"),
        ("", "[Mine(), Thing()]", "unsafe"),
        ("", "[Mine(), *things()]", "unsafe"),
        ("", "things() + [Mine()]", "unsafe"),
        ("c = [Mine()]\nc += things()", "c", "unsafe"),
        ("c = [Mine()]\nthings(c)", "c", "unsafe"),
        ("c = [Mine()]\nc.append(things())", "c", "unsafe"),
        ("c = [Mine()]\nc.extend(things())", "c", "unsafe"),
        ("c = [Mine()]\nwith things():\n    c = [Timer()]\nc.insert(0, things())", "c", "unsafe"),
        ("d = things()", "[d, Mine()]", "unsafe"),
        ("c = [TQDMProgressBar()]", "c", "manual"),
        ("c = [Mine()]\nc.append(RichProgressBar())", "c", "manual"),
        ("c = [Thing()]\nb = RichProgressBar() if n else Timer()\nc.append(b)\nthings(c)", "c", "manual"),
        ("", "[*([RichProgressBar()] if n else things())]", "manual"),
    ],
)
def test_how_certain_it_is(before: str, callbacks: str, level: Fix, given: str) -> None:
    text = f"{HEAD}{before}\nTrainer({given}, callbacks={callbacks})\n"
    found = run_rules({"train.py": text}, rule("LIT110"), unsafe=True).findings
    assert [item.fix for item in found] == [level]


def test_it_says_what_is_taken_to_be_so() -> None:
    text = f"{HEAD}Trainer(process_position=2, callbacks=[Thing()])\n"
    [found] = run_rules({"train.py": text}, rule("LIT110"), unsafe=True).findings
    assert "fixer assumes that there is no progress bar among the callbacks" in found.reason


MADE_HERE = (
    "import hydra\nfrom pytorch_lightning import Trainer\nfrom own import others\n\n\n"
    "def build(cfg):\n    made = []\n    for each in cfg:\n        made.append(hydra.utils.instantiate(each))\n"
    "    return made\n\n\nc = MADE\nTrainer(progress_bar_refresh_rate=5, callbacks=[*c])\n"
)
OWN = "from pytorch_lightning.callbacks import Timer\n\n\ndef others():\n    return [Timer()]\n"


@pytest.mark.parametrize(
    ("made", "named"), [("build({})", "unsafe"), ("others()", "safe"), ("hydra.utils.instantiate({})", "unsafe")]
)
def test_callbacks_that_the_project_makes_hold_no_bar_where_none_is_seen(made: str, named: Fix) -> None:
    files = {"train.py": MADE_HERE.replace("MADE", made).replace("[*c]", "[c]"), "own.py": OWN}
    [found] = run_rules(files, rule("LIT110"), unsafe=True).findings
    assert found.fix == "safe"
    bar = {"conf/callbacks.yaml": "bar:\n  _target_: pytorch_lightning.callbacks.RichProgressBar\n"}
    [found] = run_rules(files | bar, rule("LIT110"), unsafe=True).findings
    assert found.fix == named


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ("[Timer()]", "safe"),
        ("[Timer(), strange()]", "unsafe"),
        ("strange()", "unsafe"),
        ("others()", "unsafe"),
        ("[RichProgressBar()]", "manual"),
    ],
)
def test_what_a_function_of_the_project_gives_back_is_looked_at(given: str, level: Fix) -> None:
    own = f"from elsewhere import strange\n{OWN}".replace("[Timer()]", given)
    own = own.replace("import Timer", "import RichProgressBar, Timer")
    files = {"train.py": MADE_HERE.replace("MADE", "others()").replace("[*c]", "[c]"), "own.py": own}
    [found] = run_rules(files, rule("LIT110"), unsafe=True).findings
    assert found.fix == level


GIVEN = f"""\
{HEAD}

def build(more=None, n=0):
    c = [Mine()]
    if n:
        c += [Timer()]
    if more is not None:
        c += more
    return Trainer(progress_bar_refresh_rate=5, callbacks=c)
"""


@pytest.mark.parametrize(
    ("text", "beside", "level"),
    [
        (GIVEN, {}, "safe"),
        (f"{HEAD}\n\ndef build(c):\n    return Trainer(progress_bar_refresh_rate=0, callbacks=c)\n", {}, "safe"),
        (f"{HEAD}from parts import Other\n\nTrainer(process_position=2, callbacks=[Other()])\n", {}, "unsafe"),
        (GIVEN, {"setup.py": 'from setuptools import setup\n\nsetup(name="a")\n'}, "unsafe"),
        (GIVEN, {"pyproject.toml": '[project]\nname = "a"\n'}, "unsafe"),
        (GIVEN, {"pyproject.toml": "[tool.ruff]\nline-length = 9\n"}, "safe"),
        (GIVEN, {"other.py": "from pytorch_lightning.callbacks import RichProgressBar\n"}, "unsafe"),
        (GIVEN.replace("c += more", "c += things()"), {}, "unsafe"),
        (GIVEN.replace("c += more", "c, d = more"), {}, "unsafe"),
        (GIVEN.replace("c += more", "c += [RichProgressBar()]"), {}, "manual"),
    ],
)
def test_what_a_function_is_given_is_no_bar_where_none_is_named(text: str, beside: dict[str, str], level: Fix) -> None:
    text = text.replace(", RichProgressBar", "").replace(", TQDMProgressBar", "") if level == "safe" else text
    files = {"train.py": text, "parts.py": "import pytorch_lightning\n\nthing = 1\n", **beside}
    found = run_rules(files, rule("LIT110"), unsafe=True).findings
    assert [item.fix for item in found] == [level]


CALLING = "from foreign import Display\nfrom pytorch_lightning.callbacks import Timer\n\nfrom train import build\n\n"


@pytest.mark.parametrize(
    ("other", "level"),
    [
        (f"{CALLING}build([Timer()])\n", "safe"),
        (f"{CALLING}build(n=3)\n", "safe"),
        (f"{CALLING}build(None)\nbuild(more=[Timer()])\n", "safe"),
        (f"{CALLING}class Own(Timer):\n    pass\n\n\nbuild([Own()])\n", "safe"),
        (f"{CALLING}build([Display()])\n", "unsafe"),
        (f"{CALLING}build([Timer()])\nbuild([Timer(), Display()])\n", "unsafe"),
        (f"{CALLING}class Own(Display):\n    pass\n\n\nbuild(more=[Own()])\n", "unsafe"),
        (f"{CALLING}def main(more):\n    build(more)\n\n\nmain([Display()])\n", "unsafe"),
        (f"{CALLING}def main(more):\n    build(more)\n\n\nmain([Timer()])\n", "safe"),
        (f"{CALLING}def main(more):\n    main(more)\n    build(more)\n\n\nmain([Timer()])\n", "unsafe"),
        (f"{CALLING}build(**given)\n", "unsafe"),
        (f"{CALLING}run(build)\n", "unsafe"),
    ],
)
def test_what_another_file_hands_in_may_be_a_bar_of_any_name(other: str, level: Fix) -> None:
    text = GIVEN.replace(", RichProgressBar", "").replace(", TQDMProgressBar", "")
    found = run_rules({"train.py": text, "run.py": other}, rule("LIT110"), unsafe=True).findings
    assert [item.fix for item in found] == [level]


@pytest.mark.parametrize(
    ("target", "level"),
    [
        ("pytorch_lightning.callbacks.Timer", "safe"),
        ("torch.optim.Adam", "safe"),
        ("own.Own", "safe"),
        ("own.Other", "unsafe"),
        ("foreign.Display", "unsafe"),
        ("${target}", "unsafe"),
    ],
)
def test_what_hydra_builds_may_be_a_bar_of_any_name(target: str, level: Fix) -> None:
    own = "from foreign import Display\nfrom pytorch_lightning.callbacks import Timer\n\n\n"
    own += "class Own(Timer):\n    pass\n\n\nclass Other(Display):\n    pass\n"
    files = {"train.py": MADE_HERE.replace("MADE", "build({})").replace("[*c]", "[c]"), "own.py": own}
    conf = {"conf/callbacks.yaml": f"one:\n  _target_: {target}\n"}
    [found] = run_rules(files | conf, rule("LIT110"), unsafe=True).findings
    assert found.fix == level
