"""LIT301: files that may be read together, of which the last one turns off what the others give."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

CODE = "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"
HEAD = "trainer:\n  max_epochs: 3\n"
NULLS = "  accelerator: gpu\n  num_processes: null\n  devices: null\n  gpus: null\n"


def made(below: str, above: str) -> tuple[str, str]:
    after = rewritten(files(below, above), rule("LIT301"))
    return after["below.yaml"].removeprefix(HEAD), after["above.yaml"].removeprefix(HEAD)


def files(below: str, above: str) -> dict[str, str]:
    return {"m.py": CODE, "below.yaml": HEAD + below, "above.yaml": HEAD + above}


def test_null_in_all_files_turns_off_nothing() -> None:
    assert made(NULLS, NULLS) == ("  accelerator: gpu\n", "  accelerator: gpu\n")


@pytest.mark.parametrize(
    ("below", "above", "after"),
    [
        ("  gpus: 2\n", "  gpus: null\n", "  accelerator: cpu\n  devices: 1\n"),
        ("  gpus: 2\n", "  accelerator: gpu\n  gpus: null\n", "  accelerator: gpu\n  devices: auto\n"),
        ("  num_processes: 4\n", "  accelerator: gpu\n  gpus: null\n", "  accelerator: gpu\n  devices: auto\n"),
        ("  num_processes: 4\n", "  num_processes: null\n", "  devices: 1\n"),
        ("  accelerator: gpu\n  devices: 2\n", NULLS, "  accelerator: gpu\n  devices: auto\n"),
        ("  accelerator: gpu\n  devices: 2\n", "  devices: null\n", "  devices: auto\n"),
        ("  accelerator: gpu\n  devices: 2\n", "  num_processes: null\n", ""),
        ("  accelerator: gpu\n  devices: auto\n", "  num_processes: null\n", ""),
    ],
)
def test_what_null_turned_off_is_spelled_out(below: str, above: str, after: str) -> None:
    assert made(below, above)[1] == after


def test_processes_that_null_turns_off_are_told_in_both() -> None:
    below, above = made("  num_processes: 4\n  gpus: null\n", "  num_processes: null\n  gpus: null\n")
    assert below == "  accelerator: cpu\n  devices: 4\n"
    assert above == "  accelerator: cpu\n  devices: 1\n"


@pytest.mark.parametrize(
    ("below", "above", "reason"),
    [
        ("  accelerator: gpu\n  devices: 2\n", "  gpus: null\n", "delete it where both are read together"),
        ("  accelerator: gpu\n  devices: 2\n", "  gpus: 0\n", "delete it where both are read together"),
        ("  accelerator: gpu\n  devices: 2\n", "  num_processes: 4\n", "another file sets devices beside it"),
        ("  gpus: 2\n", "  num_processes: 4\n", "another file sets devices beside it"),
        ("  tpu_cores: 8\n", "  tpu_cores: null\n", "which this one may turn off"),
    ],
)
def test_what_means_another_thing_alone_is_left(below: str, above: str, reason: str) -> None:
    ran = run_rules(files(below, above), rule("LIT301"))
    assert "above.yaml" not in ran.final()
    assert any(reason in finding.reason for finding in ran.findings if finding.path == "above.yaml")


def test_what_waits_for_the_gpus_of_its_own_file_waits() -> None:
    text = "  accelerator: ddp\n  num_processes: 1\n  devices: null\n  gpus: 2\n  tpu_cores: null\n"
    assert made(text, text) == (text, text)


GPUS = "  accelerator: gpu\n  devices: 2\n"
CORES = "  accelerator: tpu\n  devices: 8\n"


@pytest.mark.parametrize(
    ("below", "above"), [(GPUS, "  gpus: null\n"), (GPUS, "  num_processes: 4\n"), (CORES, "  tpu_cores: null\n")]
)
def test_what_is_left_is_left_after_the_other_file_has_changed(below: str, above: str) -> None:
    assert made(below, above) == (below, above)
