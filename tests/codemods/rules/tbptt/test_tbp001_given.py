"""TBP001: what is known only when the program runs: a Trainer's flag, a scheduler's monitor and frequency."""

from __future__ import annotations

import pytest

from tests.codemods.chunk_programs import IMPORTS, LOADER, NETWORK, SGD, STEP, TBP, optimizers
from tests.codemods.support import refusals, rewritten, run_rules
from tests.training import assert_same, same, train

INIT = "    def __init__(self, *given):\n        super().__init__()\n" + NETWORK
OPTIONAL = STEP.replace("hiddens):", "hiddens=None):")
MODEL = "class Model(LightningModule):\n" + INIT + OPTIONAL + SGD
HEAD = IMPORTS + MODEL + LOADER + "\n\n"
FIT = "trainer = Trainer(max_epochs=2, truncated_bptt_steps={})\ntrainer.fit(Model(), loader())\n"
MAIN = """\
def main({}):
    model = Model()
    trainer = Trainer(max_epochs=2, truncated_bptt_steps={})
    trainer.fit(model, loader())


"""
ARGPARSE = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--chunk", type=int, default=None)
args = parser.parse_args({})
"""


def tail(text: str) -> str:
    """What a program with the text at its end ends with after the rule, a second run of which finds nothing."""
    after = rewritten({"train.py": HEAD + text}, TBP)
    assert run_rules(after, TBP).findings == ()
    assert "truncated_bptt_steps=" not in after["train.py"]
    return after["train.py"].partition("batch_size=2)\n")[2].lstrip("\n")


GIVEN = {
    "a variable": ("k = len('four')\n" + FIT.format("k"), "model = Model()\nmodel.truncated_bptt_steps = k\n"),
    "an option": (ARGPARSE.format("[]") + FIT.format("args.chunk"), "model.truncated_bptt_steps = args.chunk\n"),
    "an option by key": (
        ARGPARSE.format("[]")
        + FIT.format('vars(args)["chunk"]')
        .replace("vars(args)", "given", 1)
        .replace("trainer = ", "given = vars(args)\ntrainer = ", 1),
        'model.truncated_bptt_steps = given["chunk"]\n',
    ),
    "an option, converted": (
        ARGPARSE.format("[]") + FIT.format("int(args.chunk or 4)"),
        "model.truncated_bptt_steps = int(args.chunk or 4)\n",
    ),
    "fire": (
        "import fire\n\n\n" + MAIN.format("k=None", "k") + "fire.Fire(main)\n",
        "    model.truncated_bptt_steps = k\n    trainer.fit(model, loader())\n",
    ),
    "click": (
        "import click\n\n\n@click.command()\n@click.option('--k', default=4)\n" + MAIN.format("k", "k") + "main()\n",
        "    model.truncated_bptt_steps = k\n",
    ),
    "Hydra": (
        "import hydra\n\n\n@hydra.main(config_path='.')\n" + MAIN.format("cfg", "cfg.model.chunk") + "main()\n",
        "    model.truncated_bptt_steps = cfg.model.chunk\n",
    ),
    "Hydra, by get": (
        "import hydra\n\n\n@hydra.main(config_path='.')\n" + MAIN.format("cfg", 'cfg.get("chunk")') + "main()\n",
        '    model.truncated_bptt_steps = cfg.get("chunk")\n',
    ),
    "a field": (
        "class Config:\n    chunk: int = 4\n\n\nconfig = Config()\n" + FIT.format("config.chunk"),
        "model.truncated_bptt_steps = config.chunk\n",
    ),
    "between try and finally": (
        MAIN.format("k", "k").replace(
            "    trainer.fit(model, loader())\n",
            "    try:\n        trainer.fit(model, loader())\n    finally:\n        print('done')\n",
        ),
        "    try:\n        model.truncated_bptt_steps = k\n        trainer.fit(model, loader())\n",
    ),
    "a second name": (
        MAIN.format("k", "k").replace("    trainer.fit(model", "    net = model\n    print(k)\n    trainer.fit(net"),
        "    net.truncated_bptt_steps = k\n    trainer.fit(net",
    ),
    "kept, where what holds it is given away before fit": (
        ARGPARSE.format("[]")
        + "trainer = Trainer(max_epochs=2, truncated_bptt_steps=args.chunk)\nmodel = Model(args)\n"
        + "trainer.fit(model, loader())\n",
        "truncated_bptt_steps = args.chunk\ntrainer = Trainer(max_epochs=2)\nmodel = Model(args)\n"
        "model.truncated_bptt_steps = truncated_bptt_steps\n",
    ),
    "two Trainers": (
        FIT.format("2") + "other = Trainer(max_epochs=1, truncated_bptt_steps=5)\nnet = Model()\nother.fit(net)\n",
        "net.truncated_bptt_steps = 5\nother.fit(net)\n",
    ),
    "a Trainer without": (
        "net = Model()\none = Trainer(truncated_bptt_steps=4)\none.fit(net)\ntwo = Trainer()\ntwo.fit(net)\n",
        "net.truncated_bptt_steps = 4\none.fit(net)\ntwo = Trainer()\nnet.truncated_bptt_steps = None\ntwo.fit(net)\n",
    ),
    "with clipping": (
        MAIN.format("k, clip", "k, gradient_clip_val=clip"),
        "    model.gradient_clip_val, trainer.gradient_clip_val = trainer.gradient_clip_val, None\n"
        "    model.truncated_bptt_steps = k\n    trainer.fit(model",
    ),
}


@pytest.mark.parametrize("case", GIVEN.values(), ids=GIVEN.keys())
def test_model_is_given_it_where_it_is_fitted(case: tuple[str, str]) -> None:
    text, expected = case
    assert expected in tail(text)


def test_class_of_another_file_and_its_subclass_are_given_it() -> None:
    script = (
        "import sys\n\nfrom net import Child\nfrom pytorch_lightning import Trainer\n\nk = int(sys.argv[1])\n"
        "trainer = Trainer(truncated_bptt_steps=k)\ntrainer.fit(Child())\n"
    )
    files = {"net.py": IMPORTS + MODEL + "\n\nclass Child(Model):\n    pass\n", "train.py": script}
    after = rewritten(files, TBP)
    assert "    truncated_bptt_steps = None\n" in after["net.py"]
    assert after["train.py"].endswith(
        "trainer = Trainer()\nmodel = Child()\nmodel.truncated_bptt_steps = k\ntrainer.fit(model)\n"
    )
    assert run_rules(after, TBP).findings == ()


LEFT = {
    "worked out": (FIT.format("choose()"), "computed from more than names and numbers"),
    "worked out and bound": (FIT.format("(k := 4)"), "computed from more than names and numbers"),
    "built elsewhere": (
        "def build(k):\n    return Trainer(truncated_bptt_steps=k)\n\n\nbuild(4).fit(Model(), loader())\n",
        "cannot tell which model it fits there",
    ),
    "fitted twice": (FIT.format("k") + "trainer.fit(Model(), loader())\n", "cannot tell which model it fits there"),
    "fits other models": (
        "class Other(LightningModule):\n    def training_step(self, batch, batch_idx):\n        return 0\n\n\n"
        + FIT.format("k").replace("Model()", "pick()"),
        "may train other modules too",
    ),
    "set on the module too": (
        FIT.format("k").replace("trainer.fit(Model()", "m = Model()\nm.truncated_bptt_steps = 2\ntrainer.fit(m"),
        "is given truncated_bptt_steps too",
    ),
    "a Trainer without, of which the model is not known": (
        FIT.format("k") + "Trainer().fit(Model(), loader())\n",
        "fixer cannot tell",
    ),
}


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    text, reason = case
    assert any(reason in found for found in refusals({"train.py": HEAD + text}, "TBP001"))


HOOKED = {
    "the epoch's end": "\n    def training_epoch_end(self, outputs):\n        print(outputs[0][0]['loss'])\n",
    "a state that begins otherwise": "",
}


@pytest.mark.parametrize("case", HOOKED.items(), ids=HOOKED.keys())
def test_what_a_batch_that_is_not_cut_would_do_otherwise_is_left(case: tuple[str, str]) -> None:
    name, hook = case
    model = MODEL + hook if hook else MODEL.replace("hiddens=None", "hiddens=0")
    found = refusals({"train.py": IMPORTS + model + LOADER + "\n\n" + FIT.format("k")}, "TBP001")
    assert any("may be None" in reason or "is not cut, as it may be" in reason for reason in found), name


def test_call_that_serves_both_versions_is_left_alone() -> None:
    text = (
        "try:\n    trainer = Trainer(truncated_bptt_steps=k)\nexcept TypeError:\n    trainer = Trainer()\n"
        "trainer.fit(Model(), loader())\n"
    )
    assert run_rules({"train.py": HEAD + text}, TBP).changes == ()


OLD = "    model = Model()\n{}    trainer = Trainer(max_epochs=2)\n    trainer.fit(model, loader())\n"
SET = "    model.truncated_bptt_steps = {}\n"
KEY = ', "hiddens": hiddens}'
LISTED = OPTIONAL.replace("x, y = batch", "x, y = batch\n        y = torch.stack([row for row in y])")
TRAINED = {
    "a number": ("['--chunk', '4']", SET.format(4), OPTIONAL, SGD),
    "none": ("[]", "", OPTIONAL, SGD),
    "zero": ("['--chunk', '0']", "", OPTIONAL, SGD),
    "longer than the batch": ("['--chunk', '40']", SET.format(40), OPTIONAL, SGD),
    "several optimizers": (
        "['--chunk', '4']",
        SET.format(4),
        OPTIONAL.replace("batch_idx, h", "batch_idx, optimizer_idx, h"),
        optimizers(
            "one = torch.optim.SGD(self.rnn.parameters(), lr=0.1)",
            "return [one, torch.optim.SGD(self.head.parameters(), lr=0.1)]",
        ),
    ),
    "a split of its own": (
        "[]",
        "",
        "\n    def tbptt_split_batch(self, batch, split_size):\n        return [batch, batch][: split_size // 2]\n"
        + OPTIONAL,
        SGD,
    ),
    "sequences, not cut": ("[]", "", LISTED, SGD),
}


@pytest.mark.parametrize("case", TRAINED.values(), ids=TRAINED.keys())
def test_trains_as_the_flag_on_the_module_did(case: tuple[str, str, str, str]) -> None:
    """1.9 took the flag on the module alone, and no state where there was none."""
    argv, flag, step, configured = case
    head = IMPORTS + "class Model(LightningModule):\n" + INIT + step + configured + LOADER
    guard = '\n\nif __name__ == "__main__":\n'
    options = "".join(f"    {line}\n" if line else "\n" for line in ARGPARSE.format(argv).splitlines())
    fit = "".join(f"    {line}\n" for line in FIT.format("args.chunk").splitlines())
    after = rewritten({"train.py": head + guard + options + fit}, TBP)
    before = head + guard + OLD.format(flag)
    old, new = same({"train.py": before if flag else before.replace(KEY, "}")}, after)
    assert (old.automatic, new.automatic) == (True, False)
    assert len(old.steps) >= 6


def test_sequences_are_cut_where_the_flag_is_on() -> None:
    head = IMPORTS + "class Model(LightningModule):\n" + INIT + LISTED + SGD + LOADER
    head += '\n\nif __name__ == "__main__":\n'
    lines = ["k = int('4')", *FIT.format("k").splitlines()]
    after = rewritten({"train.py": head + "".join(f"    {line}\n" for line in lines)}, TBP)
    plain = rewritten(
        {"train.py": head + "".join(f"    {line}\n" for line in FIT.format("4").splitlines())},
        TBP,
    )
    assert "chunks = [batch]" in after["train.py"]
    assert "chunks = [batch]" not in plain["train.py"]
    assert_same(train(plain), train(after), 1e-6)


UNSET = {
    "a condition": "        if steps is not None:\n            self.truncated_bptt_steps = steps\n",
    "a number": "        self.truncated_bptt_steps = steps\n",
}


@pytest.mark.parametrize("steps", [4, 0, None])
@pytest.mark.parametrize("flag", UNSET.values(), ids=UNSET.keys())
def test_module_that_may_leave_it_off_trains_on_whole_batches(flag: str, steps: int | None) -> None:
    init = "    def __init__(self, steps=None):\n        super().__init__()\n" + flag + NETWORK
    program = IMPORTS + "class Model(LightningModule):\n" + init + OPTIONAL + SGD + LOADER
    program += f'\n\nif __name__ == "__main__":\n    Trainer(max_epochs=2).fit(Model({steps}), loader())\n'
    after = rewritten({"train.py": program}, TBP)
    assert ("    truncated_bptt_steps = None\n" in after["train.py"]) == ("if steps" in flag)
    whole = program.replace(KEY, "}").replace(flag, "")
    same({"train.py": program if steps else whole}, after)


def test_base_class_that_sets_it_keeps_its_number() -> None:
    base = "class Base(LightningModule):\n    truncated_bptt_steps = 4\n\n\nclass Model(Base):\n"
    after = rewritten({"train.py": IMPORTS + base + INIT + OPTIONAL + SGD + LOADER}, TBP)["train.py"]
    assert "truncated_bptt_steps = None" not in after
    assert "part.split(self.truncated_bptt_steps, dim=1)" in after


def test_configuration_that_gives_it_is_named() -> None:
    files = {
        "train.py": HEAD + "import hydra\n\nhydra.utils.instantiate(cfg.trainer).fit(Model(), loader())\n",
        "conf/config.yaml": "trainer:\n  _target_: pytorch_lightning.Trainer\n  truncated_bptt_steps: 4\n",
    }
    assert any("what conf/config.yaml does with `truncated_bptt_steps`" in why for why in refusals(files, "TBP001"))


VALIDATED = """
    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log(f"{self.split}_loss", F.mse_loss(self.head(self.rnn(x)[0]), y))
"""
WATCHED = {
    "a text with an attribute": 'f"{self.split}_loss"',
    "an attribute": "self.watched",
    "put together": 'self.split + "_loss"',
    "by format": '"{}_loss".format(self.split)',
}
FREQUENCY = {"a number": "2", "an attribute": "self.every", "worked out": "max(1, self.every)"}


def watching(monitor: str, frequency: str) -> str:
    """A program that steps a plateau by a metric, and another scheduler every few batches."""
    init = INIT.replace(
        "        super().__init__()\n",
        "        super().__init__()\n        self.truncated_bptt_steps = 4\n        self.split, self.every = 'val', 2\n"
        '        self.watched = "val_loss"\n',
    )
    made = optimizers(
        "one = torch.optim.SGD(self.parameters(), lr=0.1)",
        f"name = {monitor}",
        "plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(one, patience=0, factor=0.5, threshold=10.0)",
        "warm = torch.optim.lr_scheduler.StepLR(one, 1, gamma=0.9)",
        f'first = {{"scheduler": plateau, "monitor": name, "frequency": {frequency}}}',
        f'return [one], [first, {{"scheduler": warm, "interval": "step", "frequency": {frequency}}}]',
    )
    head = IMPORTS + "class Model(LightningModule):\n" + init + STEP + VALIDATED + made + LOADER
    return head + (
        '\n\nif __name__ == "__main__":\n'
        "    Trainer(max_epochs=4, num_sanity_val_steps=0).fit(Model(), loader(), loader())\n"
    )


@pytest.mark.parametrize("frequency", FREQUENCY.values(), ids=FREQUENCY.keys())
@pytest.mark.parametrize("monitor", WATCHED.values(), ids=WATCHED.keys())
def test_scheduler_is_stepped_by_what_was_worked_out(monitor: str, frequency: str) -> None:
    before = {"train.py": watching(monitor, frequency)}
    after = rewritten(before, TBP)
    assert f"self.trainer.callback_metrics[{monitor}]" in after["train.py"].replace("'", '"')
    old, _ = same(before, after)
    assert len({step.rates for step in old.steps}) > 3


def test_part_of_a_monitor_that_changes_while_training_is_left() -> None:
    text = watching('f"{self.split}_loss"', "2").replace(
        "        x, y = batch\n        self.log(", "        self.split = 'val'\n        x, y = batch\n        self.log("
    )
    assert any("`split` may change" in reason for reason in refusals({"train.py": text}, "TBP001"))
