"""LIT101 and LIT111: GPUs and TPUs that one call asks for, of which one is given."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import torch\nfrom pytorch_lightning import Trainer\n\n"
RULES = (rule("LIT101"), rule("LIT111"))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (
            "gpus=a.gpus, tpu_cores=a.cores",
            'accelerator="tpu" if a.cores else "gpu" if a.gpus else "cpu", devices=a.cores or a.gpus or "auto"',
        ),
        ("tpu_cores=a.cores or None, gpus=2", 'accelerator="tpu" if a.cores else "gpu", devices=a.cores or 2'),
        (
            "gpus=1 if a.gpu else 0, num_tpu_cores=a.cores if a.cores else None",
            'accelerator="tpu" if a.cores else "gpu" if a.gpu else "cpu", devices=a.cores or 1',
        ),
        ("gpus=0, tpu_cores=a.cores", 'accelerator="tpu" if a.cores else "cpu", devices=a.cores or 1'),
    ],
)
def test_both_become_one(given: str, wanted: str) -> None:
    files = {"train.py": f"{HEAD}Trainer({given}, max_epochs=1)\n"}
    after = rewritten(files, *RULES, unsafe=True)["train.py"]
    assert after == f"{HEAD}Trainer({wanted}, max_epochs=1)\n"
    assert rewritten({"train.py": after}, *RULES, unsafe=True)["train.py"] == after
    made = run_rules(files, *RULES)
    assert made.changes == ()
    assert [(item.code, item.fix) for item in made.findings] == [("LIT101", "unsafe")]


@pytest.mark.parametrize(("cores", "gpus"), [(None, None), (None, 2), (8, None), (0, 0), (8, 2)])
def test_what_is_written_asks_for_what_was_asked_for(cores: int | None, gpus: int | None) -> None:
    text = f"{HEAD}Trainer(gpus=a.gpus, tpu_cores=a.cores)\n"
    after = rewritten({"train.py": text}, *RULES, unsafe=True)["train.py"].replace("from pytorch_lightning", "#")
    options = type("Options", (), {"gpus": gpus, "cores": cores})
    asked = eval(after.splitlines()[-1], {"a": options, "Trainer": dict})
    wanted = ("tpu", cores) if cores else ("gpu", gpus) if gpus else ("cpu", "auto")
    assert (asked["accelerator"], asked["devices"]) == wanted


@pytest.mark.parametrize(
    "given",
    [
        "gpus=2, tpu_cores=8",
        "gpus=a.gpus, tpu_cores=cores()",
        "gpus=a.gpus, tpu_cores=a.cores, accelerator='ddp'",
        "gpus=a.gpus, tpu_cores=a.cores, devices=2",
        "gpus=a.gpus, tpu_cores=a.cores, num_processes=2",
        "gpus=a.gpus, tpu_cores=a.cores if a.tpu else None",
    ],
)
def test_what_cannot_be_told_is_named_twice(given: str) -> None:
    made = run_rules({"train.py": f"{HEAD}Trainer({given})\n"}, *RULES, unsafe=True)
    assert made.changes == ()
    assert {item.code for item in made.findings if item.fix == "manual"} == {"LIT101", "LIT111"}
