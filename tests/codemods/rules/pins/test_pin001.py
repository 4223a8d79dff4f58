"""PIN001: which requirements move, with which code, and what is left to a person."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.rule import Example
from codemods.rules.pins.pin001 import RULE
from codemods.rules.trainer.lit101 import RULE as GPUS
from tests.codemods.support import rewritten, rule, run_rules

OLD = "from pytorch_lightning import Trainer\nTrainer(gpus=1)\n"
OPEN = "from pytorch_lightning import Trainer\nTrainer(gpus=n)\n"
NEW = "from pytorch_lightning import Trainer\nTrainer(accelerator='cpu')\n"
NOT = "!=2.6.2,!=2.6.3"


def run(files: dict[str, str]) -> tuple[dict[str, str], Plan]:
    """The files after the rules, and the plan."""
    after = rewritten(files, GPUS, RULE)
    assert rewritten(after, GPUS, RULE) == after
    return after, run_rules(files, GPUS, RULE)


def pinned(text: str, code: str = OLD, path: str = "requirements.txt") -> tuple[str, list[tuple[str, str]]]:
    """A manifest after the rules, and its findings (level and reason)."""
    after, result = run({path: text, "train.py": code})
    return after[path], [(item.fix, item.reason) for item in result.findings if item.code == "PIN001"]


@pytest.mark.parametrize("example", RULE.examples)
def test_examples(example: Example) -> None:
    after, _ = run({example.path: example.before, **dict(example.files)})
    assert after[example.path] == example.after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pytorch-lightning==1.8.0", "pytorch-lightning==2.6.6"),
        ("pytorch-lightning", f"pytorch-lightning>=2.0,{NOT}"),
        ("a\npytorch_lightning[extra] ~=1.9.0 ; x86  # why\nb", None),
        ("a\r\npytorch_lightning[extra] ~=1.9.0  # why\r\nb", "a\r\npytorch_lightning[extra] ~=2.6.6  # why\r\nb"),
        ("lightning>=1.8;python_version>='3.7'", f"lightning>=2.0,{NOT};python_version>='3.7'"),
        ("lightning (>=1.8)", f"lightning (>=2.0,{NOT})"),
        (f"lightning>=2.0,{NOT}", f"lightning>=2.0,{NOT}"),
        ("lightning==1.8\nlightning==1.8\n", "lightning==2.6.6\nlightning==2.6.6\n"),
    ],
)
def test_moves_with_rewritten_code(before: str, after: str | None) -> None:
    text, found = pinned(before)
    assert text == (after or before)
    assert [fix for fix, _ in found] == ["manual" if after is None else "safe"] * len(found)


@pytest.mark.parametrize(
    ("before", "after", "fix"),
    [
        ("pytorch-lightning==1.8.0", "pytorch-lightning==1.8.0", "manual"),
        ("pytorch-lightning>=1.5", f"pytorch-lightning>=1.5,{NOT}", "safe"),
        ("lightning", f"lightning{NOT}", "safe"),
        ("lightning==2.6.2", "lightning==2.6.6", "safe"),
        ("lightning==2.6.6", "lightning==2.6.6", None),
        (f"lightning>=2,{NOT}", f"lightning>=2,{NOT}", None),
        ("torch==1.8\ntorchmetrics==0.3", "torch==1.8\ntorchmetrics==0.3", None),
    ],
)
@pytest.mark.parametrize("code", [OPEN, NEW])
def test_without_rewritten_code(before: str, after: str, fix: str | None, code: str) -> None:
    text, found = pinned(before, code)
    assert text == after
    assert [item for item, _ in found] == ([fix] if fix else [])
    if fix == "manual":
        assert ("1 (train.py:2)" in found[0][1]) == (code is OPEN)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("pytorch-lightning @ git+https://github.com/x/pytorch-lightning", "address"),
        ("pytorch-lightning 1.8.1", "standard"),
        ("pytorch-lightning==$PL", "variable"),
        ("lightning==1.8 --hash=sha256:00", "hashes"),
        ("lightning==1.8\n    # via -r a.in\n", "environment"),
        ("lightning>=2.7", "keep one condition"),
        ("lightning==1.8; python_version < '3.8'", "no Python"),
    ],
)
def test_left_to_a_person(text: str, word: str) -> None:
    after, found = pinned(text)
    assert after == text
    assert [fix for fix, _ in found] == ["manual"]
    assert word in found[0][1] or word == "address"


OWN, FORK = (f"git+https://github.com/{name}/pytorch-lightning.git" for name in ("PyTorchLightning", "someone"))


@pytest.mark.parametrize(
    ("before", "after", "fix"),
    [
        (f"pytorch-lightning @ {OWN}@1.6.5  # why\n", "pytorch-lightning==2.6.6  # why\n", "safe"),
        (f"pytorch-lightning[extra] @ {OWN}@1.6.5 ; python_version > '3'", None, "safe"),
        (f"{OWN}@1.6.5#egg=pytorch-lightning\n", "pytorch-lightning==2.6.6\n", "safe"),
        (f"  -e {OWN}@1.6.5#egg=pytorch-lightning\n", "  pytorch-lightning==2.6.6\n", "safe"),
        (f"pytorch-lightning @ {FORK}@v1.6.5_fixes\n", "pytorch-lightning==2.6.6\n", "unsafe"),
        (f"{FORK}@release/1.6.x#egg=pytorch-lightning\n", "pytorch-lightning==2.6.*,!=2.6.2,!=2.6.3\n", "unsafe"),
    ],
)
def test_a_release_that_comes_from_an_address(before: str, after: str | None, fix: str) -> None:
    made = run_rules({"train.py": OLD, "requirements.txt": before}, GPUS, RULE, unsafe=True)
    [found] = [item for item in made.findings if item.code == "PIN001"]
    wanted = after or "pytorch-lightning[extra]==2.6.6 ; python_version > '3'"
    assert found.fix == fix and ("whether the release has what was changed there" in found.reason) == (fix == "unsafe")
    assert {item.path: item.after.decode() for item in made.changes}["requirements.txt"] == wanted
    again = run_rules({"train.py": NEW, "requirements.txt": wanted}, GPUS, RULE, unsafe=True)
    assert not [item for item in again.changes if item.path == "requirements.txt"]


def test_a_fork_is_left_by_default_and_so_is_a_release_that_suits() -> None:
    for text, code in (
        (f"pytorch-lightning @ {FORK}@v1.6.5_fixes\n", OLD),
        (f"pytorch-lightning @ {OWN}@1.6.5\n", NEW),
        (f"pytorch-lightning @ {OWN}@2.6.6\n", OLD),
        (f"pytorch-lightning @ {FORK}@abc\n", OLD),
    ):
        made = run_rules({"train.py": code, "requirements.txt": text}, GPUS, RULE)
        assert not [item for item in made.changes if item.path == "requirements.txt"]


def test_what_is_left_is_named() -> None:
    many = OLD + "".join(f"Trainer(gpus=n{index})\n" for index in range(4))
    _, found = pinned("pytorch-lightning==1.6.5", many)
    reason = found[0][1]
    assert "left to repair by hand: 4 (train.py:3, train.py:4, train.py:5, ...)" in reason
    assert "pip 24.1" in reason
    assert "pip 24.1" not in pinned("pytorch-lightning==1.9.5")[1][0][1]
    assert "malicious" in pinned("pytorch-lightning>=1.5")[1][0][1]


def test_beside_a_moved_one() -> None:
    text = (
        '[project]\nrequires-python = ">=3.8"\n'
        'dependencies = ["lightning==1.9.5", "torch==1.13.1", "torchmetrics<0.7", "numpy"]\n'
    )
    after, found = pinned(text, path="pyproject.toml")
    assert after == (
        '[project]\nrequires-python = ">=3.10"\n'
        'dependencies = ["lightning==2.6.6", "torch==2.3.1", "torchmetrics<2.0", "numpy"]\n'
    )
    assert [fix for fix, _ in found] == ["safe", "safe", "safe", "safe"]
    _, calm = pinned(text, NEW, "pyproject.toml")
    assert [fix for fix, _ in calm] == ["manual"]
    modern = text.replace("3.8", "3.10").replace("==1.13.1", ">=1.13").replace("<0.7", "")
    assert [fix for fix, _ in pinned(modern, path="pyproject.toml")[1]] == ["safe"]


def test_generations() -> None:
    files = {
        "requirements.txt": "pytorch-lightning==1.7.4\n",
        "train.py": OLD,
        "lib/old.py": OLD,
        "second/requirements.txt": "lightning==2.2.0\n",
        "second/train.py": NEW,
    }
    after, result = run(files)
    assert after["requirements.txt"] == "pytorch-lightning==2.6.6\n"
    assert after["second/requirements.txt"] == "lightning==2.2.0\n"
    assert [item.fix for item in result.findings if item.path == "second/requirements.txt"] == ["manual"]


def test_folders_without_code_serve_the_one_above() -> None:
    files = {
        "requirements/base.txt": "pytorch-lightning>1.7.0, <2.0.0  # strict\n",
        "docker/requirements.txt": "pytorch-lightning==1.8.0\n",
        "docs/requirements.txt": "sphinx\n",
        "pyproject.toml": '[project]\ndependencies = ["pytorch-lightning~=1.9.0"]\n',
        "src/train.py": OLD,
        "second/pyproject.toml": '[project]\ndependencies = ["lightning>=2.0,<2.6"]\n',
        "second/train.py": NEW,
    }
    after, _ = run(files)
    assert after["requirements/base.txt"] == "pytorch-lightning>=2.0.0, <3.0.0, !=2.6.2, !=2.6.3  # strict\n"
    assert after["docker/requirements.txt"] == "pytorch-lightning==2.6.6\n"
    assert '"pytorch-lightning~=2.6.6"' in after["pyproject.toml"]
    assert after["second/pyproject.toml"] == files["second/pyproject.toml"]


def test_the_only_manifest_is_for_all_code() -> None:
    after, _ = run({"src/python/requirements.txt": "lightning==1.9.0\n", "src/python/a.py": NEW, "train.py": OLD})
    assert after["src/python/requirements.txt"] == "lightning==2.6.6\n"
    after, _ = run(
        {"a/requirements.txt": "lightning==1.9.0\n", "a/a.py": NEW, "setup.py": "'lightning==1.8'", "train.py": OLD}
    )
    assert after["a/requirements.txt"] == "lightning==1.9.0\n"


def test_poetry_tables() -> None:
    text = (
        '[tool.poetry.dependencies]\npython = "^3.10"\n'
        'pytorch-lightning = { version = "~1.8", extras = ["extra"] } # "~1.8"\n'
        'other = "~1.8"\ntorch = "^1.8.1"\n'
    )
    after, found = pinned(text, path="pyproject.toml")
    assert after == text.replace('{ version = "~1.8"', f'{{ version = "~2.6,{NOT}"').replace("^1.8.1", "^2.1.0")
    assert [fix for fix, _ in found] == ["safe", "safe"]


def test_broken_toml_is_named() -> None:
    after, found = pinned("[project\nlightning", path="pyproject.toml")
    assert after == "[project\nlightning"
    assert [fix for fix, _ in found] == ["manual"]


def test_an_excluded_target_keeps_out_the_malicious_all_the_same() -> None:
    text, found = pinned("lightning>=1.8,!=2.6.6")
    assert text == f"lightning>=1.8,!=2.6.6,{NOT}"
    assert found[0][0] == "safe" and "keep one condition" in found[0][1]
    assert [fix for fix, _ in pinned(text)[1]] == ["manual"]
    assert [fix for fix, _ in pinned("lightning==2.6.3,<2.6.4", NEW)[1]] == ["manual"]


HALF = "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n\n\ndef other(n):\n    return Trainer(gpus=n)\n"


@pytest.mark.parametrize(
    ("pin", "moved"),
    [
        ("pytorch-lightning>=1.7,<2", None),
        ("pytorch-lightning==1.9.5", None),
        ("pytorch-lightning==1.5.10", "pytorch-lightning==2.6.6"),
        ("pytorch-lightning>=1.5", "pytorch-lightning>=1.5,!=2.6.2,!=2.6.3"),
    ],
)
def test_a_pin_that_runs_what_was_rewritten_waits_for_what_is_left(pin: str, moved: str | None) -> None:
    made = run_rules({"train.py": HALF, "requirements.txt": f"{pin}\n"})
    assert made.bugs == ()
    assert made.final().get("requirements.txt") == (f"{moved}\n".encode() if moved else None)
    (finding,) = [finding for finding in made.findings if finding.code == "PIN001"]
    if not moved:
        assert finding.fix == "manual"
        assert "when these places are repaired: 1 (train.py:7)" in finding.reason


def test_open_requirement_loses_the_releases_that_rewritten_code_does_not_run_on_even_while_other_code_waits() -> None:
    code = (
        "from pytorch_lightning import LightningModule\n\n\n"
        "class Model(LightningModule):\n"
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure):\n"
        "        optimizer.step(closure=optimizer_closure)\n\n"
        "    def validation_step(self, batch, batch_idx):\n        pass\n\n"
        "    def on_epoch_start(self):\n"
        "        print(self.current_epoch)\n"
    )
    files = {"model.py": code, "requirements.txt": "pytorch-lightning>=1.5\n"}
    made = run_rules(files)
    assert {item.code: item.applied for item in made.findings if item.code in ("OPT004", "LIT211")} == {
        "OPT004": True,
        "LIT211": False,
    }
    assert made.final()["requirements.txt"] == b"pytorch-lightning>=2.0,!=2.6.2,!=2.6.3\n"


def test_a_document_keeps_no_requirement_back() -> None:
    head = "from pytorch_lightning import LightningDataModule\n\n\n"
    code = f"{head}class A(LightningDataModule):\n    def teardown(self): ...\n"
    shown = "```python\nfrom pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n```\n"
    files = {"requirements.txt": "pytorch-lightning>=2.0,<=2.6.1\n", "a.py": code, "README.md": shown}
    rules = [rule("LIT210"), rule("LIT118"), RULE]
    assert [item.code for item in run_rules(files, *rules).findings if not item.applied] == ["LIT118"]
    assert rewritten(files, *rules)["requirements.txt"] == f"pytorch-lightning>=2.0,<=2.6.6,{NOT}\n"
