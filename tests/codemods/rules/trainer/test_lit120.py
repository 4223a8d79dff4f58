"""LIT120: attributes of Trainer by row, checked on a Trainer, and whose attributes they are."""

from __future__ import annotations

import ast
from operator import attrgetter

import pytest
from lightning.pytorch import Trainer, accelerators, strategies

from codemods.lightning.hardware import QUESTIONS
from codemods.rules.trainer.lit120 import PRECISIONS, AttributeRow, rows
from codemods.rules.trainer.loop_members import LOOPS
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import train

HEAD = "from pytorch_lightning import Callback, LightningModule, Trainer\n\n\n"
HOOK = "class Watch(Callback):\n    def on_fit_end(self, trainer, pl_module):\n        "
MODULE = "class Model(LightningModule):\n    def step(self):\n        "
CURRENT = frozenset(
    name for name, row in rows().items() if row.action == "set" or (row.action == "special" and not row.last)
)


@pytest.fixture(scope="module")
def trainer() -> Trainer:
    return Trainer(logger=False, accelerator="cpu", devices=1, enable_checkpointing=False)


@pytest.mark.parametrize("row", rows().values(), ids=lambda row: row.attribute)
def test_row(row: AttributeRow, trainer: Trainer) -> None:
    assert hasattr(trainer, row.attribute) == (row.attribute in CURRENT)
    assert row.reason
    if row.action == "write":
        text = row.target.replace("{}", "trainer")
        eval(compile(ast.parse(text, mode="eval"), "row", "eval"), {"trainer": trainer})
    if row.action == "set":
        assert getattr(Trainer, row.attribute).fset is None
        assert (row.level == "manual") == (not row.target)
    else:
        assert (row.action == "manual") == (row.level == "manual") or row.target in ("loop", "hardware")


@pytest.mark.parametrize("row", [row for row in rows().values() if row.action == "set" and row.target])
def test_what_is_set_is_what_the_trainer_tells(row: AttributeRow) -> None:
    trainer = Trainer(logger=False, accelerator="cpu", devices=1, enable_checkpointing=False)
    exec(f"{row.target.replace('{}', 'trainer')} = 7", {"trainer": trainer})
    assert getattr(trainer, row.attribute) == 7


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("trainer.max_epochs = 7", "trainer.fit_loop.max_epochs = 7"),
        ("trainer.max_epochs += 7", "trainer.fit_loop.max_epochs += 7"),
        ("trainer.max_steps = int(x)", "trainer.fit_loop.epoch_loop.max_steps = int(x)"),
        ("print(trainer.max_steps, trainer.global_step)", "print(trainer.max_steps, trainer.global_step)"),
        ("trainer.limit = trainer.max_epochs", "trainer.limit = trainer.max_epochs"),
    ],
)
def test_limits_that_are_set(before: str, wanted: str) -> None:
    assert rewritten({"a.py": HEAD + HOOK + before + "\n"}, rule("LIT120"))["a.py"] == HEAD + HOOK + wanted + "\n"


@pytest.mark.parametrize(
    ("statement", "level", "said"),
    [
        ("trainer.global_step = 3", "manual", "ckpt_path"),
        ("trainer.current_epoch += 1", "manual", "ckpt_path"),
        ("trainer.val_dataloaders = [loader]", "manual", "val_dataloaders"),
        ("trainer.model = Model()", "manual", "give the model"),
        ("trainer.max_steps = limit", "unsafe", "assumes that it is a number"),
        ("trainer.max_steps = None", "manual", "-1 is no limit"),
    ],
)
def test_what_cannot_be_set(statement: str, level: str, said: str) -> None:
    [finding] = run_rules({"a.py": HEAD + HOOK + statement + "\n"}, rule("LIT120")).findings
    assert finding.fix == level and said in finding.reason and "can no longer be set" in finding.message


@pytest.mark.parametrize(
    ("note", "is_one"),
    [
        ("Optional[pl.Trainer]", True),
        ('Optional["pl.Trainer"]', True),
        ('"Optional[pl.Trainer]"', True),
        ("pl.Trainer | None", True),
        ("None | pl.Trainer", True),
        ("Optional[Mine]", False),
        ("pl.Trainer | Mine", False),
        ("'not an annotation'", None),
    ],
)
def test_a_parameter_that_may_be_a_trainer_or_none(note: str, is_one: bool | None) -> None:
    text = (
        "from typing import Optional\n\nimport pytorch_lightning as pl\n\n\n"
        f"def run(job: {note}):\n    job.model = None\n    return job.num_gpus\n"
    )
    found = run_rules({"a.py": text}, rule("LIT120")).findings
    assert [finding.fix for finding in found] == (["manual", "safe"] if is_one else [])


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        ("told = told or pl.Trainer()\n", True),
        ("told = other()\n", False),
        ("told = None if told is None else told\n", True),
    ],
)
def test_a_parameter_that_is_bound_again(body: str, is_one: bool) -> None:
    text = f"import pytorch_lightning as pl\n\n\ndef f(told: pl.Trainer):\n    {body}    return told.use_amp\n"
    assert bool(run_rules({"a.py": text}, rule("LIT120")).changes) is is_one


def test_a_parameter_of_a_function_inside_is_another() -> None:
    inner = "    def g(told):\n        return told.use_amp\n\n    return g\n"
    text = f"import pytorch_lightning as pl\n\n\ndef f(told: pl.Trainer):\n{inner}"
    assert run_rules({"a.py": text}, rule("LIT120")).changes == ()


@pytest.mark.parametrize("old", PRECISIONS)
def test_precisions(old: int | str) -> None:
    kept = Trainer(logger=False, accelerator="cpu", enable_checkpointing=False, precision=old)  # type: ignore[arg-type]
    assert kept.precision in (PRECISIONS[old], PRECISIONS[old].replace("16-mixed", "bf16-mixed"))
    assert kept.precision != old


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("trainer.running_sanity_check", "trainer.sanity_checking"),
        ("trainer.training_type_plugin.barrier()", "trainer.strategy.barrier()"),
        ("trainer.accelerator.barrier()", "trainer.strategy.barrier()"),
        ("trainer.disable_validation or x", "(not trainer.enable_validation) or x"),
        ("seen = trainer.disable_validation", "seen = not trainer.enable_validation"),
        ("trainer.root_gpu", "trainer.strategy.root_device.index"),
        ("trainer.precision == 16", 'trainer.precision == "16-mixed"'),
        ("trainer.precision != 32", 'trainer.precision != "32-true"'),
        ("trainer.precision in (16, 'bf16')", 'trainer.precision in ("16-mixed", "bf16-mixed")'),
        ("trainer.use_amp", 'trainer.precision == "16-mixed"'),
        ("len(trainer.lr_schedulers)", "len(trainer.lr_scheduler_configs)"),
        ("trainer.lr_schedulers[0]['scheduler']", "trainer.lr_scheduler_configs[0].scheduler"),
        ("for it in trainer.lr_schedulers: print(1)", "for it in trainer.lr_scheduler_configs: print(1)"),
        (
            "for it in trainer.lr_schedulers: print(it['scheduler'].get_last_lr(), it['name'])",
            "for it in trainer.lr_scheduler_configs: print(it.scheduler.get_last_lr(), it.name)",
        ),
        (
            "for it, s in zip(trainer.lr_schedulers, b): it['scheduler'].load_state_dict(s)",
            "for it, s in zip(trainer.lr_scheduler_configs, b): it.scheduler.load_state_dict(s)",
        ),
        (
            "x = [it['name'] for s, it in zip(b, trainer.lr_schedulers, strict=True)]",
            "x = [it.name for s, it in zip(b, trainer.lr_scheduler_configs, strict=True)]",
        ),
        (
            "for i, it in enumerate(trainer.lr_schedulers): print(i, it['scheduler'])",
            "for i, it in enumerate(trainer.lr_scheduler_configs): print(i, it.scheduler)",
        ),
        (
            "it = [it['monitor'] for it in trainer.lr_schedulers if it['strict']]; print(it)",
            "it = [it.monitor for it in trainer.lr_scheduler_configs if it.strict]; print(it)",
        ),
        ("trainer.num_val_batches // 2", "sum(trainer.num_val_batches) // 2"),
        ("trainer.tested_ckpt_path", "trainer.ckpt_path"),
    ],
)
def test_written(before: str, wanted: str) -> None:
    text = HEAD + HOOK
    assert rewritten({"a.py": f"{text}{before}\n"}, rule("LIT120"))["a.py"] == f"{text}{wanted}\n"


@pytest.mark.parametrize(
    "statement",
    [
        "trainer.gpus",
        "trainer.amp_backend",
        "trainer.reset_train_dataloader()",
        "trainer.model = 1",
        "for item in trainer.lr_schedulers: use(item)",
        "for item in trainer.lr_schedulers: item['scheduler'] = None",
        "for item in trainer.lr_schedulers: print(item['opt_idx'])",
        "for item in trainer.lr_schedulers: print(item.get('name'))",
        "for item in zip(trainer.lr_schedulers, other): print(item['name'])",
        "for item in trainer.lr_schedulers: item = item['name']",
        "for a, b in trainer.lr_schedulers: print(a['name'])",
        "print([item for item in trainer.lr_schedulers])",
        "trainer.training_type_plugin = 1",
        "trainer.train_loop",
        "trainer.early_stop_callback = False",
    ],
)
def test_left_to_a_person(statement: str) -> None:
    made = run_rules({"a.py": f"{HEAD}{HOOK}{statement}\n"}, rule("LIT120"))
    assert [finding.fix for finding in made.findings] == ["manual"]


@pytest.mark.parametrize(
    "statement",
    [
        "trainer.precision == '16-mixed'",
        "trainer.precision == wanted",
        "trainer.num_val_batches[0] // 2",
        "trainer.accelerator",
        "trainer.model.parameters()",
        "config.trainer.gpus",
        "other.root_gpu",
    ],
)
def test_not_spoken_of(statement: str) -> None:
    assert run_rules({"a.py": f"{HEAD}{HOOK}{statement}\n"}, rule("LIT120")).findings == ()


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (f"{MODULE}self.trainer.root_gpu\n", "safe"),
        ("class Thing:\n    def step(self):\n        self.trainer.root_gpu\n", None),
        ("def show(trainer):\n    trainer.root_gpu\n", "unsafe"),
        ("def show(trainer: Trainer):\n    trainer.root_gpu\n", "safe"),
        ("def show(thing: 'Trainer'):\n    thing.root_gpu\n", "safe"),
        ("def show(trainer: Engine):\n    trainer.root_gpu\n", None),
        ("t = Trainer()\nt.root_gpu\n", "safe"),
        (f"{HOOK}pl_module.trainer.root_gpu\n", "safe"),
        (f"{HOOK}pl_module = self.other()\n        pl_module.trainer.root_gpu\n", "unsafe"),
        (f"{HOOK.replace('on_fit_end', 'show')}pl_module.trainer.root_gpu\n", "unsafe"),
        ("def show(module: LightningModule):\n    module.trainer.root_gpu\n", "safe"),
        ("def show(module: Engine):\n    module.trainer.root_gpu\n", "unsafe"),
    ],
)
def test_whose_it_is(text: str, level: str | None) -> None:
    found = run_rules({"a.py": HEAD + text}, rule("LIT120")).findings
    assert [finding.fix for finding in found] == ([level] if level else [])


def test_without_lightning_nothing_is_said() -> None:
    assert run_rules({"a.py": "def show(trainer):\n    trainer.root_gpu\n"}, rule("LIT120")).findings == ()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("trainer.fit_loop = Mine()", ["M207"]),
        ("trainer.predict_loop = Mine()", ["M210"]),
        ("trainer.fit_loop.min_steps = 3", ["M247"]),
        ("trainer.fit_loop.max_steps = 3", ["M248"]),
        ("trainer.fit_loop.running_loss.append(1)", ["M207"]),
        ("trainer.fit_loop.epoch_loop.batch_loop.run()", ["M207"]),
        ("print(trainer.fit_loop.should_accumulate())", ["M207"]),
        ("print(trainer.fit_loop.epoch_loop.batches_seen)", ["M207"]),
        ("print(trainer.test_loop.dataloaders)", ["M209"]),
        ("print(trainer.fit_loop.max_steps, trainer.validate_loop)", []),
        ("print(trainer.fit_loop.epoch_loop.val_loop, trainer.fit_loop.epoch_progress)", []),
        ("trainer.fit_loop.epoch_loop.max_steps = 3", []),
    ],
)
def test_loops_that_are_put_in_and_limits_that_are_set(statement: str, found: list[str | None]) -> None:
    text = f"from pytorch_lightning import Trainer\n\ntrainer = Trainer()\n{statement}\n"
    made = run_rules({"a.py": text}, rule("LIT120"))
    assert [item.row for item in made.findings] == found
    assert all(item.fix == "manual" for item in made.findings)


@pytest.mark.parametrize(("loop", "name"), [(loop, name) for loop, names in LOOPS.items() for name in names])
def test_what_loops_have_no_more(loop: str, name: str, trainer: Trainer) -> None:
    assert not hasattr(attrgetter(loop)(trainer), name)


@pytest.mark.parametrize("built", ["pl.Trainer(max_epochs=1)", "pl.Trainer.from_argparse_args(args, logger=None)"])
def test_a_trainer_that_a_function_of_the_project_hands_out(built: str) -> None:
    made = f"import pytorch_lightning as pl\n\n\ndef make(args) -> pl.Trainer:\n    return {built}\n\n\n"
    use = "def main(args):\n    engine = make(args)\n    engine.get_model().stage = 1\n"
    [finding] = run_rules({"a.py": made + use}, rule("LIT120")).findings
    assert finding.fix == "safe" and "get_model" in finding.message
    apart = {"made.py": made, "a.py": f"from made import make\n\n\n{use.replace('engine', 'trainer')}"}
    assert [finding.path for finding in run_rules(apart, rule("LIT120")).findings] == ["a.py"]
    other = made.replace(f"return {built}", "return Engine(args)") + use
    assert run_rules({"a.py": other}, rule("LIT120")).findings == ()


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("print(trainer.ipus.bit_length())", "print((0).bit_length())"),
        ("print(f'{trainer.num_gpus} {trainer.use_amp}')", None),
        ('print(f"{trainer.num_gpus} {trainer.use_amp}")', None),
        ('print(f"""{trainer.num_gpus} {trainer.use_amp!r:>10}""")', None),
    ],
)
def test_what_is_written_fits_where_it_stands(statement: str, after: str | None) -> None:
    made = rewritten({"a.py": f"{HEAD}trainer = Trainer()\n{statement}\n"}, rule("LIT120"))["a.py"]
    compile(made, "a.py", "exec")
    assert "use_amp" not in made and "num_gpus" not in made and "ipus" not in made
    assert after is None or made.endswith(f"{after}\n")


def test_what_works_something_out_is_not_done_twice() -> None:
    text = f"{HEAD}trainers = iter([])\n\n\ndef show(trainer: Trainer):\n    print({{}}.num_gpus)\n"
    assert refusals({"a.py": text.format("self.take().trainer")}, "LIT120")
    assert not refusals({"a.py": text.format("trainer").replace("num_gpus", "num_devices")}, "LIT120")


def test_what_is_set_is_told_so() -> None:
    for name in ("num_gpus", "use_ddp"):
        [why] = refusals({"a.py": f"{HEAD}trainer = Trainer()\ntrainer.{name} = 3\n"}, "LIT120")
        assert why.endswith("setting it has no effect any more.")


WHOLE = "import pytorch_lightning as pl\n\n\ndef show(trainer: pl.Trainer{}):\n    {}print(trainer.use_ddp)\n"
TYPED = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import pytorch_lightning as pl\n\n\n"
TYPED += 'def show(trainer: "pl.Trainer"):\n    print(trainer.use_ddp)\n'
TAKEN = "from pytorch_lightning import Trainer\n\n\ndef show(trainer: Trainer{}):\n    {}print(trainer.use_ddp)\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (WHOLE.format("", ""), "isinstance(trainer.strategy, pl.strategies.DDPStrategy)"),
        (WHOLE.format(", pl=None", ""), "isinstance(trainer.strategy, DDPStrategy)"),
        (WHOLE.format("", "pl = 1\n    "), "isinstance(trainer.strategy, DDPStrategy)"),
        (TYPED, None),
        (TAKEN.format("", ""), "isinstance(trainer.strategy, DDPStrategy)"),
        (TAKEN.format(", DDPStrategy=None", ""), None),
        (TAKEN.format("", "from mine import DDPStrategy\n    "), None),
        (
            TAKEN.format("", "from pytorch_lightning.strategies import DDPStrategy\n    "),
            "isinstance(trainer.strategy, DDPStrategy)",
        ),
    ],
)
def test_names_are_what_they_are_where_it_stands(text: str, written: str | None) -> None:
    after = rewritten({"a.py": text}, rule("LIT120"))["a.py"]
    assert (written or "print(trainer.use_ddp)") in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trainer.devices > 1", "trainer.num_devices > 1"),
        ("trainer.gpus >= 2", "trainer.num_devices >= 2"),
        ("trainer.gpus <= 1", "trainer.num_devices <= 1"),
        ("max(trainer.gpus, 1)", "max(trainer.num_devices, 1)"),
        ("max(1, trainer.gpus)", "max(1, trainer.num_devices)"),
        ("max(trainer.gpus, 2)", ""),
        ("max(1, trainer.gpus, n)", ""),
        ("trainer.gpus > 0", ""),
        ("trainer.devices >= 1", ""),
        ("trainer.devices == 2", ""),
        ("trainer.devices > self.least", ""),
        ("1 < trainer.devices < 4", ""),
        ("trainer.devices > True", ""),
    ],
)
def test_whether_there_are_several_devices(old: str, new: str) -> None:
    text = f"{HEAD}{HOOK}self.several = {old}\n"
    [finding] = run_rules({"a.py": text}, rule("LIT120")).findings
    assert finding.fix == ("unsafe" if new else "manual")
    assert rewritten({"a.py": text}, rule("LIT120"), unsafe=True)["a.py"] == text.replace(old, new or old)


@pytest.mark.parametrize(
    ("condition", "level"),
    [
        ("not trainer.resume_from_checkpoint and trainer.running_sanity_check", "safe"),
        ("trainer.sanity_checking and trainer.resume_from_checkpoint", "safe"),
        ("trainer.resume_from_checkpoint", "unsafe"),
        ("not trainer.resume_from_checkpoint or trainer.sanity_checking", "unsafe"),
        ("not trainer.resume_from_checkpoint and not trainer.sanity_checking", "unsafe"),
        ("not trainer.resume_from_checkpoint and other.sanity_checking", "unsafe"),
        ("use(trainer.resume_from_checkpoint) and trainer.sanity_checking", "unsafe"),
    ],
)
def test_the_checkpoint_of_fit_while_it_checks_sanity(condition: str, level: str) -> None:
    text = f"{HEAD}{HOOK}if {condition}:\n            print(1)\n"
    found = run_rules({"a.py": text}, rule("LIT120")).findings
    assert [each.fix for each in found if "resume" in each.message] == [level]
    after = rewritten({"a.py": text}, rule("LIT120"), unsafe=True)["a.py"]
    assert "trainer.ckpt_path" in after


ON_CPU = {"use_native_amp": True, "num_gpus": 0, "data_parallel_device_ids": None, "tpu_cores": 0, "ipus": 0}


@pytest.mark.parametrize(("name", "told"), [(name, ON_CPU.get(name, False)) for name in QUESTIONS])
def test_what_is_asked_of_a_trainer_on_the_cpu(name: str, told: object, trainer: Trainer) -> None:
    space = {"trainer": trainer, "strategies": strategies, "accelerators": accelerators}
    assert eval(QUESTIONS[name].replace("{}", "trainer"), space) is told


@pytest.mark.parametrize(
    ("note", "level"),
    [('"pl.Trainer"', ["safe"]), ('"Trainer"', ["safe"]), ('"Mine"', []), ("int", [])],
)
def test_an_annotation_by_a_name_that_nothing_binds_says_no_more_than_the_hook(note: str, level: list[str]) -> None:
    text = (
        "from pytorch_lightning.callbacks import StochasticWeightAveraging\n\n\n"
        f"class Watch(StochasticWeightAveraging):\n    def on_fit_end(self, trainer: {note}, pl_module):\n"
        "        return trainer.lr_schedulers[0]['scheduler']\n"
    )
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT120")).findings] == level


SUBCLASS = "from pytorch_lightning import Trainer\n\n\nclass Own({}):\n    def go(self):\n        return {}\n"


@pytest.mark.parametrize(
    ("read", "now"),
    [
        ("self.training_type_plugin.barrier()", "self.strategy.barrier()"),
        ("self.root_gpu", "self.strategy.root_device.index"),
        ("self.get_model().pool", "self.lightning_module.pool"),
        ("self.precision == 16", 'self.precision == "16-mixed"'),
    ],
)
def test_what_a_trainer_of_the_project_reads_of_itself(read: str, now: str) -> None:
    text = SUBCLASS.format("Trainer", read)
    assert rewritten({"a.py": text}, rule("LIT120"))["a.py"] == SUBCLASS.format("Trainer", now)
    below = text + "\n\nclass Below(Own):\n    def stop(this):\n        return " + read.replace("self", "this") + "\n"
    made = rewritten({"a.py": below}, rule("LIT120"))["a.py"]
    assert made.endswith(f"        return {now.replace('self', 'this')}\n")


def test_what_a_trainer_of_the_project_reads_of_itself_and_has_no_more_is_told() -> None:
    made = run_rules({"a.py": SUBCLASS.format("Trainer", "self.get_model")}, rule("LIT120"))
    assert [(each.fix, "self.lightning_module" in each.reason) for each in made.findings] == [("manual", True)]


@pytest.mark.parametrize(
    "own",
    [
        "    root_gpu = 3\n",
        "    def root_gpu(self):\n        return 3\n",
        "    def begin(self):\n        self.root_gpu = 3\n",
    ],
)
@pytest.mark.parametrize("place", ["same", "above", "below"])
def test_an_attribute_of_its_own_is_its_own(own: str, place: str) -> None:
    text = SUBCLASS.format("Base" if place == "above" else "Trainer", "self.root_gpu")
    if place == "same":
        text += own
    elif place == "above":
        text = text.replace("class Own", f"class Base(Trainer):\n{own}\n\nclass Own")
    else:
        text += f"\n\nclass Below(Own):\n{own}"
    made = run_rules({"a.py": text}, rule("LIT120"))
    assert made.findings == () and made.changes == ()


def test_a_base_from_elsewhere_may_have_it() -> None:
    text = SUBCLASS.format("Mixin, Trainer", "self.root_gpu").replace("\n\n\n", "\nfrom other import Mixin\n\n\n", 1)
    made = run_rules({"a.py": text}, rule("LIT120"))
    assert [each.fix for each in made.findings] == ["unsafe"]


@pytest.mark.parametrize("member", ["on_save(x)", "post_dispatch()", "torch_distributed_backend"])
def test_what_a_strategy_has_no_more_is_not_moved_to_it(member: str) -> None:
    text = f"{HOOK}print(trainer.training_type_plugin.{member})\n"
    [finding] = run_rules({"a.py": HEAD + text}, rule("LIT120")).findings
    assert finding.fix == "manual" and f"strategy.{member.partition('(')[0]}` was removed" in finding.reason


SOURCE = """\
import torch
from pytorch_lightning import LightningDataModule, LightningModule, Trainer
from torch.utils.data import DataLoader


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.sizes = torch.nn.Linear(1, 1), []

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        self.sizes.append(len(self.trainer._data_connector._train_dataloader_source.dataloader()))
        return torch.optim.SGD(self.parameters(), 0.1)


class Own(Model):
    def train_dataloader(self):
        return DataLoader(torch.ones(5, 1))


class Data(LightningDataModule):
    def train_dataloader(self):
        return DataLoader(torch.ones(4, 1))


def trainer():
    return Trainer(
        max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )


def main():
    model, own = Model(), Own()
    trainer().fit(model, DataLoader(torch.ones(6, 1)))
    trainer().fit(model, datamodule=Data())
    trainer().fit(own)
    return [*model.sizes, *own.sizes]
"""


def test_the_source_of_the_loaders_is_asked_of_the_loop() -> None:
    after = rewritten({"train.py": SOURCE}, rule("LIT120"))["train.py"]
    assert after == SOURCE.replace("_data_connector._train_dataloader_source", "fit_loop._data_source")
    for text, release in ((SOURCE, "1.9.5"), (after, "target")):
        done = train({"train.py": text}, on=release, script=None, module="train", function="main")
        assert done.returned == [6, 4, 5], done.failure


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("self.trainer._data_connector._val_dataloader_source.dataloader()", "val_loop._data_source"),
        ("self.trainer._data_connector._train_dataloader_source = batch", "give the loaders"),
        ("self.trainer._data_connector.prepare_data()", ""),
        ("self.loader._data_connector._train_dataloader_source", ""),
    ],
)
def test_other_sources_of_loaders_are_left(line: str, said: str) -> None:
    text = f"{HEAD}{MODULE}{line}\n"
    made = run_rules({"a.py": text}, rule("LIT120"))
    assert made.changes == () and [said in each.reason for each in made.findings] == [True] * bool(said)
