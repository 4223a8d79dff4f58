"""LIT301: what becomes of a Trainer's arguments in a configuration, and that Lightning takes the result."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.lightning.arguments import current
from codemods.lightning.configurations.mappings import UNSEEN, Malformed, read_mappings
from tests.codemods.support import refusals, rewritten, rule, run_rules

TARGET = "_target_: pytorch_lightning.Trainer\n"
CLI = "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"
EXPANDED = 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(logger=log, **config["trainer"])\n'
yaml: Any = import_module("yaml")


def made(text: str, path: str = "conf/trainer/a.yaml", **files: str) -> str:
    given = {path: text, **{name.replace("__", "/") + ".py": body for name, body in files.items()}}
    return rewritten(given, rule("LIT301"))[path]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("gpus: 1", "accelerator: gpu\ndevices: 1"),
        ("gpus: -1", "accelerator: gpu\ndevices: -1"),
        ("gpus: [0, 1]", "accelerator: gpu\ndevices: [0, 1]"),
        ("gpus: 0", "accelerator: cpu"),
        ("gpus: null", "accelerator: cpu"),
        ("gpus: ~  # none", "accelerator: cpu  # none"),
        ("'gpus': 2", "'accelerator': gpu\n'devices': 2"),
        ("gpus:\n  - 0\n  - 1", "accelerator: gpu\ndevices:\n  - 0\n  - 1"),
        ("accelerator: null\ngpus: null", "accelerator: cpu"),
        ("gpus: null\naccelerator: ddp", "accelerator: cpu\nstrategy: ddp"),
        ("gpus: -1  # all\naccelerator: ddp", "strategy: ddp\ndevices: -1  # all\naccelerator: gpu"),
        ("gpus:\n  - 0\n  - 1\naccelerator: ddp", "strategy: ddp\ndevices:\n  - 0\n  - 1\naccelerator: gpu"),
        ("checkpoint_callback: false", "enable_checkpointing: false"),
        ("checkpoint_callback:   True # keep", "enable_checkpointing:   True # keep"),
        ("progress_bar_refresh_rate: 0", "enable_progress_bar: false"),
        ("weights_summary: null", "enable_model_summary: false"),
        ("replace_sampler_ddp: ${a.b}", "use_distributed_sampler: ${a.b}"),
        ("profiler: true", "profiler: simple"),
    ],
)
def test_values(before: str, after: str) -> None:
    rest = "# first\nmax_epochs: 3   # three\n\nlog_every_n_steps: 5\n"
    assert made(f"{TARGET}{before}\n{rest}") == f"{TARGET}{after}\n{rest}"


@pytest.mark.parametrize(
    "line",
    ["gpus: 2", "num_processes: 1", "tpu_cores: null", "weights_summary: top", "amp_level: O2", "terminate_on_nan: no"],
)
def test_lightning_takes_what_is_written(line: str) -> None:
    after = yaml.safe_load(made(f"{TARGET}max_epochs: 3\n{line}\n"))
    assert set(after) - {"_target_"} <= current()
    trainer = import_module("lightning.pytorch").Trainer
    arguments = {key: value for key, value in after.items() if key not in ("_target_", "accelerator")}
    assert trainer(accelerator="cpu", logger=False, **arguments).max_epochs == 3


def test_a_whole_file_of_defaults_is_taken_by_lightning() -> None:
    lines = [
        "checkpoint_callback: True", "process_position: 0", "num_nodes: 1", "num_processes: 1", "gpus: null",
        "auto_select_gpus: False", "tpu_cores: null", "log_gpu_memory: null", "overfit_batches: 0.0",
        "track_grad_norm: -1", "flush_logs_every_n_steps: 100", "accelerator: null", "precision: 32",
        'weights_summary: "top"', "weights_save_path: null", "truncated_bptt_steps: null",
        "resume_from_checkpoint: null", "reload_dataloaders_every_epoch: False", "auto_lr_find: False",
        "replace_sampler_ddp: True", "terminate_on_nan: False", "auto_scale_batch_size: False",
        "prepare_data_per_node: True", 'amp_backend: "native"', 'amp_level: "O2"', "move_metrics_to_cpu: False",
    ]  # fmt: skip
    after = yaml.safe_load(made(TARGET + "\n".join(lines) + "\n"))
    del after["_target_"]
    assert after == {
        "enable_checkpointing": True,
        "num_nodes": 1,
        "overfit_batches": 0.0,
        "accelerator": "cpu",
        "precision": 32,
        "use_distributed_sampler": True,
    }
    assert import_module("lightning.pytorch").Trainer(logger=False, **after).num_devices == 1


def test_json_keeps_its_layout() -> None:
    before = '{\n\t"trainer": {\n\t\t"gpus": [0],\n\t\t"weights_summary": "top",\n\t\t"max_epochs": 3\n\t}\n}\n'
    after = made(before, "config.json", main=CLI)
    assert after == ('{\n\t"trainer": {\n\t\t"accelerator": "gpu",\n\t\t"devices": [0],\n\t\t"max_epochs": 3\n\t}\n}\n')
    assert json.loads(after)["trainer"]["devices"] == [0]


def test_what_stands_last_in_json_goes_with_its_comma() -> None:
    before = '{"trainer": {"max_epochs": 3, "weights_summary": "top", "num_processes": 1}}\n'
    assert made(before, "config.json", main=CLI) == '{"trainer": {"max_epochs": 3}}\n'


def test_toml() -> None:
    files = {
        "train.py": EXPANDED,
        "conf/train.toml": "[trainer]\ngpus = 2 # both\nmax_epochs = 3\n\n[model]\ngpus = 1\n",
    }
    from codemods.code.source import Source
    from codemods.engine.plan import plan
    from codemods.engine.scan import Options

    kinds = {"train.py": "python", "conf/train.toml": "toml"}
    done = plan([Source(path, kinds[path], text.encode()) for path, text in files.items()], Options((rule("LIT301"),)))
    assert done.bugs == ()
    assert done.final()["conf/train.toml"].decode() == (
        '[trainer]\naccelerator = "gpu"\ndevices = 2 # both\nmax_epochs = 3\n\n[model]\ngpus = 1\n'
    )


def test_a_section_that_code_hands_to_trainer() -> None:
    before = "model:\n  gpus: 1\ntrainer:\n  gpus: 1\n  max_epochs: 2\n"
    after = "model:\n  gpus: 1\ntrainer:\n  accelerator: gpu\n  devices: 1\n  max_epochs: 2\n"
    assert made(before, "config.yaml", train=EXPANDED) == after


def test_a_group_that_hydra_builds() -> None:
    files = {
        "main.py": "import hydra\n\ntrainer = hydra.utils.instantiate(cfg.trainer)\n",
        "conf/trainer/default.yaml": f"{TARGET}gpus: 0\nterminate_on_nan: true\n",
        "conf/trainer/fast.yaml": "defaults:\n  - default\n\nterminate_on_nan: false\nmax_epochs: 1\n",
        "conf/experiment/big.yaml": "# @package _global_\ntrainer:\n  gpus: 4\n",
    }
    after = rewritten(files, rule("LIT301"))
    assert after["conf/trainer/default.yaml"] == f"{TARGET}accelerator: cpu\ndevices: 1\nterminate_on_nan: true\n"
    assert after["conf/trainer/fast.yaml"] == "defaults:\n  - default\n\ndetect_anomaly: false\nmax_epochs: 1\n"
    assert after["conf/experiment/big.yaml"] == "# @package _global_\ntrainer:\n  accelerator: gpu\n  devices: 4\n"


def test_code_that_reads_the_key_reads_the_new_one() -> None:
    train = EXPANDED + 'pinned = len(config["trainer"]["gpus"]) > 0\n'
    files = {"train.py": train, "a.yaml": "trainer:\n  gpus: [1]\n", "b.yaml": "trainer:\n  gpus: [0, 1]\n"}
    after = rewritten(files, rule("LIT301"))
    assert after["train.py"] == train.replace('"gpus"', '"devices"')
    assert after["b.yaml"] == "trainer:\n  accelerator: gpu\n  devices: [0, 1]\n"


def test_code_that_reads_a_key_which_is_not_the_same_everywhere_keeps_all() -> None:
    train = EXPANDED + 'pinned = config["trainer"]["gpus"] != 0\n'
    files = {"train.py": train, "a.yaml": "trainer:\n  gpus: 0\n", "b.yaml": "trainer:\n  gpus: 2\n"}
    assert len(refusals(files, "LIT301")) == 3


def doubts(files: dict[str, str]) -> list[str]:
    """The reasons for which arguments go only when asked for."""
    return [finding.reason for finding in run_rules(files, rule("LIT301")).findings if finding.fix == "unsafe"]


def test_callbacks_are_spelled_out() -> None:
    (reason,) = doubts({"t.yaml": f"{TARGET}max_epochs: 1\nweights_summary: full\n"})
    assert "`_target_: lightning.pytorch.callbacks.ModelSummary` with `max_depth: -1`" in reason
    (reason,) = doubts({"m.py": CLI, "t.yaml": "trainer:\n  max_epochs: 1\n  progress_bar_refresh_rate: 7\n"})
    assert "`class_path: lightning.pytorch.callbacks.TQDMProgressBar` with `init_args: {refresh_rate: 7}`" in reason
    (reason,) = refusals({"t.yaml": f"{TARGET}max_epochs: 1\nlog_gpu_memory: all\n"}, "LIT301")
    assert "DeviceStatsMonitor` to the callbacks, and delete the key" in reason


def test_what_is_shown_goes_when_asked_for() -> None:
    text = f"{TARGET}max_epochs: 1\nweights_summary: full\nprogress_bar_refresh_rate: 7\n"
    assert rewritten({"t.yaml": text}, rule("LIT301"), unsafe=True)["t.yaml"] == f"{TARGET}max_epochs: 1\n"


def test_line_ends_are_kept() -> None:
    assert made(f"{TARGET}gpus: 1\nmax_epochs: 1\n".replace("\n", "\r\n")) == (
        f"{TARGET}accelerator: gpu\ndevices: 1\nmax_epochs: 1\n".replace("\n", "\r\n")
    )


KEYS = st.sampled_from(["max_epochs", "log_every_n_steps", "min_epochs", "num_nodes", "fast_dev_run"])
LINES = st.lists(
    st.one_of(
        st.just(""),
        st.sampled_from(["# a comment", "   # gpus: 3", "#gpus: 1"]),
        st.tuples(KEYS, st.integers(1, 9), st.sampled_from(["", "  # why", " #"])).map(
            lambda t: f"{t[0]}: {t[1]}{t[2]}"
        ),
    ),
    max_size=8,
    unique_by=lambda line: line.partition(":")[0] or object(),
)


@settings(deadline=None)
@given(LINES, LINES, st.sampled_from(["gpus: 2", "replace_sampler_ddp: false", "weights_summary: null"]))
def test_only_the_line_of_the_key_changes(above: list[str], below: list[str], line: str) -> None:
    taken = {item.partition(":")[0] for item in above if ":" in item and not item.lstrip().startswith("#")}
    below = [item for item in below if item.partition(":")[0] not in taken]
    lines = [TARGET.strip(), *above, line, *below]
    new = {
        "gpus: 2": ["accelerator: gpu", "devices: 2"],
        "replace_sampler_ddp: false": ["use_distributed_sampler: false"],
        "weights_summary: null": ["enable_model_summary: false"],
    }[line]
    after = [TARGET.strip(), *above, *new, *below]
    assert made("\n".join(lines) + "\n").split("\n")[:-1] == after


@settings(deadline=None)
@given(st.text(alphabet="ab: -[]{}#'\"\n&*!|>\t", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_mappings(text, "yaml")
    except Malformed:
        return
    for mapping in found:
        for entry in mapping.entries:
            assert 0 <= entry.key_at[0] <= entry.key_at[1] <= len(text)
            assert entry.value_at[0] <= entry.value_at[1] <= len(text)


def test_a_key_without_a_colon_has_no_value_to_see() -> None:
    (mapping,) = read_mappings("{gpus}", "yaml")
    assert [entry.value is UNSEEN for entry in mapping.entries] == [True]


def test_nothing_to_do_leaves_the_bytes() -> None:
    done = run_rules({"t.yaml": f"{TARGET}accelerator: gpu\ndevices: 1\n"}, rule("LIT301"))
    assert done.findings == () and done.changes == ()


def test_a_read_is_renamed_though_other_rules_have_moved_it() -> None:
    train = "from pytorch_lightning.utilities.seed import seed_everything\n" + EXPANDED
    train += 'pinned = len(config["trainer"]["gpus"]) > 0\n'
    result = rewritten({"config.yaml": "trainer:\n  gpus: [0, 1]\n  max_epochs: 3\n", "train.py": train})
    assert "from pytorch_lightning import seed_everything" in result["train.py"]
    assert 'len(config["trainer"]["devices"])' in result["train.py"]
    assert "devices: [0, 1]" in result["config.yaml"]


@pytest.mark.parametrize("before", ["distributed_backend: ddp\n", "gpus: 2\nstrategy: ddp\n"])
def test_ddp_that_looked_for_unused_parameters_is_spoken_of_beside_its_rewrite(before: str) -> None:
    found = run_rules({"conf/trainer/a.yaml": f"{TARGET}max_epochs: 3\n{before}"}, rule("LIT301")).findings
    assert sorted(item.fix for item in found) == ["manual", "safe"]
    assert ["ddp_find_unused_parameters_true" in item.reason for item in found if item.fix == "manual"] == [True]
    assert [item.stops for item in found if item.fix == "manual"] == [False]
    assert run_rules({"conf/trainer/a.yaml": f"{TARGET}max_epochs: 3\nstrategy: ddp\n"}, rule("LIT301")).findings == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("max_epochs: 3\n\nresume_from_checkpoint: null", "max_epochs: 3\n"),
        ("max_epochs: 3\n\nresume_from_checkpoint: null\n\nmin_epochs: 1\n", "max_epochs: 3\n\nmin_epochs: 1\n"),
        (
            "max_epochs: 3\n\ntrack_grad_norm: -1\nresume_from_checkpoint: null\n\nmin_epochs: 1\n",
            "max_epochs: 3\n\nmin_epochs: 1\n",
        ),
        ("max_epochs: 3\nresume_from_checkpoint: null\n\nmin_epochs: 1\n", "max_epochs: 3\n\nmin_epochs: 1\n"),
        ("max_epochs: 3\n\nresume_from_checkpoint: null\nmin_epochs: 1\n", "max_epochs: 3\n\nmin_epochs: 1\n"),
    ],
)
def test_a_paragraph_that_goes_leaves_one_blank_line(before: str, after: str) -> None:
    head = "_target_: pytorch_lightning.Trainer\n"
    path = "conf/trainer/default.yaml"
    assert rewritten({path: head + before}, rule("LIT301"))[path] == head + after
