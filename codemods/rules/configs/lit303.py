"""LIT303: removed arguments of Trainer on command lines: shell scripts, Makefiles, Dockerfiles and docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from codemods.code.source import PythonFile, TextFile
from codemods.finding import Span
from codemods.lightning.configurations.evidence import REMOVED, read_evidence
from codemods.lightning.configurations.mappings import UNSEEN, MappingEntry
from codemods.lightning.configurations.owners import ProjectConfiguration, project_of, seen
from codemods.lightning.facts import Facts
from codemods.lightning.strategies import GONE, STRATEGIES
from codemods.rewrite.keys import KeyVerdict, verdicts
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.configs.moved_gpus import as_sure, moves_code
from codemods.rules.trainer.commands import GAP, KINDS, commands, given, owners

CODE = "LIT303"
_WORDS = "|".join(sorted(REMOVED, key=len, reverse=True))
_FLAG = re.compile(
    rf"(?<![\w-])--(?P<key>{_WORDS})(?![\w-])(?:{GAP}(?P<value>(?!-)[^\s\\,\"'`\]]+|[\"'][^\"']+[\"']))?"
)
_NAMES = "|".join((*STRATEGIES, *GONE, "ddp_cpu"))
_BACKEND = re.compile(rf"(?<![\w-])--accelerator{GAP}[\"']?(?P<value>{_NAMES})(?![\w-])")
_STRATEGY = re.compile(rf"(?<![\w-])--strategy{GAP}[\"']?(?P<value>{'|'.join(GONE)})(?![\w-])")
_ANY = re.compile(r"(?<![\w./-])(?:--|\+\+?)?(?P<section>\w+)\.(?P<key>\w+)(?:=|[ \t]+)(?P<value>[^\s\\`]+)")
_DOTTED = re.compile(
    rf"(?<![\w./-])(?P<lead>--|\+\+?)?(?P<section>\w+)\.(?P<key>{_WORDS})(?P<gap>=|[ \t]+)(?P<value>[^\s\\`]+)"
)


def _check(file: TextFile | PythonFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, PythonFile):
        file = TextFile(file.path, "python", file.text)
    project = project_of(facts, CODE)
    scripts = [path for path, known in project.known.items() if known.options]
    told: set[Span] = set()
    for command in commands(file.text, file.kind):
        if file.kind in ("shell", "docs", "dockerfile"):
            yield from _dotted(file, project, command.start, command.text)
        for name, end in command.run():
            if paths := owners(facts, name, scripts):
                found = _flags(file, project, _near(file, paths), name, [*given(file.text, command, end)])
                new = [match for match in found if match.span not in told]
                told.update(match.span for match in new)
                yield from new
                break


def _starts(file: PythonFile) -> bool:
    """Whether Python code may run a script with such options."""
    return ".py" in file.text and any(each.search(file.text) for each in (_FLAG, _BACKEND, _STRATEGY))


def _near(file: TextFile, paths: Sequence[str]) -> str:
    """Of several scripts the one that lies beside a file, or the first."""
    folder = file.path.rpartition("/")[0]
    return next((path for path in paths if path.rpartition("/")[0] == folder), paths[0])


def _flags(
    file: TextFile, project: ProjectConfiguration, path: str, name: str, parts: Sequence[tuple[int, str]]
) -> Iterator[Match]:
    """Options that a script took because Trainer declared them, and takes no more, or as hardware alone. One that is
    run by another `name` hands them on, where that has none of its own."""
    for key, value, start, end in _found(_FLAG, parts):
        if key in project.known[path].takes or _declares(project.facts, path, name, key):
            continue
        verdict = _verdict(project, key, value, {})
        advice = (
            f"write `{_words(verdict, value)}`"
            if verdict and verdict.new
            else "delete it, or add it to the script's own"
        )
        reason = f"Not rewritten: {path} took it from Trainer's own arguments; {advice}."
        message = f"`--{key}`: Trainer no longer has such an argument"
        yield Match(file.span(start, end), message, "manual", reason, None)
    if "accelerator" not in project.known[path].takes and not _declares(project.facts, path, name, "accelerator"):
        yield from _named(file, path, parts)


def _named(file: TextFile, path: str, parts: Sequence[tuple[int, str]]) -> Iterator[Match]:
    """Strategies that are called accelerators, or that are gone."""
    for _, value, start, end in _found(_BACKEND, parts):
        span = file.span(start, end)
        message = f"`--accelerator {value}` names a strategy"
        if value in STRATEGIES and not _is_given(parts, "strategy"):
            edit = TextEdit(start, start + len("--accelerator"), "--strategy")
            reason = f"--accelerator names the hardware now; {path} takes --strategy once it is rewritten."
            yield Match(span, message, "unsafe", reason, None, (edit,))
            continue
        advice = "write `--accelerator cpu --strategy ddp`" if value == "ddp_cpu" else f"write `--strategy {value}`"
        reason = f"Not rewritten: --accelerator names the hardware now; {GONE[value][1] if value in GONE else advice}."
        yield Match(span, message, "manual", reason, None)
    for _, value, start, end in _found(_STRATEGY, parts):
        row, why = GONE[value]
        message = f"`--strategy {value}`: Trainer no longer has such a strategy"
        yield Match(file.span(start, end), message, "manual", f"Not rewritten: {why}.", row)


def _found(wanted: re.Pattern[str], parts: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str, int, int]]:
    """The key and the value of each option of a kind, and where it begins and ends."""
    for start, text in parts:
        for found in wanted.finditer(text):
            named = found.groupdict()
            yield named.get("key") or "", named["value"] or "", start + found.start(), start + found.end()


def _declares(facts: Facts, path: str, name: str, key: str) -> bool:
    """Whether a script that is run in the place of one that it takes something of has an option of its own."""
    scripts = (source for each, source in facts.holding(f"--{key}") if each.rpartition("/")[2] == name)
    return path.rpartition("/")[2] != name and any(source.kind == "python" for source in scripts)


def _is_given(parts: Sequence[tuple[int, str]], name: str) -> bool:
    return any(re.search(rf"(?<![\w-])--{name}(?![\w-])", text) for _, text in parts)


def _words(verdict: KeyVerdict, value: str | None) -> str:
    return " ".join(f"--{name} {(text or '').strip(QUOTES) or value or '...'}" for name, text in verdict.new or ())


QUOTES = "'\""


def _dotted(file: TextFile, project: ProjectConfiguration, start: int, command: str) -> Iterator[Match]:
    """`trainer.gpus=2` for Hydra and `--trainer.gpus 2` for LightningCLI."""
    for found in _DOTTED.finditer(command):
        cli = found["lead"] == "--"
        if found["section"] not in project.sections or cli != (project.cli and found["section"] == "trainer"):
            continue
        if command[: found.start()].strip().startswith("#"):
            continue
        key, value = found["key"], _within_quotes(found["value"], command[: found.start()])
        end = found.start("value") + len(value)
        span = file.span(start + found.start(), start + end)
        message = f"`{found['section']}.{key}`: Trainer no longer has such an argument"
        if cli and project.cli_trainer:
            reason = (
                f"Not rewritten: {project.cli_trainer}, which LightningCLI builds in the place of Trainer, takes it"
            )
            yield Match(span, message, "manual", f"{reason}; check what it does with it.", None)
            continue
        given = {item["key"]: item["value"] for item in _ANY.finditer(command) if item["section"] == found["section"]}
        verdict = _verdict(project, key, value, given)
        if read := _read(project, found["section"], key, value):
            reason = f"Not rewritten: {read} reads or sets it; give its replacement, and change both."
            yield Match(span, message, "manual", reason, verdict.row if verdict else None)
            continue
        clash = verdict and (verdict.values or any(name in given for name, _ in verdict.new or ()))
        if clash:
            reason = "Not rewritten: its replacement is given too; keep one of the two."
            yield Match(span, message, "manual", reason, verdict.row if verdict else None)
            continue
        sweep = not cli and "," in value and value.strip(QUOTES)[:1] not in ("[", "{")
        if verdict is None or not verdict.new or sweep or any(text is None and '"' in value for _, text in verdict.new):
            verdict = None if sweep else verdict
            reason = f"Not rewritten: {_why(verdict)}"
            yield Match(span, message, "manual", reason, verdict.row if verdict else None)
            continue
        pairs = [
            f"{_lead(found, project, name)}{found['section']}.{name}{found['gap']}"
            + (value if text is None else str(ast.literal_eval(text)).replace(" ", ""))
            for name, text in (*verdict.new, *_one_cpu(project, found["section"], verdict.new, given))
        ]
        between = _between(command, found.start(), end)
        edit = TextEdit(start + found.start(), start + end, between.join(pairs))
        level, reason = verdict.level, verdict.reason
        if key == "gpus" and project.reads(found["section"], key):
            level, reason = as_sure(project, found["section"], level, reason)
        yield Match(span, message, level, reason, verdict.row, (edit,))


def _within_quotes(value: str, before: str) -> str:
    """A value without what is behind the quotes that were opened before the option."""
    if before[-1:] in (*QUOTES,):
        return value.partition(before[-1])[0]
    while value[-1:] in (*QUOTES,) and (len(value) == 1 or value[0] != value[-1]):
        value = value[:-1]
    return value


def _between(command: str, start: int, end: int) -> str:
    """What stands between two options in the place of one, which may be a word in quotes, or an item of a list."""
    mark = command[max(start - 1, 0) : start]
    if not mark or mark not in QUOTES or command[end : end + 1] != mark:
        return " "
    listed = command[: start - 1].rstrip()[-1:] in (",", "[")
    return f"{mark}, {mark}" if listed else f"{mark} {mark}"


def _one_cpu(
    project: ProjectConfiguration, section: str, new: Sequence[tuple[str, str | None]], given: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The one process of the CPU, where the configuration may ask for devices that the option turned off with it."""
    asked = [value for word in ("gpus", "devices") for value in project.values(section, word)]
    named = {name for name, _ in new} | set(given)
    turned_off = ("accelerator", "'cpu'") in new and "devices" not in named
    return (("devices", "'1'"),) if turned_off and any(value not in (None, 0, 1) for value in asked) else ()


def _read(project: ProjectConfiguration, section: str, key: str, value: str) -> str | None:
    """A place in the code or the configuration that goes by the option, and does not change along with it."""
    moves = key == "gpus" and moves_code(project, section)
    if (path := project.interpolated(section, key)) and not (moves and value.isdigit() and int(value)):
        return path
    if moves:
        return None
    return next((f"{path}:{read.span.line}" for path, read in project.reads(section, key)), None)


def _lead(found: re.Match[str], project: ProjectConfiguration, name: str) -> str:
    """What stands before a key: Hydra wants `++` where the configuration may or may not have it."""
    lead = found["lead"] or ""
    return lead if lead == "--" or (not lead and project.values(found["section"], name)) else "++"


def _why(verdict: KeyVerdict | None) -> str:
    if verdict is None:
        return "fixer cannot tell its value; give the arguments that replace it."
    if verdict.callbacks:
        return f"the callbacks should hold {verdict.callbacks.strip('[]')}."
    return "delete it." if verdict.new == () else verdict.reason.removeprefix("Not rewritten: ")


def _verdict(project: ProjectConfiguration, key: str, value: str | None, given: Mapping[str, str]) -> KeyVerdict | None:
    """What the rules say of an option's value, beside the others that are given."""
    entries = [MappingEntry(name, (0, 0), (0, 0), _meant(text)) for name, text in given.items() if name != key]
    entries.append(MappingEntry(key, (0, 0), (0, 0), _meant(value or "")))
    return next((item for item in verdicts(tuple(entries), project.facts) if item.key == key), None)


def _meant(value: str) -> object:
    text = value.strip(QUOTES)
    if re.fullmatch(r"-?\d+(\.\d+)?|\[[\d, ]+\]", text):
        return ast.literal_eval(text)
    if text.lower() in ("true", "false", "null", "none"):
        return {"true": True, "false": False}.get(text.lower())
    return text if re.fullmatch(r"[\w,.-]+", text) else UNSEEN


_CLI = "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"
BEFORE = "python main.py fit --config a.yaml \\\n    --trainer.gpus 2 --trainer.max_epochs 3\n"
AFTER = BEFORE.replace("--trainer.gpus 2", "--trainer.accelerator gpu --trainer.devices 2")
_ARGPARSE = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer

parser = Trainer.add_argparse_args(ArgumentParser())
trainer = Trainer.from_argparse_args(parser.parse_args())
"""
FLAG = "docker run --gpus all image\npython train.py --gpus 2\n"

RULE = Rule(
    code=CODE,
    name="command-line-arguments",
    summary="Removed arguments of Trainer on the command lines of scripts and docs",
    why=(
        "A command that gives `--trainer.gpus 2` to LightningCLI or `trainer.gpus=2` to Hydra fails once Trainer has "
        "no such argument, and so does `--gpus 2` for a script whose options Trainer declared. The first two are "
        "rewritten by the rules for calls; what a script with argparse takes is its own, and a finding says so. "
        "`--accelerator ddp` becomes `--strategy ddp` where the script takes the arguments of Trainer. "
        "`docker run --gpus` and options of other programs are not meant."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(
        *(word.encode() for word in sorted(REMOVED)),
        b"--accelerator",
        b"--strategy",
        b"Trainer",
        b"LightningCLI",
        b"instantiate",
    ),
    check=_check,
    collect=read_evidence,
    collect_text=seen,
    present=_starts,
    kinds=("python", *KINDS),
    breaks_in="2.0.0",
    needs="2.0.0",
    examples=(
        Example(BEFORE, AFTER, path="run.sh", files=(("main.py", _CLI),)),
        Example(FLAG, FLAG, path="run.sh", files=(("train.py", _ARGPARSE),)),
        Example(BEFORE, BEFORE, path="run.sh", files=(("main.py", "print()\n"),)),
    ),
)
