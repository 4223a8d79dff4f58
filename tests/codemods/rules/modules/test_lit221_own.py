"""LIT221: attributes that are the project's own, or may be, and hooks that run without a Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import torch\nfrom lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"
INIT = "    def __init__(self, hparams):\n        super().__init__()\n"
USED = HEAD + "    def training_step(self, batch, batch_idx):\n        return self.use_amp\n"


@pytest.mark.parametrize(
    "more",
    [
        {"b.py": "from a import Model\n\n\nclass Child(Model):\n    use_amp = True\n"},
        {
            "b.py": "from a import Model\n\n\nclass Mixin:\n    use_amp = True\n\n\n"
            "class Child(Mixin, Model):\n    pass\n"
        },
    ],
    ids=["below", "mixed in below"],
)
def test_an_attribute_that_a_body_binds_is_the_projects_own(more: dict[str, str]) -> None:
    assert run_rules({"a.py": USED, **more}, rule("LIT221"), unsafe=True).findings == ()
    mixed = f"class Mixin:\n    use_amp = True\n\n\n{USED.partition('class')[2]}".replace("(Light", "(Mixin, Light")
    text = USED.partition("class")[0] + mixed.replace(" Model", "class Model")
    assert run_rules({"a.py": text}, rule("LIT221"), unsafe=True).findings == ()


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (USED, {"b.py": "from a import Model\n\nmodel = Model()\nmodel.use_amp = True\n"}),
        (USED, {"b.py": "from a import Model\n\nsetattr(Model(), 'use_amp', True)\n"}),
        (USED, {"b.py": "from a import Model\n\nModel().training_step(1, 2)\n"}),
        (USED + "\n    def _load(self, given):\n        self.__dict__.update(given)\n", {}),
        (USED + "\n    def _load(self, name):\n        setattr(self, name, 1)\n", {}),
        (USED + "\n    def __getattr__(self, name):\n        return name\n", {}),
        (USED + "\n    def check(self):\n        return self.training_step(1, 2)\n", {}),
        (USED.replace("class", "from other import Mixin\n\n\nclass", 1).replace("(Light", "(Mixin, Light"), {}),
    ],
    ids=["set", "set by name", "called", "dictionary", "some name", "answered", "called by itself", "unseen base"],
)
def test_what_may_be_otherwise_is_not_safe(text: str, more: dict[str, str]) -> None:
    [found] = [item for item in run_rules({"a.py": text, **more}, rule("LIT221")).findings if item.path == "a.py"]
    assert found.fix == "unsafe" and not found.applied


@pytest.mark.parametrize(
    "more",
    [
        {"b.py": "def run(args):\n    args.use_amp = True\n    args.hparams.use_amp = 1\n"},
        {"b.py": "from a import Model\n\n\nclass Child(Model):\n    def validation_step(self, batch, batch_idx):\n"
         "        return self.training_step(batch, batch_idx)\n\n    def training_step(self, batch, batch_idx):\n"
         "        return super().training_step(batch, batch_idx)\n"},
    ],
)  # fmt: skip
def test_what_changes_nothing_of_it_stays_safe(more: dict[str, str]) -> None:
    [found] = run_rules({"a.py": USED, **more}, rule("LIT221")).findings
    assert found.fix == "safe" and found.applied


def test_quotes_fit_the_text_around_them() -> None:
    text = HEAD + "    def on_fit_start(self):\n        print({}'{{self.use_amp}} {{self.precision == 16}}'{})\n"
    for before, behind in (("f", ""), ("f''", "''")):
        given = text.format(before, behind).replace("'", '"')
        after = rewritten({"a.py": given}, rule("LIT221"))["a.py"]
        compile(after, "a.py", "exec")
        assert "self.trainer.precision" in after and "self.use_amp" not in after


@pytest.mark.parametrize(
    ("body", "levels"),
    [
        ("try:\n            return self.use_amp\n        except AttributeError:\n            return None", []),
        ("try:\n            return self.use_amp\n        except Exception:\n            return None", []),
        ("try:\n            return self.use_amp\n        except AttributeError:\n            pass", ["safe"]),
        ("return self.use_amp if hasattr(self, 'use_amp') else None", []),
        ("return hasattr(self, 'use_amp') and self.use_amp", ["manual"]),
        ("if hasattr(self, 'use_amp'):\n            return self.use_amp", ["manual"]),
        ("if hasattr(self, 'other'):\n            return self.use_amp", ["safe"]),
        ("try:\n            return self.use_amp\n        except ValueError:\n            return None", ["safe"]),
        (
            "try:\n            x = 1\n            return self.use_amp\n        except Exception:\n            raise",
            ["safe"],
        ),
        (
            "if not hasattr(self, 'use_amp'):\n            return None\n        else:\n            return self.use_amp",
            ["safe"],
        ),
    ],
)
def test_what_is_done_where_it_is_not_there(body: str, levels: list[str]) -> None:
    text = USED.replace("return self.use_amp", body)
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT221")).findings] == levels
    other = "from lightning.pytorch import Trainer\n\n\ndef show(trainer: Trainer):\n    if True:\n        "
    other += body.replace("self", "trainer").replace("'use_amp'", "'num_gpus'").replace(".use_amp", ".num_gpus") + "\n"
    assert [item.fix for item in run_rules({"a.py": other}, rule("LIT120")).findings] == levels


@pytest.mark.parametrize(
    "guard",
    [
        "try:\n    from lightning.pytorch import LightningModule\nexcept ImportError:\n    LightningModule = object\n",
        "if HAS:\n    from lightning.pytorch import LightningModule\nelse:\n    LightningModule = object\n",
    ],
)
def test_a_file_that_does_without_lightning_imports_no_more_of_it(guard: str) -> None:
    text = USED.replace("from lightning.pytorch import LightningModule\n", guard).replace("use_amp", "use_ddp")
    [found] = run_rules({"a.py": text}, rule("LIT221"), unsafe=True).findings
    assert found.fix == "manual" and "under a condition" in found.reason
    whole = text.replace("from lightning.pytorch import LightningModule", "import lightning.pytorch as pl")
    whole = whole.replace("(LightningModule)", "(pl.LightningModule)")
    assert "pl.strategies.DDPStrategy" in rewritten({"a.py": whole}, rule("LIT221"))["a.py"]


@pytest.mark.parametrize("asked", ["self.use_amp", "self.datamodule.size", "self.precision == 16"])
@pytest.mark.parametrize(
    ("method", "more", "level"),
    [
        ("training_step", "", "safe"),
        ("forward", "", "unsafe"),
        ("__init__", "", "manual"),
        ("helper", "", "unsafe"),
        ("helper", "    def training_step(self, batch, batch_idx):\n        return self.helper(batch)\n", "safe"),
        ("helper", "    def forward(self, batch):\n        return self.helper(batch)\n", "unsafe"),
        (
            "helper",
            "    def training_step(self, batch, batch_idx):\n        return map(self.helper, batch)\n",
            "unsafe",
        ),
        ("helper", "    def setup(self, stage):\n        self.helper(1)\n\n\nModel().helper(1)\n", "unsafe"),
    ],
)
def test_a_trainer_has_the_module_where_it_is_asked(asked: str, method: str, more: str, level: str) -> None:
    text = HEAD + f"    def {method}(self, batch=None, batch_idx=0):\n        print({asked})\n\n{more}"
    [found] = run_rules({"a.py": text}, rule("LIT221")).findings
    assert found.fix == level
