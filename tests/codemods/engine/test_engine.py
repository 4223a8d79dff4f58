"""The engine: what names stand for, what is thrown away, and that the result depends on nothing else."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import libcst as cst
import pytest

from codemods.code.source import PythonFile, Source
from codemods.engine import workers
from codemods.engine.plan import find, plan
from codemods.engine.scan import Options
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule, all_rules, select_rules
from tests.codemods.support import rule, run_rules, sources

GPUS = rule("LIT101")


def calls_trainer(*lines: str) -> bool:
    """Whether `Trainer(gpus=1)` behind these lines is taken for Lightning's Trainer."""
    text = "\n".join(lines) + "\n"
    return bool(run_rules({"train.py": text}, GPUS).changes)


@pytest.mark.parametrize(
    "lines",
    [
        ("from pytorch_lightning import Trainer", "Trainer(gpus=1)"),
        ("from lightning import Trainer as T", "T(gpus=1)"),
        ("import lightning as L", "L.Trainer(gpus=1)"),
        ("import lightning as L", "L.pytorch.Trainer(gpus=1)"),
        ("import pytorch_lightning", "pytorch_lightning.Trainer(gpus=1)"),
        ("import pytorch_lightning.trainer.trainer as t", "t.Trainer(gpus=1)"),
        ("from pytorch_lightning import *", "Trainer(gpus=1)"),
        (
            "try:",
            "    from lightning.pytorch import Trainer",
            "except ImportError:",
            "    from pytorch_lightning import Trainer",
            "Trainer(gpus=1)",
        ),
        ("def f():", "    from pytorch_lightning import Trainer", "    return Trainer(gpus=1)"),
    ],
)
def test_names_that_are_the_trainer(lines: tuple[str, ...]) -> None:
    assert calls_trainer(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("from transformers import Trainer", "Trainer(gpus=1)"),
        ("class Trainer: ...", "Trainer(gpus=1)"),
        ("from pytorch_lightning import Trainer", "Trainer = wrap(Trainer)", "Trainer(gpus=1)"),
        ("from pytorch_lightning import Trainer", "def f(Trainer):", "    return Trainer(gpus=1)"),
        ("from pytorch_lightning import Trainer", "for Trainer in kinds:", "    Trainer(gpus=1)"),
        (
            "try:",
            "    from apex import Trainer",
            "except ImportError:",
            "    from lightning import Trainer",
            "Trainer(gpus=1)",
        ),
        ("from lightning.fabric import Fabric as Trainer", "Trainer(gpus=1)"),
    ],
)
def test_names_that_only_look_like_it(lines: tuple[str, ...]) -> None:
    assert not calls_trainer(*lines)


def test_bases_are_followed_through_packages_that_re_export_them() -> None:
    files = {
        "pkg/__init__.py": "from .base import Base\n",
        "pkg/base.py": "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n",
        "train.py": (
            "from pkg import Base\n\n\nclass N(Base):\n    def test_epoch_end(self, outputs):\n        print(1)\n"
        ),
    }
    made = run_rules(files, rule("LIT201"))
    assert [change.path for change in made.changes] == ["train.py"]


def breaking(change: Any, code: str = "BAD001") -> Rule:
    """A rule that does something to every call of `target`."""

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        for call in file.calls:
            if isinstance(call.node.func, ast.Name) and call.node.func.id == "target":
                yield Match(
                    file.span(call.node), "m", "safe", "r", edits=(NodeEdit(call.node, change),), unit="together"
                )

    example = Example("target()\n", "target()\n")
    return Rule(code, "bad", "s", "w", "safe", "v", (b"target",), check, (example,))


def failing(node: cst.Call) -> cst.Call:
    raise RuntimeError("no such thing")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (failing, "no such thing"),
        (lambda node: node, "changed nothing"),
        (lambda node: node.with_changes(args=[cst.Arg(cst.Name("target"))]), "again"),
        (lambda node: cst.Name("class"), "does not parse"),
        (lambda node: cst.parse_expression("lambda a, a: 1"), "does not parse"),
    ],
)
def test_a_rewrite_that_does_not_hold_is_thrown_away_and_said(change: Any, why: str) -> None:
    made = run_rules({"a.py": "x = target(1)\n"}, breaking(change))
    assert made.changes == ()
    assert why in made.bugs[0]
    assert [(finding.fix, finding.applied) for finding in made.findings] == [("manual", False)]


@pytest.mark.parametrize("change", [failing, lambda node: cst.Name("done")])
def test_a_requirement_is_raised_for_no_rewrite_that_was_thrown_away(change: Any) -> None:
    files = {"a.py": "import pytorch_lightning\ntarget(1)\n", "requirements.txt": "pytorch-lightning==1.8.6\n"}
    made = run_rules(files, breaking(change, "LIT110"), rule("PIN001"))
    assert {*made.final()} == (set() if made.bugs else {"a.py", "requirements.txt"})
    assert bool(made.bugs) == (change is failing)
    levels = {finding.path: finding.fix for finding in made.findings}
    assert levels == dict.fromkeys(levels, "manual" if made.bugs else "safe")


def test_warnings_of_the_project_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    made = run_rules({"a.py": 'x = target() is "a"\n'}, breaking(lambda node: cst.Name("done")))
    assert made.final() == {"a.py": b'x = done is "a"\n'}
    assert not list(recwarn)


def test_a_file_that_nests_too_deeply_for_a_rule_is_said_and_stops_no_other() -> None:
    good = breaking(lambda node: cst.Name("done"))

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        return iter(check(file, facts)) if file.path == "deep.py" else good.check(file, facts)  # type: ignore[arg-type]

    made = run_rules({"a.py": "target()\n", "deep.py": "target()\n"}, replace(good, check=check))
    assert made.final() == {"a.py": b"done\n"}
    said = [(item.path, item.fix, item.reason) for item in made.findings if not item.applied]
    assert [item[:2] for item in said] == [("deep.py", "manual")] and "nests too deeply" in said[0][2]


DEEP = [
    "if x == {}:\n    pass\n" + "".join(f"elif x == {number}:\n    pass\n" for number in range(600)),
    f"x = {{}} + {' + '.join(['y'] * 600)}\n",
    f"x = {{}}{'.relu()' * 400}\n",
]


@pytest.mark.parametrize("deep", DEEP, ids=["cases", "sum", "chain"])
def test_a_statement_beside_one_that_nests_too_deeply_is_rewritten(deep: str) -> None:
    made = run_rules({"deep.py": f"target()\n{deep.format('y')}"}, breaking(lambda node: cst.Name("done")))
    assert made.final() == {"deep.py": f"done\n{deep.format('y')}".encode()}
    assert made.bugs == ()


@pytest.mark.parametrize("deep", DEEP, ids=["cases", "sum", "chain"])
def test_a_statement_that_nests_too_deeply_to_be_rewritten_is_said_and_is_no_bug(deep: str) -> None:
    made = run_rules({"deep.py": f"x = 1\n{deep.format('target()')}"}, breaking(lambda node: cst.Name("done")))
    assert (made.changes, made.bugs) == ((), ())
    (said,) = made.findings
    assert (said.fix, said.applied) == ("manual", False)
    assert said.reason == "Not rewritten: its code nests too deeply, or that of a file which changes with it."


def test_files_of_one_change_fall_together() -> None:
    def change(node: cst.Call) -> cst.BaseExpression:
        return failing(node) if node.args else cst.Name("done")

    made = run_rules({"a.py": "target()\n", "b.py": "target(1)\n", "c.py": "target()\n"}, breaking(change))
    assert made.changes == ()
    assert [finding.applied for finding in made.findings] == [False, False, False]


def test_files_of_one_change_fall_together_when_a_second_run_would_change_one() -> None:
    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        again = not facts.collected("BAD001") and file.path == "b.py"
        for call in file.calls:
            name = ast.unparse(call.node.func)
            if name == "target" or (again and name == "done"):
                yield Match(file.span(call.node), "m", "safe", "r", edits=(NodeEdit(call.node, done),), unit="together")

    def done(node: cst.Call) -> cst.Call:
        return node.with_changes(func=cst.Name("done"), args=[*node.args, cst.Arg(cst.Integer("1"))])

    def collect(file: PythonFile) -> bool | None:
        return any(ast.unparse(call.node.func) == "target" for call in file.calls) or None

    shown = replace(breaking(done), check=check, collect=collect, triggers=(b"target", b"done"))
    made = run_rules({"a.py": "target()\n", "b.py": "target()\n"}, shown)
    assert made.changes == ()
    assert [finding.applied for finding in made.findings] == [False, False]


def test_files_of_one_change_fall_together_when_a_rule_before_took_a_part_away() -> None:
    whole = breaking(lambda node: cst.Name("done"), "BAD002")

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        for match in whole.check(file, facts) if file.path == "a.py" else ():
            yield replace(match, unit="")

    first = replace(whole, code="AAA001", check=check)
    made = run_rules({"a.py": "target()\n", "b.py": "target()\n", "c.py": "target()\n"}, first, whole)
    assert [(change.code, change.path) for change in made.changes] == [("AAA001", "a.py")]
    assert [item.applied for item in made.findings if item.code == "BAD002"] == [False, False, False]
    assert "already changed a part of this place" in made.bugs[0]


def test_a_change_of_one_file_that_a_rule_before_made_as_well_is_no_bug() -> None:
    whole = breaking(lambda node: cst.Name("done"), "BAD002")
    made = run_rules({"a.py": "target()\n"}, replace(whole, code="AAA001"), whole)
    assert [(change.code, change.path) for change in made.changes] == [("AAA001", "a.py")]
    assert made.bugs == () and all(item.fix == "safe" for item in made.findings)
    assert [item.reason for item in made.findings] == ["r", "The repair of AAA001 answers it."]


def test_what_cannot_be_rewritten_any_more_when_its_turn_comes_is_left_and_said() -> None:
    fill = breaking(lambda node: node.with_changes(args=[cst.Arg(cst.Integer("2"))]), "AAA001")
    name = breaking(lambda node: cst.Name("done"), "BBB001")

    def is_bare(match: Match) -> bool:
        (edit,) = match.edits
        return isinstance(edit, NodeEdit) and isinstance(edit.node, ast.Call) and not edit.node.args

    def filled(file: Any, facts: Facts) -> Iterator[Match]:
        yield from filter(is_bare, fill.check(file, facts))

    def named(file: Any, facts: Facts) -> Iterator[Match]:
        for match in name.check(file, facts):
            yield match if is_bare(match) else replace(match, fix="manual", reason="it is given something", edits=())

    files = {"a.py": "target()\ntarget(1)\n"}
    made = run_rules(files, replace(fill, check=filled), replace(name, check=named))
    assert made.bugs == ()
    assert made.final() == {"a.py": b"target(2)\ntarget(1)\n"}
    assert [(item.code, item.span.line, item.applied, item.reason) for item in made.findings] == [
        ("AAA001", 1, True, "r"),
        ("BBB001", 1, False, "it is given something"),
        ("BBB001", 2, False, "it is given something"),
    ]


def test_what_can_be_rewritten_only_when_its_turn_comes_is_said_to_be() -> None:
    fill = breaking(lambda node: node.with_changes(args=[cst.Arg(cst.Integer("2"))]), "AAA001")
    name = breaking(lambda node: cst.Name("done"), "BBB001")

    def is_bare(match: Match) -> bool:
        (edit,) = match.edits
        return isinstance(edit, NodeEdit) and isinstance(edit.node, ast.Call) and not edit.node.args

    def filled(file: Any, facts: Facts) -> Iterator[Match]:
        yield from filter(is_bare, fill.check(file, facts))

    def named(file: Any, facts: Facts) -> Iterator[Match]:
        for match in name.check(file, facts):
            yield replace(match, fix="manual", reason="it is given nothing", edits=()) if is_bare(match) else match

    made = run_rules({"a.py": "target()\n"}, replace(fill, check=filled), replace(name, check=named))
    assert made.final() == {"a.py": b"done\n"}
    assert [(item.code, item.fix, item.applied, item.reason) for item in made.findings] == [
        ("AAA001", "safe", True, "r"),
        ("BBB001", "safe", True, "r"),
    ]


def test_one_file_that_does_not_parse_stops_no_other() -> None:
    good = "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n"
    made = run_rules(
        {
            "good.py": good,
            "two.py": "print 'gpus'\n",
            "merge.py": "<<<<<<< HEAD\ngpus = 1\n=======\n>>>>>>> x\n",
            "bytes.py": b"# gpus \xff\xfe\n",
            "nul.py": b"gpus = 1\0\n",
        },
        GPUS,
    )
    assert [change.path for change in made.changes] == ["good.py"]
    assert [path for path, _ in made.skipped] == ["bytes.py", "merge.py", "nul.py", "two.py"]
    assert all(reason for _, reason in made.skipped)


def test_a_comment_silences_only_what_it_names() -> None:
    line = "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)"
    assert run_rules({"a.py": f"{line}  # fixer: ignore[LIT101]\n"}, GPUS).findings == ()
    assert run_rules({"a.py": f"{line}  # fixer: ignore\n"}, GPUS).findings == ()
    assert run_rules({"a.py": f"{line}  # fixer: ignore[TBP001]\n"}, GPUS).changes
    assert run_rules({"a.py": f"{line}; s = '# fixer: ignore'\n"}, GPUS).changes


def test_a_comment_works_in_requirements_too() -> None:
    line = "pytorch-lightning==2.6.2"
    assert run_rules({"requirements.txt": f"{line}\n"}).changes
    assert run_rules({"requirements.txt": f"{line}  # fixer: ignore[PIN001]\n"}).findings == ()


def test_processes_change_nothing_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "POOL_BYTES", 0)
    files = {f"m{number}.py": f"import pytorch_lightning as pl\n\npl.Trainer(gpus={number})\n" for number in range(30)}
    one = plan(sources(files), Options(all_rules(), jobs=1))
    two = plan(list(reversed(sources(files))), Options(all_rules(), jobs=2))
    assert one == two
    assert len(one.changes) == 30


def test_find_says_what_plan_would_change() -> None:
    files = {example.path: example.before for item in all_rules() if not item.last for example in item.examples[:1]}
    options = Options(all_rules())
    assert find(sources(files), options).findings == plan(sources(files), options).findings


def test_codes_select_by_prefix_and_unknown_ones_are_named() -> None:
    assert {item.code[:3] for item in select_rules(("LIT", "PIN001"), ())} == {"LIT", "PIN"}
    assert {item.code for item in select_rules(("LIT201",), ())} == {"LIT201"}
    assert "LIT201" not in {item.code for item in select_rules((), ("LIT2",))}
    with pytest.raises(ValueError, match="XYZ"):
        select_rules(("XYZ",), ())


def test_rules_go_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(all_rules())) == all_rules()


def test_a_file_is_parsed_once_and_a_rule_sees_those_alone_that_hold_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    seen: list[str] = []
    parse = PythonFile.parse

    def counted(source: Source) -> PythonFile:
        parsed.append(source.path)
        return parse(source)

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        seen.append(file.path)
        assert {"a.py", "b.py"} == facts.files.keys()
        yield from ()

    monkeypatch.setattr(PythonFile, "parse", counted)
    example = Example("target(old=1)\n", "target(old=1)\n")
    asking = Rule("ASK001", "asking", "s", "w", "safe", "v", (b"target",), check, (example,), words=(b"old",))
    files = {"a.py": "target(old=1)\n", "b.py": "target(older=1)\n", "c.py": "old = 1\n"}
    assert find(sources(files), Options((asking, GPUS))).findings == ()
    assert (sorted(parsed), seen) == (["a.py", "b.py"], ["a.py"])
    parsed.clear()
    trains = "import pytorch_lightning as pl\n\npl.Trainer(gpus={})\n"
    many = {f"m{number}.py": trains.format(number) for number in range(9)}
    assert find(sources(many), Options(all_rules())).findings
    assert sorted(parsed) == sorted(many)


@pytest.mark.parametrize(("first", "second"), [("ONE001", "TWO001"), ("TWO001", "ONE001")])
def test_a_rule_is_asked_of_what_another_wrote(first: str, second: str) -> None:
    def renaming(code: str, old: str, new: str) -> Rule:
        def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
            for call in file.calls:
                if isinstance(call.node.func, ast.Name) and call.node.func.id == old:
                    edit = NodeEdit(call.node, lambda node: node.with_changes(func=cst.Name(new)))
                    yield Match(file.span(call.node), "m", "safe", "r", edits=(edit,))

        example = Example(f"{old}()\n", f"{new}()\n")
        return Rule(code, "renaming", "s", "w", "safe", "v", (b"call",), check, (example,), words=(old.encode(),))

    rules = (renaming(first, "call_one", "call_two"), renaming(second, "call_two", "call_three"))
    made = plan(sources({"a.py": "call_one()\n"}), Options(tuple(sorted(rules, key=lambda rule: rule.code))))
    assert (made.final(), made.bugs) == ({"a.py": b"call_three()\n"}, ())
    assert [change.code for change in made.changes] == [first, second]
    said = [(item.code, item.span, item.applied) for item in made.findings]
    assert said == [(code, made.findings[0].span, True) for code in (first, second)]
    assert made.findings[1].reason == f"r. It is in what {first} made."


LED_TO = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        optimizer = self.optimizers()
        loss = self.layer(batch).sum()
        loss.backward(retain_graph=True)
        optimizer.zero_grad()
        optimizer.step()
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.layer.parameters(), lr=0.1)
"""


def test_a_rule_knows_what_the_rules_made_that_lead_to_it() -> None:
    """BWD005 drops `retain_graph` under manual optimization alone, which OPT002 lets TBP101 switch on."""
    made = run_rules({"model.py": f"import torch\n{LED_TO}"}, unsafe=True)
    text = made.final()["model.py"].decode()
    assert made.bugs == ()
    assert "self.manual_backward(loss)\n" in text and "automatic_optimization = False" in text
    assert run_rules({"model.py": text}, unsafe=True).changes == ()


def test_progress_only_goes_on() -> None:
    base = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
    files = {
        "base.py": base,
        "train.py": "from base import Base\nimport pytorch_lightning as pl\n\npl.Trainer(gpus=1)\n",
    }
    files |= {
        f"net{number}.py": f"from {'base' if not number else f'net{number - 1}'} import Base\n" for number in range(5)
    }
    files["last.py"] = (
        "from net4 import Base\n\n\nclass Net(Base):\n    def training_epoch_end(self, outputs):\n        pass\n"
    )
    told: list[tuple[int, int]] = []
    find(sources(files), Options(all_rules()), lambda done, total: told.append((done, total)))
    assert told == sorted(told) and told[-1][0] == told[-1][1] > 2
