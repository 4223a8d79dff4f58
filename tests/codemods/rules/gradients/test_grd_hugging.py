"""GRD006 and GRD007: models and optimizers of Hugging Face that stay, and what levels they have."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rules.gradients.grd006 import RULE as GRD006
from codemods.rules.gradients.grd007 import RULE as GRD007
from tests.codemods.rules.gradients.test_grd_traps import SGD, adam, findings, model
from tests.codemods.support import rewritten, run_rules, sources

LOAD = 'self.bert = AutoModel.from_pretrained("name")'
BERT = "return self.layer(self.bert(x)).sum()"
KEPT = {
    "eval on purpose": (BERT, f"{LOAD}\nself.bert.eval()", SGD),
    "trained already": (BERT, f"{LOAD}\nself.bert.train()", SGD),
    "the whole module": (BERT, f"{LOAD}\nself.train()", SGD),
    "frozen": (BERT, f"{LOAD}\nfor p in self.bert.parameters():\n    p.requires_grad = False", SGD),
    "frozen at once": (BERT, f"{LOAD}\nself.bert.requires_grad_(False)", SGD),
    "not in the optimizer": (BERT, LOAD, adam("self.layer.parameters()")),
    "without gradients": ("with torch.no_grad():\n    h = self.bert(x)\nreturn self.layer(h).sum()", LOAD, SGD),
    "tokenizer": ("return self.layer(x).sum()", 'self.tokens = AutoTokenizer.from_pretrained("name")', SGD),
    "configuration": ("return self.layer(x).sum()", 'self.config = AutoConfig.from_pretrained("name")', SGD),
}


@pytest.mark.parametrize("name", KEPT)
def test_models_that_stay_in_their_mode_are_left(name: str) -> None:
    assert findings(model(*KEPT[name]), GRD006) == []


def test_the_level_of_training_mode_depends_on_the_era() -> None:
    text = {"train.py": model(BERT, LOAD)}
    for pins, level in (((), "unsafe"), (("lightning>=2.3",), "unsafe"), (("pytorch-lightning==1.9.5",), "safe")):
        made = plan(sources(text), Options((GRD006,), pins=pins))
        assert [finding.fix for finding in made.findings] == [level]


TRAINER = "from pytorch_lightning import Trainer\n"
USED = "from train import Model\n\nmodel = Model.load_from_checkpoint('a.ckpt')\n"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (f"{USED}print(model([1]))\n", "unsafe"),
        (
            f"import torch\n{USED.replace('.load_from_checkpoint', '')}model.load_state_dict(torch.load('a.pt'))\n",
            "unsafe",
        ),
        (f"{USED}model.eval()\nprint(model([1]))\n", "safe"),
        (f"{TRAINER}{USED}Trainer().test(model)\n", "safe"),
        (f"{TRAINER}{USED}model.to('cuda')\nTrainer().test(model.cuda())\n", "safe"),
        (f"{TRAINER}{USED}Trainer().fit(model)\nprint(model.chat())\n", "unsafe"),
        (f"{TRAINER}{USED}Trainer().fit(model)\nprint(model([1]))\n", "unsafe"),
        (f"{TRAINER}{USED}Trainer().fit(model)\nprint(model.bert([1]))\n", "unsafe"),
        (f"{TRAINER}{USED}model.eval()\nprint(model.chat())\n", "safe"),
        (f"{TRAINER}{USED.replace('.load_from_checkpoint', '')}model.load_state_dict(state)\nmodel.chat()\n", "unsafe"),
        (f"{TRAINER}from train import Model\n\nModel.load_from_checkpoint('a.ckpt').chat()\n", "unsafe"),
        (USED.replace("Model", "Other"), "safe"),
        ("from train import Model\n\nmodel = Model()\n", "safe"),
    ],
)
def test_a_model_that_is_loaded_without_a_mode_keeps_its_dropout_off(text: str, level: str) -> None:
    files = {"train.py": model(BERT, LOAD), "use.py": text}
    made = plan(sources(files), Options((GRD006,), pins=("pytorch-lightning==1.9.5",)))
    assert [finding.fix for finding in made.findings] == [level]
    assert ("use.py loads it, and has no `.eval()`" in made.findings[0].reason) is (level == "unsafe")


def test_a_class_that_is_never_trained_is_left() -> None:
    assert findings(model(BERT, LOAD).replace("training_step", "predict_step"), GRD006) == []


LOADS = 'AutoModel.from_pretrained("name")'


@pytest.mark.parametrize(
    "made",
    [
        f"self.bert = {LOADS} if other else AutoModel.from_config(other)",
        f"self.bert = torch.nn.Sequential({LOADS}, torch.nn.Linear(4, 4))",
        f"self.bert = torch.nn.ModuleDict({{'a': {LOADS}}})",
        f"bert = {LOADS}\nself.bert = get_peft_model(bert, other)",
    ],
)
def test_a_model_that_is_a_part_of_what_is_kept(made: str) -> None:
    text = model(BERT, made)
    assert findings(text, GRD006) == [("GRD006", "unsafe")]
    after = rewritten({"train.py": text}, GRD006, unsafe=True)["train.py"]
    assert after == text.replace(LOADS, f"{LOADS}.train()")
    frozen = made.replace("\n", "\nbert.requires_grad_(False)\n") if "peft" in made else f"{made}\nself.bert.eval()"
    assert findings(model(BERT, frozen), GRD006) == []


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (f"self.parts = {{'tokens': AutoTokenizer.from_pretrained('name'), 'bert': {LOADS}}}", "self.parts['bert'](x)"),
        (f"self.parts = [{LOADS}]", "self.parts[0](x)"),
        (f"both = ({LOADS}, 1)\nself.parts = both", "self.parts[0](x)"),
    ],
)
def test_a_model_in_a_plain_container_is_left(made: str, used: str) -> None:
    assert findings(model(f"return self.layer({used}).sum()", made), GRD006) == []


def test_models_that_are_made_of_one_another_are_followed_to_an_end() -> None:
    lines = [f"a{number + 1} = torch.nn.Sequential(a{number}, a{number})" for number in range(40)]
    text = model(BERT, "\n".join([f"a0 = {LOADS}", *lines, "self.bert = a40"]))
    assert findings(text, GRD006) == [("GRD006", "unsafe")]


def test_a_model_of_two_parts() -> None:
    both = 'self.bert = AutoModel.from_encoder_decoder_pretrained("a", "b")'
    assert findings(model(BERT, both), GRD006) == [("GRD006", "unsafe")]
    text = model(BERT, f"if other:\n    {both}\nelse:\n    self.bert = {LOADS}")
    assert findings(text, GRD006) == [("GRD006", "unsafe")] * 2
    assert rewritten({"train.py": text}, GRD006, unsafe=True)["train.py"].count("            self.bert.train()\n") == 2


def test_each_of_several_models_of_a_statement_is_told_at_its_own_place() -> None:
    text = model(BERT, f"self.bert = {LOADS} if other else {LOADS}")
    spans = [finding.span for finding in run_rules({"train.py": text}, GRD006).findings]
    assert len(spans) == 2 and spans[0].end_column < spans[1].column


def test_a_local_that_is_made_of_itself_is_followed_to_an_end() -> None:
    assert findings(model(BERT, "bert = torch.nn.Sequential(bert)\nself.bert = bert"), GRD006) == []


def test_a_model_that_is_frozen_in_some_cases_is_named() -> None:
    text = model(BERT, f"{LOAD}\nif other:\n    self.bert.requires_grad_(False)")
    assert findings(text, GRD006) == [("GRD006", "manual")]


def test_another_class_with_from_pretrained_is_left() -> None:
    text = model(BERT, LOAD).replace(
        "from transformers import AutoConfig, AutoModel,",
        "from mine import AutoModel\nfrom transformers import AutoConfig,",
    )
    assert findings(text, GRD006) == []
    mine = "from transformers import PreTrainedModel\n\n\nclass AutoModel(PreTrainedModel):\n    pass\n"
    assert findings(text, GRD006, **{"mine.py": mine}) == [("GRD006", "unsafe")]


ADAMW = """\
from lightning.pytorch import LightningModule
from transformers import AdamW


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), {arguments})
"""


def hugging(arguments: str, *pins: str) -> list[tuple[str, str]]:
    text = ADAMW.format(arguments=arguments)
    made = plan(sources({"train.py": text}), Options((GRD007,), pins=pins))
    return [(finding.fix, finding.reason.partition(";")[0]) for finding in made.findings]


@pytest.mark.parametrize("pins", [(), ("lightning>=2.0.7",), ("lightning>=2.0",), ("pytorch-lightning",)])
def test_hugging_face_s_optimizer_on_a_lightning_that_runs_it_is_left(pins: tuple[str, ...]) -> None:
    assert hugging("lr=1e-5", *pins) == []


@pytest.mark.parametrize(
    ("arguments", "level"),
    [("lr=1e-5", "unsafe"), ("lr=1e-5, correct_bias=False", "manual"), ("**self.hparams.adam", "manual")],
)
def test_hugging_face_s_optimizer_on_an_old_lightning(arguments: str, level: str) -> None:
    assert [found for found, _ in hugging(arguments, "pytorch-lightning==1.9.5")] == [level]


def test_a_call_of_several_lines_keeps_its_shape() -> None:
    text = ADAMW.format(arguments="lr=1e-5").replace(
        "(self.parameters(), lr=1e-5)", "(\n            self.parameters(), lr=1e-5\n        )"
    )
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    after = made.final()["train.py"].decode()
    assert "(\n            self.parameters(), lr=1e-5, eps=1e-6, weight_decay=0.0\n        )\n" in after


ADDRESS = "pytorch-lightning @ git+https://example.org/pytorch-lightning.git@v0.8.5_fixes#egg=pytorch-lightning"


@pytest.mark.parametrize(
    "pin", ["lightning>=2.0.7", "lightning", "lightning!=2.6.2", "pytorch-lightning==1.9.5", ADDRESS]
)
def test_pins_that_need_no_move_or_cannot_be_moved_are_left(pin: str) -> None:
    files = {"train.py": ADAMW.format(arguments="lr=1e-5"), "requirements.txt": f"{pin}\n"}
    made = run_rules(files, GRD007)
    assert made.changes == ()
    assert all("Not looked at" not in finding.reason for finding in made.findings)


OLD = """\
from pytorch_lightning import LightningModule
from transformers import AdamW


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=1e-5)

    def training_epoch_end(self, outputs):
        print(len(outputs))
"""


@pytest.mark.parametrize(
    ("pin", "wanted"),
    [
        ('"^1.2.0"', '"^2.0.7,!=2.6.2,!=2.6.3"'),
        ('">=1.6,<2.0"', '">=2.0.7,<3.0,!=2.6.2,!=2.6.3"'),
        ('">=1.6"', '">=2.0.7,!=2.6.2,!=2.6.3"'),
        ('"1.9.5"', '"2.6.6"'),
    ],
)
def test_a_pin_that_moves_for_other_rules_goes_where_these_optimizers_run(pin: str, wanted: str) -> None:
    manifest = "[tool.poetry.dependencies]\npytorch-lightning = {}\n"
    files = {"train.py": OLD, "pyproject.toml": manifest.format(pin)}
    assert rewritten(files)["pyproject.toml"] == manifest.format(wanted)
    bare = files | {"train.py": OLD.replace("transformers", "torch.optim")}
    assert "2.0.7" not in rewritten(bare)["pyproject.toml"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("import logging\n\nlog = logging.getLogger()\n\nimport torch\n", 1),
        ("import logging\n\nlog = logging.getLogger()\n\nimport torch as t\n", 1),
        ("import logging\n\nif log:\n    import torch\n", 2),
    ],
)
def test_torch_is_imported_once(head: str, expected: int) -> None:
    text = head + ADAMW.format(arguments="lr=1e-5")
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    assert made.bugs == ()
    assert made.final()["train.py"].decode().count("import torch\n") == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n            groups,\n            lr=lr,  # rate\n        ",
         "\n            groups,\n            lr=lr,  # rate\n            eps=1e-6,\n"
         "            weight_decay=0.0,\n        "),
        ("\n            groups,\n            lr=lr\n        ",
         "\n            groups,\n            lr=lr,\n            eps=1e-6,\n            weight_decay=0.0\n        "),
        ("groups,\n                     lr=lr", "groups,\n                     lr=lr, eps=1e-6, weight_decay=0.0"),
        ("\n            groups, eps=1e-8,\n        ", "\n            groups, eps=1e-8, weight_decay=0.0,\n        "),
    ],
)  # fmt: skip
def test_arguments_are_laid_out_like_the_others(before: str, after: str) -> None:
    text = ADAMW.replace("self.parameters(), {arguments}", before)
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    assert f"torch.optim.AdamW({after})\n" in made.final()["train.py"].decode()


PART = """\
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = AutoModel.from_pretrained("name")


class Model"""
BUILT = model("return self.layer(self.encoder(x)).sum()", "self.encoder = Encoder()")
GIVEN = (
    model("return self.layer(self.other(x)).sum()")
    + """

def main():
    bert = AutoModel.from_pretrained("name")
    model = Model(bert)
"""
)


def test_a_model_in_a_part_of_a_module_is_named() -> None:
    text = BUILT.replace("class Model", PART)
    assert findings(text, GRD006) == [("GRD006", "manual")]
    part = "from torch import nn\nfrom transformers import AutoModel\n\n\n" + PART.replace("\n\n\nclass Model", "\n")
    apart = BUILT.replace("import torch\n", "import torch\nfrom parts import Encoder\n", 1)
    made = run_rules({"train.py": apart, "parts.py": part}, GRD006)
    assert [(item.path, item.fix) for item in made.findings] == [("parts.py", "manual")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.encoder = Encoder()", "self.encoder = Encoder()\n        self.encoder.train()"),
        ("self.encoder = Encoder()", "self.encoder = Encoder()\n        self.encoder.requires_grad_(False)"),
        ("self.encoder = Encoder()", "self.encoder = None"),
        ('from_pretrained("name")', 'from_pretrained("name").train()'),
        ('from_pretrained("name")', 'from_pretrained("name")\n        self.bert.eval()'),
        ("self.bert = AutoModel", "self.bert = AutoTokenizer"),
    ],
)
def test_parts_that_stay_in_their_mode_are_left(old: str, new: str) -> None:
    text = BUILT.replace("class Model", PART)
    assert old in text and findings(text.replace(old, new), GRD006) == []


def test_a_model_that_a_module_is_given_is_named() -> None:
    assert findings(GIVEN, GRD006) == [("GRD006", "manual")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    model = Model(bert)", "    bert.train()\n    model = Model(bert)"),
        ("    model = Model(bert)", "    model = other(bert)"),
        ("bert = AutoModel", "bert = AutoTokenizer"),
        ("    def training_step", "    def on_train_start(self):\n        self.other.train()\n\n    def training_step"),
    ],
)
def test_models_that_are_handed_in_and_set_are_left(old: str, new: str) -> None:
    assert old in GIVEN and findings(GIVEN.replace(old, new), GRD006) == []
