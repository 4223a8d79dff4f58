"""Which class a name stands for that a package hands on: what Python takes, or none."""

from __future__ import annotations

import pytest

from tests.codemods.support import notebook, rewritten, rule, run_rules

OURS = "import pytorch_lightning as pl\n\n\nclass Trainer(pl.Trainer):\n    pass\n"
OTHER = "class Trainer:\n    def __init__(self, gpus=None, **kwargs):\n        self.gpus = gpus\n"
OWN = OTHER.replace("class Trainer", "class Own")
USE = "from pkg import Trainer\n\ntrainer = Trainer(gpus=2)\n"
RULES = (rule("LIT101"), rule("LIT110"))
FOUND = {
    "by name": "from .a import Trainer\n",
    "by a star": "from .a import *\n",
    "by a star behind others": "from .own import *\nfrom .a import *\n",
    "by a star before one of NumPy": "from .a import *\nfrom numpy import *\n",
    "by two modules": "from .b import *\n",
    "by either of two spellings": "try:\n    from .a import Trainer\nexcept:\n    from pkg.a import Trainer\n",
}
NOT_FOUND = {
    "a function of that name": "from .a import *\nfrom .own import Own\n\n\ndef Trainer(**given):\n    return Own()\n",
    "bound again": "from .a import *\nfrom .own import Own\n\nTrainer = Own\n",
    "bound again at times": "from .a import *\nfrom .own import Own\n\nif __debug__:\n    Trainer = Own\n",
    "wrapped": "from .a import Trainer\n\nTrainer = len(Trainer)\n",
    "not in __all__": "from .other import *\nfrom .listed import *\n",
    "hidden by a later star": "from .a import Trainer\nfrom .other import *\n",
    "a star of a stranger": "from .a import *\nfrom ignite.trainers import *\n",
    "one of two": "try:\n    from .own import Own as Trainer\nexcept ImportError:\n    from .a import Trainer\n",
    "a module of that name elsewhere": "from models import *\n",
}


def package(init: str) -> dict[str, str]:
    return {
        "pkg/__init__.py": init,
        "pkg/a.py": OURS,
        "pkg/b.py": "from .a import *\n",
        "pkg/own.py": OWN,
        "pkg/other.py": OTHER,
        "pkg/listed.py": f"__all__ = ['Other']\n{OURS}",
        "pkg/models.py": OURS,
        "models.py": OTHER,
        "train.py": USE,
    }


@pytest.mark.parametrize("name", FOUND)
def test_a_class_is_known_through_its_package(name: str) -> None:
    new = rewritten(package(FOUND[name]), *RULES)["train.py"]
    assert new.endswith('trainer = Trainer(accelerator="gpu", devices=2)\n')


@pytest.mark.parametrize("name", NOT_FOUND)
def test_another_class_is_not_taken_for_it(name: str) -> None:
    assert "train.py" not in run_rules(package(NOT_FOUND[name]), *RULES, unsafe=True).final()


@pytest.mark.parametrize("folder", ["", "src/"])
def test_lightning_is_known_through_a_module_that_imports_it(folder: str) -> None:
    files = {
        f"{folder}compat.py": "try:\n    import lightning.pytorch as pl\nexcept:\n    import pytorch_lightning as pl\n",
        f"{folder}train.py": "from compat import pl\n\ntrainer = pl.Trainer(gpus=2)\n",
    }
    assert 'pl.Trainer(accelerator="gpu", devices=2)' in rewritten(files, *RULES)[f"{folder}train.py"]
    other = {**files, f"{folder}compat.py": "import other as pl\n"}
    assert run_rules(other, *RULES).changes == ()


@pytest.mark.parametrize("star", ["mine", "transformers"])
def test_what_a_star_may_bring_there_is_left_to_a_person(star: str) -> None:
    files = {
        "compat.py": f"from pytorch_lightning import Trainer\nfrom {star} import *\n",
        "mine.py": OTHER,
        "train.py": "from compat import Trainer\n\ntrainer = Trainer(gpus=2)\n",
    }
    made = run_rules(files, *RULES, unsafe=True)
    assert made.changes == ()
    assert ["compat.py, which imports or names it" in item.reason for item in made.findings] == [True]
    harmless = {**files, "compat.py": "from pytorch_lightning import Trainer\nfrom math import *\n"}
    assert 'Trainer(accelerator="gpu", devices=2)' in rewritten(harmless, *RULES)["train.py"]


STAR = "import pytorch_lightning as pl\nfrom pytorch_lightning import Trainer\n"
BY_STAR = "{}\n\ndef main():\n    return {}(gpus=2)\n"


@pytest.mark.parametrize("name", ["pl.Trainer", "Trainer"])
@pytest.mark.parametrize(
    "stars",
    ["from compat import *", "from mine import *\nfrom compat import *", "from compat import *\nfrom math import *",
     "from compat import *\nfrom mine import *", "from again import *", "from torch.nn import *\nfrom compat import *"],
)  # fmt: skip
def test_lightning_is_known_through_a_star(stars: str, name: str) -> None:
    files = {"compat.py": STAR, "mine.py": "import os\n", "again.py": "from compat import *\nfrom circle import *\n",
             "circle.py": "from again import *\n"}  # fmt: skip
    text = BY_STAR.format(stars, name)
    after = text.replace("gpus=2", 'accelerator="gpu", devices=2')
    assert rewritten({**files, "train.py": text}, *RULES)["train.py"] == after
    assert rewritten({**files, "pkg/train.py": text}, *RULES)["pkg/train.py"] == after


@pytest.mark.parametrize(
    "stars",
    ["from compat import *\nfrom transformers import *", "from compat import *\npl = Trainer = load()",
     "from compat import *\nfrom hidden import *", "from listed import *", "from compat import *\nimport mine as pl\n"
     "from mine import Own as Trainer", "from circle import *"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["pl.Trainer", "Trainer"])
def test_a_star_that_may_bring_another_thing(stars: str, name: str) -> None:
    files = {"compat.py": STAR, "mine.py": OWN, "hidden.py": "pl = load()\n\n\nclass Trainer:\n    pass\n",
             "listed.py": f"__all__ = ['os']\nimport os\n{STAR}", "circle.py": "from train import *\n"}  # fmt: skip
    made = run_rules({**files, "train.py": BY_STAR.format(stars, name)}, *RULES, unsafe=True)
    assert made.changes == () and made.bugs == ()


def test_a_module_whose_base_a_star_brings_is_one() -> None:
    text = (
        "from os.path import *\nfrom compat import *\n\n\nclass Model({}):\n"
        "    def on_epoch_start(self):\n        print(1)\n"
    )
    files = {"compat.py": f"{STAR}from pytorch_lightning import LightningModule\n"}
    for base in ("pl.LightningModule", "LightningModule"):
        (found,) = run_rules({**files, "model.py": text.format(base)}, rule("LIT211")).findings
        assert (found.path, found.code) == ("model.py", "LIT211")
    assert run_rules({**files, "model.py": text.format("nn.Module")}, rule("LIT211")).findings == ()


def test_circles_end() -> None:
    files = {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from pkg import *\nfrom pkg.b import *\n",
             "pkg/b.py": "from .a import *\n", "train.py": USE}  # fmt: skip
    assert run_rules(files, *RULES).changes == ()


@pytest.mark.parametrize("order", [(OURS, OTHER), (OTHER, OURS)])
def test_of_two_classes_of_one_name_neither_is_taken_for_the_other(order: tuple[str, str]) -> None:
    first, second = order
    call = "Trainer(gpus=2)\n"
    for files in ({"train.ipynb": notebook(first, call, second, call)},
                  {"train.py": f"{first}\n\n{call}\n\n{second}\n\n{call}"}):  # fmt: skip
        made = run_rules(files, *RULES, unsafe=True)
        assert made.changes == ()
        assert ["which may be a Trainer of this project" in item.reason for item in made.findings] == [True, True]


MODULE = "\n\nclass Model(LightningModule):\n    def on_epoch_end(self):\n        pass\n\n\ntrainer = Trainer(gpus=2)\n"


@pytest.mark.parametrize(
    "stars",
    [
        ("numpy", "pytorch_lightning", "tqdm"),
        ("pytorch_lightning", "pytorch_lightning.callbacks", "torch.nn", "math"),
        ("pytorch_lightning", "mine"),
        ("mine", "common"),
    ],
)
def test_lightnings_names_come_by_a_star_beside_others(stars: tuple[str, ...]) -> None:
    text = "".join(f"from {star} import *\n" for star in stars) + MODULE
    files = {"train.py": text, "mine.py": "def mine():\n    pass\n", "common.py": "from pytorch_lightning import *\n"}
    new = rewritten(files, *RULES, rule("LIT211"))["train.py"]
    assert new.endswith('trainer = Trainer(accelerator="gpu", devices=2)\n') and "on_epoch_end" not in new


@pytest.mark.parametrize("star", ["mine", "transformers"])
def test_a_name_that_another_star_may_bring_is_not_lightnings(star: str) -> None:
    text = f"from pytorch_lightning import *\nfrom {star} import *\n{MODULE}"
    files = {"train.py": text, "mine.py": f"{OTHER}\n\nclass LightningModule:\n    pass\n"}
    made = run_rules(files, *RULES, rule("LIT211"), unsafe=True)
    assert made.changes == () and ["LIT101"] * (star != "mine") == [item.code for item in made.findings]
