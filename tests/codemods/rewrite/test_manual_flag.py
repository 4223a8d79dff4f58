"""A flag of automatic optimization that would undo the False of a manual loop keeps the loop from being written."""

from __future__ import annotations

import pytest

from codemods.code.source import PythonFile, Source
from codemods.lightning.optimization import said_by
from codemods.rules.optimizers.opt001 import BEFORE as GAN
from codemods.rules.tbptt.tbp001 import BEFORE as CHUNKS
from tests.codemods import gan_programs
from tests.codemods.support import refusals, rewritten, rule

SETUP = "    def configure_optimizers(self):\n"
TRUE = "automatic_optimization = True\n"
PROGRAMS = {"OPT001": (GAN, "GAN"), "TBP001": (CHUNKS, "Model")}
HOOK = "    def on_train_epoch_start(self):\n        self." + TRUE
CHILD = "\n\nclass Child(NAME):\n    def __init__(self):\n        super().__init__()\n        self." + TRUE
BASE = "class Base(LightningModule):\n    def __init__(self):\n        super().__init__()\n        self." + TRUE
CALLBACK = (
    "from pytorch_lightning import Callback\n\n\nclass Flag(Callback):\n"
    "    def on_train_start(self, trainer, pl_module):\n        pl_module." + TRUE
)


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_hook_of_the_class(code: str) -> None:
    text, _ = PROGRAMS[code]
    (reason,) = refusals({"train.py": text.replace(SETUP, f"{HOOK}\n{SETUP}")}, code)
    assert "automatic_optimization is set other than to True in __init__" in reason


def above(code: str, base: str) -> str:
    text, name = PROGRAMS[code]
    return text.replace(f"class {name}(LightningModule)", f"{base}\n\nclass {name}(Base)")


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_class_below_it(code: str) -> None:
    text, name = PROGRAMS[code]
    (reason,) = refusals({"train.py": text + CHILD.replace("NAME", name)}, code)
    assert "Child (train.py), a base class or subclass, sets `automatic_optimization`" in reason


@pytest.mark.parametrize(
    "base",
    [
        BASE.replace("__init__", "setup"),
        BASE.replace("True", "not 1"),
        "class Base(LightningModule):\n    @property\n    def automatic_optimization(self):\n        return True\n",
    ],
)
def test_a_class_above_it_that_has_the_last_word(base: str) -> None:
    (reason,) = refusals({"train.py": above("OPT001", base)}, "OPT001")
    assert "Base (train.py), a base class or subclass, sets `automatic_optimization`" in reason


@pytest.mark.parametrize(
    "head",
    [
        "def setup(self, stage=None):\n",
        "def __init__(self):\n        Base.__init__(self)\n",
        "def __init__(self):\n        if Base:\n            super().__init__()\n",
    ],
)
def test_a_constructor_above_a_class_whose_flag_goes_into_its_body(head: str) -> None:
    own = "class GAN(Base):\n    "
    files = {"train.py": above("OPT001", BASE)}
    files["train.py"] = files["train.py"].replace(f"{own}def __init__(self):\n        super().__init__()\n", own + head)
    (reason,) = refusals(files, "OPT001")
    assert "Base (train.py), a base class or subclass, sets `automatic_optimization`" in reason


@pytest.mark.parametrize("base", [BASE, "class Base(LightningModule):\n    " + TRUE])
def test_a_class_above_it_whose_true_comes_first(base: str) -> None:
    files = gan_programs.program(gan_programs.STEP)
    files["train.py"] = files["train.py"].replace("class GAN(LightningModule)", f"{base}\n\nclass GAN(Base)")
    gan_programs.both(files)


@pytest.mark.parametrize("code", PROGRAMS)
def test_who_holds_an_instance_in_another_file(code: str) -> None:
    text, _ = PROGRAMS[code]
    (reason,) = refusals({"train.py": text, "flag.py": CALLBACK}, code)
    assert "flag.py sets `automatic_optimization` on something that it holds" in reason


@pytest.mark.parametrize("code", PROGRAMS)
def test_who_switches_a_model_off_in_another_file_undoes_nothing(code: str) -> None:
    text, _ = PROGRAMS[code]
    files = {"train.py": text, "flag.py": CALLBACK.replace("True", "False")}
    assert rewritten(files, rule(code)) == {**files, **rewritten({"train.py": text}, rule(code))}


def test_a_class_of_the_file_that_is_no_relative_does_not_count() -> None:
    other = CHILD.replace("NAME", "LightningModule").replace("True", "False")
    after = rewritten({"train.py": GAN + other}, rule("OPT001"))["train.py"]
    assert after.count("self.automatic_optimization = False\n") == 2


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_constructors_own_true_becomes_false(code: str) -> None:
    text, _ = PROGRAMS[code]
    said = text.replace("super().__init__()\n", f"super().__init__()\n        self.{TRUE}")
    assert rewritten({"train.py": said}, rule(code)) == rewritten({"train.py": text}, rule(code))


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_true_that_the_base_class_undoes(code: str) -> None:
    text, _ = PROGRAMS[code]
    said = text.replace("super().__init__()\n", f"self.{TRUE}        super().__init__()\n")
    (reason,) = refusals({"train.py": said}, code)
    assert "automatic_optimization is set before `super().__init__()`, where it is lost" in reason


def test_a_constructor_that_is_called_by_the_name_of_the_base_class() -> None:
    by_name = GAN.replace("super().__init__()\n", f"LightningModule.__init__(self)\n        self.{TRUE}")
    assert "self.automatic_optimization = False\n" in rewritten({"train.py": by_name}, rule("OPT001"))["train.py"]
    before = GAN.replace("super().__init__()\n", f"self.{TRUE}        LightningModule.__init__(self)\n")
    (reason,) = refusals({"train.py": before}, "OPT001")
    assert "where it is lost" in reason


SPELLED = {
    "automatic_optimization = False": "manual",
    "automatic_optimization: bool = False": "manual",
    "def __init__(self):\n        self.automatic_optimization = False": "manual",
    "def __init__(self):\n        setattr(self, 'automatic_optimization', False)": "manual",
    "def __init__(self):\n        setattr(self, 'automatic_optimization', True)": "automatic",
    "def __init__(self, on):\n        setattr(self, 'automatic_optimization', on)": "unknown",
    "def __init__(self, on):\n        setattr(self, 'rate', False)": None,
    "@property\n    def automatic_optimization(self):\n        return False": "manual",
}


@pytest.mark.parametrize("body", SPELLED)
def test_each_spelling_says_the_same(body: str) -> None:
    file = PythonFile.parse(Source("a.py", "python", f"class Model(LightningModule):\n    {body}\n".encode()))
    assert said_by(file, file.classes[0]) == SPELLED[body]
