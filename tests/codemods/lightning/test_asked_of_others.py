"""Methods that another file asks for of objects of classes that have nothing to do with a module."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit201 import BEFORE
from tests.codemods.support import rewritten, rule, run_rules

OTHER = "from pytorch_lightning import LightningModule\n\n\nclass Other(LightningModule):\n    pass\n"
SCRIPT = "from other import Other\n\n\ndef run(given):\n    made = Other()\n    made.validation_epoch_end([])\n"
FILES = {"model.py": BEFORE, "other.py": OTHER, "script.py": SCRIPT}


def test_an_object_of_another_class_does_not_matter() -> None:
    after = rewritten(FILES, rule("LIT201"))
    assert "def on_validation_epoch_end(self):" in after["model.py"]
    assert after["script.py"] == SCRIPT


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("script.py", "made = Other()", "made = find()"),
        ("script.py", "made = Other()", "from model import Model\n\n    made = Model()"),
        ("script.py", "made = Other()", "made = Other()\n    if given:\n        made = given"),
        ("script.py", "def run(given):\n", "def run(made):\n    if not made:\n    "),
        ("script.py", "made.validation", "given.validation"),
        ("script.py", "made = Other()", "for made in given:\n        pass\n    made = Other()"),
        ("other.py", "class Other(LightningModule)", "from model import Model\n\n\nclass Other(Model)"),
    ],
)
def test_one_that_may_be_the_module_does(path: str, old: str, new: str) -> None:
    assert old in FILES[path]
    files = FILES | {path: FILES[path].replace(old, new, 1)}
    made = run_rules(files, rule("LIT201"))
    assert "model.py" not in made.final()
    assert {item.fix for item in made.findings if item.path == "model.py"} == {"manual"}
