"""LIT302: names in the strings of configuration files."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

OLD = "pytorch_lightning.callbacks.base.Callback"
NEW = "pytorch_lightning.callbacks.callback.Callback"


@pytest.mark.parametrize(
    "line",
    [
        "_target_: {}",
        "class_path: '{}'  # ours",
        'a: {{class_path: "{}", init_args: {{}}}}',
        "- {}",
        "callback: {}\r",
    ],
)
def test_moved(line: str) -> None:
    text = f"first: 1\n{line.format(OLD)}\nlast: 2\n"
    assert rewritten({"a.yaml": text}, rule("LIT302"))["a.yaml"] == text.replace(OLD, NEW)


def test_json() -> None:
    text = f'{{\n  "_target_": "{OLD}",\n  "verbose": true\n}}\n'
    assert rewritten({"config.json": text}, rule("LIT302"))["config.json"] == text.replace(OLD, NEW)


@pytest.mark.parametrize(
    "text",
    [
        f"# _target_: {OLD}\n",
        f"note: we once used {OLD}\n",
        f"_target_: my.{OLD}\n",
        f"path: /opt/{OLD}/x\n",
        "_target_: pytorch_lightning.callbacks.ModelCheckpoint\n",
        "_target_: pytorch_lightning.Trainer\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert run_rules({"a.yaml": text}, rule("LIT302")).findings == ()


def test_a_name_that_is_gone_says_what_to_use() -> None:
    (reason,) = refusals({"a.yaml": "_target_: pytorch_lightning.loggers.TestTubeLogger\n"}, "LIT302")
    assert "TensorBoardLogger" in reason


def test_metrics_that_want_a_task_are_left() -> None:
    text = "_target_: pytorch_lightning.metrics.Accuracy\nother: pytorch_lightning.metrics.MeanSquaredError\n"
    made = run_rules({"conf/metric.yaml": text}, rule("LIT302"))
    assert ["task=" in finding.reason for finding in made.findings] == [True, False]
    assert made.final()["conf/metric.yaml"].decode() == text.replace(
        "pytorch_lightning.metrics.MeanSquaredError", "torchmetrics.MeanSquaredError"
    )
