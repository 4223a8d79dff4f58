"""LIT101: what `gpus=` becomes, where it is left to a person, and what the rewritten call means."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightning.pytorch import Trainer

from codemods.code.literals import literal
from codemods.engine.plan import Plan
from codemods.rule import Example
from codemods.rules.trainer.gpus import read_gpus
from codemods.rules.trainer.lit101 import RULE
from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\nfrom pytorch_lightning import Trainer\n"


def run(text: str, **others: str) -> Plan:
    files = {"train.py": text, **{f"{name}.py": value for name, value in others.items()}}
    result = run_rules(files, RULE)
    assert not result.bugs
    return result


def rewrite(call: str, before: str = "") -> str:
    """The text of a call after the rule; the same where nothing is rewritten."""
    head = HEAD + before
    return run(f"{head}{call}\n").final().get("train.py", f"{head}{call}\n".encode()).decode()[len(head) : -1]


def findings(text: str, **others: str) -> list[tuple[int, str]]:
    return [(item.span.line, item.fix) for item in run(text, **others).findings]


@pytest.mark.parametrize("example", RULE.examples)
def test_examples(example: Example) -> None:
    result = run_rules({"train.py": example.before}, RULE, pins=example.pins)
    assert not result.bugs
    assert result.final().get("train.py", example.before.encode()).decode() == example.after
    assert not run(example.after).changes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Trainer(gpus=None)", 'Trainer(accelerator="cpu")'),
        ("Trainer(gpus=0)", 'Trainer(accelerator="cpu")'),
        ("Trainer(gpus=4)", 'Trainer(accelerator="gpu", devices=4)'),
        ("Trainer(gpus=-1)", 'Trainer(accelerator="gpu", devices=-1)'),
        ("Trainer(gpus='-1')", 'Trainer(accelerator="gpu", devices=-1)'),
        ("Trainer(gpus='0,1')", 'Trainer(accelerator="gpu", devices=[0, 1])'),
        ("Trainer(gpus='2, 3')", 'Trainer(accelerator="gpu", devices=[2, 3])'),
        ("Trainer(gpus='0,')", 'Trainer(accelerator="gpu", devices=[0])'),
        (
            "Trainer(gpus=(1 if a else 2) if b else 0)",
            'Trainer(accelerator="gpu" if b else "cpu", devices=(1 if a else 2) if b else 1)',
        ),
        (
            "Trainer(gpus=1 if (a if c else d) else 0)",
            'Trainer(accelerator="gpu" if (a if c else d) else "cpu", devices=1)',
        ),
        (
            "Trainer(gpus=list(range(n)))",
            'Trainer(accelerator="gpu" if n > 0 else "cpu", devices=list(range(n)) or 1)',
        ),
        (
            "Trainer(gpus=[i for i in range(n)])",
            'Trainer(accelerator="gpu" if n > 0 else "cpu", devices=[i for i in range(n)] or 1)',
        ),
        (
            "Trainer(gpus=[*range(a.n)])",
            'Trainer(accelerator="gpu" if a.n > 0 else "cpu", devices=[*range(a.n)] or 1)',
        ),
        ("Trainer(gpus=list(range(4)))", 'Trainer(accelerator="gpu", devices=list(range(4)))'),
        (
            "Trainer(gpus=list(range(len(ids))))",
            'Trainer(accelerator="gpu" if len(ids) else "cpu", devices=len(ids) or 1)',
        ),
        ("Trainer(gpus=int(kind == 'cuda'))", """Trainer(accelerator="gpu" if kind == 'cuda' else "cpu", devices=1)"""),
        ("Trainer(gpus=int(not cpu))", 'Trainer(accelerator="gpu" if not cpu else "cpu", devices=1)'),
        ("Trainer(gpus=1, accelerator='dp')", 'Trainer(devices=1, accelerator="gpu")'),
        ("Trainer(gpus=[3], accelerator='dp')", 'Trainer(devices=[3], accelerator="gpu")'),
        ("Trainer(gpus=[0,1])", 'Trainer(accelerator="gpu", devices=[0,1])'),
        ("Trainer(gpus=(0, 1))", 'Trainer(accelerator="gpu", devices=(0, 1))'),
        ("pl.Trainer(gpus=1)", 'pl.Trainer(accelerator="gpu", devices=1)'),
        ("Trainer(gpus=2, accelerator='gpu')", "Trainer(devices=2, accelerator='gpu')"),
        ("Trainer(accelerator='cuda', gpus='0,1')", "Trainer(accelerator='cuda', devices=[0, 1])"),
        ("Trainer(accelerator=None, gpus=2)", 'Trainer(accelerator="gpu", devices=2)'),
        ("Trainer(accelerator=None, gpus=0)", 'Trainer(accelerator="cpu")'),
        ("Trainer(gpus=None, accelerator='gpu', devices=2)", "Trainer(accelerator='gpu', devices=2)"),
        ("Trainer(gpus=None, tpu_cores=8)", "Trainer(tpu_cores=8)"),
        ("Trainer(accelerator='cpu', gpus=0)", "Trainer(accelerator='cpu')"),
        ("Trainer(gpus=1, tpu_cores=None)", 'Trainer(accelerator="gpu", devices=1, tpu_cores=None)'),
        ("Trainer(gpus = 1)", 'Trainer(accelerator = "gpu", devices = 1)'),
        ("Trainer(\n    gpus=1\n)", 'Trainer(\n    accelerator="gpu",\n    devices=1\n)'),
        (
            "Trainer(gpus=1,\n        max_epochs=3)",
            'Trainer(accelerator="gpu",\n        devices=1,\n        max_epochs=3)',
        ),
        (
            "Trainer(max_epochs=3,\n        gpus=1)",
            'Trainer(max_epochs=3,\n        accelerator="gpu",\n        devices=1)',
        ),
        (
            "Trainer(\n    max_epochs=3,  # short\n    # these\n    gpus=-1,  # all\n)",
            'Trainer(\n    max_epochs=3,  # short\n    # these\n    accelerator="gpu",\n    devices=-1,  # all\n)',
        ),
        (
            "Trainer(\n    gpus=1, max_epochs=3,\n    logger=False)",
            'Trainer(\n    accelerator="gpu", devices=1, max_epochs=3,\n    logger=False)',
        ),
        (
            "Trainer(\n    gpus=[\n        0,\n        1,\n    ],\n)",
            'Trainer(\n    accelerator="gpu",\n    devices=[\n        0,\n        1,\n    ],\n)',
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    assert rewrite(before) == after


@pytest.mark.parametrize(
    "call",
    [
        "Trainer(gpus='1')",
        "Trainer(gpus='0')",
        "Trainer(gpus=True)",
        "Trainer(gpus=False)",
        "Trainer(gpus=[])",
        "Trainer(gpus=[0, 0])",
        "Trainer(gpus=[True])",
        "Trainer(gpus=-2)",
        "Trainer(gpus=1.0)",
        "Trainer(gpus='auto')",
        "Trainer(gpus=',')",
        "Trainer(gpus=0, accelerator='gpu')",
        "Trainer(gpus=2, accelerator='cpu')",
        "Trainer(gpus=2, accelerator='auto')",
        "Trainer(gpus=2, accelerator=kind)",
        "Trainer(gpus=2, devices=1)",
        "Trainer(gpus=0, devices=2)",
        "Trainer(gpus=2, num_processes=2, devices=2)",
        "Trainer(gpus=find())",
        "Trainer(gpus=list(range(find())))",
        "Trainer(gpus=list(range(1, n)))",
        "Trainer(gpus=[i for i in range(n) if i])",
        "Trainer(gpus=[i + 1 for i in range(n)])",
        "Trainer(gpus=[i for i in range(n) for _ in m])",
        "Trainer(gpus=[*range(n), 8])",
        "Trainer(gpus=list(range(0)))",
        "Trainer(gpus=1.0 if x else 0)",
        "Trainer(gpus=2, accelerator='ddp_cpu')",
        "Trainer(gpus=2, accelerator='ddp', strategy='ddp')",
        "Trainer(*more, gpus=1)",
        "Trainer(a, b, c, d, e, f, g, gpus=1)",
        "Trainer(gpus=1, tpu_cores=8)",
        "Trainer(\n    gpus=None,  # why\n    accelerator='cpu',\n)",
    ],
)
def test_left_to_a_person(call: str) -> None:
    result = run(HEAD + call + "\n")
    assert [item.fix for item in result.findings] == ["manual"]
    assert "; " in result.findings[0].reason
    assert not result.changes


def test_both_versions_are_served() -> None:
    served = HEAD + (
        "if Version(pl.__version__) >= Version('2.0'):\n    t = Trainer(accelerator='gpu', devices=1)\n"
        "else:\n    t = Trainer(gpus=1)\n"
        "try:\n    t = Trainer(accelerator='gpu', devices=1)\nexcept TypeError:\n    t = Trainer(gpus=1)\n"
    )
    assert findings(served) == []
    never = "if pl.__version__ < '2.0':\n    t = Trainer(gpus=1)\n"
    assert findings(HEAD + never) == []
    assert findings(HEAD + never.replace("'2.0'", "LIMIT")) == [(4, "manual")]
    unrelated = "try:\n    t = Trainer(gpus=1)\nexcept OSError:\n    t = None\n"
    assert findings(HEAD + unrelated) == [(4, "safe")]


def test_never_by_spelling() -> None:
    assert findings("from ray import Trainer\nTrainer(gpus=1)\n") == []
    assert findings(HEAD + "def f(Trainer):\n    Trainer(gpus=1)\n") == []


def test_strategy_is_named_where_it_changes() -> None:
    def reason(call: str) -> str:
        return run(f"{HEAD}{call}\n").findings[0].reason

    assert "ddp_spawn" in reason("Trainer(gpus=2)")
    assert "ddp_spawn" not in reason("Trainer(gpus=1)")
    assert "ddp_spawn" not in reason("Trainer(gpus=2, strategy='ddp')")
    assert "unused parameters" in reason("Trainer(gpus=2, accelerator='ddp')")
    assert "unused parameters" not in reason("Trainer(gpus=2, accelerator='ddp', plugins=DDPPlugin())")


LITERALS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.text("0123,- ", max_size=5),
    st.lists(st.integers(-1, 4), max_size=3),
    st.lists(st.integers(0, 4), max_size=3).map(tuple),
)


def old_meaning(value: Any) -> tuple[str, Any] | None:
    """What Lightning 1.9.5 made of `gpus=`, as run there with many devices; None where it refused."""
    if value in (None, [], 0, "0") and not isinstance(value, bool):
        return "cpu", 1
    if isinstance(value, str):
        value = value.strip()
        try:
            value = [int(part) for part in value.split(",") if part.strip()] if "," in value else int(value)
        except ValueError:
            return None
    return "gpu", list(value) if isinstance(value, tuple) else value


@settings(deadline=None)
@given(LITERALS)
def test_means_what_it_meant(value: Any) -> None:
    text = rewrite(f"Trainer(gpus={value!r})")
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    given_ = {item.arg or "": literal(item.value)[1] for item in call.keywords}
    if read_gpus(ast.parse(repr(value), mode="eval").body) is None:
        assert "gpus" in given_
        return
    inspect.signature(Trainer.__init__).bind(None, **given_)
    devices = given_.get("devices", 1)
    assert (given_["accelerator"], list(devices) if isinstance(devices, tuple) else devices) == old_meaning(value)


@settings(deadline=None)
@given(
    st.sampled_from([", ", ",", ",\n    ", ",  # note\n    "]),
    st.lists(st.sampled_from(["max_epochs=1", "logger=[1,\n  2]", "callbacks=None"]), unique=True),
    st.integers(0, 3),
    st.sampled_from(["gpus=1", "gpus=[0, 1]", "gpus=None", 'gpus = "0,1"']),
    st.sampled_from(["", ",", ",\n"]),
)
def test_layout(separator: str, others: list[str], place: int, gpus: str, end: str) -> None:
    arguments = [*others[:place], gpus, *others[place:]]
    before = f"Trainer({separator.join(arguments)}{end})"
    after = rewrite(before)
    ast.parse(after)
    old = before.split(gpus)
    assert after.startswith(old[0]) and after.endswith(old[1])
    assert rewrite(after) == after


def test_finding_loads_no_libcst() -> None:
    code = (
        "import sys\nfrom codemods.engine.plan import find\nfrom codemods.engine.scan import Options\n"
        "from codemods.code.source import Source\nfrom codemods.rules.trainer.lit101 import RULE\n"
        "text = b'from pytorch_lightning import Trainer\\nTrainer(gpus=1)\\n'\n"
        "assert find([Source('a.py', 'python', text)], Options((RULE,))).findings\n"
        "assert 'libcst' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_processes_take_the_place_of_dataparallel_unsafely() -> None:
    made = run_rules({"a.py": HEAD + "Trainer(gpus=2, accelerator='dp')\n"}, rule("LIT101"), unsafe=True)
    assert made.final()["a.py"].decode() == HEAD + "Trainer(devices=2, strategy='ddp', accelerator=\"gpu\")\n"
    assert [(item.fix, "a batch of its own" in item.reason) for item in made.findings] == [("unsafe", True)]


@pytest.mark.parametrize(
    ("around", "kept"),
    [
        pytest.param("n = 2\ndef go():\n    def other():\n        n = 0\n    ", True, id="of a function inside"),
        pytest.param("n = 2\ndef other():\n    n = 0\n", True, id="of another function"),
        pytest.param("n = 2\nclass Other:\n    n = 0\n", True, id="of a class"),
        pytest.param("n = 2\nother = [n for n in (0, 1)]\n", True, id="of a comprehension"),
        pytest.param("n = 2\nother = {m: n for m, n in pairs}\n", True, id="of a comprehension of pairs"),
        pytest.param("n = 2\ndef other():\n    global n\n    n = 0\n", False, id="of the module, by a function"),
    ],
)
def test_a_name_is_read_as_it_is_bound_there(around: str, kept: bool) -> None:
    text = f"from pytorch_lightning import Trainer\n\n{around}Trainer(gpus=n)\n"
    new = 'accelerator="gpu", devices=n' if kept else 'accelerator="gpu" if n else "cpu", devices=n or 1'
    assert rewritten({"a.py": text}, rule("LIT101")) == {"a.py": text.replace("gpus=n", new)}


@pytest.mark.parametrize(
    ("accelerator", "devices"),
    [
        ("'cpu' if n == 0 else 'gpu'", 'n or "auto"'),
        ("'gpu' if on else ('mps' if n else 'cpu')", 'n or "auto"'),
        ("'cpu' if n == 0 else 'dp'", None),
        ("'cpu' if n == 0 else on", None),
    ],
)
def test_a_choice_of_hardware_beside_it_stays(accelerator: str, devices: str | None) -> None:
    text = f"{HEAD}def go(n: int, on):\n    return Trainer(gpus=n, accelerator={accelerator})\n"
    made = run(text)
    if devices is None:
        assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    else:
        after = made.final()["train.py"].decode()
        assert after == text.replace("gpus=n", f"devices={devices}")
        assert run(after).changes == ()
