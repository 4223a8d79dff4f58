"""LIT211: calls of hooks that Lightning lost, in methods of other names."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

STRAY = (
    "from outside import Mixin\nfrom pytorch_lightning import LightningModule\n\n\n"
    "class Base(LightningModule):\n    pass\n\n\nclass Model(Base):\n    def on_train_epoch_start(self):\n"
    "        super().on_epoch_start()\n        self.count = 0\n"
)


def test_a_call_of_a_hook_that_lightning_lost_goes() -> None:
    after = rewritten({"a.py": STRAY}, rule("LIT211"))["a.py"]
    assert after == STRAY.replace("        super().on_epoch_start()\n", "")
    alone = STRAY.replace("        self.count = 0\n", "")
    assert rewritten({"a.py": alone}, rule("LIT211"))["a.py"].endswith("(self):\n        pass\n")
    kept = "        if self.count:\n            self.count = 1\n        else:\n            {}\n"
    branch = STRAY.replace("        super().on_epoch_start()\n", kept.format("super().on_epoch_start()"))
    assert kept.format("pass") in rewritten({"a.py": branch}, rule("LIT211"))["a.py"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("    pass\n", "    def on_epoch_start(self):\n        self.seen = 1\n", False),
        ("(LightningModule)", "", False),
        ("on_epoch_start()", "on_train_epoch_start()", False),
        ("        super()", "        return super()", True),
        ("on_epoch_start()", "on_epoch_start(print(1))", True),
        ("on_epoch_start()", "on_epoch_start((seen := 1))", True),
        ("on_epoch_start()", "on_epoch_start(  # as ever\n        )", True),
        ("super()", "super(Base, self)", True),
        ("(LightningModule)", "(Mixin, LightningModule)", True),
        ("    pass\n", "    on_epoch_start = made\n", True),
        ("    pass\n", "    if made:\n\n        def on_epoch_start(self):\n            pass\n", True),
        ("\n\nclass Model", "\n\nBase.on_epoch_start = made\n\n\nclass Model", True),
        ("\n\nclass Model", "\n\nsetattr(Base, 'on_epoch_start', made)\n\n\nclass Model", True),
        ("class Model", "class Other:\n    def on_epoch_start(self):\n        pass\n\n\nclass Model", True),
    ],
    ids=[
        "of-a-base",
        "no-module",
        "there",
        "returned",
        "working",
        "naming",
        "explained",
        "of-another-class",
        "of-another-package",
        "bound",
        "under-a-condition",
        "stored",
        "set",
        "of-a-mixin",
    ],
)
def test_a_call_of_a_hook_that_may_be_another_stays(old: str, new: str, found: bool) -> None:
    assert old in STRAY
    made = run_rules({"a.py": STRAY.replace(old, new, 1)}, rule("LIT211"))
    told = [each for each in made.findings if "super().on_epoch_start" in each.message]
    assert [each.fix for each in told] == (["manual"] if found else [])
    assert "super().on_" in made.final().get("a.py", STRAY.encode()).decode()


def test_calls_that_are_all_of_a_block_leave_one_pass() -> None:
    text = STRAY.replace("        self.count = 0\n", "        super(Model, self).on_epoch_end()\n")
    assert rewritten({"a.py": text}, rule("LIT211"))["a.py"].endswith("(self):\n        pass\n")
    joined = STRAY.replace("        super()", "        count = 0; \\\n        super()")
    assert "count = 0; \\\n        pass\n" in rewritten({"a.py": joined}, rule("LIT211"))["a.py"]


def test_a_class_in_a_method_has_bases_of_its_own() -> None:
    text = STRAY.replace(
        "        super()", "        class Inner(dict):\n            def more(self):\n                super()"
    )
    assert run_rules({"a.py": text}, rule("LIT211")).findings == ()


def test_a_hook_that_is_there_to_this_day_may_be_called() -> None:
    text = STRAY.replace("on_epoch_start()", "configure_sharded_model()")
    assert run_rules({"a.py": text}, rule("LIT211")).findings == ()


@pytest.mark.parametrize(
    ("base", "call"),
    [
        ("LightningModule", "log_grad_norm({})"),
        ("LightningModule", "configure_ddp(self, [0])"),
        ("callbacks.ModelSummary", "on_pretrain_routine_start(trainer, model)"),
        ("callbacks.BaseFinetuning", "on_before_accelerator_backend_setup(trainer, model)"),
    ],
)
def test_a_hook_of_lightnings_that_did_something_is_left(base: str, call: str) -> None:
    text = (
        f"import pytorch_lightning as pl\n\n\nclass Own(pl.{base}):\n    def setup(self, trainer, model, stage):\n"
        f"        super().{call}\n        self.count = 0\n"
    )
    assert "may have done something" in refusals({"a.py": text}, "LIT211")[0]


ASKED = (
    "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n"
    "    def on_epoch_end(self):\n        self.seen = 1\n"
)


@pytest.mark.parametrize("call", ["super().on_epoch_end()", "self.on_epoch_end()", "Base.on_epoch_end(self)"])
def test_a_hook_keeps_its_name_where_another_method_calls_it(call: str) -> None:
    below = f"class Model(Base):\n    def on_train_end(self):\n        {call}\n"
    files = {"a.py": ASKED, "b.py": f"from a import Base\n\n\n{below}"}
    assert "used by name in b.py" in refusals(files, "LIT211")[0]
    assert run_rules({"a.py": f"{ASKED}\n\n{below}"}, rule("LIT211"), unsafe=True).changes == ()
    assert "def on_train_epoch_end" in rewritten({"a.py": ASKED}, rule("LIT211"))["a.py"]
