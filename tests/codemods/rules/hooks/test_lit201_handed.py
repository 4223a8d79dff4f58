"""LIT201: what training_epoch_end was given up to 1.4 and 1.5, and on_train_batch_end is not."""

from __future__ import annotations

import pytest

from codemods.finding import Finding
from codemods.rules.hooks.lit201 import TRAINING
from tests.codemods.support import rule, run_rules

LIT = rule("LIT201")
ACCUMULATE = {"run.py": "Trainer(accumulate_grad_batches=4)\n"}
EXTRAS = TRAINING.replace(
    'return {"loss": self.layer(batch).mean()}',
    'found = self.layer(batch)\n        return {"loss": found.mean(), "found": found}',
)
WHOLE = '{**outputs, "loss": outputs["loss"] * self.trainer.accumulate_grad_batches}'
DETACH = "apply_to_collection(outputs, torch.Tensor, torch.Tensor.detach)"


def made(text: str, pin: str, said: dict[str, str], unsafe: bool = False) -> tuple[Finding, str]:
    """What is found in a module of a project that says something else, too, and its text afterwards."""
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    plan = run_rules({"model.py": text, **said}, LIT, unsafe=unsafe, pins=pins)
    assert plan.bugs == ()
    [found] = plan.findings
    return found, plan.final().get("model.py", text.encode()).decode()


@pytest.mark.parametrize("pin", ["==1.0.8", "==1.4.9", "<1.5"])
def test_the_loss_is_whole_as_it_was(pin: str) -> None:
    found, text = made(TRAINING, pin, ACCUMULATE)
    assert found.fix == "safe"
    assert "multiplies the loss" in found.reason
    assert WHOLE in text


@pytest.mark.parametrize("pin", [">=1.4", "<2", ""])
def test_a_loss_that_may_have_been_whole_is_unsafe(pin: str) -> None:
    found, text = made(TRAINING, pin, ACCUMULATE, unsafe=True)
    assert found.fix == "unsafe"
    assert "which run.py may set" in found.reason
    assert "accumulate_grad_batches" not in text


@pytest.mark.parametrize(
    "said",
    [
        {"run.py": "Trainer(**{'accumulate_grad_batches': steps})\n"},
        {"run.yaml": "trainer:\n  accumulate_grad_batches: 8\n"},
        {"run.py": "parser.add_argument('--accumulate_grad_batches', type=int, default=1)\n"},
        {"run.py": "accumulate_grad_batches: int = 2\n"},
        {"run.py": "GradientAccumulationScheduler({4: 2})\n"},
        {"run.py": "Trainer.add_argparse_args(parser)\n"},
        {"run.py": "LightningCLI(Model)\n"},
    ],
)
def test_ways_to_accumulate(said: dict[str, str]) -> None:
    assert made(TRAINING, "", said)[0].fix == "unsafe"


@pytest.mark.parametrize(
    ("text", "pin", "said"),
    [
        (TRAINING, "==1.5.0", ACCUMULATE),
        (TRAINING, "==1.9.5", ACCUMULATE),
        (TRAINING, ">=1.5,<2", ACCUMULATE),
        (TRAINING, "==1.4.9", {}),
        (TRAINING, "==1.4.9", {"run.py": "Trainer(accumulate_grad_batches=1)\n"}),
        (TRAINING, "==1.4.9", {"run.yaml": "accumulate_grad_batches: null\n"}),
        (TRAINING, "==1.4.9", {"README.md": "Use accumulate_grad_batches=4.\n"}),
        (EXTRAS.replace('output["loss"]', 'output["found"]'), "==1.4.9", ACCUMULATE),
    ],
)
def test_a_loss_that_is_the_same_is_left(text: str, pin: str, said: dict[str, str]) -> None:
    found, after = made(text, pin, said)
    assert found.fix == "safe"
    assert "accumulate_grad_batches" not in after


def test_a_hook_that_hands_its_outputs_on_may_read_the_loss() -> None:
    text = TRAINING.replace('torch.stack([output["loss"] for output in outputs]).mean()', "mean_of(outputs)")
    assert made(text, "", ACCUMULATE)[0].fix == "unsafe"


@pytest.mark.parametrize(
    "step",
    [
        "self.automatic_optimization = False",
        "self.automatic_optimization = choose()",
    ],
)
def test_a_loss_that_is_optimized_by_hand_is_not_multiplied(step: str) -> None:
    text = TRAINING.replace("super().__init__()\n", f"super().__init__()\n        {step}\n")
    assert "* self.trainer" not in made(text, "==1.4.9", ACCUMULATE, unsafe=True)[1]


@pytest.mark.parametrize("pin", ["==1.3.8", "==1.5.10", ">=1.2", ""])
def test_values_come_detached_as_they_did(pin: str) -> None:
    found, text = made(EXTRAS, pin, {})
    assert found.fix == "safe"
    assert f"self.training_step_outputs.append({DETACH})\n" in text
    assert "from lightning_utilities.core.apply_func import apply_to_collection\n" in text


@pytest.mark.parametrize(
    ("text", "pin"),
    [
        (EXTRAS, "==1.6.5"),
        (EXTRAS, ">=1.6"),
        (TRAINING, "==1.4.9"),
        (EXTRAS.replace('"found": found', '"found": found.detach().cpu()'), "==1.4.9"),
        (EXTRAS.replace('"found": found', '"found": found.argmax(1), "input": batch[0], "n": len(batch)'), "==1.4.9"),
        (EXTRAS.replace('return {"loss": found.mean(), "found": found}', "return found.mean()"), "==1.4.9"),
    ],
)
def test_values_without_a_history_are_kept_as_they_are(text: str, pin: str) -> None:
    assert "self.training_step_outputs.append(outputs)\n" in made(text, pin, {})[1]


@pytest.mark.parametrize(
    "value", ["self.state", "{'found': found}", "found * 2", "torch.stack([found])", "**self.metrics(batch)"]
)
def test_a_value_that_may_have_a_history_is_detached(value: str) -> None:
    item = value if value.startswith("**") else f'"found": {value}'
    assert DETACH in made(EXTRAS.replace('"found": found', item), "==1.4.9", {})[1]


def test_a_dictionary_is_no_loss_by_its_name() -> None:
    text = EXTRAS.replace('return {"loss"', 'total_loss = {"loss"').replace(
        '"found": found}', '"found": found}\n        return total_loss'
    )
    assert "total_loss" in text and DETACH in made(text, "==1.4.9", {})[1]


def test_a_name_of_the_project_is_not_taken() -> None:
    text = EXTRAS.replace("import torch\n", "import torch\n\nfrom tools import apply_to_collection\n", 1)
    found, _ = made(text, "==1.4.9", {})
    assert found.fix == "unsafe"
    assert "keeps its history since" in found.reason


def test_a_guard_and_both() -> None:
    text = EXTRAS.replace("        found =", "        if batch_idx == 1:\n            return None\n        found =")
    _, after = made(text, "==1.4.9", ACCUMULATE)
    assert (
        f"""\
        if outputs:
            self.training_step_outputs.append(
                apply_to_collection(
                    {WHOLE},
                    torch.Tensor,
                    torch.Tensor.detach,
                )
            )
"""
        in after
    )
