"""What a name stands for: classes of Lightning's own by another name, and what stands in where it is not installed."""

from __future__ import annotations

import pytest

from codemods.code.scopes import bind
from codemods.code.source import PythonFile, Source
from tests.codemods.support import rewritten, rule, run_rules

MODULE = "pytorch_lightning.LightningModule"
CLASS = """
class Net({base}):
    def training_step(self, batch, batch_idx):
        return {{"loss": batch.sum()}}

    def training_epoch_end(self, outputs):
        print(len(outputs))
"""


def looked_up(text: str, name: str) -> str | None:
    """What the name stands for in a module."""
    return bind(PythonFile.parse(Source("a.py", "python", text.encode())).tree, "a.py").lookup(name)


@pytest.mark.parametrize(
    "text",
    [
        "import pytorch_lightning as pl\nBase = pl.LightningModule\n",
        "import pytorch_lightning as pl\nRun, Base = pl.Trainer, pl.LightningModule\n",
        "from pytorch_lightning import LightningModule\nBase = LightningModule\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n    Base = object\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n    Base = nn.Module\n",
        "Base = None\ntry:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n    pass\n",
        "if HAS:\n    from pytorch_lightning import LightningModule as Base\nelse:\n    class Base:\n        pass\n",
        "if HAS:\n    from pytorch_lightning import LightningModule as Base\nelse:\n    Base: Any = object  # none\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    class Base:\n        def __init__(self, *args, **kwargs):\n            raise ImportError(str(args))\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    class Raiser(Missing):\n        def __init__(self, **kwargs):\n            name = 'lightning'\n"
        "            super(Raiser, self).__init__(name)\n    Base = Raiser\n",
        "class Stub:\n    def log(self, *args): pass\n    def device(self): return self._device\n"
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n    Base = Stub\n",
        "if not HAS:\n    class Base:\n        name = 'none'\n        def __getattr__(self, name):\n"
        "            raise ImportError(name)\nelse:\n    from pytorch_lightning import LightningModule as Base\n",
    ],
)
def test_a_class_of_lightning_by_another_name_or_beside_a_stand_in_is_known(text: str) -> None:
    assert looked_up(text, "Base") == MODULE


@pytest.mark.parametrize(
    "text",
    [
        "import pytorch_lightning as pl\nBase = pl.LightningModule\nBase = Mine\n",
        "import pytorch_lightning as pl\nRun, Base = pl.Trainer, Mine\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n    Base = Mine\n",
        "try:\n    from pytorch_lightning import Trainer as Base\nexcept ImportError:\n"
        "    class Base:\n        def fit(self, module): module.training_epoch_end([])\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    class Base:\n        def fit(self): self.training_epoch_end([])\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    class Base:\n        def fit(self): run(self)\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    class Base:\n        for name in hooks: print(name)\n",
        "try:\n    from pytorch_lightning import LightningModule as Base\nexcept ImportError:\n"
        "    from mine import Base\n",
        "from pytorch_lightning import LightningModule as Base\n"
        "class Base:\n    def __init__(self): raise ImportError\n",
        "class Stub:\n    pass\nfrom pytorch_lightning import LightningModule as Base\nBase = Stub\n",
        "if HAS:\n    from pytorch_lightning import LightningModule as Base\n    class Base:\n"
        "        def __init__(self): raise ImportError\nelse:\n    Base = None\n",
        "try:\n    from mine import Base\nexcept ImportError:\n    Base = object\n",
        "try:\n    from mine import Base\nexcept ImportError:\n    Base = Mine\n",
        "import pytorch_lightning as pl\nBase = pl.Trainer\nmatch given:\n    case (Base, _):\n        pass\n",
        "import pytorch_lightning as pl\nBase = pl.Trainer\nmatch given:\n    case {**Base} | [*Base]:\n        pass\n",
        "import pytorch_lightning as pl\nBase = pl.Trainer\nmatch (Base := given):\n    case 1:\n        pass\n",
        "import pytorch_lightning as pl\nBase = pl.Trainer\nraise Error([Base for Base in kinds])\n",
        "import pytorch_lightning as pl\nBase = pl.Trainer\nassert done, [Base for Base in kinds]\n",
        "from pytorch_lightning import LightningModule as Base\nclass Base(Mine):\n    pass\n",
    ],
)
def test_what_may_be_something_else_is_not(text: str) -> None:
    assert looked_up(text, "Base") is None


@pytest.mark.parametrize(
    ("text", "dotted"),
    [
        ("try:\n    from mine import Base\nexcept ImportError:\n    Base = None\n", "mine.Base"),
        ("try:\n    import numpy as Base\nexcept ImportError:\n    Base: Any = None\n", "numpy"),
        ("if HAS:\n    class Base(Other):\n        x = 1\nelse:\n    Base = None\n", "a.Base"),
        ("class Base(Other):\n    x = 1\nBase = Base\n", "a.Base"),
    ],
)
def test_of_none_nobody_asks_anything(text: str, dotted: str) -> None:
    assert looked_up(text, "Base") == dotted


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("try:\n    import pytorch_lightning as pl\nexcept ImportError:\n    pl = None\n", "pl.LightningModule"),
        (
            "import torch\ntry:\n    import pytorch_lightning as pl\nexcept ImportError:\n    pl = None\n",
            "pl.LightningModule if pl else torch.nn.Module",
        ),
        ("from pytorch_lightning import LightningModule\nBase = LightningModule\n", "Base"),
    ],
)
def test_a_module_below_it_is_moved(head: str, base: str) -> None:
    after = rewritten({"m.py": head + CLASS.format(base=base)}, rule("LIT201"))["m.py"]
    assert "def on_train_epoch_end(self):" in after
    assert after.startswith(head)


@pytest.mark.parametrize(
    "text",
    [
        'pl = pytest.importorskip("pytorch_lightning")\nBase = pl.LightningModule\n',
        "def f(pl):\n    Base = pl.Trainer\n    return Base(gpus=1)\n",
        "for pl in both:\n    Base = pl.Callback\n",
    ],
)
def test_what_is_taken_from_what_is_not_known_is_not_known(text: str) -> None:
    file = PythonFile.parse(Source("a.py", "python", text.encode()))
    assert [call.scope.lookup("Base") for call in file.calls_near(("Base", "importorskip"))] in ([], [None])
    assert looked_up(text, "Base") is None


def test_a_trainer_beside_a_stand_in_is_moved() -> None:
    text = "try:\n    from lightning import Trainer\nexcept ImportError:\n    Trainer = None\n\nt = Trainer(gpus=1)\n"
    after = rewritten({"m.py": text}, rule("LIT101"))["m.py"]
    assert after == text.replace("gpus=1", 'accelerator="gpu", devices=1')


def test_a_choice_between_two_modules_of_its_own_is_named() -> None:
    text = "import pytorch_lightning as pl\n" + CLASS.format(base="pl.LightningModule if new else Mine")
    made = run_rules({"m.py": text}, rule("LIT201"), unsafe=True)
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]


@pytest.mark.parametrize(
    ("head", "behind", "known"),
    [
        ("", "", True),
        ("from typing import *\n", "", True),
        ("from other import *\n", "", True),
        ("", "from other import *\n", True),
        ("", "from zoo import *\n", False),
        ("", "from own import *\n", False),
    ],
)
def test_a_base_class_of_the_project_that_a_star_brings(head: str, behind: str, known: bool) -> None:
    files = {
        "base.py": "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n",
        "other.py": "ONE = 1\n",
        "own.py": "Base = object\n",
        "m.py": f"{head}from base import *\n{behind}" + CLASS.format(base="Base"),
    }
    after = rewritten(files, rule("LIT201"))["m.py"]
    assert ("def on_train_epoch_end(self):" in after) == known


OWN = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"


@pytest.mark.parametrize("spelled", ["from lightning.common import Base", "from .common import Base"])
def test_a_folder_of_the_project_may_have_the_name_of_lightning(spelled: str) -> None:
    files = {"lightning/common.py": OWN, "lightning/net.py": f"{spelled}\n{CLASS.format(base='Base')}"}
    assert "def on_train_epoch_end(self)" in rewritten(files, rule("LIT201"))["lightning/net.py"]


@pytest.mark.parametrize("spelled", ["lightning.Trainer", "lightning.pytorch.trainer.trainer.Trainer"])
def test_what_lightning_has_is_known_beside_it(spelled: str) -> None:
    files = {"lightning/common.py": OWN, "run.py": f"import lightning\n\ntrainer = {spelled}(gpus=1)\n"}
    assert "devices=1" in rewritten(files, rule("LIT101"))["run.py"]
