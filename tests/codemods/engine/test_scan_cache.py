"""What is remembered of a tree, and when it must not be used."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.code.source import PythonFile, Source
from codemods.engine import passes, scan, scan_cache, workers
from codemods.engine.scan import Options, Scan
from codemods.engine.scan_cache import Memory
from codemods.engine.triggers import is_indirect
from codemods.engine.workspace import Workspace
from codemods.lightning.facts import Facts
from codemods.rewrite.manual.fit_sites import FitStatement
from codemods.rule import Match, all_rules
from tests.codemods.support import sources

RULES = tuple(rule for rule in all_rules() if not rule.judges_ignores)
EXAMPLES = [
    {f"{number}/{example.path}": example.before, **{f"{number}/{path}": text for path, text in example.files}}
    for number, rule in enumerate(RULES)
    for example in rule.examples[:2]
]
BASE = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
MODEL = """from base import Base


class Model(Base):
    def validation_epoch_end(self, outputs):
        print(len(outputs))

    def validation_step(self, batch, batch_idx):
        return batch
"""


def told(found: Scan) -> tuple[object, ...]:
    return found.findings, dict(found.present), found.skipped


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the looks that are made from now on, with their files."""
    made: list[str] = []

    def watch(name: str) -> None:
        look = getattr(passes, name)

        def noted(workspace: Workspace, item: workers.Item) -> object:
            made.append(f"{name} {item[0]}")
            return look(workspace, item)

        monkeypatch.setattr(scan, name, noted)

    watch("read")
    watch("check")
    return made


def test_a_tree_that_is_the_same_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sources({"base.py": BASE, "model.py": MODEL})
    first = Memory()
    before = scan.scan(files, Options(RULES), memory=first)
    made = counted(monkeypatch)
    second = Memory(first.dump())
    assert told(scan.scan(files, Options(RULES), memory=second)) == told(before)
    assert made == []
    assert not second.learned


def test_a_change_is_seen_where_it_is_and_where_it_is_felt(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"base.py": BASE, "model.py": MODEL, "other.py": MODEL.replace("Model", "Other")}
    first = Memory()
    found = scan.scan(sources(files), Options(RULES), memory=first)
    assert {finding.path for finding in found.findings} == {"model.py", "other.py"}
    made = counted(monkeypatch)
    files["base.py"] = BASE.replace("pl.LightningModule", "object")
    after = scan.scan(sources(files), Options(RULES), memory=Memory(first.dump()))
    assert after.findings == ()
    assert [each for each in made if each.startswith("read")] == ["read base.py"]


def test_a_change_that_says_the_same_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"base.py": BASE, "model.py": MODEL, "other.py": MODEL.replace("from base", "from another")}
    first = Memory()
    before = scan.scan(sources(files), Options(RULES), memory=first)
    made = counted(monkeypatch)
    files["base.py"] = BASE + "\n# nothing but words\n"
    after = scan.scan(sources(files), Options(RULES), memory=Memory(first.dump()))
    assert told(after) == told(before)
    assert "check model.py" in made  # it is looked at together with what stands above its class
    assert "check other.py" not in made


def test_a_line_that_moved_is_not_remembered_where_it_was() -> None:
    before, after = (Source("train.py", "python", text) for text in (b"fit()\n", b"\nfit()\n"))
    fits = [FitStatement("trainer", "model", None, line=line) for line in (1, 2)]
    assert fits[0] == fits[1]
    first = Memory()
    first.keep_read(before, (), passes.FirstLook(None, (), collected={"OPT001": (fits[0],)}))
    second = Memory(first.dump())
    second.keep_read(after, (), passes.FirstLook(None, (), collected={"OPT001": (fits[1],)}))
    read = Memory(second.dump()).read(after, ())
    assert read and read.collected and read.collected["OPT001"][0].line == 2


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_what_is_remembered_is_what_would_be_found(data: st.DataObject) -> None:
    files: dict[str, str] = {}
    for example in data.draw(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=4)):
        files.update(example)
    first = Memory()
    scan.scan(sources(files), Options(RULES), memory=first)
    for _ in range(2):
        path = data.draw(st.sampled_from(sorted(files)))
        change = data.draw(st.sampled_from(["", "\n", "drop", "swap"]))
        files[path] = {"drop": "", "swap": files[data.draw(st.sampled_from(sorted(files)))]}.get(
            change, files[path] + change
        )
        options = Options(RULES, unsafe=data.draw(st.booleans()))
        again = Memory(first.dump())
        assert told(scan.scan(sources(files), options, memory=again)) == told(scan.scan(sources(files), options))
        first = again


def test_every_record_can_be_remembered() -> None:
    files = sources({path: text for example in EXAMPLES for path, text in example.items()})
    first = Memory()
    scan.scan(files, Options(RULES), memory=first)
    second = Memory(first.dump())
    scan.scan(files, Options(RULES), memory=second)
    assert not second.learned


def test_a_file_that_rules_follow_into_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sources({"base.py": BASE, "model.py": MODEL})
    asked = next(rule for rule in RULES if rule.code == "LIT201")

    def follow(file: object, facts: object) -> object:
        facts.open("plain.py")  # type: ignore[attr-defined]
        return iter(())

    rule = replace(asked, check=follow)
    files.append(Source("plain.py", "python", b"x = 1\n"))
    first = Memory()
    scan.scan(files, Options((rule,)), memory=first)
    made = counted(monkeypatch)
    scan.scan(files, Options((rule,)), memory=Memory(first.dump()))
    assert made == []
    files[-1] = Source("plain.py", "python", b"x = 2\n")
    scan.scan(files, Options((rule,)), memory=Memory(first.dump()))
    assert sorted(made) == ["check base.py", "check model.py"]


def test_so_is_one_that_they_followed_into_before_a_look_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = MODEL.replace("from base import Base", "from pytorch_lightning import LightningModule as Base")
    files = sources({"one.py": alone, "two.py": alone.replace("Model", "Other")})
    files.append(Source("plain.py", "python", b"x = 1\n"))
    asked = next(rule for rule in RULES if rule.code == "LIT201")

    leading: set[str] = set()

    def follow(file: PythonFile, facts: Facts) -> Iterator[Match]:
        if leading <= {file.path}:
            leading.add(file.path)
            facts.open("plain.py")
        return iter(())

    class Ended(Exception):
        pass

    def end_at_the_second_look(done: int, total: int) -> None:
        if made and made[-1].startswith("check"):
            raise Ended

    options = Options((replace(asked, check=follow),))
    made = counted(monkeypatch)
    first = Memory()
    with pytest.raises(Ended):
        scan.scan(files, options, end_at_the_second_look, first)
    assert [name for name in made if name.startswith("check")] == [made[-1]]
    second = first.again()
    scan.scan(files, options, memory=second)
    made.clear()
    files[-1] = Source("plain.py", "python", b"x = 2\n")
    scan.scan(files, options, memory=second.again())
    assert sorted(made) == ["check one.py", "check two.py"]


def test_nothing_is_used_of_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sources({"base.py": BASE, "model.py": MODEL})
    first = Memory()
    scan.scan(files, Options(RULES), memory=first)
    kept = first.dump()
    made = counted(monkeypatch)
    monkeypatch.setattr(scan_cache, "stamp", lambda: b"another")
    scan.scan(files, Options(RULES), memory=Memory(kept))
    assert "read model.py" in made


class _Payload:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("unpickled",)


@pytest.mark.parametrize("kept", [b"", b"cut", pickle.dumps(_Payload()), pickle.dumps((b"", {}, {}, {}))])
def test_what_cannot_be_used_is_forgotten(kept: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    files = sources({"base.py": BASE, "model.py": MODEL})
    found = scan.scan(files, Options(RULES), memory=Memory(kept))
    assert told(found) == told(scan.scan(files, Options(RULES)))
    assert capsys.readouterr().out == ""


def test_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "POOL_BYTES", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    files = sources({path: text for example in EXAMPLES for path, text in example.items()})
    one, three = Memory(), Memory()
    assert told(scan.scan(files, Options(RULES), memory=one)) == told(
        scan.scan(files, Options(RULES, jobs=3), None, three)
    )
    remembered = Memory(three.dump())
    assert told(scan.scan(files, Options(RULES), memory=remembered)) == told(scan.scan(files, Options(RULES)))
    assert not remembered.learned


def fail(workspace: Workspace, item: workers.Item) -> object:
    raise ZeroDivisionError(item[0])


def test_what_fails_in_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "POOL_BYTES", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(scan, "read", fail)
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError: .*model\.py"):
        scan.scan(sources({"model.py": MODEL}), Options(RULES, jobs=2))


def test_a_rule_is_present_where_a_form_of_the_file_can_hold_a_match_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{folder}/{path}": text for number, example in enumerate(EXAMPLES[::9]) for path, text in example.items()
             for folder in [f"e{number}"]}  # fmt: skip
    given = sources(files)
    found = scan.scan(given, Options(RULES))
    workspace = Workspace({source.path: source for source in given}, Options(RULES))
    for source in (source for source in given if source.kind == "python"):
        file = workspace.open(source.path, False)
        assert isinstance(file, passes.PythonFile)
        spread = is_indirect(file.text.encode())
        told = {rule.code: rule for rule in RULES if rule.code in found.present.get(source.path, ())}
        for rule in told.values():
            asked = rule.kinds == ("python",) and passes.asks_of_trainers(rule)
            assert rule.present is None or (spread and asked) or passes.is_present(rule, file)
