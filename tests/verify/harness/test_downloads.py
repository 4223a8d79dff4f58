"""What a script fetches by itself where there is no network: nothing comes, and nothing else changes."""

from __future__ import annotations

import email.message
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from tests import warm
from tests.verify.harness.test_made_data import raised
from verify.harness import HARNESS
from verify.harness.downloads import is_asked

FETCHES = """
import io, os, socket, tarfile, urllib.request, zipfile
from pathlib import Path
{extra}

def unreached(*args, **kwargs):
    raise socket.gaierror("no network")

socket.create_connection = unreached
{code}
"""
SPEC = {
    "mode": "data", "script": "train.py", "args": [], "module": None, "seed": 1, "seconds": 100, "budget": 90,
    "namespaces": ["lightning.pytorch"], "limit_train_batches": 1, "limit_val_batches": 1, "max_epochs": 1,
    "memory": 4 << 30, "made": [],
}  # fmt: skip
READS = "\nfor line in open('data/set/a.csv').read().splitlines()[1:]:\n    float(line)\n"
TRAINS = """
import lightning as L, torch
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False).fit(
    Net(), torch.utils.data.DataLoader(torch.rand(4, 2)))
"""
WAYS = {
    "urlretrieve": """
urllib.request.urlretrieve("http://a.b/set.zip", "data/set.zip")
with zipfile.ZipFile("data/set.zip") as held:
    held.extractall("data")
os.remove("data/set.zip")
""",
    "urlopen": """
with urllib.request.urlopen("http://a.b/set.tar.gz") as got, open("data/set.tar.gz", "wb") as out:
    out.write(got.read())
tarfile.open("data/set.tar.gz", "r:gz").extractall("data")
""",
    "in memory": """
zipfile.ZipFile(io.BytesIO(urllib.request.urlopen("http://a.b/set.zip").read())).extractall("data")
""",
    "a path": """
Path("data/set.zip").write_bytes(urllib.request.urlopen("http://a.b/set.zip").read())
zipfile.ZipFile("data/set.zip").extractall("data")
""",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The plans to which scripts lead that fetch in each of these ways, and one that is reached but refused."""
    folder = tmp_path_factory.mktemp("downloads")
    refused = 'raise __import__("urllib.error").error.HTTPError("http://a.b", 404, "not found", {}, None)'
    codes = {**{name: code + READS for name, code in WAYS.items()}, "refused": refused}
    records = {}
    for number, (name, code) in enumerate(codes.items()):
        root = folder / str(number)
        (root / "tree" / "data").mkdir(parents=True)
        (root / "tree" / "datasets.py").write_text("CLASSES = 2\n")
        text = FETCHES.format(code=code + TRAINS, extra="import datasets")
        (root / "tree" / "train.py").write_text(text)
        record = root / "record.jsonl"
        (root / "spec.json").write_text(json.dumps({**SPEC, "record": str(record), "scratch": str(root)}))
        warm.run(root / "spec.json", root / "tree")
        records[name] = record
    events = {name: map(json.loads, record.read_text().splitlines()) for name, record in records.items()}
    return {name: [each["plan"] for each in held if each["event"] == "made"][-1] for name, held in events.items()}


@pytest.mark.parametrize("way", [*WAYS])
def test_what_is_read_after_it_was_fetched_is_made_up(way: str, found: dict[str, list[dict[str, Any]]]) -> None:
    """Also where the project has a module of the name of one that is watched."""
    assert [(entry["path"], entry["form"]) for entry in found[way]] == [("data/set/a.csv", "csv")]


def test_what_a_server_answers_is_left(found: dict[str, list[dict[str, Any]]]) -> None:
    assert found["refused"] == []


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("fetch(error)", True),
        ("raise error", False),
        ("fetch(ValueError())", False),
        ("fetch(refused)", False),
        ("hub(error)", False),
    ],
)
def test_only_what_a_client_fetches_for_the_script_is_answered(code: str, asked: bool, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    for module in ("urllib.request", "huggingface_hub.api"):
        held: dict[str, Any] = {"__name__": module}
        exec(compile("def fetch(error):\n    raise error\n", "/usr/lib/client.py", "exec"), held)
        names[module] = held["fetch"]
    names = {"fetch": names["urllib.request"], "hub": names["huggingface_hub.api"]}
    refused = HTTPError("http://a.b", 404, "not found", email.message.Message(), None)
    error = raised(tmp_path, code, error=URLError("no network"), refused=refused, **names)
    frames, trace = [], error.__traceback__
    while trace:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    assert is_asked(error, frames, tmp_path) is asked


OWN = """
import socket, sys, urllib.request
from pathlib import Path

sys.path[:0] = [sys.argv[1]]
from harness import downloads


def unreached(*args, **kwargs):
    raise socket.gaierror("no network")


socket.create_connection = unreached
downloads.stand_in(Path.cwd())
library = {"__name__": "another.library"}
text = "import urllib.request\\nget = lambda: urllib.request.urlopen('http://a.b/x')"
exec(compile(text, "/lib/library.py", "exec"), library)
assert urllib.request.urlopen("http://a.b/labels").read() == b""
with open("model.ckpt", "wb") as file:
    file.write(b"own")
assert Path("model.ckpt").read_bytes() == b"own"
assert urllib.request.urlopen("http://a.b/set").read() == b""
with open("set.zip", "wb") as file:
    assert file.name == "set.zip"
assert not Path("set.zip").exists()
try:
    library["get"]()
except OSError as error:
    assert "no network" in str(error)
else:
    raise AssertionError("a library was answered")
"""


def test_what_a_script_writes_itself_is_written_and_libraries_are_not_answered(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(OWN)
    words = [sys.executable, "script.py", str(HARNESS.parent.parent)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
