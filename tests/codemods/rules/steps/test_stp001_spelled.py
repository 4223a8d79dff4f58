"""STP001: numbers of steps and Trainers that are not written where the one gets the other."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp001 import RULE
from tests.codemods.rules.steps.test_stp001 import HEAD, levels, program
from tests.codemods.rules.steps.test_stp001_budget import HEAD as TRAINED
from tests.codemods.rules.steps.test_stp001_budget import findings, script
from tests.codemods.support import rewritten, run_rules
from tests.training import Case, train_many

HELPER = "def total(loader, window, epochs):\n    return len(loader) // window * epochs\n\n\n"


def with_helper(helper: str, arguments: str) -> str:
    return program(arguments).replace("def main", f"{helper}def main")


def test_what_a_function_of_the_file_computes_is_followed() -> None:
    given = "max_steps=total(train_loader, accumulate, epochs), accumulate_grad_batches=accumulate"
    before = with_helper(HELPER, given)
    after = rewritten({"train.py": before}, RULE)["train.py"]
    assert after == with_helper(HELPER, "max_epochs=epochs, accumulate_grad_batches=accumulate")


def test_the_steps_of_one_device_are_written_with_the_caller_s_names() -> None:
    given = "max_steps=total(train_loader, accumulate, epochs=epochs), devices=1, accumulate_grad_batches=accumulate"
    before = with_helper(HELPER, given)
    made = run_rules({"train.py": before, "model.py": "def f(trainer):\n    return trainer.max_steps\n"}, RULE)
    text = made.final()["train.py"].decode()
    assert "Trainer(max_steps=epochs * math.ceil(len(train_loader) / accumulate), devices=1" in text


@pytest.mark.parametrize(
    "helper",
    [
        HELPER.replace("epochs\n", "rounds\n"),
        HELPER.replace("def", "@cached\ndef"),
    ],
)
def test_other_functions_are_not(helper: str) -> None:
    assert levels(with_helper(helper, "max_steps=total(train_loader, accumulate, epochs)")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("    return", "    print(loader)\n    return"), ("window, epochs)", "window, epochs, scale=2)")],
)
def test_functions_that_do_more_are_named(old: str, new: str) -> None:
    found = levels(with_helper(HELPER.replace(old, new), "max_steps=total(train_loader, accumulate, epochs)"))
    assert [level for level, _ in found] == ["manual"]


def test_arguments_of_the_trainer_tell_what_names_are() -> None:
    given = "max_steps=len(train_loader) // (args.k * args.n) * epochs, accumulate_grad_batches=args.k, devices=args.n"
    after = rewritten({"train.py": program(given)}, RULE)["train.py"]
    assert after == program("max_epochs=epochs, accumulate_grad_batches=args.k, devices=args.n")


def test_what_a_loader_is_made_of_is_a_dataset() -> None:
    text = program("max_steps=len(given) // batch_size * epochs").replace("dataset", "given")
    assert "Trainer(max_epochs=epochs)" in rewritten({"train.py": text}, RULE)["train.py"]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("kwargs = dict(max_steps=len(train_loader) * epochs)", "kwargs = dict(max_epochs=epochs)"),
        (
            'kwargs = {"max_steps": len(train_loader) * epochs, "logger": False}',
            'kwargs = {"max_epochs": epochs, "logger": False}',
        ),
    ],
)
def test_a_dictionary_that_is_handed_on_follows(line: str, after: str) -> None:
    assert after in rewritten({"train.py": program("**kwargs", line)}, RULE)["train.py"]


def test_a_dictionary_of_a_name_that_is_handed_on_is_named() -> None:
    text = program("**kwargs", "steps = len(train_loader) * epochs", 'kwargs = {"max_steps": steps}')
    ((fix, reason),) = levels(text)
    assert fix == "manual" and "give max_epochs=epochs" in reason


@pytest.mark.parametrize(
    "steps",
    [
        "args.steps if args.steps > 0 else len(train_loader) * epochs",
        "args.steps or len(train_loader) * epochs",
        "args.max_steps or len(train_loader) * epochs",
        "min(args.steps, len(train_loader) * epochs)",
    ],
)
def test_one_of_several_cases_is_named(steps: str) -> None:
    for text in (program(f"max_steps={steps}"), program("max_steps=steps", f"steps = {steps}")):
        ((fix, reason),) = levels(text)
        assert fix == "manual" and "give max_epochs=epochs there" in reason


@pytest.mark.parametrize(
    "arguments",
    [
        "max_steps=args.steps if args.steps > 0 else 1000",
        "max_steps=1 if args.debug else -1, max_epochs=epochs",
        "max_steps=args.steps if args.steps > 0 else len(train_loader) * epochs, devices=1",
        '**{"max_steps": args.steps}',
    ],
)
def test_cases_that_are_right_or_mean_no_epochs_stay(arguments: str) -> None:
    assert levels(program(arguments)) == []


def test_a_class_that_derives_from_the_trainer() -> None:
    plain = program("max_steps=len(train_loader) * epochs").replace("= Trainer(", "= Mine(")
    derived = plain.replace("def main", "class Mine(Trainer):\n    {}\n\n\ndef main", 1)
    assert "= Mine(max_epochs=epochs)" in rewritten({"train.py": derived.format("pass")}, RULE)["train.py"]
    own = derived.format("def __init__(self, max_steps):\n        super().__init__(max_steps=max_steps)")
    ((fix, reason),) = levels(own)
    assert fix == "manual" and "does not pass" in reason
    assert levels(plain) == []


def test_a_partial_is_named() -> None:
    text = program("max_steps=len(train_loader) * epochs").replace("Trainer(max", "partial(Trainer, max")
    ((fix, _),) = levels(text.replace(HEAD, f"from functools import partial\n{HEAD}"))
    assert fix == "manual"


TWO = """\
def main():
    first = DataLoader(Data(1, 13), batch_size=4)
    second = DataLoader(Data(1), batch_size=3)
    one = Trainer(max_steps={})
    one.fit(Model(), {})
    two = Trainer(max_steps={})
    two.fit(Model(), train_dataloaders={})
"""
SEVERAL = {
    "one loader": TRAINED + TWO.format(7, "first", 5, "first"),
    "a loader each": TRAINED + TWO.format(7, "first", 5, "second"),
    "no name": script("max_steps=7", "DataLoader(Data(1, 13), batch_size=4)").replace(
        "trainer = Trainer(max_steps=7)\n    trainer.fit",
        "Trainer(max_steps=5).fit(Model(), loader)\n    Trainer(max_steps=7).fit",
    ),
}
SAID = {
    "one loader": ["max_steps=7 comes to 1 epoch and 3 of 4 steps", "max_steps=5 comes to 1 epoch and 1 of 4 steps"],
    "a loader each": [
        "max_steps=7 comes to 1 epoch and 3 of 4 steps",
        "max_steps=5 comes to 0 epochs and 5 of 8 steps",
    ],
    "no name": ["max_steps=5 comes to 1 epoch and 1 of 4 steps", "max_steps=7 comes to 1 epoch and 3 of 4 steps"],
}
"""Each is of 13 samples in batches of 4, or of 24 in batches of 3."""


def test_each_of_several_trainers_is_told_by_what_it_trains_on() -> None:
    assert {name: [item.message for item in findings(text)] for name, text in SEVERAL.items()} == SAID


def test_their_numbers_are_what_training_counts() -> None:
    texts = [
        SEVERAL["a loader each"].replace("one.fit(Model(), first)", "pass"),
        SEVERAL["no name"].replace("Trainer(max_steps=5).fit(Model(), loader)", "pass"),
    ]
    made = train_many([(Case({"train.py": text}, script=None), "target") for text in texts])
    assert [(record.failure, record.global_step, record.epoch) for record in made] == [(None, 5, 1), (None, 7, 2)]


def test_a_trainer_without_a_fit_of_its_own_is_not_told_by_another_s() -> None:
    text = script("max_steps=7", "DataLoader(Data(1, 13), batch_size=4)")
    other = text.replace("    trainer = ", "    other = Trainer(max_steps=9)\n    trainer = ")
    assert [item.message for item in findings(other)] == ["max_steps=7 comes to 1 epoch and 3 of 4 steps"]
