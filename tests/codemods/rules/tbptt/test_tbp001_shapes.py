"""TBP001: what the loop looks like for each shape of batch, state and flag, and which shapes it refuses."""

from __future__ import annotations

import pytest

from codemods.rules.tbptt.tbp001 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

TBP = rule("TBP001")
STEP = "    def training_step(self, batch, batch_idx, hiddens):\n"
UNPACK = "        x, y = batch\n"
FLAG = "        self.truncated_bptt_steps = 4\n"
SPLIT = "    def tbptt_split_batch(self, batch, split_size):\n        return batch.split(split_size)\n\n"
INIT = "    def __init__(self):\n        super().__init__()\n"
SGD = "        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
TWO = "        return torch.optim.SGD(self.rnn.parameters()), torch.optim.SGD(self.head.parameters())\n"


def changed(*replacements: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return text


def after(*replacements: tuple[str, str], **more: str) -> str:
    files = {"train.py": changed(*replacements), **{f"{name}.py": text for name, text in more.items()}}
    return rewritten(files, TBP)["train.py"]


def test_own_split_is_called() -> None:
    text = after((STEP, SPLIT + STEP), (UNPACK, "        x, y = batch.x, batch.y\n"))
    assert "        for chunk in self.tbptt_split_batch(batch, self.truncated_bptt_steps):\n" in text
    assert SPLIT in text
    assert ".split(self.truncated" not in text


def test_split_of_a_base_is_called() -> None:
    base = "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n" + SPLIT
    text = after(
        ("(LightningModule)", "(Base)"), ("LightningModule, Trainer", "Trainer\nfrom base import Base"), base=base
    )
    assert "for chunk in self.tbptt_split_batch(batch, self.truncated_bptt_steps):" in text


@pytest.mark.parametrize(
    "use", ["torch.stack(y)", "torch.tensor(y)", "pad_sequence(y, batch_first=True)", "[row for row in y]", "list(y)"]
)
def test_element_that_may_be_a_list_is_cut_sample_by_sample(use: str) -> None:
    text = after((UNPACK, UNPACK + f"        y = {use}\n"))
    assert "        for start in range(0, len(batch[0][0]), steps):\n" in text
    assert "                else [sample[start : start + steps] for sample in part]\n" in text


def test_element_that_is_used_where_it_stands_is_seen() -> None:
    text = after((UNPACK, "        x, y = batch[0], torch.stack(batch[1])\n"))
    assert "for sample in part]" in text
    found = refusals({"train.py": changed((UNPACK, '        x, y = batch[0], batch[1]["labels"]\n'))}, "TBP001")
    assert "the element before it" in found[0]


def test_chunk_that_is_written_to_is_a_list() -> None:
    text = after((UNPACK, "        batch[0] = batch[0] + 1\n" + UNPACK))
    assert "for chunk in map(list, zip(*pieces, strict=True)):" in text


@pytest.mark.parametrize("head", ["state", "h_in: torch.Tensor", "state=None", "hiddens=None", "hiddens, extra=3"])
def test_state_has_the_name_that_the_step_gives_it(head: str) -> None:
    name = head.split("=")[0].split(":")[0].split(",")[0]
    text = after((STEP, STEP.replace("hiddens", head)), ("self.rnn(x, hiddens)", f"self.rnn(x, {name})"))
    assert "    def training_step(self, batch, batch_idx):\n" in text
    assert f"    def training_chunk(self, batch, batch_idx, {head}):\n" in text
    assert f"            output = self.training_chunk(chunk, batch_idx, {name})\n" in text
    assert f"            {name} = apply_to_collection(" in text


def test_several_optimizers_take_turns_on_each_chunk() -> None:
    text = after((STEP, STEP.replace("batch_idx, ", "batch_idx, optimizer_idx, ")), (SGD, TWO))
    assert (
        "            for optimizer_idx, optimizer in enumerate(optimizers):\n"
        "                self.toggle_optimizer(optimizer)\n"
        "                output = self.training_chunk(chunk, batch_idx, optimizer_idx, hiddens)\n"
        "                optimizer.zero_grad()\n"
        '                self.manual_backward(output["loss"])\n'
        "                optimizer.step()\n"
        "                self.untoggle_optimizer(optimizer)\n"
        "                hiddens = apply_to_collection("
    ) in text
    assert "    def training_step(self, batch, batch_idx):\n" in text


FLAGS = {
    "argument": (("def __init__(self):", "def __init__(self, steps):"), (" = 4\n", " = steps\n")),
    "hparams": ((" = 4\n", " = self.hparams.steps\n"),),
    "class body": ((FLAG, ""), (INIT, "    truncated_bptt_steps: int = 4\n\n" + INIT)),
    "property": (
        (FLAG, ""),
        (STEP, "    @property\n    def truncated_bptt_steps(self):\n        return self.k\n\n" + STEP),
    ),
    "another method": ((FLAG, ""), (STEP, "    def setup(self, stage):\n" + FLAG + "\n" + STEP)),
    "a pair": ((FLAG, "        self.k, self.truncated_bptt_steps = 3, 4\n"),),
    "whoever holds it": (
        (FLAG, ""),
        ("    trainer.fit(Model(), ", "    m = Model()\n    m.truncated_bptt_steps = 4\n    trainer.fit(m, "),
    ),
}


@pytest.mark.parametrize("replacements", FLAGS.values(), ids=FLAGS.keys())
def test_flag_is_read_where_it_was_set(replacements: tuple[tuple[str, str], ...]) -> None:
    assert "part.split(self.truncated_bptt_steps, dim=1)" in after(*replacements)


HELPER = changed((UNPACK, "        x, y = self.cut(batch)\n"))
CHILD = """\
from train import Model


class Child(Model):
    def __init__(self, width, hiddens=8):
        super().__init__()
        self.width = width

    def cut(self, batch):
        x, y = batch
        return x, y
"""


def test_batch_is_followed_into_what_a_subclass_does_with_it() -> None:
    text = rewritten({"train.py": HELPER, "child.py": CHILD}, TBP)
    assert text["child.py"] == CHILD
    assert "\n    automatic_optimization = False\n" in text["train.py"]
    assert "self.automatic_optimization" not in text["train.py"]
    assert "part.split(self.truncated_bptt_steps, dim=1)" in text["train.py"]


def test_subclass_that_takes_the_batch_for_a_dict_forbids_it() -> None:
    child = CHILD.replace("x, y = batch\n", 'x, y = batch["x"], batch["y"]\n')
    assert "a dict" in refusals({"train.py": HELPER, "child.py": child}, "TBP001")[0]


def test_subclasses_may_bring_the_optimizer() -> None:
    maker = "    def configure_optimizers(self):\n" + SGD
    text = changed((maker, ""))
    child = "\n\nclass Child(Model):\n" + maker
    made = rewritten({"train.py": text + child + child.replace("Child", "Second")}, TBP)["train.py"]
    assert "optimizer = self.optimizers()" in made
    other = child.replace("Child", "Second").replace(SGD, TWO)
    assert "one optimizer or several" in refusals({"train.py": text + child + other}, "TBP001")[0]


def test_callback_that_looks_at_no_outputs_does_not_forbid_it() -> None:
    callback = (
        "from pytorch_lightning import Callback\n\n\nclass Show(Callback):\n"
        "    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):\n        print(batch_idx)\n\n"
        "    def on_after_backward(self, trainer, module):\n        print(module.training)\n"
    )
    assert "training_chunk" in after(callback=callback)


def test_search_for_a_learning_rate_is_a_doubt() -> None:
    found = run_rules({"train.py": changed(), "find.py": "def find(tuner, model):\n    tuner.lr_find(model)\n"}, TBP)
    assert {item.fix for item in found.findings} == {"unsafe"}
    assert any("find.py" in item.reason for item in found.findings)


REFUSED = {
    "element is a dict": ((UNPACK, UNPACK + '        y = y["labels"]\n'), "the element before it"),
    "element handed to a dict's user": (
        (UNPACK, UNPACK + "        y = self.labels(y)\n"),
        (STEP, '    def labels(self, y):\n        return y["labels"]\n\n' + STEP),
        "the element before it",
    ),
    "element is a pair": ((UNPACK, UNPACK + "        y, z = y\n"), "a sequence itself"),
    "lengths by their name": ((UNPACK, "        x, y, x_lens = batch\n"), "holds lengths"),
    "lengths packed in a helper": (
        ("self.rnn(x, hiddens)", "self(x, y, hiddens)"),
        (STEP, "    def forward(self, x, n, h):\n        return pack_padded_sequence(x, n.cpu()), h\n\n" + STEP),
        "holds lengths",
    ),
    "keyword arguments": ((UNPACK, "        x, y = self.cut(**batch)\n"), "a dict"),
    "submodule": ((UNPACK, "        x, y = self.rnn.cut(batch)\n"), "as a whole"),
    "outputs of an epoch": (
        (STEP, "    def training_epoch_end(self, outputs):\n        print(outputs[0]['loss'])\n\n" + STEP),
        "lists of one for each chunk",
    ),
    "frequencies": (
        (SGD, '        return [{"optimizer": torch.optim.SGD(self.parameters()), "frequency": n} for n in (1, 2)]\n'),
        (STEP, STEP.replace("batch_idx, ", "batch_idx, optimizer_idx, ")),
        "configure_optimizers",
    ),
    "parameter of the loop's name": (
        (STEP, STEP.replace("(self, batch,", "(self, chunk,")),
        (UNPACK, "        x, y = chunk\n"),
        "a name that the loop needs",
    ),
    "flag nowhere": ((FLAG, ""), "does not set"),
    "split that nothing calls": (
        (FLAG, ""),
        (STEP, SPLIT + STEP.replace(", hiddens", "")),
        ("self.rnn(x, hiddens)", "self.rnn(x)"),
        "which nothing calls any more",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[tuple[str, str] | str, ...]) -> None:
    replacements = [item for item in case if isinstance(item, tuple)]
    found = refusals({"train.py": changed(*replacements)}, "TBP001")
    assert found
    assert str(case[-1]) in found[0]


LOOP_BY_HAND = changed(
    (FLAG, FLAG + "        self.automatic_optimization = False\n"),
    (STEP, SPLIT + STEP.replace(", hiddens", "")),
    ("self.rnn(x, hiddens)", "self.rnn(x)"),
    ('{"loss": loss, "hiddens": hiddens}', "self.manual_backward(loss)"),
)
LEFT = {
    "loop by hand": LOOP_BY_HAND,
    "optional state without a flag": changed(
        (FLAG, ""), (STEP, STEP.replace("hiddens", "hiddens=None")), (', "hiddens": hiddens}', "}")
    ),
    "third parameter that is no state": changed(
        (FLAG, ""), (STEP, STEP.replace("hiddens", "dataloader_idx=0")), (', "hiddens": hiddens}', "}")
    ),
    "other parameter, no flag": changed(
        (FLAG, ""), (STEP, STEP.replace("hiddens", "mode='train'")), (', "hiddens": hiddens}', "}")
    ),
}


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT.keys())
def test_left_alone_without_a_word(text: str) -> None:
    made = run_rules({"train.py": text}, TBP)
    assert made.changes == ()
    assert made.findings == ()
