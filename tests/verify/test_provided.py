"""Projects that start with something that a copy of their files has not: what they are lent, and what is said of it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.test_shapes import project, rewritten
from tests.verify.judging.test_verdict import BOOM, RAW
from tests.verify.trees import tree
from verify.evidence import Evidence
from verify.judging.record import RunRecord, read
from verify.prove import prove
from verify.reading.entry import Entry
from verify.reading.sources import Sources
from verify.request import Request
from verify.retried import from_its_folder, otherwise, without_package
from verify.sandbox.containment import contain
from verify.sandbox.process import scrubbed

REQUEST = Request("move", ("LIT201",), ("train.py",), "2.6.6", "2.0.0", ("pytorch-lightning==1.9.5",), (), timeout=120)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """A request whose runs are kept: those of a tree serve all of its rewrites."""
    return replace(REQUEST, finished=tmp_path_factory.mktemp("finished"))


def proven(
    folder: Path,
    name: str,
    said: list[str],
    spoiled: tuple[str, str] = ("", ""),
    *others: tuple[str, str],
    request: Request = REQUEST,
) -> Evidence:
    """What a proof says of a project, with each first text of `others` for the second; of one whose patched tree was
    `spoiled` so."""
    before = {
        path: functools.reduce(lambda text, pair: text.replace(*pair), others, text)
        for path, text in project(name).items()
    }
    after = {path: text.replace(*spoiled) for path, text in rewritten(before).items()}
    assert spoiled == ("", "") or after != rewritten(before)
    trees = [
        tree(folder / role, **{path.removesuffix(".py"): text for path, text in files.items() if path.endswith(".py")})
        for role, files in (("before", before), ("after", after))
    ]
    return prove(*trees, request, said.append)


@pytest.mark.parametrize(
    ("name", "spoiled", "verdict"),
    [
        ("starts_with_a_table", ("cross_entropy(", "cross_entropy(2 * "), "changed"),
        ("starts_with_a_table", ('row["label"]', 'row["lable"]'), "regressed"),
        ("starts_with_pickles", ('held["marks"]', 'held["mark"]'), "regressed"),
        ("starts_with_pickles", ("return torch.nn", "return 2 * torch.nn"), "changed"),
        ("starts_with_tensors", ("Linear(12", "Linear(13"), "regressed"),
        ("starts_with_tensors", ("return torch.nn", "return 2 * torch.nn"), "changed"),
        ("starts_with_codes", (".transpose(0, 1)", ""), "regressed"),
        ("starts_with_codes", ("- 0.5 * self", "+ 0.5 * self"), "changed"),
        ("starts_beside_its_data", ("../data/games", "../data/game"), "regressed"),
        ("starts_beside_its_data", ('["title"]', '["titel"]'), "regressed"),
        ("starts_beside_its_data", ("return torch.nn", "return 2 * torch.nn"), "changed"),
        ("starts_with_folders", ('"*.npy"', '"*.npz"'), "regressed"),
        ("starts_with_folders", ("mse_loss(", "l1_loss("), "changed"),
        ("starts_with_a_package", ("(numbers,) = batch", "(numbers,) = sample(batch)"), "inconclusive"),
        ("starts_with_a_package", ("mse_loss(", "l1_loss("), "changed"),
        ("starts_with_a_question", ("answer.lower()", "answer.upper()"), "regressed"),
        ("starts_with_a_question", ('!= "yes"', '!= "yess"'), "inconclusive"),
        ("starts_with_a_question", ("mse_loss(", "l1_loss("), "changed"),
        ("starts_with_a_choice", ("options[told[-1]]", "options[told[-2]]"), "regressed"),
        ("starts_with_a_choice", ("mse_loss(", "l1_loss("), "changed"),
        ("starts_with_variables", ("LOADER_WORKERS", "LOADER_WORKER"), "regressed"),
        ("starts_with_pictures", ("map_location=", "mapping="), "regressed"),
    ],
)
def test_what_is_made_up_hides_no_mistake(
    name: str, spoiled: tuple[str, str], verdict: str, tmp_path: Path, kept: Request
) -> None:
    assert proven(tmp_path, name, [], spoiled, request=kept).verdict == verdict


@pytest.mark.parametrize(
    ("name", "provided"),
    [
        ("starts_with_git", []),
        (
            "starts_with_variables",
            ["environment variables that the code reads and nothing sets: IMAGE_PATH, LOADER_WORKERS"],
        ),
        ("starts_with_a_folder", []),
        (
            "starts_with_a_question",
            ["answers to what the code asks at a terminal: How many epochs: 1, Overwrite earlier runs: yes"],
        ),
        ("starts_with_a_choice", ["options of its configuration, which names none that is there: data=synthetic"]),
        (
            "starts_with_a_table",
            [
                "made-up files in place of data that is not here: data/train.csv (64 rows of image_id, label, age), "
                "data/val.csv (64 rows of image_id, label, age), data/pictures (64 .jpg files)"
            ],
        ),
        (
            "starts_with_pickles",
            ["made-up files in place of data that is not here: data/signals.pkl (arrays called signals, marks)"],
        ),
        ("starts_with_tensors", ["made-up files in place of data that is not here: data/train.pt (2 arrays)"]),
        (
            "starts_beside_its_data",
            ["made-up files in place of data that is not here: ../data/games.json (64 rows of news, score)"],
        ),
        ("starts_with_folders", ["made-up files in place of data that is not here: data/speakers (16 .npy files)"]),
        ("starts_with_codes", ["made-up files in place of data that is not here: data/codes.npy"]),
        (
            "starts_with_pictures",
            [
                "made-up files in place of data that is not here: data/pictures (16 .png files)",
                "random weights in place of those that are not here: weights/pretrained.pth",
            ],
        ),
    ],
)
def test_it_trains_in_a_place_like_its_own(name: str, provided: list[str], tmp_path: Path, kept: Request) -> None:
    evidence = proven(tmp_path, name, [], request=kept)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    assert [fact.text for fact in evidence.facts if fact.kind == "provided"] == provided


@pytest.mark.parametrize(
    ("spoiled", "verdict"),
    [
        (("", ""), "preserved"),
        (("lr=self.args.rate", "lr=self.args.rate * 2"), "changed"),
        (("lr=self.args.rate", "lr=self.args.rates"), "changed"),
        (("known.mean(1)", "known.sum(1)"), "changed"),
    ],
)
def test_a_module_that_its_options_and_its_network_tell_of_is_trained_alone(
    spoiled: tuple[str, str], verdict: str, tmp_path: Path, kept: Request
) -> None:
    evidence = proven(tmp_path, "alone_by_its_options", [], spoiled, request=kept)
    assert evidence.verdict == verdict, evidence
    whole = "judge=Judge(args={words: 40, width: 6, kinds: 3, rate: 0.25"
    assert [one.arguments.startswith(whole) for one in evidence.alone if not one.trainer] == [True]
    assert evidence.alone[0].batch.startswith("({input_ids: int64 4x12, attention_mask: int64 4x12 of 1}, int64 4)")


def test_packages_that_nothing_uses_need_not_be_there(tmp_path: Path, kept: Request) -> None:
    evidence = proven(tmp_path, "starts_with_a_package", [], request=kept)
    assert (evidence.verdict, evidence.rung) == ("preserved", "trains"), evidence
    assert [fact.text for fact in evidence.facts if fact.kind == "provided"] == [
        "what is not installed, and what ran imports and does not use: weighted_samplers_of_ours"
    ]


def test_only_packages_that_the_tree_before_lacks_are_lent(tmp_path: Path) -> None:
    def lacking(message: str, kind: str = "ModuleNotFoundError") -> RunRecord:
        raw = failed(tmp_path, message)
        assert raw.recording.failure
        return replace(raw, recording=replace(raw.recording, failure=replace(raw.recording.failure, type=kind)))

    for path, text in {"train.py": "import samplers.random\n", "net/layers/conv.py": ""}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    lacks, before = lacking("No module named 'samplers.random'"), Sources(tmp_path)
    assert (found := without_package(lacks, lacks, {}, before)) and found[0] == {"absent": ("samplers.random",)}
    assert (found := without_package(None, lacks, {"absent": ("apex",)}, before)) and found[0]["absent"][0] == "apex"
    names = lacking("cannot import name 'three' from 'Bio.PDB' (/env/Bio/PDB/__init__.py)", "ImportError")
    assert (found := without_package(names, names, {}, before)) and found[0] == {"absent": ("Bio.PDB:three",)}
    own = lacking("cannot import name 'three' from 'layers' (/tree/net/layers/__init__.py)", "ImportError")
    for old, new, watched in (
        (names, lacks, {}),
        (names, RAW, {}),
        (own, own, {}),
        (lacks, RAW, {}),
        (RAW, lacks, {}),
        (None, names, {}),
        (None, lacking("No module named 'brought'"), {}),
        (lacking("something else"), lacks, {}),
        (lacks, lacks, {"absent": ("samplers.random",)}),
        (lacking("No module named 'layers.pool'"), lacks, {}),
        (lacking("No module named 'train'"), lacks, {}),
        (lacking("No module named 'pytorch_lightning.metrics'"), lacks, {}),
        (lacking("No module named 'torch._six'"), lacks, {}),
        (lacking("No module named 'samplers'", "ImportError"), lacks, {}),
    ):
        assert without_package(old, new, watched, before) is None


def test_what_was_made_up_is_kept_and_can_be_given_to_the_next_run(tmp_path: Path) -> None:
    asked = replace(REQUEST, records=tmp_path / "records")
    proven(tmp_path / "first", "starts_with_a_table", [], request=asked)
    kept = tmp_path / "records" / "data"
    table = (kept / "data" / "train.csv").read_text()
    (kept / "data" / "train.csv").write_text(table.replace("sample003", "sample004"))
    said: list[str] = []
    evidence = proven(tmp_path / "second", "starts_with_a_table", said, request=replace(REQUEST, data=kept))
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    (provided,) = (fact.text for fact in evidence.facts if fact.kind == "provided")
    assert provided.startswith("files of the folder that `data` names: data/pictures/sample000.jpg")
    assert not any("finding out" in line for line in said)


def test_data_of_another_machine_is_made_up_where_it_would_be(tmp_path: Path) -> None:
    if contain(tmp_path / "tried").level != "full":
        assert not os.environ.get("CI")
        pytest.skip("there are no folders of a run's own outside of its copy")
    evidence = proven(tmp_path, "starts_with_pictures", [], ("", ""), ("data/pictures", "/home/someone/pictures"))
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    assert any("/home/someone/pictures (16 .png files)" in fact.text for fact in evidence.facts)
    assert not Path("/home/someone").exists()


@pytest.mark.parametrize(
    ("named", "place"),
    [
        (("open(table)", 'open(os.environ["ROWS_CSV"])'), "~/lent/ROWS_CSV/rows_csv.csv"),
        (("Path(__file__).parent", 'Path(os.environ["STORE"])'), "~/lent/STORE/data/train.csv"),
    ],
)
def test_data_that_a_variable_leads_to_is_made_up(named: tuple[str, str], place: str, tmp_path: Path) -> None:
    if contain(tmp_path / "tried").level != "full":
        assert not os.environ.get("CI")
        pytest.skip("there are no folders of a run's own outside of its copy")
    imported = ("import csv", "import csv\nimport os")
    evidence = proven(tmp_path, "starts_with_a_table", [], ("", ""), imported, named)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    told = [fact.text for fact in evidence.facts if fact.kind == "provided"]
    assert any(f"{place} (64 rows of image_id, label, age)" in text for text in told), told


NEVER_FITTED = """import csv

import pytorch_lightning as pl
import torch


class Model(pl.LightningModule):
    def __init__(self, path):
        super().__init__()
        with open(path) as file:
            self.scale = 1 + sum(abs(float(row["weight"])) for row in csv.DictReader(file))
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        return self.scale * self.layer(batch).pow(2).mean()

    def training_epoch_end(self, outputs):
        self.log("train_loss", torch.stack([output["loss"] for output in outputs]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001)


if __name__ == "__main__":
    model = Model("data/weights.csv")
    if model.scale < 0:
        pl.Trainer(max_epochs=2).fit(model)
"""


@pytest.mark.parametrize(
    ("spoiled", "verdict"),
    [(("", ""), "preserved"), (("return self.scale", "return 2 * self.scale"), "changed"),
     (('row["weight"]', 'row["weigth"]'), "regressed")],
)  # fmt: skip
def test_what_was_made_up_for_a_script_is_there_for_modules_alone(
    spoiled: tuple[str, str], verdict: str, tmp_path: Path, kept: Request
) -> None:
    other = (project("starts_with_tensors")["train.py"], NEVER_FITTED)
    evidence = proven(tmp_path, "starts_with_tensors", [], spoiled, other, request=kept)
    assert (evidence.verdict, len(evidence.alone)) == (verdict, 1), evidence
    assert any("data/weights.csv" in note for note in evidence.alone[0].notes), evidence.alone[0].notes


def test_a_program_that_is_missing_is_stood_in_for(tmp_path: Path) -> None:
    said: list[str] = []
    evidence = proven(tmp_path, "starts_with_a_program", said)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    if shutil.which("ffmpeg"):
        assert not any("again" in line for line in said)
    else:
        assert any("in place of ffmpeg, which is not installed" in line for line in said)
        assert any("ffmpeg" in fact.text for fact in evidence.facts if fact.kind == "provided")


def failed(folder: Path, message: str) -> RunRecord:
    record = folder / "record.jsonl"
    record.write_text(f'{{"event": "failure", "type": "OSError", "message": "{message}", "place": null}}\n')
    return read(record, "train.py")


def test_what_is_no_program_or_stood_in_for_already_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    missing = failed(tmp_path, "[Errno 2] No such file or directory: 'soxi'")
    again = otherwise(None, missing, {})
    assert again and again[0]["programs"] == ("soxi",) and "soxi" in again[1]
    assert otherwise(None, missing, {"programs": ("soxi",)}) is None
    assert otherwise(None, failed(tmp_path, "[Errno 2] No such file or directory: 'data/train.csv'"), {}) is None
    assert otherwise(None, failed(tmp_path, "ffmpeg ended with 1"), {}) is None
    either = failed(tmp_path, "ffmpeg or ffprobe could not be found! Please install them")
    assert (first := otherwise(None, either, {})) and first[0]["programs"] == ("ffmpeg",)
    assert (second := otherwise(None, either, first[0])) and second[0]["programs"] == ("ffmpeg", "ffprobe")
    assert otherwise(None, either, second[0]) is None
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/soxi")
    assert otherwise(None, missing, {}) is None


ASKING = """import subprocess

import pytorch_lightning as pl
import torch

subprocess.run(["ffprobe", "-version"], check=True)


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def NAME(self):
        print("an epoch")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    raise RuntimeError("no licence")
    pl.Trainer(max_epochs=1).fit(Model(), torch.utils.data.DataLoader(torch.randn(16, 3), batch_size=4))
"""


@pytest.mark.skipif(shutil.which("ffprobe") is not None, reason="nothing stands in for a program that is here")
def test_modules_alone_have_the_programs_that_scripts_asked_for(tmp_path: Path) -> None:
    trees = [
        tree(tmp_path / role, train=ASKING.replace("NAME", name))
        for role, name in (("before", "training_epoch_start"), ("after", "on_train_epoch_start"))
    ]
    evidence = prove(*trees, REQUEST, lambda _: None)
    assert [each.module for each in evidence.alone] == ["train.py:Model"], evidence


BESIDE = """import json

import pytorch_lightning as pl
import torch

with open("../settings/rates.json") as file:
    RATE = json.load(file)["rate"]


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=RATE)


if __name__ == "__main__":
    trainer = pl.Trainer(max_epochs=1, OPTION, logger=False, enable_checkpointing=False)
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.randn(16, 3), batch_size=4))
"""


def beside(folder: Path, text: str, settings: str = "settings") -> Path:
    (folder / "recipes").mkdir(parents=True)
    (folder / settings).mkdir()
    (folder / "recipes" / "train.py").write_text(text)
    (folder / settings / "rates.json").write_text('{"rate": 0.1}')
    return folder


@pytest.mark.parametrize(("settings", "verdict"), [("settings", "preserved"), ("elsewhere", "inconclusive")])
def test_a_script_that_reads_files_from_where_it_lies_is_started_there(
    settings: str, verdict: str, tmp_path: Path
) -> None:
    trees = [
        beside(tmp_path / role, BESIDE.replace("OPTION", option), settings)
        for role, option in (("before", "gpus=0"), ("after", 'accelerator="cpu"'))
    ]
    said: list[str] = []
    evidence = prove(*trees, replace(REQUEST, changed=("recipes/train.py",)), said.append)
    assert evidence.verdict == verdict, evidence
    told = [fact.text for fact in evidence.facts if fact.kind == "provided"]
    started = "a start in the script's own folder, which it reads files from: recipes"
    assert (started in told) is any("again, from recipes" in line for line in said) is (verdict == "preserved")


@pytest.mark.parametrize(
    ("script", "said", "is_from_there"),
    [
        ("src/qg/train.py", "../../data/a.pkl", True),
        ("src/train.py", "../data/a.pkl", False),
        ("src/train.py", "../../data/a.pkl", False),
        ("train.py", "../../data/a.pkl", False),
        ("src/qg/train.py", "data/a.pkl", False),
    ],
)
def test_a_file_that_lies_in_the_project_from_a_scripts_folder_alone_is_looked_for_from_there(
    script: str, said: str, is_from_there: bool, tmp_path: Path
) -> None:
    raw = failed(tmp_path, f"[Errno 2] No such file or directory: '{said}'")
    failure = raw.recording.failure
    assert failure
    raw = replace(raw, recording=replace(raw.recording, failure=replace(failure, type="FileNotFoundError")))
    found = from_its_folder(raw, raw, {}, Entry(script), tmp_path)
    assert (found is not None) is is_from_there
    other = replace(raw, recording=replace(raw.recording, failure=failure))
    assert from_its_folder(other, raw, {}, Entry(script), tmp_path) is None


OLD_PROTOCOL = """
from google.protobuf import descriptor_pb2, message, reflection, symbol_database
from google.protobuf.descriptor import FieldDescriptor

FieldDescriptor(
    name="step", full_name="Event.step", index=0, number=1, type=3, cpp_type=2, label=1, has_default_value=False,
    default_value=0, message_type=None, enum_type=None, containing_type=None, is_extension=False, extension_scope=None,
    serialized_options=None, file=None,
)
"""


def test_what_an_old_protoc_made_is_loaded(tmp_path: Path) -> None:
    """TensorBoard up to 2.8, which Lightning imports, has it; other implementations of protobuf raise a TypeError."""
    settings = scrubbed(tmp_path, 1)
    done = subprocess.run(
        [sys.executable, "-c", OLD_PROTOCOL], env=settings, capture_output=True, text=True, check=False
    )
    assert "TypeError" not in done.stderr, done.stderr
    settings.pop("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION")
    done = subprocess.run(
        [sys.executable, "-c", OLD_PROTOCOL], env=settings, capture_output=True, text=True, check=False
    )
    assert "Descriptors cannot be created directly" in done.stderr


@pytest.mark.parametrize(
    ("message", "args"),
    [
        ("You must specify 'db', e.g, db=<OPTION>\nAvailable options:\n\tmysql\n\tpostgresql", "db=mysql"),
        ("You must specify 'data/set', e.g, data/set=<OPTION>\nAvailable options:\n\treal\n\ttoy", "data/set=toy"),
        ("In 'a': Could not find 'net/x'\n\nAvailable options in 'net':\n\tb-1\nConfig search path:\n\tp=1", "net=b-1"),
        ("In 'a': Could not find 'net/x'\n\nConfig search path:\n\tprovider=main", None),
        ("Could not override 'db'.\nNo match in the defaults list.", None),
    ],
)
def test_an_option_that_a_configuration_asks_for_is_chosen_once(message: str, args: str | None) -> None:
    failed = replace(RAW, recording=replace(RAW.recording, fitted=False, failure=replace(BOOM, message=message)))
    again = otherwise(failed, failed, {})
    assert again == (({"chosen": (args,)}, f"with {args}, as its configuration asks") if args else None)
    assert again is None or otherwise(failed, failed, again[0]) is None
