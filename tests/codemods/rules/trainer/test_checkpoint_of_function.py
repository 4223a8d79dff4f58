"""A ModelCheckpoint that a function of the script makes, and paths that it is given."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

SCRIPT = """\
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint


def setup(args):
    save = ModelCheckpoint(save_top_k=5)
    return save, args.logger


def main(args):
    save, logger = setup(args)
    return Trainer(checkpoint_callback=save, logger=logger)
"""


def test_a_part_of_what_a_function_gives_is_a_checkpoint() -> None:
    after = rewritten({"a.py": SCRIPT}, rule("LIT110"))["a.py"]
    assert "return Trainer(logger=logger, callbacks=[save])" in after


def test_what_a_function_gives_is_a_checkpoint() -> None:
    text = SCRIPT.replace("save, logger = ", "save = ").replace("return save, args.logger", "return save")
    after = rewritten({"a.py": text.replace(", logger=logger", "")}, rule("LIT110"))["a.py"]
    assert "return Trainer(callbacks=[save])" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return save, args.logger", "return args.logger, save"),
        ("return save, args.logger", "return [save, args.logger]"),
        ("return save, args.logger", "if args.x:\n        return save, 1\n    return None, 1"),
        ("return save, args.logger", "if args.x:\n        return save, 1"),
        ("return save, args.logger", "yield save\n    return save, 1"),
        ("return save, args.logger", "save = None\n    return save, 1"),
        ("    save, logger = setup(args)\n", "    save, logger = setup(args)\n    save = find(save)\n"),
        ("def setup", "@cached\ndef setup"),
        ("def main", "setup = other\n\n\ndef main"),
        ("= ModelCheckpoint(save_top_k=5)", "= find(ModelCheckpoint)"),
        ("save, logger = setup(args)", "save, *logger = setup(args)"),
    ],
)
def test_what_may_be_something_else_is_left(old: str, new: str) -> None:
    assert old in SCRIPT
    assert run_rules({"a.py": SCRIPT.replace(old, new)}, rule("LIT110")).changes == ()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("Path(a)/'b/{epoch}'", "dirpath=Path(a) / 'b', filename='{epoch}'"),
        ("Path(a) / 'b' / '{epoch}'", "dirpath=Path(a) / 'b', filename='{epoch}'"),
        ("Path(a) / f'b/{c}/{{epoch}}'", "dirpath=Path(a) / f'b/{c}', filename='{epoch}'"),
    ],
)
def test_a_name_below_a_folder_is_parted(path: str, wanted: str) -> None:
    text = f"from pytorch_lightning.callbacks import ModelCheckpoint\n\nsave = ModelCheckpoint(filepath={path})\n"
    assert f"ModelCheckpoint({wanted})" in rewritten({"a.py": text}, rule("LIT230"))["a.py"]
