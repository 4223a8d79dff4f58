"""Questions for Lightning's version: the arm of old releases is left alone, the other one is judged."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.rule import all_rules
from tests.codemods.support import rule, run_rules

HEAD = """\
import importlib.metadata
from importlib.metadata import version as installed
import pytorch_lightning as pl
from packaging import version
from packaging.version import Version, parse
import pkg_resources
from lightning_utilities.core.imports import RequirementCache

MAJOR = int(pl.__version__.split(".")[0])
PL2 = pl.__version__.startswith("2.")


def is_new():
    return parse(pl.__version__).major >= 2


"""
NEW = 'pl.Trainer(accelerator="gpu", devices=1)'
OLD = "pl.Trainer(gpus=1, weights_summary=None)"
YES = (
    'pl.__version__[0] == "2"',
    'pl.__version__ >= "2.0"',
    'version.parse(pl.__version__) >= Version("2.0")',
    'Version("2.0") <= parse(pl.__version__)',
    'tuple(map(int, pl.__version__.split(".")[:2])) >= (2, 0)',
    'tuple(int(part) for part in pl.__version__.split(".")[:2]) >= (2, 0)',
    'int(pl.__version__.split(".")[0]) > 1',
    "MAJOR >= 2",
    "PL2",
    "is_new()",
    "parse(pl.__version__).release >= (2, 0)",
    'importlib.metadata.version("pytorch-lightning").startswith("2")',
    'Version(installed("lightning")) >= Version("2")',
    'parse(pkg_resources.get_distribution("pytorch_lightning").version).major == 2',
    'RequirementCache("pytorch-lightning>=2.0")',
    'not parse(pl.__version__) < parse("2.0")',
    'PL2 and parse(pl.__version__) >= parse("2.1")',
)
OPEN = ("Version(pl.__version__) >= limit", "MAJOR >= limit", 'PL2 and flag == "version"', "is_new(3)")


def run(text: str, **files: str) -> Plan:
    named = {f"{name}.py": content for name, content in files.items()}
    return run_rules({"train.py": HEAD + text, **named}, *all_rules(), unsafe=True)


def is_left(text: str, **files: str) -> bool:
    made = run(text, **files)
    assert not made.bugs
    spoken = {item.code for item in made.findings if item.path == "train.py"} - {"LIT225", "PIN004"}
    return not spoken and made.final().get("train.py", (HEAD + text).encode()).decode() == HEAD + text


@pytest.mark.parametrize("test", YES)
def test_the_old_arm_stays(test: str) -> None:
    assert is_left(f"if {test}:\n    trainer = {NEW}\nelse:\n    trainer = {OLD}\n")
    assert is_left(f"trainer = {NEW} if {test} else {OLD}\n")
    assert is_left(f"def make():\n    if {test}:\n        return {NEW}\n    return {OLD}\n")
    assert is_left(f"kwargs = {{}}\nif not ({test}):\n    kwargs['gpus'] = 1\ntrainer = pl.Trainer(**kwargs)\n")


@pytest.mark.parametrize("test", YES)
def test_the_arm_that_runs_is_rewritten(test: str) -> None:
    made = run(f"if {test}:\n    trainer = {OLD}\nelse:\n    trainer = {NEW}\n").final()["train.py"].decode()
    assert made.endswith(
        f'if {test}:\n    trainer = pl.Trainer(accelerator="gpu", devices=1, enable_model_summary=False)\n'
        f"else:\n    trainer = {NEW}\n"
    )


@pytest.mark.parametrize("test", YES)
def test_what_never_runs_is_named(test: str) -> None:
    found = [item for item in run(f"if {test}:\n    a = 1\nelse:\n    a = 2\n").findings if item.code == "LIT225"]
    assert any("always" in item.message for item in found)


@pytest.mark.parametrize("test", OPEN)
def test_a_question_that_the_version_does_not_decide_hides_nothing(test: str) -> None:
    assert not is_left(f"if {test}:\n    trainer = {OLD}\n")


@pytest.mark.parametrize(
    "compat",
    [
        'NEWER = Version(pl.__version__) >= Version("2.0")\n',
        'NEWER: bool = pl.__version__[0] == "2"\n',
        'MAJOR = int(pl.__version__.split(".")[0])\nNEWER = MAJOR > 1\n',
    ],
)
@pytest.mark.parametrize("asked", ["from compat import NEWER\n\nif NEWER:\n", "import compat\n\nif compat.NEWER:\n"])
def test_a_flag_of_another_file(compat: str, asked: str) -> None:
    compat = f"import pytorch_lightning as pl\nfrom packaging.version import Version\n\n{compat}"
    text = f"{asked}    trainer = {NEW}\nelse:\n    trainer = {OLD}\n"
    assert is_left(text, compat=compat)
    assert not is_left(text, compat=f"{compat}NEWER = False\n")
    assert not is_left(text, compat=compat, other="import compat\n\ncompat.NEWER = False\n")


def test_a_parameter_of_the_name_of_a_flag_is_none() -> None:
    assert not is_left(f"def make(PL2):\n    if PL2:\n        return {NEW}\n    return {OLD}\n")
    assert not is_left(f"for MAJOR in (1, 2):\n    if MAJOR < 2:\n        trainer = {OLD}\n")


def test_attributes_and_hooks_in_an_arm() -> None:
    text = """\
class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        if MAJOR < 2:
            self.log("a", self.trainer.lr_schedulers[0]["scheduler"].get_last_lr()[0])
        return self(batch).mean()


if MAJOR < 2:
    Model.old = lambda self: self.trainer.training_type_plugin
"""
    assert is_left(text)
    assert not is_left(text.replace("MAJOR < 2", "MAJOR > 1"))


def test_the_target_decides() -> None:
    text = f'if parse(pl.__version__) >= parse("2.99"):\n    trainer = {NEW}\nelse:\n    trainer = {OLD}\n'
    made = run(text).final()["train.py"].decode()
    assert "gpus=1" not in made


LIVE = {
    "a list": "if pl.__version__.split('.')[:1] == ['2']:\n    Trainer(gpus=1)\n",
    "an operand": "V = os.environ.get('V') or pl.__version__\nif V == '2.6.6':\n    Trainer(gpus=1)\n",
    "a cache of the project": "from mine import RequirementCache\nif RequirementCache('lightning>=2.0'):\n    pass\n"
    "else:\n    Trainer(gpus=1)\n",
    "another distribution": "from lightning_utilities.core.imports import RequirementCache\n"
    "if RequirementCache('lightning>=2.0'):\n    pass\nelse:\n    Trainer(gpus=1)\n",
    "a decorated question": "from flags import is_old\nif is_old():\n    pass\nelse:\n    Trainer(gpus=1)\n",
}


@pytest.mark.parametrize("text", LIVE.values(), ids=LIVE)
def test_an_arm_that_may_run_is_spoken_of(text: str) -> None:
    head = "import os\n\nimport pytorch_lightning as pl\nfrom pytorch_lightning import Trainer\n\n"
    flags = "import pytorch_lightning as pl\n\n\n@inverted\ndef is_old():\n    return pl.__version__ >= '2.0'\n"
    files = {"a.py": head + text, "flags.py": flags, "mine.py": "class RequirementCache:\n    pass\n"}
    made = run_rules(files, rule("LIT101"), pins=("pytorch-lightning==1.6.0",))
    assert [item.path for item in made.findings] == ["a.py"]
