"""LIT220 and LIT221: by reflection, run on the newest release, and what they leave alone."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import LightningDataModule, LightningModule, Trainer
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from codemods.rules.modules.lit221 import LOADERS, MISSING, PRECISIONS
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import torch\nfrom lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"
INIT = "    def __init__(self, hparams):\n        super().__init__()\n"


def built(text: str, hparams: object) -> LightningModule:
    space: dict[str, type[LightningModule]] = {}
    exec(text, space)
    return space["Model"](hparams)


@pytest.mark.parametrize(
    "line", ['setattr(self, "hparams", hparams)', "self.hparams: dict = hparams", "self.hparams, self.x = hparams, 1"]
)
def test_hparams_are_found_however_they_are_set(line: str) -> None:
    found = run_rules({"a.py": f"{HEAD}{INIT}        {line}\n"}, rule("LIT220")).findings
    assert [item.code for item in found] == ["LIT220"]


def test_the_instance_is_the_first_parameter_by_place_alone_too() -> None:
    text = HEAD + INIT.replace("self, ", "self, /, ") + "        self.hparams = hparams\n"
    after = rewritten({"a.py": text}, rule("LIT220"))["a.py"]
    assert after == text.replace("self.hparams = hparams", "self.save_hyperparameters(hparams)")


@pytest.mark.parametrize("hparams", [Namespace(width=3), {"width": 3}], ids=["namespace", "dict"])
def test_hparams_fail_before_and_are_kept_after(hparams: object, tmp_path: Path) -> None:
    text = HEAD + INIT + "        self.hparams = hparams\n        self.layer = torch.nn.Linear(self.hparams.width, 1)\n"
    with pytest.raises(AttributeError):
        built(text, hparams)
    model = built(rewritten({"a.py": text}, rule("LIT220"))["a.py"], hparams)
    assert model.hparams.width == 3
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.strategy.connect(model)
    trainer.save_checkpoint(tmp_path / "a.ckpt")
    loaded = type(model).load_from_checkpoint(tmp_path / "a.ckpt", weights_only=False)
    assert loaded.hparams.width == 3


SET, SAVED = "        self.hparams = hparams\n", "        self.save_hyperparameters(hparams)\n"
WIDTH, READ = "        self.width = 3\n", "        self.width = self.hparams.width\n"


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        (SET + WIDTH + SAVED, WIDTH + SAVED),
        (SAVED + READ + SET, SAVED + READ),
        (SAVED + "        hparams.x = 3\n" + SET, SAVED + "        hparams.x = 3\n" + SAVED),
        (SAVED + "        hparams.pop('x')\n" + SET, SAVED + "        hparams.pop('x')\n" + SAVED),
        (SAVED + "        self.x = hparams.x\n" + SET, SAVED + "        self.x = hparams.x\n"),
        (SAVED + "        self.hparams.x = 3\n" + SET, SAVED + "        self.hparams.x = 3\n" + SAVED),
        (SAVED + "        self.prepare()\n" + SET, SAVED + "        self.prepare()\n" + SAVED),
        (SAVED + "        self.layer = Linear(3)\n" + SET, SAVED + "        self.layer = Linear(3)\n"),
        (SET + "        if x:\n            return\n" + SAVED, SAVED + "        if x:\n            return\n" + SAVED),
        (SET + READ + SAVED, SAVED + READ + SAVED),
        (SET + "        self.layer = build(self)\n" + SAVED, SAVED + "        self.layer = build(self)\n" + SAVED),
        (SET[:-1] + "  # all of them\n" + SAVED, SAVED[:-1] + "  # all of them\n" + SAVED),
        (SET[:-1] + "; x = 1\n" + SAVED, SAVED[:-1] + "; x = 1\n" + SAVED),
        ("        x = 1; " + SET.lstrip() + SAVED, "        x = 1; " + SAVED.lstrip() + SAVED),
        (SET + SAVED.replace(")", ', ignore="x")'), SAVED + SAVED.replace(")", ', ignore="x")')),
    ],
)
def test_what_is_saved_already_is_not_saved_twice(lines: str, after: str) -> None:
    assert rewritten({"a.py": HEAD + INIT + lines}, rule("LIT220")) == {"a.py": HEAD + INIT + after}


@pytest.mark.parametrize(
    "between",
    [
        "hp = self.hparams\n        hp.lr = 3",
        "self._hparams['lr'] = 3",
        "hp = self._hparams",
        "hparams.layers.append(3)",
        "hparams['layers'].append(3)",
        "for item in hparams.layers:\n            item['x'] = 3",
        "for item in hparams.layers:\n            item.clear()",
        "opt = hparams.opt\n        opt['lr'] = 3",
        "opt = hparams.opt\n        opt.lr += 3",
        "del hparams.opt['lr']",
    ],
)
def test_what_may_have_changed_since_is_saved_again(between: str) -> None:
    lines = f"{SAVED}        {between}\n"
    text = HEAD + INIT + lines
    assert rewritten({"a.py": text + SET}, rule("LIT220")) == {"a.py": text + SAVED}


def test_hparams_that_are_set_another_way_where_they_cannot_be_stay() -> None:
    tried = INIT + "        try:\n            self.hparams = hparams\n        except Exception:\n            {}\n"
    for fallback, said in (("self.hparams.update(hparams)", []), ("pass", ["manual"])):
        found = run_rules({"a.py": HEAD + tried.format(fallback)}, rule("LIT220"))
        assert found.changes == () and [finding.fix for finding in found.findings] == said


def test_a_datamodule_keeps_them_from_the_logger() -> None:
    text = HEAD.replace("LightningModule", "LightningDataModule") + INIT + "        self.hparams = hparams\n"
    after = rewritten({"a.py": text}, rule("LIT220"))["a.py"]
    assert "self.save_hyperparameters(hparams, logger=False)\n" in after
    space: dict[str, type[LightningDataModule]] = {}
    exec(after, space)
    data = space["Model"](Namespace(width=3))  # type: ignore[call-arg]
    assert data.hparams.width == 3 and not data._log_hyperparams


OF_DATA = "from argparse import Namespace\n" + HEAD.replace("LightningModule", "LightningDataModule")


@pytest.mark.parametrize("given", [{"width": 3}, Namespace(width=3)], ids=["dict", "namespace"])
def test_hparams_of_a_datamodule_that_are_made_a_namespace(given: object) -> None:
    turned = "        if type(hparams) is dict:\n            hparams = Namespace(**hparams)\n"
    text = OF_DATA + INIT + turned + "        self.hparams = hparams\n        self.width = hparams.width\n"
    data = built(rewritten({"a.py": text}, rule("LIT220"))["a.py"], given)
    assert data.width == 3 and dict(data.hparams) == {"width": 3}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "turned",
    ["hparams = read(hparams)", "hparams += 1", "for hparams in hparams: pass"],
)
def test_hparams_of_a_datamodule_that_are_made_something_else_stay(turned: str) -> None:
    text = OF_DATA + INIT + f"        {turned}\n        self.hparams = hparams\n"
    assert "cannot tell whether" in refusals({"a.py": text}, "LIT220")[0]


@pytest.mark.parametrize(
    "later", ["hparams.late = 1", "hparams['late'] = 1", "hparams.update(late=1)", "setattr(hparams, 'late', 1)"]
)
def test_hparams_of_a_datamodule_that_are_changed_later_stay(later: str) -> None:
    text = OF_DATA + INIT + f"        self.hparams = hparams\n        {later}\n"
    assert "keeps a copy" in refusals({"a.py": text}, "LIT220")[0]
    before = OF_DATA + INIT + f"        {later}\n        self.hparams = hparams\n"
    assert "save_hyperparameters" in rewritten({"a.py": before}, rule("LIT220"))["a.py"]


@pytest.mark.parametrize("made", ["hparams", "dict(hparams)", "{**hparams}", "self.given", "Namespace(**hparams)"])
def test_whatever_a_module_kept_is_kept(made: str) -> None:
    given = "        self.given = hparams = dict(hparams)\n"
    text = f"from argparse import Namespace\n{HEAD}{INIT}{given}        self.hparams = {made}\n"
    model = built(rewritten({"a.py": text}, rule("LIT220"))["a.py"], {"width": 3})
    assert dict(model.hparams) == {"width": 3}


@pytest.mark.parametrize("made", ["hparams['data']", "self.read(hparams)", "make(hparams)"])
def test_what_a_datamodule_kept_and_may_be_no_mapping_is_left(made: str) -> None:
    text = HEAD.replace("LightningModule", "LightningDataModule") + INIT + f"        self.hparams = {made}\n"
    assert "fixer cannot tell whether" in refusals({"a.py": text}, "LIT220")[0]


@pytest.mark.parametrize("given", ["train_df", "rows: np.ndarray", "table"])
def test_arrays_are_not_compared_with_what_is_kept(given: str) -> None:
    init = INIT.replace("(self, hparams)", f"(self, hparams, {given})") + "        self.rows = table.shape[0]\n"
    text = HEAD.replace("import torch", "import numpy as np\n\ntable = np.ones((2, 2))") + init
    after = rewritten({"a.py": text + "        self.hparams = hparams\n"}, rule("LIT220"))["a.py"]
    space: dict[str, type[LightningModule]] = {}
    exec(after, space)
    model = space["Model"]({"width": 3}, space["table"])  # type: ignore[call-arg, arg-type]
    assert dict(model.hparams) == {"width": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (INIT + "        self.hparams = [hparams]\n", "fixer cannot tell whether"),
        (INIT + "        self.hparams = hparams\n        print(vars(self.hparams))\n", "as a whole"),
        (INIT + "        if hparams:\n            self.hparams = hparams\n", "not set once"),
        ("    def __init__(self, hparams):\n        self.hparams = hparams\n        super().__init__()\n", "before it"),
    ],
)
def test_hparams_left_to_a_person(text: str, said: str) -> None:
    [reason] = refusals({"a.py": HEAD + text}, "LIT220")
    assert said in reason


def test_attributes_are_gone_in_the_newest_release() -> None:
    assert all(name.endswith(LOADERS) for name in MISSING if hasattr(LightningModule, name))


@pytest.mark.parametrize("given", ["bf16", 32, 64])
def test_the_trainer_spells_its_precision_as_the_table_does(given: int | str) -> None:
    trainer = Trainer(logger=False, accelerator="cpu", precision=given, enable_checkpointing=False)
    assert trainer.precision == PRECISIONS[given]
    assert trainer.datamodule is None


@pytest.mark.parametrize(
    "text",
    [
        "class Plain:\n    def run(self):\n        return self.precision == 16\n",
        HEAD + "    precision = 16\n\n    def forward(self):\n        return self.precision == 16\n",
        HEAD + "    def forward(self, config):\n        return config.precision == 16\n",
        HEAD + "    def forward(self, self2):\n        return self.trainer.datamodule\n",
        HEAD + "    @staticmethod\n    def of(args):\n        return args.model_size\n",
    ],
    ids=["no-lightning-class", "own", "of-something-else", "current", "static"],
)
def test_attributes_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT221"))
    assert made.findings == () and made.changes == ()


def test_a_base_class_in_another_file_may_set_the_attribute() -> None:
    files = {
        "base.py": HEAD.replace("Model", "Base") + "    def __init__(self):\n        super().__init__()\n"
        "        self.precision = 16\n",
        "a.py": "from base import Base\n\n\nclass Model(Base):\n    def forward(self):\n"
        "        return self.precision == 16\n",
    }
    assert run_rules(files, rule("LIT221")).findings == ()


def test_other_uses_of_the_precision_are_findings() -> None:
    [reason] = refusals({"a.py": HEAD + "    def forward(self):\n        return str(self.precision)\n"}, "LIT221")
    assert "16-mixed" in reason


ASKING = HEAD + "    def configure_optimizers(self):\n        self.count = len(self.train_dataloader().dataset)\n"
DATA = (
    "from lightning.pytorch import LightningDataModule\n\n\nclass Data(LightningDataModule):\n"
    "    def train_dataloader(self):\n        return 1\n"
)


def test_loaders_that_1x_put_on_the_module_are_named() -> None:
    child = "\n\nclass Child(Model):\n    pass\n"
    [finding] = run_rules({"a.py": ASKING + child + DATA.partition("\n")[2]}, rule("LIT221")).findings
    assert finding.fix == "manual" and "self.trainer.datamodule.train_dataloader()" in finding.reason
    with pytest.raises(MisconfigurationException):
        LightningModule().train_dataloader()


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": ASKING + "\n    def train_dataloader(self):\n        return 1\n"},
        {"a.py": ASKING, "run.py": "from a import Model\n\nmodel = Model()\nmodel.train_dataloader = data.loader\n"},
        {
            "a.py": ASKING.replace("lightning.pytorch import LightningModule", "b import Base as LightningModule"),
            "b.py": DATA.replace("LightningDataModule", "LightningModule").replace("Data", "Base"),
        },
    ],
    ids=["of its own", "put on it", "inherited"],
)
def test_loaders_of_the_module_are_its_own(files: dict[str, str]) -> None:
    assert run_rules(files, rule("LIT221")).findings == ()


OUTSIDE = (
    HEAD
    + INIT.replace("hparams)", "hparams=None)")
    + (
        "        self.save_hyperparameters(hparams or {{}})\n\n\ndef main(path, args, other: Model):\n    {}\n"
        "    model.hparams = {}\n    return model\n"
    )
)
MADE = (
    "model = Model()",
    "model = Model({'width': 1})",
    "if path:\n        model = Model.load_from_checkpoint(path)\n    else:\n        model = Model()",
)


@pytest.mark.parametrize("made", MADE)
def test_hparams_that_are_set_from_outside(made: str) -> None:
    text = OUTSIDE.format(made, "args")
    (reason,) = refusals({"a.py": text}, "LIT220")
    assert "Call model.hparams.update(...) with a mapping, with vars(...) of a Namespace." in reason
    advised = text.replace("model.hparams = args", "model.hparams.update(vars(args))")
    forgetful = text.replace("model.hparams = args", "model.save_hyperparameters(args)")
    space: dict[str, Any] = {}
    exec(text, space)
    with pytest.raises(AttributeError):
        space["main"](None, Namespace(width=3), None)
    for program, name in ((advised, "hparams"), (forgetful, None)):
        exec(program.replace("hparams or {}", "hparams"), space)
        model = space["main"](None, Namespace(width=3), None)
        assert model.hparams.width == 3
        assert "Model({'width': 1})" not in made or model._hparams_name == name


@pytest.mark.parametrize(
    "made",
    ["model = build()", "model = path.model", "model = args if path else Model()",
     "model = Model()\n    model = build()"],
)  # fmt: skip
def test_hparams_of_what_may_be_no_module_stay(made: str) -> None:
    text = OUTSIDE.format(made, "args")
    assert run_rules({"a.py": text}, rule("LIT220"), unsafe=True).findings == ()


def test_hparams_with_a_setter_of_their_own_stay() -> None:
    own = "    @property\n    def hparams(self):\n        return 1\n\n    @hparams.setter\n    def hparams(self, x):\n"
    own += "        pass\n"
    text = OUTSIDE.format(MADE[0], "args").replace("\n\n\ndef main", f"\n\n{own}\n\ndef main")
    assert run_rules({"a.py": text}, rule("LIT220"), unsafe=True).findings == ()


CALLS_HOOK = HEAD + "    def test_epoch_end(self, outputs):\n        return self.validation_end(outputs)\n"


def test_a_hook_that_only_lightning_had_is_called_no_more() -> None:
    assert "remove the call" in refusals({"a.py": CALLS_HOOK}, "LIT221")[0]


def test_a_hook_that_a_class_below_has_is_its_own() -> None:
    below = "from a import Model\n\n\nclass Child(Model):\n    def validation_end(self, outputs):\n        ...\n"
    assert run_rules({"a.py": CALLS_HOOK, "b.py": below}, rule("LIT221")).findings == ()


SET_BY = [
    ("        self.args = hparams\n", "self.args"),
    ("        hparams = dict(hparams, depth=2)\n", "hparams"),
    ("        kept = {}\n        kept.update(hparams)\n", "kept"),
    ("", "dict(hparams)"),
    ("", "{'width': hparams['width']}"),
    ("", "argparse.Namespace(**hparams)"),
]


@pytest.mark.parametrize(("before", "value"), SET_BY)
def test_what_the_setter_took_is_kept(before: str, value: str, tmp_path: Path) -> None:
    text = f"import argparse\n{HEAD}{INIT}{before}        self.hparams = {value}\n"
    made = run_rules({"a.py": text}, rule("LIT220"), pins=("pytorch-lightning==1.2.10",))
    assert [item.fix for item in made.findings] == ["safe"]
    model = built(made.final()["a.py"].decode(), {"width": 3})
    assert model.hparams.width == 3


@pytest.mark.parametrize(
    ("before", "value", "level"),
    [
        ("        hparams = dict(hparams)\n", "hparams", "safe"),
        ("        hparams = load(hparams)\n", "hparams", "manual"),
        ("        kept = load()\n", "kept", "manual"),
        ("", "load()", "manual"),
        ("", "argparse.Namespace(**hparams)", "safe"),
        ("", "{'width': 3}", "safe"),
    ],
)
def test_a_data_module_kept_anything(before: str, value: str, level: str) -> None:
    head = HEAD.replace("LightningModule", "LightningDataModule")
    text = f"import argparse\n{head}{INIT}{before}        self.hparams = {value}\n"
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT220")).findings] == [level]


ASKED = "isinstance(self.trainer.strategy, DDPStrategy)"


@pytest.mark.parametrize(
    ("method", "old", "new", "level"),
    [
        ("validation_epoch_end", "use_ddp", ASKED, "safe"),
        ("training_step", "use_amp", '(self.trainer.precision in ("16-mixed", "bf16-mixed"))', "safe"),
        ("on_train_start", "use_tpu", "isinstance(self.trainer.accelerator, XLAAccelerator)", "safe"),
        ("forward", "use_ddp", ASKED, "unsafe"),
        ("__init__", "use_ddp", None, "manual"),
        ("__init__", "use_dp", "False", "safe"),
        ("forward", "use_ddp2", "False", "safe"),
    ],
)
def test_what_lightning_told_the_module_of_its_trainer(method: str, old: str, new: str | None, level: str) -> None:
    text = HEAD + f"    def {method}(self, outputs=None):\n        print(self.{{}})\n"
    made = run_rules({"a.py": text.format(old)}, rule("LIT221"), unsafe=True)
    assert [item.fix for item in made.findings] == [level]
    if new:
        after = made.changes[0].after.decode()
        assert after.endswith(text.format("\0").partition("class")[2].replace("self.\0", new))
        names = [name for name in ("DDPStrategy", "XLAAccelerator") if name in new]
        assert all(re.search(rf"^from .* import .*\b{name}\b", after, re.MULTILINE) for name in names)


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("batch or self.use_ddp2", "batch"),
        ("self.use_dp or batch or self.use_ddp2", "batch"),
        ("not (self.use_ddp2 or batch)", "not (batch)"),
        ("batch and self.use_ddp2", "batch and False"),
        ("self.use_dp or self.use_ddp2", "False or False"),
        ("batch or (self.use_ddp2)", "batch or False"),
        ("self.use_ddp or self.use_ddp2", "isinstance(self.trainer.strategy, DDPStrategy) or False"),
    ],
)
def test_what_no_trainer_does_any_more_goes_from_what_is_asked_beside_it(test: str, after: str) -> None:
    text = HEAD + f"    def forward(self, batch):\n        if {test}:\n            batch = gathered(batch)\n"
    found = rewritten({"a.py": text}, rule("LIT221"), unsafe=True)["a.py"]
    assert f"        if {after}:\n" in found


@pytest.mark.parametrize("setting", ["self.use_ddp = False", "self.use_ddp: bool = True"])
def test_what_the_module_sets_itself_is_its_own(setting: str) -> None:
    text = HEAD + INIT + f"        {setting}\n\n    def training_step(self, batch):\n        print(self.use_ddp)\n"
    assert run_rules({"a.py": text}, rule("LIT221")).findings == ()
