"""PIN005: Pythons that a project is run on and that its own requirement on Lightning does not run on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.lightning.pins.compat import MinorRelease, minors
from codemods.lightning.pins.manifest import COMMANDS, LIGHTNING, manifest_kind
from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import MENTIONS, Area, Manifest, area_of
from codemods.lightning.pins.specifier import OLDER, Language, admits
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.pins.conflicts import MAIN
from codemods.rules.pins.environment import conflict
from codemods.rules.pins.job_installs import is_installed
from codemods.rules.pins.lightning import fitting, is_dead, shown
from codemods.rules.pins.parts import is_for
from codemods.rules.pins.pythons import PythonMention, PythonMentions, Version, classifiers, nox, pythons, remaining

CODE = "PIN005"
_UNREAD = re.compile(r".+/(?:\.travis\.yml|\.?appveyor\.yml|\.circleci/[^/]+|\.github/workflows/[^/]+)")
"""Pipelines of other projects, copied in with their code: the services read these at the top of a repository alone."""


def check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """The Pythons that are older than what is asked for of Lightning runs on."""
    text = file if isinstance(file, TextFile) else TextFile(file.path, "python", file.text)
    if _UNREAD.fullmatch(text.path):
        return
    kind = manifest_kind(text.path, text.kind, text.text)
    if isinstance(file, PythonFile):
        found = nox(file) if file.path.endswith("noxfile.py") else classifiers(file.text)
    else:
        found = pythons(text.path, text.kind, kind, text.text)
    named = [item for item in found if any(each.version and each.version < _NEWEST for each in item.items)]
    floors = {
        installs: _floor(text, kind or COMMANDS[0], facts, installs)
        for installs in dict.fromkeys(item.installs for item in named)
    }
    for item in named:
        if asked := floors[item.installs]:
            yield from _match(text, item, *asked)


def _floor(text: TextFile, kind: str, facts: Facts, installs: frozenset[str] | None) -> tuple[Version, str] | None:
    """The oldest Python that the Lightning of this code will run on, and the requirement that says so; None where a
    release before 2.0 can be installed, or nothing asks for one of what a job `installs`, where that is known."""
    others: dict[str, Manifest] = {**facts.collected("PIN001"), **facts.collected_texts("PIN001")}
    own = others.get(text.path) or Manifest(text.path, kind if kind != "lock" else COMMANDS[0], ())
    area = area_of(own, others, facts)
    held = conflict(text.text, own, area, facts.target)
    if held and any(pin.name == "python" for pin in held.pins):
        return None  # PIN001 says the whole set
    if not is_for(area.home, text.path, facts) and area.home not in text.text:
        return None
    asked = [
        (item.path, _oldest(found, pin.language), f"`{_said(pin, found)}` in {item.path}")
        for item in area.manifests
        for pin in item.pins
        if pin.name in LIGHTNING and pin.requirement and not is_dead(pin)
        if is_installed(item.path, installs, facts) and (not pin.group or _installs(text, pin.group))
        for found in [_after(pin, area, facts.target)]
        if not any(admits(found, old, pin.language) for old in OLDER)
    ]
    floors = [(path, floor, said) for path, floor, said in asked if floor]
    whole = [(floor, said) for path, floor, said in floors if path == text.path or path.rpartition("/")[2] in MAIN]
    return max(whole, default=None) or min(((floor, said) for _, floor, said in floors), default=None)


def _installs(text: TextFile, group: str) -> bool:
    """Whether a command asks for an extra or a group of the project."""
    name = rf"(?<![\w-]){re.escape(group)}(?![\w-])"
    return re.search(rf"\.\[[^\]\n]*{name}[^\]\n]*\]|--(?:extra|group|with|only)[ =]{name}", text.text) is not None


def _said(pin: Pin, found: str) -> str:
    return shown(replace(pin, specifier=found))


def _after(pin: Pin, area: Area, target: str) -> str:
    """What a requirement is after the rewrites that are surely made."""
    surely = pin.problem is None and pin.language != "conda"
    return (fitting(pin, area, target) if surely else None) or pin.meant


def _oldest(specifier: str, language: Language) -> Version | None:
    """The oldest Python that a release which a requirement admits runs on."""
    left = (minor for minor in minors() if any(admits(specifier, each, language) for each in minor.admitted()))
    return min(map(_python, left), default=None)


def _python(minor: MinorRelease) -> Version:
    major, _, rest = minor.python.partition(".")
    return int(major), int(rest)


_NEWEST = max(map(_python, minors()))


def _match(text: TextFile, named: PythonMentions, floor: Version, asked: str) -> Iterator[Match]:
    old, kept = remaining(named, floor)
    if not old:
        return
    digits = ".".join(map(str, floor))
    listed = ", ".join(dict.fromkeys(f"{item.version[0]}.{item.version[1]}" for item in old if item.version))
    brought = named.brings and text.text[old[0].start : old[0].end]
    what = f"`{brought}` has no Python newer than {listed}" if brought else f"this requires Python {listed}"
    message = f"{what}, and {asked} needs {digits} or later"
    place = text.span(old[0].start, old[-1].end)
    edits = _edits(text.text, named, old, kept, digits)
    if edits is None:
        advice = named.advice.replace("{0}", digits.replace(".", "")).replace("{}", digits)
        yield Match(place, message, "manual", f"Not rewritten: {advice}", stops=named.stops)
        return
    done = f"{listed} is removed" if kept and named.listed and _is_known(kept) else f"{listed} becomes {digits}"
    reason = f"the required packages cannot be installed on it: {done}"
    yield Match(place, message, "safe", reason, edits=edits, stops=named.stops)


def _is_known(kept: Sequence[PythonMention]) -> bool:
    return any(item.version for item in kept)


def _edits(
    text: str, named: PythonMentions, old: Sequence[PythonMention], kept: Sequence[PythonMention], digits: str
) -> tuple[TextEdit, ...] | None:
    """The changes; None where they are not plain."""
    if any(item.renewed is None for item in old):
        return None
    bare = digits.replace(".", "")
    renewed = [item.renewed.replace("{0}", bare).replace("{}", digits) for item in old if item.renewed]
    if not named.listed:
        return tuple(TextEdit(item.start, item.end, new) for item, new in zip(old, renewed, strict=True))
    first = [] if _is_known(kept) else [TextEdit(old[0].start, old[0].end, renewed[0])]
    gone = [item for item in old if not (first and item is old[0])]
    dropped = _lines(text, gone, named.items) if named.lines else _parts(text, gone, named.items)
    return None if dropped is None else (*first, *dropped)


def _lines(text: str, gone: Sequence[PythonMention], items: Sequence[PythonMention]) -> list[TextEdit] | None:
    """The list without some items, each with its line; None where another stands on it."""
    edits = []
    for item in gone:
        start = text.rfind("\n", 0, item.start) + 1
        end = text.find("\n", item.end)
        end = len(text) if end < 0 else end + 1
        if any(start <= other.start < end for other in items if other is not item):
            return None
        edits.append(TextEdit(start, end, ""))
    return edits


def _parts(text: str, gone: Sequence[PythonMention], items: Sequence[PythonMention]) -> list[TextEdit] | None:
    """The list on a line without some items: each goes up to the next one, the last ones from the one before."""
    edits = []
    last = max((index for index, item in enumerate(items) if item not in gone), default=-1)
    for index, item in enumerate(items):
        if item in gone and index < last:
            edits.append(TextEdit(item.start, items[index + 1].start, ""))
    if last < len(items) - 1 and last >= 0:
        edits.append(TextEdit(items[last].end, items[-1].end, ""))
    return None if any("#" in text[edit.start : edit.end] for edit in edits) else edits


_CODE = (("train.py", "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n"),)
_FILES = (*_CODE, ("requirements.txt", "pytorch-lightning==1.8.6\n"))
_OPEN = (*_CODE, ("requirements.txt", "pytorch-lightning>=1.8\n"))
_MATRIX = """\
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python-version: [3.7, 3.8, "3.11"]
    steps:
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
"""
_SINGLE = """\
image: python:3.8-slim

test:
  script:
    - pip install -r requirements.txt
"""
_PLACE = ".github/workflows/test.yml"

_OLD = tuple(f"{sign}{minor}".encode() for sign in ("3.", "py3") for minor in (5, 6, 7, 8, 9))

RULE = Rule(
    code=CODE,
    name="pythons",
    summary="pipelines, images, tox, nox and version files name no Python that the required Lightning does not run on",
    why=(
        "Lightning 2.6 asks for Python 3.10, and a pipeline, an image or an environment on 3.7 or 3.8 cannot install "
        "it. Where a Python is named plainly it becomes the oldest that the requirement on Lightning runs on; one that "
        "is too old goes from a list that holds a newer one. A matrix that spells its jobs out, images that bring a "
        "torch or a CUDA along, and environments with other exact releases are left to you. A requirement that "
        "still allows a release for the old Python is left as it is, and so is what names it; so are jobs that run "
        "tools alone, such as a linter, or install other requirements of the project alone, what belongs to another "
        "part of the project, and pipelines that came with code of another project, which no service reads where they "
        "lie."
    ),
    fix="safe",
    versions="Lightning 2.0 and later",
    triggers=(*_OLD, b"py{", b"py3{", b"pytorch/pytorch", b"nvidia/", b"conda3:", b"ubuntu:"),
    check=check,
    names=("setup.py", "noxfile.py"),
    mentions=MENTIONS,
    kinds=("yaml", "dockerfile", "shell", "docs", "pyproject", "other"),
    last=True,
    examples=(
        Example(_MATRIX, _MATRIX.replace('[3.7, 3.8, "3.11"]', '["3.11"]'), _PLACE, _FILES),
        Example(_MATRIX, _MATRIX.replace("[3.7, 3.8, ", "[3.8, "), _PLACE, _OPEN),
        Example(_SINGLE, _SINGLE.replace("3.8", "3.10"), ".gitlab-ci.yml", _FILES),
        Example("[tox]\nenvlist = py37,py38,lint\n", "[tox]\nenvlist = py310,lint\n", "tox.ini", _FILES),
        Example(
            "FROM pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime\n",
            "FROM pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime\n",
            "Dockerfile",
            _FILES,
        ),
    ),
    references=("https://pypi.org/project/lightning/2.6.6/",),
)
