"""What the rules find and rewrite, written down, so that a later state of them can be held against it.

    python benchmarks/ledger.py feed FEED
    python benchmarks/ledger.py make --out FILE [--feed FEED] [--select CODES] [--limit SECONDS] [FOLDER ...]
    python benchmarks/ledger.py compare OLD NEW [--show NUMBER]

`feed` keeps every project that the tests of the rules hand to the engine, which gives them nothing back: most fail.
`make` runs the rules over these, over the rules' examples, over tests/projects, and over the repositories given, and
writes one line a project. `compare` says what differs, by rule and by class. A ledger holds the texts of what it was
made of: it belongs outside of the repository.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from codemods.code.source import Source  # noqa: E402
from codemods.engine.plan import Plan, plan  # noqa: E402
from codemods.engine.scan import Options  # noqa: E402
from codemods.rule import all_rules, select_rules  # noqa: E402
from fixer.project import open_tree  # noqa: E402
from fixer.settings import SharedOptions, options_for, sources_of  # noqa: E402

TRAINING = ("train", "train_many", "same", "assert_same", "differences")


@dataclass(frozen=True)
class Case:
    """A project and how the rules are asked to look at it; the texts of files by path, byte for byte as Latin-1."""

    name: str
    files: tuple[tuple[str, str, str], ...]
    codes: tuple[str, ...]
    unsafe: bool
    pins: tuple[str, ...] = ()
    target: str = "2.6.6"
    namespace: str = ""
    forked: bool = False


def feed(out: Path) -> int:
    """Writes down each distinct project that the tests of the rules hand to the engine, and does not run it."""
    import hypothesis
    import pytest

    import codemods.engine.plan as engine
    from tests import training

    seen: dict[str, Case] = {}
    known = {rule.code for rule in all_rules()}

    def recorded(sources: Any, options: Options, *_: Any, **__: Any) -> Plan:
        codes = tuple(rule.code for rule in options.rules)
        if known.issuperset(codes):
            files = tuple(sorted((item.path, item.kind, item.data.decode("latin-1")) for item in sources))
            case = Case("", files, codes if len(codes) < len(known) else (), options.unsafe, options.pins)
            key = _hash(json.dumps(asdict(case)))
            named = (options.target, options.namespace, options.forked)
            seen.setdefault(key, Case(key, files, case.codes, case.unsafe, case.pins, *named))
        return Plan()

    def left_out(*_: Any, **__: Any) -> Any:
        pytest.skip("the ledger trains nothing")

    engine.plan = engine.find = recorded
    hypothesis.given = lambda *_, **__: lambda function: pytest.mark.skip(function)  # type: ignore[assignment]
    for name in TRAINING:
        if hasattr(training, name):
            setattr(training, name, left_out)
    folder = str(ROOT / "tests" / "codemods")
    code = pytest.main([folder, "-q", "--tb=no", "-p", "no:cacheprovider"], plugins=[_Hurried()])
    out.write_text("".join(json.dumps(asdict(case)) + "\n" for case in seen.values()))
    print(f"{len(seen)} projects; pytest ended with {int(code)}")
    return 0


class _Hurried:
    """Ends a test that waits for what the engine would have made."""

    def pytest_runtest_setup(self) -> None:
        signal.signal(signal.SIGPROF, _too_long)
        signal.setitimer(signal.ITIMER_PROF, 2)

    def pytest_runtest_teardown(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def make(out: Path, folders: list[Path], fed: Path | None, select: tuple[str, ...], limit: int) -> int:
    """Writes what the rules say of everything, one project a line."""
    chosen = {rule.code for rule in select_rules(select, ())}
    with out.open("w") as file:
        for case in [*_examples(), *(_fed(fed) if fed else [])]:
            for line in _lines_of(case, chosen):
                file.write(json.dumps(line) + "\n")
        own = sorted(path for path in (ROOT / "tests" / "projects").iterdir() if path.is_dir())
        for folder in [*folders, *own]:
            started = time.process_time()
            with tempfile.TemporaryDirectory() as apart:  # by itself, not as a part of this repository
                place = shutil.copytree(folder, Path(apart) / folder.name) if folder in own else folder
                line = _repository(place, select, limit)
            print(f"{folder.name}: {time.process_time() - started:.1f} s", file=sys.stderr, flush=True)
            file.write(json.dumps(line) + "\n")
            file.flush()
    return 0


def _examples() -> Iterator[Case]:
    for rule in all_rules():
        for number, example in enumerate(rule.examples):
            texts = {example.path: example.before, **dict(example.files)}
            files = tuple((path, _kind(path), text.encode().decode("latin-1")) for path, text in texts.items())
            yield Case(f"{rule.code}-{number}", files, (rule.code,), rule.fix == "unsafe", example.pins)


def _kind(path: str) -> str:
    from fixer.files import kind_of

    return kind_of(path) or "python"


def _fed(path: Path) -> Iterator[Case]:
    with path.open() as file:
        for line in file:
            said = json.loads(line)
            said["files"] = tuple(map(tuple, said["files"]))
            yield Case(**{**said, "codes": tuple(said["codes"]), "pins": tuple(said["pins"])})


def _lines_of(case: Case, chosen: set[str]) -> Iterator[dict[str, Any]]:
    """The case as it was asked for, with all repairs."""
    sources = [Source(path, kind, text.encode("latin-1")) for path, kind, text in case.files]
    rules = tuple(rule for rule in all_rules() if rule.code in chosen and (not case.codes or rule.code in case.codes))
    options = Options(rules, unsafe=True, pins=case.pins, target=case.target, namespace=case.namespace)
    if rules:
        made = plan(sources, replace(options, forked=case.forked))
        yield _line(f"{case.name}/{'+'.join(case.codes) or 'all'}", made)


def _repository(folder: Path, select: tuple[str, ...], limit: int) -> dict[str, Any]:
    """What the rules say of a repository, or that this took too long."""
    project = open_tree(folder)
    made = {}
    signal.signal(signal.SIGALRM, _too_long)
    for unsafe in (False, True):
        signal.alarm(limit)
        try:
            options = options_for(SharedOptions(folder, unsafe_fixes=unsafe, jobs=1, select=select or None), project)
            made[unsafe] = plan(sources_of(project), options)
        except TimeoutError:
            return {"project": folder.name, "late": True}
        finally:
            signal.alarm(0)
    both = _line(folder.name, made[True])
    return {**both, "safe": _line("", made[False])["changes"]}


def _too_long(*_: Any) -> None:
    raise TimeoutError


def _line(name: str, made: Plan) -> dict[str, Any]:
    found = [
        [item.code, item.path, item.span.line, item.span.column, item.cell, item.fix, item.message, item.reason]
        for item in made.findings
    ]
    changes = [[item.code, item.path, _hash(item.after), _diff(item.before, item.after)] for item in made.changes]
    return {"project": name, "findings": found, "changes": changes, "bugs": list(made.bugs)}


def _diff(before: bytes, after: bytes) -> str:
    texts = [item.decode("utf-8", "replace").splitlines() for item in (before, after)]
    return "\n".join(list(difflib.unified_diff(*texts, lineterm="", n=1))[2:])


def _hash(text: bytes | str) -> str:
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=8).hexdigest()


def compare(old: Path, new: Path, show: int) -> int:
    """Says what a later ledger says otherwise, by rule and class; 1 where anything differs."""
    before, after = _read(old), _read(new)
    classes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            classes["-", "a project in one of the two alone"].append(name)
            continue
        for code, kind, text in _differences(before[name], after[name]):
            classes[code, kind].append(f"{name}: {text}")
    for (code, kind), every in sorted(classes.items()):
        print(f"{code}  {kind}: {len(every)}")
        for text in every[:show]:
            print("    " + text.replace("\n", "\n    "))
    print(f"{len(before)} projects before, {len(after)} after, {sum(map(len, classes.values()))} differences")
    return int(bool(classes))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    with path.open() as file:
        return {said["project"]: said for said in map(json.loads, file)}


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    if old.get("late") or new.get("late"):
        if old.get("late") != new.get("late"):
            yield "-", "took too long in one of the two alone", ""
        return
    places = [_by_place(side["findings"]) for side in (old, new)]
    for place in sorted(places[0].keys() | places[1].keys(), key=str):
        was, now = places[0].get(place, Counter()), places[1].get(place, Counter())
        code, where = place[0], ":".join(map(str, place[1:]))
        gone, come = sorted((was - now).elements()), sorted((now - was).elements())
        for one, other in zip(gone, come, strict=False):
            kind = f"level {one[0]} -> {other[0]}" if one[0] != other[0] else "says it otherwise"
            yield code, kind, f"{where}\n{one[1]} {one[2]}\n{other[1]} {other[2]}"
        for one in gone[len(come) :]:
            yield code, f"finding gone ({one[0]})", f"{where} {one[1]} {one[2]}"
        for other in come[len(gone) :]:
            yield code, f"finding new ({other[0]})", f"{where} {other[1]} {other[2]}"
    for key in ("changes", "safe"):
        diffs = [{(item[0], item[1]): item[3] for item in side.get(key, ())} for side in (old, new)]
        for code, path in sorted(diffs[0].keys() | diffs[1].keys()):
            was_text, now_text = diffs[0].get((code, path)), diffs[1].get((code, path))
            if was_text != now_text:
                kind = "rewrite gone" if now_text is None else "rewrite new" if was_text is None else "rewrite differs"
                yield code, f"{kind} ({key})", f"{path}\n{was_text or ''}\n---\n{now_text or ''}"
    for bug in set(old["bugs"]) ^ set(new["bugs"]):
        yield bug.split()[0], "bug gone" if bug in old["bugs"] else "bug new", bug


def _by_place(findings: list[list[Any]]) -> dict[tuple[Any, ...], Counter[tuple[str, str, str]]]:
    found: dict[tuple[Any, ...], Counter[tuple[str, str, str]]] = defaultdict(Counter)
    for code, path, line, column, cell, fix, message, reason in findings:
        found[code, path, line, column, cell][fix, message, reason] += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    feeding = commands.add_parser("feed")
    feeding.add_argument("out", type=Path)
    making = commands.add_parser("make")
    making.add_argument("folders", nargs="*", type=Path)
    making.add_argument("--out", type=Path, required=True)
    making.add_argument("--feed", type=Path)
    making.add_argument("--select", default="")
    making.add_argument("--limit", type=int, default=300)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--show", type=int, default=3)
    said = parser.parse_args()
    if said.command == "feed":
        return feed(said.out)
    if said.command == "make":
        select = tuple(filter(None, said.select.split(",")))
        return make(said.out, said.folders, said.feed, select, said.limit)
    return compare(said.old, said.new, said.show)


if __name__ == "__main__":
    raise SystemExit(main())
