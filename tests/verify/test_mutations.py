"""Each verdict in each family, and results of wrong codemods, before the harness and the judge of the proof.

What needs an old torchmetrics is judged by `benchmarks/mutations.py` alone: no test builds an environment for it.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

import codemods
from codemods.rule import all_rules
from tests.mutations.changes import BASELINE, PROJECTS, Project
from tests.mutations.judging import Files, judged
from tests.mutations.lent import lent
from tests.mutations.verdicts import CELLS, FAMILIES, NEVER, VERDICTS, Cell


@functools.cache
def prepared(family: str, name: str) -> tuple[Project, Files, Files]:
    """A project, and its files before and after the rules."""
    project = next(each for each in PROJECTS if (each.family, each.name, each.baseline) == (family, name, BASELINE))
    return project, project.before(), project.after()


def test_every_family_has_mistakes() -> None:
    assert {project.family for project in PROJECTS if project.changes} == set(FAMILIES.values())
    assert sum(len(project.changes) for project in PROJECTS) >= 40


def test_every_folder_of_rules_is_a_family_of_its_own() -> None:
    assert {_folder(rule.code) for rule in all_rules()} == set(FAMILIES)
    assert len(set(FAMILIES.values())) == len(FAMILIES)


def _folder(code: str) -> str:
    """The folder in which a rule is declared."""
    (place,) = Path(codemods.__file__).parent.glob(f"rules/*/{code.lower()}.py")
    return place.parent.name


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: f"{project.family}-{project.name}")
def test_a_project_is_rewritten_by_rules_of_its_family(project: Project) -> None:
    codes = {change.code for change in project.planned().changes}
    assert project.family in {FAMILIES[_folder(code)] for code in codes}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: f"{project.family}-{project.name}")
def test_every_mistake_has_a_place_in_what_the_rules_make(project: Project) -> None:
    after = project.after()
    assert after != project.before()
    assert all(change.applied(after) != after for change in project.changes)


def test_every_family_has_a_project_for_every_verdict_that_there_can_be() -> None:
    found = [(cell.family, cell.verdict) for cell in CELLS]
    assert len(found) == len(set(found))
    assert not set(found) & set(NEVER)
    assert set(found) | set(NEVER) == {(each.family, verdict) for each in PROJECTS for verdict in VERDICTS}
    assert all(not cell.mistake for cell in CELLS if cell.verdict in ("repaired", "preserved"))
    assert all(cell.mistake for cell in CELLS if cell.verdict in ("changed", "regressed"))


@pytest.mark.parametrize(
    "cell",
    [cell for cell in CELLS if cell.baseline == BASELINE],
    ids=lambda cell: f"{cell.family}-{cell.verdict}",
)
def test_every_verdict_is_right(cell: Cell) -> None:
    _, before, _ = prepared(cell.family, cell.name)
    judgement, _ = judged(before, cell.after())
    assert judgement.verdict == cell.verdict, judgement.reason


@pytest.mark.parametrize(
    ("family", "name", "mistake", "verdict", "said"),
    [
        ("TBP", "nested_state", "a part of the state begun anew", "changed", "loss"),
        ("TBP", "nested_state", "no step", "regressed", "no optimizer stepped"),
        ("TBP loops", "undetached", "the state still has its history", "inconclusive", "neither tree trains"),
        ("TBP loops", "undetached", "other sign of the loss", "changed", "up to that failure"),
        ("OPT", "gan_scheduled", "optimizers not toggled", "changed", "gradients that reached discriminator"),
        ("OPT", "gan_scheduled", "only the first optimizer", "regressed", "no gradient reaches discriminator"),
        ("BWD", "raw_backward", "clipping before backward", "changed", "gradient norm of step 1"),
        ("BWD", "raw_backward", "no backward", "regressed", "no gradient reaches"),
        ("BWD", "half_parts", "stale weights: cache not cleared", "changed", "loss 2"),
        ("BWD", "half_parts", "the step never made", "regressed", "no optimizer stepped"),
        ("STP", "computed_steps", "epochs twice as many", "changed", "optimizer steps of the whole training"),
        ("GRD", "cut_loss", "parameters missing from the optimizer", "changed", "no optimizer holds body.weight"),
        ("GRD", "cut_loss", "a leaf for a loss", "regressed", "no gradient reaches"),
        ("GRD", "cut_loss", "still without a history", "inconclusive", "neither tree trains"),
        ("LIT hooks", "epoch_outputs", "outputs not cleared", "changed", "fit 1: epoch_batches"),
        ("LIT hooks", "epoch_outputs", "the old hook kept", "regressed", "validation_epoch_end"),
        ("LIT trainer", "old_trainer", "another number of devices", "changed", "devices: 2 became 1"),
        ("LIT trainer", "old_trainer", "full precision", "changed", "precision: bf16-mixed became 32-true"),
        ("LIT trainer", "old_trainer", "an argument that the target lacks", "regressed", "accelerators"),
        ("LIT names", "old_names", "the callback lost", "changed", "count"),
        ("LIT names", "old_names", "a name that the target lacks", "regressed", "rank_zero"),
        ("PIN", "gan_frequency", "an old release", "regressed", "does not allow 2.6.6"),
    ],
)
def test_a_mistake_is_caught(family: str, name: str, mistake: str, verdict: str, said: str) -> None:
    project, before, after = prepared(family, name)
    change = next(each for each in project.changes if each.name == mistake)
    judgement, _ = judged(before, change.applied(after))
    assert judgement.verdict == verdict, judgement.reason
    assert said in judgement.reason


@pytest.mark.parametrize(
    ("mistake", "verdict"), [("", "preserved"), ("a part of the state begun anew", "changed"), ("no step", "regressed")]
)
def test_arrays_that_are_lent_hide_no_mistake(mistake: str, verdict: str) -> None:
    project, before, after = prepared("TBP", "nested_state")
    spoiled = next((change.applied(after) for change in project.changes if change.name == mistake), after)
    judgement, run = judged(lent(before), lent(spoiled))
    assert judgement.verdict == verdict, judgement
    assert run.made and all(name.startswith("data/lent/") for name in run.made)
