"""LIT003: libraries that ended with Lightning 1.x, and the move of files that use them."""

from __future__ import annotations

import pytest

from tests.codemods.rules.names.test_lit002_asked import moved, planned
from tests.codemods.support import rule, run_rules


@pytest.mark.parametrize(
    "text",
    [
        "from pl_bolts.datamodules import CIFAR10DataModule\n",
        "import pl_bolts\n",
        "import pl_bolts.datamodules as data\n",
        "def go():\n    from pl_bolts.callbacks import PrintTableMetricsCallback\n",
        "import flash.image\n",
        "from flash import Trainer\n",
        "from flash.core.data.utils import download_data\n",
        "from flash import DataModule, Task\n",
        "if __name__ == '__main__':\n    from pl_bolts.models import GAN\n",
        "import os\nif os.environ.get('BOLTS'):\n    import pl_bolts\n",
        "def go():\n    if quick:\n        import flash.image\n",
        "x = 1\ntry:\n    pass\nfinally:\n    from pl_bolts.models import GAN\n",
        "import importlib\nmod = importlib.import_module('pl_bolts.models')\n",
    ],
)
def test_a_library_that_ended_is_named(text: str) -> None:
    (finding,) = run_rules({"train.py": text}, rule("LIT003")).findings
    assert (finding.fix, finding.span.line) == ("manual", text.count("\n"))
    assert "its last release" in finding.reason


@pytest.mark.parametrize(
    "text",
    [
        "from flash.attention import attention\n",
        "import flash_attn\n",
        "import flash\n",
        "try:\n    import pl_bolts\nexcept ImportError:\n    pl_bolts = None\n",
        "from .pl_bolts import x\n",
        "text = 'import flash.image, import pl_bolts'\n",
        "import flash\n\nflash.attention(1)\nflash = 1\n",
        "try:\n    import pl_bolts\nexcept (AttributeError, ModuleNotFoundError):\n    pass\n",
        "try:\n    import mine\nexcept ImportError:\n    import pl_bolts\n",
        "if find_spec('pl_bolts') is not None:\n    import pl_bolts\n",
        "if quick:\n    from mine import GAN\nelse:\n    from pl_bolts.models import GAN\n",
        "loader.import_module('pl_bolts.models')\n",
    ],
)
def test_other_packages_and_guarded_imports_are_left(text: str) -> None:
    assert run_rules({"train.py": text}, rule("LIT003")).findings == ()


def test_a_package_of_the_project_itself_is_left() -> None:
    files = {"train.py": "from pl_bolts.models import VAE\n", "src/pl_bolts/__init__.py": ""}
    assert run_rules(files, rule("LIT003")).findings == ()


def test_a_whole_package_is_named_for_what_is_reached_through_it() -> None:
    text = "import flash\n\ntrainer = flash.Trainer(max_epochs=3)\n"
    (finding,) = run_rules({"train.py": text}, rule("LIT003")).findings
    assert finding.span.line == 1


def test_a_folder_of_configurations_is_no_package() -> None:
    files = {"train.py": "from flash.image import ImageClassifier\n", "configs/flash/a.yaml": "x: 1\n"}
    assert [item.path for item in run_rules(files, rule("LIT003")).findings] == ["train.py"]


@pytest.mark.parametrize("text", ["a: flash.attention.Flash\n", "# flash.image\n", "a: my.flash.Task\n"])
def test_configurations_of_others_are_left(text: str) -> None:
    assert run_rules({"conf/a.yaml": text}, rule("LIT003")).findings == ()


@pytest.mark.parametrize(
    "name",
    ["pl_bolts.optimizers.lr_scheduler.LinearWarmupCosineAnnealingLR", "flash.image.ImageClassifier", "flash.Trainer"],
)
def test_a_configuration_is_read(name: str) -> None:
    text = f"# pl_bolts\n_target_: {name}\n"
    (finding,) = run_rules({"conf/a.yaml": text}, rule("LIT003")).findings
    assert finding.span.line == 2


FLASH = """\
from pytorch_lightning.loggers import WandbLogger
import flash
from flash.image import ImageClassifier
"""


def test_what_such_a_library_is_given_does_not_move_to_another_namespace() -> None:
    files = {
        "train.py": FLASH,
        "other.py": "import pytorch_lightning as pl\n",
        "conf/a.yaml": "_target_: pytorch_lightning.Trainer\n",
    }
    made = planned(files, "lightning")
    assert made.changes == ()
    told = {item.path: item for item in made.findings}
    assert {path: item.fix for path, item in told.items()} == {
        "train.py": "manual", "other.py": "unsafe", "conf/a.yaml": "unsafe",
    }  # fmt: skip
    assert "lightning-flash 0.8.2" in told["train.py"].reason
    assert "train.py stays" in told["other.py"].reason


def test_a_project_moves_back_with_such_a_library() -> None:
    back = moved({"train.py": FLASH.replace("pytorch_lightning", "lightning.pytorch")}, "pytorch_lightning")
    assert back["train.py"] == FLASH
