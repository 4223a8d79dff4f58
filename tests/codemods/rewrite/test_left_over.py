"""Imports and variables without a use go with the edit that took their last one, and no others."""

from __future__ import annotations

import pytest

from codemods.code.parsed_files import ParsedFiles
from codemods.code.source import PythonFile, Source
from codemods.lightning.facts import Facts
from codemods.rewrite.left_over import left_over
from codemods.rewrite.locate import apply_text_edits
from tests.codemods.support import rewritten, rule

USE = "\n\ndef f(model):\n    return os.getcwd()\n"
PLAIN = "\n\ndef f(model):\n    return model\n"


def parsed(text: str, path: str = "a.py") -> PythonFile:
    return PythonFile.parse(Source(path, "python", text.encode()))


def tidied(before: str, after: str, path: str = "a.py", **others: str) -> str:
    """What is left of the text after an edit."""
    texts = {path: before, **{f"{name}.py": text for name, text in others.items()}}
    sources = {name: Source(name, "python", text.encode()) for name, text in texts.items()}
    facts = Facts({}, sources=sources, trees=ParsedFiles(sources))
    file, new = parsed(before, path), parsed(after, path)
    while edits := left_over(file, new, facts):
        new = parsed(apply_text_edits(new.text, edits), path)
    return new.text


@pytest.mark.parametrize(
    ("imports", "kept"),
    [
        ("import os\nimport sys\n", "import sys\n"),
        ("import os, sys\n", "import sys\n"),
        ("import sys, os\n", "import sys\n"),
        ("from torch import nn, os\n", "from torch import nn\n"),
        ("from typing import (\n    List as os,\n    Dict,\n)\n", "from typing import (\n    Dict,\n)\n"),
        ("import pytorch_lightning as os\n\nimport sys\n", "import sys\n"),
        ("import sys\n\nimport os\n\nimport abc\n", "import sys\n\nimport abc\n"),
        ("import sys\nimport os  \n", "import sys\n"),
        ("# Of Python:\nimport os\nimport sys\n", "# Of Python:\nimport sys\n"),
        ('"""The os."""\nimport os\n', '"""The os."""\n'),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os\n    import sys\n",
         "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sys\n"),
        ("import sys\r\nimport os\r\n", "import sys\r\n"),
    ],
)  # fmt: skip
def test_an_import_whose_last_use_an_edit_took_goes(imports: str, kept: str) -> None:
    assert tidied(imports + USE, imports + PLAIN) == kept + PLAIN


@pytest.mark.parametrize(
    "imports",
    [
        "import os  # noqa: F401\n",
        "import os  # for those who import it from here\n",
        "from os import (  # all of it\n    path as os,\n)\n",
        "try:\n    import os\nexcept ImportError:\n    os = None\n",
        "try:\n    import os\nexcept ImportError:\n    pass\n",
        "if HAS:\n    import os\n",
        "import os\n__all__ = ['os']\n",
        "import os\nos.environ['A'] = '1'\n",
        "import os\nimport os\n",
        "import os.path\nimport os.environ\n",
        "import mine.registry as os\n",
        "from .models import os\n",
        "from models import os\n",
        "from torch import *\nfrom models import os\n",
        "import os\nA: 'os.PathLike' = 1\n",
        "import os\nA = 1  # type: os.PathLike\n",
        "import os\nA = eval('o' + 's')\n",
        "import os\nA = globals()\n",
        'import os\ndef g():\n    """Shows.\n\n    >>> os.getcwd()\n    """\n',
        "import sys; import os\n",
        "# Where things are:\nimport os\n",
        "import sys, \\\n    os  # both\n",
        "def g():\n    import os\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os\n",
        "from os import *\n",
        "from __future__ import annotations as os\n",
    ],
)
def test_what_may_serve_something_else_stays(imports: str) -> None:
    assert tidied(imports + USE, imports + PLAIN) == imports + PLAIN


def test_what_had_no_use_before_stays() -> None:
    assert tidied("import os\nimport sys\n" + USE, "import os\nimport sys\n" + USE) == "import os\nimport sys\n" + USE
    text = "import os\nimport sys\n\nprint(sys.path)\n"
    assert tidied(text, text.replace("print(sys.path)\n", "")) == "import os\n\n"


@pytest.mark.parametrize(
    "other",
    [
        "from a import os\n",
        "import a\n\na.os.getcwd()\n",
        "from a import *\n\nos.getcwd()\n",
        "patch('a.os')\nimport a\n",
    ],
)
def test_what_another_file_has_from_here_stays(other: str) -> None:
    assert tidied("import os" + USE, "import os" + PLAIN, b=other) == "import os" + PLAIN


def test_what_another_file_imports_itself_goes() -> None:
    assert tidied("import os" + USE, "import os" + PLAIN, b="import os\nfrom a import f\n") == PLAIN.lstrip("\n")


def test_a_package_hands_on_what_it_imports() -> None:
    assert tidied("import os" + USE, "import os" + PLAIN, "a/__init__.py") == "import os" + PLAIN


STEP = """
def f(self, loss):
    logs = {{"loss": loss}}
    {shown}
    return {given}
"""


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        ("shown = logs", False),
        ("shown = (loss, 'loss')", False),
        ("shown = {**logs}", False),
        ("shown = logs  # for the bar", True),
        ("shown = dict(logs)", True),
        ("shown = logs.copy", True),
        ("shown = logs['loss']", True),
        ("shown = self.shown = logs", True),
        ("shown, other = logs", True),
        ("shown = logs; print(loss)", True),
        ("shown: dict = logs", True),
        ("global shown; shown = logs", True),
        ("shown = logs\n    exec('print(shown)')", True),
        ("shown = logs\n    shown = {}", True),
        ("for item in logs:\n        shown = item", True),
        ("# For the bar:\n    shown = logs", True),
    ],
)
def test_a_variable_goes_where_what_it_is_set_to_does_nothing(shown: str, kept: bool) -> None:
    before, after = (STEP.format(shown=shown, given=given) for given in ("logs, shown", "logs"))
    assert tidied(before, after) == (after if kept else STEP.format(shown="", given="logs").replace("    \n", ""))


def test_a_variable_without_a_use_before_stays() -> None:
    text = STEP.format(shown="shown = logs", given="logs, os.sep")
    assert (
        tidied("import os\n" + text, "import os\n" + text.replace(", os.sep", ""))
        == text.replace(", os.sep", "").lstrip()
    )


def test_a_variable_takes_its_import_along() -> None:
    text = STEP.format(shown="shown = os", given="logs, shown")
    after = tidied("import os\n" + text, "import os\n" + text.replace(", shown", ""))
    assert after == STEP.format(shown="", given="logs").replace("    \n", "").lstrip()


def test_a_rule_takes_the_import_along() -> None:
    before = "import math\nfrom typing import List\n\nimport pytorch_lightning as pl\n"
    before += "\n\nclass M(pl.LightningModule):\n    def training_step(self, batch, batch_idx):\n"
    before += "        self.losses.append(batch.sum())\n        return batch.sum()\n\n"
    before += "    def training_epoch_end(self, outputs: List[dict]):\n        print(self.losses)\n"
    after = rewritten({"m.py": before}, rule("LIT201"))["m.py"]
    assert "List" not in after and "on_train_epoch_end(self)" in after and after.startswith("import math\n\nimport pyt")
