"""What is advised where nothing trained: what is true of the project, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fixer.config import read_config
from tests.verify.trees import tree
from verify.evidence import Evidence, Fact, Failure, Recording
from verify.judging.advice import advice, last_resort
from verify.judging.pasted import block
from verify.reading.missing_files import missing_file
from verify.reading.sources import Sources

NOT_THERE = "[Errno 2] No such file or directory: "


def told(folder: Path, *reasons: str) -> str:
    """What is advised for runs of an empty project that ended with these reasons."""
    tried = [Evidence("g", (), None, "inconclusive", reason) for reason in reasons]
    return "\n".join(fact.text for fact in advice(tried, Sources(folder)))


def lacking(folder: Path, script: str, message: str, kind: str = "FileNotFoundError", **others: str) -> str:
    """What is advised for a script that ended with an exception, in words."""
    return "\n".join(fact.text for fact in advised(folder, script, message, kind, **others))


def advised(folder: Path, script: str, message: str, kind: str, **others: str) -> tuple[Fact, ...]:
    root = tree(folder / "p", train=script, **others)
    ended = Recording("train.py", False, Failure(kind, message, "train.py:1"), *[()] * 3, 0, None, None, *[()] * 2,
                      None, None, 0.0)  # fmt: skip
    tried = Evidence("g", (), None, "inconclusive", f"neither tree trains: {kind}", after=ended)
    facts = advice([tried], Sources(root))
    assert {fact.kind for fact in facts} <= {"next"}
    return facts


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("SystemExit: exit status 2: train.py: error: the following arguments are required: --data", "args = [...]"),
        ("ValueError: mutable default <class 'a.b.C'> for field spect is not allowed: use x", "Python 3.10"),
        ("ModuleNotFoundError: No module named 'torch_scatter' at a.py:9", "torch_scatter could not be installed"),
        ("PackageMissing: taming is not installed, and V of it is used at a.py:3", "taming could not be installed"),
        ("RuntimeError: No CUDA GPUs are available", "has one"),
        ("NameNotFound: Environment `Pong` doesn't exist at a.py:9", "ale-py for Atari games"),
        ("URLError: <urlopen error torch.hub.load asks GitHub for a/b:main> at a.py:9", "--env TORCH_HOME="),
        ("AssertionError: datasets should not be an empty iterable at a.py:1", "its data set is empty here"),
        ("gaierror: [Errno -3] Temporary failure in name resolution", "without network"),
        ("MissingMandatoryValue: Missing mandatory value: data.path", "leaves values open"),
    ],
)
def test_each_reason_says_what_to_do(tmp_path: Path, reason: str, said: str) -> None:
    (tmp_path / "b.py").write_text("import taming, torch_scatter\n")
    assert said in told(tmp_path, reason)


def test_nothing_is_made_up_and_not_all_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, "TypeError: unsupported operand") == ""
    assert told(tmp_path, "ModuleNotFoundError: No module named 'pytorch_lightning.utilities.cli'") == ""
    assert told(tmp_path, "ModuleNotFoundError: No module named 'data.an4' at a.py:1") == ""
    many = told(tmp_path, "gaierror; No CUDA GPUs; arguments are required", "No CUDA GPUs")
    assert len(many.splitlines()) == 1


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("models.backbone", "`models/backbone.py` is imported and not in the repository: put it to fixer-data/models/"),
        ("deep.parts.backbone", "put it to fixer-data/src/deep/parts/backbone.py,"),
        ("backbone", ""),
        ("odels.backbone", ""),
        ("models.parts.backbone", ""),
    ],
)
def test_a_file_of_the_projects_own_that_is_not_there_is_no_package(module: str, said: str, tmp_path: Path) -> None:
    for place in ("models/net.py", "src/deep/parts/net.py"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("")
    left = {"models": "no manifest names it", "deep": "no manifest names it"}
    reason = (
        f"neither tree trains; both fail in the same way: ModuleNotFoundError: No module named '{module}' at a.py:1"
    )
    found = advice([Evidence("g", (), None, "inconclusive", reason)], Sources(tmp_path), left)
    text = found[0].text if found else ""
    assert said in text and ("in the repository" in text) == bool(said)


def test_what_has_to_be_compiled_is_named(tmp_path: Path) -> None:
    (tmp_path / "align").mkdir()
    (tmp_path / "align" / "core.pyx").write_text("")
    assert "align/core.pyx has to be compiled first" in told(tmp_path, "Error: No module named 'a.align.core' at x")
    assert "align/core.pyx" in told(tmp_path, "ImportError: cannot import name 'align' from partially initialized")
    assert told(tmp_path, "ImportError: cannot import name 'other' from x") == ""


READS = "import torch\ndata = open('data/train.csv').read()\n"
MAKES = "import numpy\nnumpy.save('made/x.npy', numpy.zeros(3))\n"


def test_data_that_nothing_in_the_project_writes_is_not_in_the_repository(tmp_path: Path) -> None:
    assert "`data/train.csv` is not in the repository" in lacking(tmp_path, READS, f"{NOT_THERE}'data/train.csv'")


@pytest.mark.parametrize(
    ("script", "others", "said"),
    [
        (READS + "open('data/train.csv', 'w').write('1')\n", {}, "is written at train.py:3"),
        (READS, {"prepare": "def make(frame):\n    frame.to_csv('data/train.csv')\n"}, "is written at prepare.py:2"),
        (READS, {"prepare": "PLACE = 'data/train.csv'\nopen(PLACE, mode='wb')\n"}, "is written at prepare.py:2"),
        (READS, {"prepare": "from pathlib import Path\nPath('data', 'train.csv').write_text('1')\n"}, "prepare.py:2"),
    ],
)
def test_data_that_the_project_makes_itself_is_not_asked_for(
    tmp_path: Path, script: str, others: dict[str, str], said: str
) -> None:
    found = lacking(tmp_path, script, f"{NOT_THERE}'data/train.csv'", **others)
    assert said in found and "not in the repository" not in found
    assert "`setup = " in found


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("the attribute does not exist", "AttributeError"),
        ("No such file or directory", "OSError"),
        (f"{NOT_THERE}'train.py'", "FileNotFoundError"),
        (f"{NOT_THERE}'lightning_logs/version_0/checkpoints/last.ckpt'", "FileNotFoundError"),
        (f"{NOT_THERE}''", "FileNotFoundError"),
    ],
)
def test_what_is_no_data_of_the_project_is_not_asked_for(tmp_path: Path, message: str, kind: str) -> None:
    assert lacking(tmp_path, READS, message, kind) == ""


def test_reading_is_not_writing(tmp_path: Path) -> None:
    sources = Sources(
        tree(tmp_path / "p", a="open('data/x.csv')\nopen('data/x.csv', 'rb')\nload('data/x.csv')\n", b=MAKES)
    )
    found = missing_file(Failure("FileNotFoundError", f"{NOT_THERE}'data/x.csv'", None), sources)
    assert found and (found.path, found.written) == ("data/x.csv", None)
    made = missing_file(Failure("FileNotFoundError", f"{NOT_THERE}'made/x.npy'", None), sources)
    assert made and made.written == "b.py:2"


def test_settings_can_be_taken_over_as_they_stand(tmp_path: Path) -> None:
    asked = "exit status 2: train.py: error: the following arguments are required: --data, -b/--batch-size"
    said = lacking(tmp_path, "pass\n", asked, "SystemExit")
    assert '`script = "train.py"` and `args = ["--data", "...", "--batch-size", "..."]`' in said


DATA = '[tool.fixer.verify]\ndata = "fixer-data"'
GIVES = [
    ("SystemExit", "exit status 2: train.py: error: the following arguments are required: --data",
     '[tool.fixer.verify]\nscript = "train.py"\nargs = ["--data", "..."]  # in place of "...", what only you know'),
    ("FileNotFoundError", f"{NOT_THERE}'data/train.csv'", DATA),
    ("ValueError", "num_samples should be a positive integer value, but got num_samples=0", DATA),
    ("URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", DATA),
    ("RuntimeError", "No CUDA GPUs are available", ""),
    ("Cut", "the budget of 5 min ended before this was done", '[tool.fixer.verify]\nbudget = "30m"'),
    ("FileNotFoundError", f"{NOT_THERE}'made/x.npy'", '[tool.fixer.verify]\nsetup = ["python prepare.py"]'),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "message", "text"), GIVES)
def test_what_is_to_be_done_can_be_pasted(kind: str, message: str, text: str, tmp_path: Path) -> None:
    found = advised(tmp_path, "pass\n", message, kind, prepare=MAKES)
    assert [fact.paste for fact in found] == [text]
    assert not text or read_config(text, "pyproject.toml").verify.enabled


@pytest.mark.parametrize(
    ("failure", "said"),
    [(Failure("ValueError", "it is no picture", "data.py:7"), "fix it by hand"), (None, "too little time")],
)
def test_made_up_data_is_blamed_only_for_a_failure(failure: Failure | None, said: str, tmp_path: Path) -> None:
    ended = Recording("train.py", False, failure, *[()] * 3, 0, None, None, *[()] * 2, None, None, 0.0)
    made = Fact("provided", "made-up files in place of data that is not here: data/a.csv")
    reason = "the budget of 7 min ended before this was done"
    tried = Evidence("g", (), None, "inconclusive", reason, after=ended, facts=(made,))
    (fact,) = advice([tried], Sources(tree(tmp_path / "p", train="pass\n")))
    assert said in fact.text and fact.paste


def test_where_a_script_stops_is_said_where_nothing_else_is_known() -> None:
    failure = Failure("TypeError", "it is no number", "data.py:7")
    ended = Recording("train.py", False, failure, *[()] * 3, 0, None, None, *[()] * 2, None, None, 0.0)
    (fact,) = last_resort([Evidence("g", (), None, "inconclusive", "x", after=ended)])
    assert fact.text.startswith("train.py stops at data.py:7: fix that, or name a command")
    left = Failure("SystemExit", "exit status 2: error:\nUnrecognized arguments: fit", None)
    told = Evidence("g", (), None, "inconclusive", "x", after=replace(ended, failure=left))
    (fact,) = last_resort([told])
    assert fact.text.startswith("train.py ends with exit status 2: error: Unrecognized arguments: fit: fix that, or")
    assert last_resort([Evidence("g", (), None, "inconclusive", "no script was run")]) == ()


def test_settings_that_fixer_would_refuse_are_not_offered(tmp_path: Path) -> None:
    sources = Sources(tree(tmp_path / "p", train="pass\n"))
    assert block('name it with `script = "other.py"`', sources) == ""
    assert block('name it with `script = "..."` and `args = [...]`', sources) == ""
    assert block('name it with `script = "train.py"` and `args = [...]`', sources).endswith('\nscript = "train.py"')


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("data/a.csv", "data/a.csv"),
        ("./data/a.csv", "data/a.csv"),
        ("/mnt/a.csv", "ROOT/mnt/a.csv"),
        ("~/a.csv", "HOME/a.csv"),
        ("/tmp/fixer-verify-1-abc/after0/tree/own/data/a.csv", "data/a.csv"),
        ("/tmp/fixer-verify-1-abc/after0/home/a.csv", "HOME/a.csv"),
    ],
)
def test_a_file_is_put_where_the_folder_of_data_has_it(path: str, place: str, tmp_path: Path) -> None:
    assert f"put a small one to fixer-data/{place}," in lacking(tmp_path, "pass\n", f"{NOT_THERE}'{path}'")


SIZED = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--n_layer', default=22)\n"


@pytest.mark.parametrize(
    ("script", "facts", "failure", "paste"),
    [
        (SIZED, (), Failure("LargeTraining", "its second batch did not come in 9 s", None),
         'script = "train.py"\nargs = ["--n_layer=2"]'),
        (SIZED, (), None, 'script = "train.py"\nargs = ["--n_layer=2"]'),
        (SIZED, ("arguments that make what is trained smaller: --n_layer=2",), None, 'budget = "30m"'),
        ("pass\n", (), Failure("SlowTraining", "a step takes 9 s", None), 'budget = "30m"'),
    ],
)  # fmt: skip
def test_what_was_too_large_is_to_be_made_smaller_and_no_data_is_blamed(
    script: str, facts: tuple[str, ...], failure: Failure | None, paste: str, tmp_path: Path
) -> None:
    ended = Recording("train.py", False, failure, *[()] * 3, 0, None, None, *[()] * 2, None, None, 0.0)
    given = [Fact("provided", text) for text in (*facts, "made-up files in place of data that is not here: data/a.csv")]
    reason = "neither tree trains; the patched one was ended before it trained: the budget of 10 min ended, after 9 s"
    tried = Evidence("g", (), None, "inconclusive", reason, after=ended, facts=tuple(given))
    (fact,) = advice([tried], Sources(tree(tmp_path / "p", train=script)))
    assert fact.paste == f"[tool.fixer.verify]\n{paste}"


@pytest.mark.parametrize(
    ("kind", "message", "is_blamed"),
    [
        ("AttributeError", "module 'torch._C' has no attribute '_cuda_x'", False),
        ("AttributeError", "`Trainer.root_gpu` was deprecated in v1.6 and is no longer accessible as of v1.8", False),
        ("AttributeError", "type object 'Trainer' has no attribute 'from_argparse_args'", False),
        ("ImportError", "cannot import name 'Gone' from 'x'", False),
        ("TypeError", "__init__() got an unexpected keyword argument 'gpus'", False),
        ("AttributeError", "'str' object has no attribute 'shape'", True),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'", True),
        ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x3 and 8x2)", True),
    ],
)
def test_made_up_data_is_not_blamed_for_what_code_says(
    kind: str, message: str, is_blamed: bool, tmp_path: Path
) -> None:
    ended = Recording("train.py", False, Failure(kind, message, "a.py:1"), *[()] * 3, 0, None, None, *[()] * 2, None,
                      None, 0.0)  # fmt: skip
    made = Fact("provided", "made-up files in place of data that is not here: data/a.csv")
    tried = Evidence("g", (), None, "inconclusive", "neither tree trains", after=ended, facts=(made,))
    found = advice([tried], Sources(tree(tmp_path / "p", train="pass\n")))
    assert [fact.text.startswith("the data that was made up") for fact in found] == [True] * is_blamed
