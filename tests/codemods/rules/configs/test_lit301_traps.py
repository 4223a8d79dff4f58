"""LIT301: mappings that are not a Trainer's, and values that it leaves to a person with the reason."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rule, run_rules

TARGET = "_target_: pytorch_lightning.Trainer\n"
LIGHTNING = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    pass\n"
EXPANDED = 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(logger=log, **config["trainer"])\n'


@pytest.mark.parametrize(
    "files",
    [
        {"a.yaml": "trainer:\n  gpus: 1\n  max_epochs: 3\n"},
        {"a.yaml": "_target_: cluster.Trainer\ngpus: 1\nmax_epochs: 3\n", "m.py": LIGHTNING},
        {"a.yaml": "general:\n  gpus: 1\n  seed: 3\n", "m.py": LIGHTNING},
        {"a.yaml": "cluster:\n  gpus: 1\n  precision: 16\n", "m.py": LIGHTNING},
        {"a.yaml": "services:\n  gpus: all\n  profiler: true\n", "m.py": EXPANDED},
        {"a.yaml": f"{TARGET}# gpus: 1\nmax_epochs: 3\n"},
        {"a.yaml": "trainer:\n  _target_: pytorch_lightning.Trainer\nmodel:\n  gpus: 1\n"},
        {"a.yaml": "trainer:\n  gpus: 1\n  max_epochs: 3\n", "m.py": EXPANDED.replace("pytorch_lightning", "cluster")},
        {"package.json": '{"gpus": 1, "name": "x"}\n', "m.py": EXPANDED},
        {"a.yaml": "text: |\n  trainer:\n    gpus: 1\n", "m.py": EXPANDED},
    ],
)
def test_other_mappings_are_left_alone(files: dict[str, str]) -> None:
    made = run_rules(files, rule("LIT301"))
    assert made.findings == ()
    assert made.changes == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gpus: '1'", "does not mean the same in every 1.x"),
        ("gpus: ${n}", "not known from the file; give it by accelerator= and devices="),
        ("gpus: 2\ndevices: 1", "`devices=` is given too"),
        ("gpus: 2\ntpu_cores: 8", "`tpu_cores=` is given too"),
        ("log_gpu_memory: all", "DeviceStatsMonitor"),
        ("stochastic_weight_avg: true", "swa_lrs"),
        ("resume_from_checkpoint: a.ckpt", "fit"),
        ("truncated_bptt_steps: 4", "the module has to cut"),
        ("track_grad_norm: 2", "grad_norm"),
        ("max_nb_epochs: 3\nmax_epochs: 4", "`max_epochs=` is given too"),
    ],
)
def test_what_is_left_says_why(text: str, reason: str) -> None:
    assert any(reason in found for found in refusals({"t.yaml": f"{TARGET}{text}\n"}, "LIT301"))


def test_a_trainer_of_the_project_is_named() -> None:
    files = {
        "own.py": "import pytorch_lightning as pl\n\n\nclass Mine(pl.Trainer):\n    pass\n",
        "t.yaml": "_target_: own.Mine\ngpus: 1\nmax_epochs: 3\n",
    }
    (reason,) = refusals(files, "LIT301")
    assert "`Mine`, a Trainer of this project" in reason


def test_unmistakable_keys_without_proof_are_a_finding() -> None:
    files = {"m.py": LIGHTNING, "a.yaml": "run:\n  gpus: 1\n  max_epochs: 3\n  gradient_clip_val: 1.0\n"}
    (reason,) = refusals(files, "LIT301")
    assert "fixer cannot tell whether it is given to Trainer; if it is, write accelerator: gpu and devices" in reason


def test_keys_that_the_required_lightning_never_took_are_another_programs() -> None:
    files = {"m.py": LIGHTNING, "a.json": '{"gradient_clip": 1.0, "min_epochs": 2, "max_epochs": 3}\n'}
    for pin, found in (("pytorch-lightning==1.6.4", 0), ("pytorch-lightning==0.7.1", 1), ("lightning>=2.0", 0)):
        assert len(run_rules(files, rule("LIT301"), pins=(pin, "pytorch-lightning")).findings) == found
    files["a.json"] = files["a.json"].replace("gradient_clip", "gpus")
    assert run_rules(files, rule("LIT301"), pins=("lightning>=2.0",)).findings


def test_an_alias_is_left() -> None:
    text = "base: &base\n  gpus: 1\n  max_epochs: 3\ntrainer: *base\n"
    assert all("alias" in found for found in refusals({"m.py": EXPANDED, "a.yaml": text}, "LIT301"))


def test_a_merge_key_is_left() -> None:
    text = "base: &base\n  max_epochs: 3\ntrainer:\n  <<: *base\n  gpus: 1\n"
    (reason,) = refusals({"m.py": EXPANDED, "a.yaml": text}, "LIT301")
    assert "merge key" in reason


@pytest.mark.parametrize("value", ["0", "null", "${n}", "'1'"])
def test_a_key_that_is_interpolated_elsewhere_is_left_where_it_is_no_number_of_devices(value: str) -> None:
    files = {"m.py": EXPANDED, "a.yaml": f"trainer:\n  gpus: {value}\n", "b.yaml": "workers: ${trainer.gpus}\n"}
    assert refusals(files, "LIT301")


@pytest.mark.parametrize(
    "text", ["${trainer.gpus}", "${oc.select:trainer.gpus,1}", "${eval:'8 * ${trainer.gpus}'}", "a${..trainer.gpus}b"]
)
def test_interpolations_move_with_the_key(text: str) -> None:
    files = {"m.py": EXPANDED, "a.yaml": "trainer:\n  gpus: 2\n", "b.yaml": f"other: ${{gpus}}\nworkers: {text}\n"}
    made = run_rules(files, rule("LIT301"))
    assert made.final() == {
        "a.yaml": b"trainer:\n  accelerator: gpu\n  devices: 2\n",
        "b.yaml": files["b.yaml"].replace("trainer.gpus", "trainer.devices").encode(),
    }


def test_a_key_of_the_same_name_elsewhere_does_not_hold_the_trainers() -> None:
    files = {"m.py": EXPANDED, "a.yaml": "gpus: 4\nworkers: ${gpus}\ntrainer:\n  gpus: 2\n"}
    made = run_rules(files, rule("LIT301"))
    assert made.changes == ()  # in the same file it may be of a mapping that is merged with the section
    files["b.yaml"] = files.pop("a.yaml").split("trainer:")[0]
    made = run_rules({**files, "a.yaml": "trainer:\n  gpus: 2\n"}, rule("LIT301"))
    assert [*made.final()] == ["a.yaml"]


TAKEN = "from build import {}\n\n{}(cfg.trainer)\n"


@pytest.mark.parametrize(
    ("called", "code"),
    [
        ("build", "def build(options):\n    print(options.gpus)\n    return Trainer(**options)\n"),
        ("Own", "class Own:\n    def __init__(self, options):\n        self.made = Trainer(**options)\n"),
        ("build", "def build(options):\n    return Trainer(**OmegaConf.to_container(options))\n"),
    ],
)
def test_a_section_that_a_function_gives_to_trainer(called: str, code: str) -> None:
    files = {"m.py": TAKEN.format(called, called), "build.py": f"from pytorch_lightning import Trainer\n\n{code}"}
    made = run_rules({**files, "conf/trainer/a.yaml": "gpus: 2\nmax_epochs: 3\n"}, rule("LIT301"))
    assert made.final()["conf/trainer/a.yaml"] == b"accelerator: gpu\ndevices: 2\nmax_epochs: 3\n"
    assert ("build.py" in made.final()) == ("print" in code)


def test_a_section_that_another_function_reads() -> None:
    files = {
        "m.py": f"{EXPANDED}from build import report\nreport(cfg.trainer)\n",
        "build.py": "def report(options):\n    print(options.gpus)\n",
        "a.yaml": "trainer:\n  gpus: 2\n",
    }
    made = run_rules(files, rule("LIT301"))
    assert made.final()["build.py"] == b"def report(options):\n    print(options.devices)\n"
    kept = run_rules({**files, "build.py": files["build.py"].replace("print(", "del (")}, rule("LIT301"))
    assert kept.changes == ()


def test_a_value_that_code_asks_for_is_left() -> None:
    code = (
        "import hydra\n\nif cfg.trainer.get('strategy') is None:\n    cfg.trainer.strategy = 'ddp'\n"
        "trainer = hydra.utils.instantiate(cfg.trainer)\n"
    )
    (reason,) = refusals({"m.py": code, "conf/trainer/a.yaml": f"{TARGET}strategy: null\n"}, "LIT301")
    assert "m.py:3 reads or sets it" in reason


def test_the_only_key_is_left() -> None:
    (reason,) = refusals({"m.py": EXPANDED, "a.yaml": "trainer:\n  weights_summary: top\n"}, "LIT301")
    assert "nothing would be left" in reason


def test_a_comment_beside_a_key_goes_only_when_asked_for() -> None:
    files = {"t.yaml": f"{TARGET}max_epochs: 1\namp_level: O2  # apex\n"}
    assert run_rules(files, rule("LIT301")).changes == ()
    done = run_rules(files, rule("LIT301"), unsafe=True)
    assert done.final()["t.yaml"].decode() == f"{TARGET}max_epochs: 1\n"


def test_a_section_that_is_called_trainer_is_named() -> None:
    files = {"m.py": LIGHTNING, "a.yaml": "trainer:\n  gpus: '0'\n", "b.yaml": "cluster:\n  gpus: 2\n"}
    (reason,) = refusals(files, "LIT301")
    assert "fixer cannot tell whether it is given to Trainer" in reason


def test_a_template_that_is_no_yaml_is_a_finding() -> None:
    files = {"m.py": EXPANDED, "a.yaml": "trainer:\n  {% if x %}\n  weights_summary: top\n  {% endif %}\n"}
    (reason,) = refusals(files, "LIT301")
    assert "the file cannot be read" in reason


def test_a_comment_switches_it_off() -> None:
    files = {"t.yaml": f"{TARGET}max_epochs: 1\ngpus: 1  # fixer: ignore[LIT301]\n"}
    assert run_rules(files, rule("LIT301")).findings == ()


READ_BY_NAME = {
    "conf/train/small.yaml": "gpus: 1\nval_percent_check: 0.1\nmax_epochs: 3\nprecision: 16\n",
    "train.py": "import pytorch_lightning as pl\n\n\ndef main(conf):\n"
    "    return pl.Trainer(devices=conf.gpus, limit_val_batches=conf.val_percent_check, max_epochs=conf.max_epochs)\n",
}


def test_keys_that_the_code_reads_by_name_are_its_own_words() -> None:
    assert run_rules(READ_BY_NAME, rule("LIT301")).findings == ()


def test_what_lightning_wrote_beside_a_checkpoint_is_a_record() -> None:
    files = {
        "checkpoints/a/hparams.yaml": "gpus: 1\nweights_summary: top\nmax_epochs: 3\n",
        "a.py": "import pytorch_lightning\n",
    }
    assert run_rules(files, rule("LIT301")).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "base: &base\n  gpus: 1\n  max_epochs: 3\ntrainer: *base\n",
        "trainer:\n  _target_: cluster.Trainer\n  gpus: 1\n",
        "trainer:\n  gpus: 1\n  lr: 1\n  wd: 2\n",
        "trainer:\n  gpus: 1\n  max_epochs: 3\nworkers: ${gpus}\n",
    ],
)
def test_code_keeps_a_key_that_one_configuration_keeps(text: str) -> None:
    code = f"{EXPANDED}print(config.trainer.gpus)\n"
    made = run_rules({"m.py": code, "a.yaml": text, "b.yaml": "trainer:\n  gpus: 2\n"}, rule("LIT301"))
    assert made.changes == ()
    assert any("reads or sets it" in finding.reason for finding in made.findings)
