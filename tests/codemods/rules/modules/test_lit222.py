"""LIT222 and LIT223: run on the newest release, and what they leave alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import LightningModule, Trainer

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import torch\nfrom lightning.pytorch import LightningModule\n\n\n"
MODEL = (
    "class Model(LightningModule):\n    def __init__(self):\n        super().__init__()\n"
    "        self.layer = torch.nn.Linear(1, 1)\n\n"
)


def again(text: str, path: Path) -> LightningModule:
    """What `again` of a text gives back for a checkpoint of its own model."""
    space: dict[str, Any] = {}
    exec(text, space)
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.strategy.connect(space["Model"]())
    trainer.save_checkpoint(path)
    loaded: LightningModule = space["again"](path)
    return loaded


def test_fails_before_and_loads_after(tmp_path: Path) -> None:
    text = (
        HEAD
        + MODEL.rstrip("\n")
        + "\n\n\ndef again(path):\n    model = Model()\n    return model.load_from_checkpoint(path)\n"
    )
    with pytest.raises(TypeError):
        again(text, tmp_path / "a.ckpt")
    after = rewritten({"a.py": text}, rule("LIT222"))["a.py"]
    assert type(again(after, tmp_path / "a.ckpt")).__name__ == "Model"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "Model.load_from_checkpoint(path)\n",
        HEAD + "model = build()\nmodel.load_from_checkpoint(path)\n",
        HEAD + MODEL + "    @classmethod\n    def load(self, path):\n        return self.load_from_checkpoint(path)\n",
        HEAD + MODEL + '    def f(self):\n        self.log("a", 1)\n        self.log_dict({"a": 1})\n',
        "class Plain:\n    def f(self):\n        self.load_from_checkpoint(1)\n",
    ],
    ids=["on-the-class", "unknown", "classmethod", "log", "no-lightning-class"],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT222"), rule("LIT223"))
    assert made.findings == () and made.changes == ()


def test_a_dict_in_log_is_a_finding() -> None:
    [reason] = refusals({"a.py": HEAD + MODEL + '    def f(self):\n        self.log("a", {"b": 1})\n'}, "LIT222")
    assert "log_dict" in reason


def test_a_name_that_is_bound_to_what_it_loads_is_its_class_until_then() -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n    pass\n\n\n"
        "def main(path):\n    model = Model(3)\n    model = model.load_from_checkpoint(path)\n    return model\n"
    )
    after = text.replace("model.load_from", "Model.load_from")
    assert rewritten({"a.py": text}, rule("LIT222"))["a.py"] == after
    once_more = text.replace("    return", "    model = 3\n    return")
    assert rewritten({"a.py": once_more}, rule("LIT222"))["a.py"] == once_more


MODELS = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    pass


class Other(LightningModule):
    pass


"""


@pytest.mark.parametrize(
    "text",
    [
        "def main(path, small):\n    if small:\n        it = Model()\n    else:\n        it = Other()\n"
        "    return HERE\n",
        "def main(path, small):\n    it = Model() if small else Other()\n    return HERE\n",
    ],
    ids=["branches", "conditional"],
)
def test_one_of_several_classes_is_asked_for(text: str) -> None:
    before, after = (MODELS + text.replace("HERE", f"{it}.load_from_checkpoint(path)") for it in ("it", "type(it)"))
    assert rewritten({"a.py": before}, rule("LIT222"))["a.py"] == after
    doubted = before.replace("Other()", "build()")
    assert rewritten({"a.py": doubted}, rule("LIT222"))["a.py"] == doubted


@pytest.mark.parametrize("note", ["LightningModule", "Other"])
def test_a_parameter_is_believed_to_be_what_it_is_said_to_be(note: str) -> None:
    text = (
        MODELS
        + f"def main(path, it: {note}):\n    it = it.eval()\n    return it.load_from_checkpoint(path) if path else it\n"
    )
    (found,) = run_rules({"a.py": text}, rule("LIT222")).findings
    assert found.fix == "unsafe" and "believes the annotation" in found.reason
    assert rewritten({"a.py": text}, rule("LIT222"), unsafe=True)["a.py"] == text.replace("it.load", "type(it).load")
    other = text.replace("it = it.eval()", "it = build()")
    (reason,) = refusals({"a.py": other}, "LIT222")
    assert "`it` is given, and may be a class" in reason
    for new in ("it: type[Model]", "it"):
        assert run_rules({"a.py": text.replace(f"it: {note}", new)}, rule("LIT222")).findings == ()


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("it = Model()", "Model"),
        ("it = Model(width=it)", "Model"),
        ("if path:\n        it = Model()\n    else:\n        it = Other()", "type(it)"),
        ("it = Model() if path else Other()", "type(it)"),
        ("if not path:\n        return it\n    it = Model()", "Model"),
    ],
)
def test_a_parameter_that_is_bound_anew_is_what_it_is_bound_to(lines: str, text: str) -> None:
    body = f"def main(path, it):\n    {lines}\n    return it.load_from_checkpoint(path)\n"
    after = rewritten({"a.py": MODELS + body}, rule("LIT222"))["a.py"]
    assert after == MODELS + body.replace("it.load", f"{text}.load")


@pytest.mark.parametrize(
    "lines",
    [
        "if path:\n        it = Model()",
        "it = it or Model()",
        "for each in path:\n        it = Model()",
        "try:\n        it = Model()\n    except OSError:\n        pass",
        "with path:\n        it = Model()",
        "it = Model()\n    it = path.get(it)",
        "it = Model()\n    if path:\n        it = Model",
        "it = Model()\n    def change():\n        nonlocal it\n        it = path\n    change()",
    ],
)
def test_a_parameter_that_may_be_bound_to_something_else_is_for_a_person(lines: str) -> None:
    body = f"def main(path, it):\n    {lines}\n    return it.load_from_checkpoint(path)\n"
    assert all("may be a class" in reason for reason in refusals({"a.py": MODELS + body}, "LIT222", unsafe=True))


def test_a_parameter_may_be_a_class() -> None:
    text = MODELS + (
        "def main(path, it=None):\n    if it is None:\n        it = Model()\n    return it.load_from_checkpoint(path)\n"
    )
    (reason,) = refusals({"a.py": text}, "LIT222")
    assert "`it` is given, and may be a class" in reason


def test_an_attribute_that_holds_modules_alone_is_asked_for_its_class() -> None:
    text = MODELS + (
        "class Runner:\n    def __init__(self):\n        self.model = Model()\n\n"
        "    def load(self, path):\n        self.model.load_from_checkpoint(path)\n"
    )
    after = text.replace("self.model.load", "type(self.model).load")
    assert run_rules({"a.py": text}, rule("LIT222"), unsafe=True).final()["a.py"].decode() == after
    (found,) = run_rules({"a.py": text}, rule("LIT222")).findings
    assert found.fix == "unsafe" and "what it loads is lost" in found.reason
    for more in ("\n    def set(self, model):\n        self.model = model\n", "\n\nRunner().model = Model\n"):
        assert run_rules({"a.py": text + more}, rule("LIT222")).findings == ()


def test_a_class_of_another_file_is_looked_for() -> None:
    text = "from models import Model\n\nmodel = Model()\nmodel.load_from_checkpoint('a')\n"
    files = {"run.py": text, "models.py": MODELS}
    assert "Model.load_from" in rewritten(files, rule("LIT222"))["run.py"]


FACTORY = """\
from models import Model, Other

TABLE = {"model": Model, "other": Other}


def build(name):
    return TABLE[name](name)
"""
BUILT = "from factory import build\n\nit = build('model')\nit = HERE.load_from_checkpoint('a')\n"


def test_what_a_function_of_the_project_makes_is_asked_for_its_class() -> None:
    models = MODELS + "\n# for load_from_checkpoint\n"
    files = {"run.py": BUILT.replace("HERE", "it"), "factory.py": FACTORY, "models.py": models}
    assert rewritten(files, rule("LIT222"))["run.py"] == BUILT.replace("HERE", "type(it)")
    direct = {**files, "factory.py": FACTORY.replace("TABLE[name](name)", "Model(name)")}
    assert rewritten(direct, rule("LIT222"))["run.py"] == BUILT.replace("HERE", "type(it)")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"model": Model, "other": Other}', "load_table()"),
        ('"other": Other}', '"other": dict}'),
        ("\n\ndef build", "TABLE.update(more)\n\n\ndef build"),
    ],
)
def test_a_table_that_is_not_known_is_for_a_person(old: str, new: str) -> None:
    assert old in FACTORY
    files = {"run.py": BUILT.replace("HERE", "it"), "factory.py": FACTORY.replace(old, new), "models.py": MODELS}
    [reason] = refusals(files, "LIT222")
    assert "`it` is what `build` makes" in reason and "write type(it)" in reason


@pytest.mark.parametrize("made", ["TABLE[name]", "name(3)", "getattr(TABLE, name)", "partial(Model)"])
def test_what_may_be_a_class_is_not_spoken_of(made: str) -> None:
    files = {"run.py": BUILT.replace("HERE", "it"), "factory.py": FACTORY.replace("TABLE[name](name)", made)}
    assert run_rules({**files, "models.py": MODELS}, rule("LIT222")).findings == ()


LOADED = "def main(path, small, width):\n    return HERE\n"


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ("Model(width).load_from_checkpoint(path)", "Model.load_from_checkpoint(path)"),
        ("Model(width, load(small)).load_from_checkpoint(path)", "Model.load_from_checkpoint(path)"),
        ("[Model(\n        width\n    ).load_from_checkpoint(p) for p in path]  # all", None),
        ("(Other(width)).load_from_checkpoint(path)", "(Other).load_from_checkpoint(path)"),
    ],
)
def test_an_instance_that_is_made_for_the_call_is_not_made(made: str, asked: str | None) -> None:
    text = MODELS + LOADED.replace("HERE", made)
    after = MODELS + LOADED.replace("HERE", asked or "[Model.load_from_checkpoint(p) for p in path]  # all")
    assert run_rules({"a.py": text}, rule("LIT222"), unsafe=True).final()["a.py"].decode() == after
    (found,) = run_rules({"a.py": text}, rule("LIT222")).findings
    assert found.fix == "unsafe" and "random numbers" in found.reason


def test_an_instance_of_one_of_several_classes_that_is_made_for_the_call() -> None:
    name = "    if small:\n        Kind = Model\n    else:\n        Kind = Other\n    return HERE\n"
    text = MODELS + LOADED.replace("    return HERE\n", name.replace("HERE", "Kind(width).load_from_checkpoint(path)"))
    after = text.replace("Kind(width)", "Kind")
    assert run_rules({"a.py": text}, rule("LIT222"), unsafe=True).final()["a.py"].decode() == after
    for old, new in (("Kind = Other", "Kind = pick(Other)"), ("path, small", "path, Kind, small")):
        assert run_rules({"a.py": text.replace(old, new)}, rule("LIT222")).findings == ()


@pytest.mark.parametrize("made", ["Model(width := 3)", "Model(\n        width,  # of all\n    )"])
def test_what_makes_an_instance_and_does_more_stays(made: str) -> None:
    (reason,) = refusals({"a.py": MODELS + LOADED.replace("HERE", f"{made}.load_from_checkpoint(path)")}, "LIT222")
    assert "write Model.load_from_checkpoint(...)" in reason


@pytest.mark.parametrize("made", ["get_class(small)", "Plain(width)", "super()", "getattr(Model, small)()"])
def test_what_is_called_and_is_no_module_is_left_alone(made: str) -> None:
    text = MODELS + "class Plain:\n    pass\n\n\n" + LOADED.replace("HERE", f"{made}.load_from_checkpoint(path)")
    assert run_rules({"a.py": text}, rule("LIT222"), unsafe=True).findings == ()


def test_a_class_of_another_file_that_is_made_for_the_call() -> None:
    text = "import models\n\nmodel = models.Model(1).load_from_checkpoint('a')\n"
    made = run_rules({"run.py": text, "models.py": MODELS}, rule("LIT222"), unsafe=True)
    assert made.final()["run.py"].decode() == text.replace("Model(1)", "Model")


def test_what_a_class_of_another_library_makes_is_named() -> None:
    text = "from zoo import Model, pick\n\nModel(1).load_from_checkpoint('a')\npick(1).load_from_checkpoint('a')\n"
    (reason,) = refusals({"a.py": text}, "LIT222")
    assert reason == (
        "Not rewritten: fixer cannot tell what `Model` makes, but it is called like a class; "
        "if it is an instance, write Model.load_from_checkpoint(...)."
    )


@pytest.mark.parametrize(
    ("made", "level"),
    [("hydra.utils.instantiate(cfg.model)", "unsafe"), ("strange(cfg.model)", None), ("hydra.main(cfg)", None)],
)
def test_what_hydra_makes_is_an_instance(made: str, level: str | None) -> None:
    text = (
        "import hydra\nimport pytorch_lightning\n\n\ndef main(cfg):\n"
        f"    model = {made}\n    model = model.load_from_checkpoint(cfg.path)\n"
    )
    found = run_rules({"a.py": text}, rule("LIT222")).findings
    assert [item.fix for item in found] == ([level] if level else [])
    if level:
        after = rewritten({"a.py": text}, rule("LIT222"), unsafe=True)["a.py"]
        assert "model = type(model).load_from_checkpoint(cfg.path)" in after
        own = "import pytorch_lightning\n\n\nclass Agent:\n    def load_from_checkpoint(self, path):\n        pass\n"
        assert "Hydra makes `model`" in refusals({"a.py": text, "b.py": own}, "LIT222")[0]


IN = HEAD + MODEL + "    def f(self, given):\n        {}\n"


@pytest.mark.parametrize(
    "call", ["self.log(given)", "self.log({'a': 1})", "self.log('a', prog_bar=True)", "self.log()"]
)
def test_a_log_without_a_value(call: str) -> None:
    [reason] = refusals({"a.py": IN.format(call)}, "LIT222")
    assert "log_dict" in reason


@pytest.mark.parametrize(
    "text",
    [
        IN.format("self.log('a', 1)"),
        IN.format("self.log('a', value=given)"),
        IN.format("self.log(value=given, name='a')"),
        IN.format("self.log(*given)"),
        IN.format("self.log('a', **given)"),
        IN.format("given.log({'a': 1})"),
        IN.format("self.logger.log({'a': 1})"),
        IN.format("self.log(given)\n\n    def log(self, values):\n        pass"),
        IN.format("self.log(given)").replace("(LightningModule)", "(object)"),
        IN.format("self.log = print\n        self.log(given)"),
    ],
)
def test_a_log_that_has_one_or_is_another(text: str) -> None:
    assert refusals({"a.py": text}, "LIT222") == []
