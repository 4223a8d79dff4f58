"""PIN001: requirements on Lightning that cannot run the rewritten code, or that admit malicious releases."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.lightning.pins.built import built
from codemods.lightning.pins.compat import minor_of
from codemods.lightning.pins.lines import included
from codemods.lightning.pins.manifest import LIGHTNING, manifest_kind, read_pins
from codemods.lightning.pins.pin import BESIDE, NAMES, Pin
from codemods.lightning.pins.reach import MENTIONS, Area, Manifest, area_of
from codemods.lightning.pins.specifier import admits_from
from codemods.lightning.pins.toml import Unparsable
from codemods.rule import Example, Match, NodeEdit, Rule, TextEdit, best_levels
from codemods.rules.pins.companion_packages import beside, clashing
from codemods.rules.pins.conflicts import contradictions
from codemods.rules.pins.environment import Conflict, conflict
from codemods.rules.pins.floor import raising, reaching
from codemods.rules.pins.lightning import ADVISORY, PinVerdict, moves, shown, verdict
from codemods.rules.pins.renaming import DISTRIBUTIONS, renaming, since_2
from codemods.rules.pins.wheels import builds

CODE = "PIN001"
USED = {
    "torchmetrics": (b"torchmetrics",),
    "transformers": (b"import transformers", b"from transformers"),
    "jsonargparse": (b"import jsonargparse", b"from jsonargparse"),
    "pyyaml": (b"import yaml", b"from yaml"),
    "LightningCLI": (b"LightningCLI",),
    "WandbLogger": (b"WandbLogger",),
    **{name: row.words for name, row in built().items()},
}
"""What shows in Python files that a library is used."""
METRICS_SINCE = "0.11.0"
WITHOUT_TASK = (
    "`{}` may stay beside `setuptools<82`; from 0.11 on metrics of classes need task=, which fixer writes once it is "
    "newer"
)
_MOVED = frozenset((*NAMES, *BESIDE, *built(), "python"))
_LOCKED = re.compile(
    r"""(?im)^(?:name\s*=\s*["'](pytorch-lightning|lightning)["']|\s*["'](pytorch-lightning|lightning)["']:\s*\{|"""
    r"""\s*- name: (pytorch-lightning|lightning)\s*$)"""
)
_HELD_BAD = re.compile(
    r"""(?im)(?:^name\s*=\s*["'](?:pytorch-)?lightning["']\s*\nversion\s*=\s*["']2\.6\.[23]["']|"""
    r"""^\s*["'](?:pytorch-)?lightning["']:\s*\{[^{}]*?["']version["']:\s*["']==2\.6\.[23]["']|"""
    r"""^\s*- name: (?:pytorch-)?lightning\s*\n\s*version: ["']?2\.6\.[23]["']?\s*$)"""
)
_CLONED = re.compile(r'(?m)^[ \t]*"?[ \t]*[!%][ \t]*git[ \t]+clone\b[^\n#]*?(?P<url>(?:https?://|git@)[^\s"\\]+)')
"""A line of a notebook that fetches the code of a repository."""
_RENEW = {
    "poetry.lock": ("pyproject.toml", "poetry lock"),
    "uv.lock": ("pyproject.toml", "uv lock"),
    "pdm.lock": ("pyproject.toml", "pdm lock"),
    "Pipfile.lock": ("Pipfile", "pipenv lock"),
    "conda-lock.yml": ("environment.yml", "conda-lock lock"),
    "conda-lock.yaml": ("environment.yaml", "conda-lock lock"),
}


def collect(file: PythonFile | TextFile) -> Manifest | None:
    """What a manifest states; None where it states nothing that matters here."""
    found = _manifest(_as_text(file))
    return found if found.pins else None


def check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """The requirements of a manifest that have to move, and those that a person has to look at."""
    text = _as_text(file)
    own = _manifest(text)
    if own.error:
        if own.kind != "notebook":
            reason = f"it is no TOML ({own.error}); correct it, then look at its requirements on Lightning"
            yield Match(text.span(0, 0), "The requirements cannot be read", "manual", reason)
        return
    others = {**facts.collected(CODE), **facts.collected_texts(CODE)}
    if own.kind == "lock":
        yield from _lock(text, others, facts)
        return
    area = area_of(own, others, facts) if own.pins else None
    cloned = _CLONED.search(text.text) if own.kind == "notebook" else None
    for match in _pins(text, own, area, others, facts) if area else ():
        yield _for_another(text, match, cloned["url"], facts) if cloned and match.edits else match
    if own.kind == "requirements":
        yield from _includes(text, facts)


def _for_another(text: TextFile, match: Match, url: str, facts: Facts) -> Match:
    """A match of what a notebook installs for code that it clones: that may need the release that it has."""
    edit = next(edit for edit in match.edits if isinstance(edit, TextEdit))
    line = text.text[text.text.rfind("\n", 0, edit.start) + 1 : edit.start]
    word = f"{re.split(r'[ ]', line)[-1]}{edit.replacement}".strip("\"'\\")
    when = f"write `{word}` once that runs on Lightning {facts.target}"
    return replace(match, fix="manual", reason=f"the notebook clones {url}, whose code may need it; {when}", edits=())


def _pins(text: TextFile, own: Manifest, area: Area, others: dict[str, Manifest], facts: Facts) -> Iterator[Match]:
    target = facts.target
    moving = any(moves(pin, area, target) for pin in area.pins)
    used = frozenset(name for name, words in USED.items() if any(_in_python(facts, word) for word in words))
    unraised = clashing(own, area, target, used) if moving else ()
    for pin in own.pins:
        found = verdict(pin, own, area, target, unraised) if pin.name in LIGHTNING else None
        if found and pin.problem == "locked" and (old := _without_task(own, used)):
            found = replace(found, reason=f"{found.reason}; {WITHOUT_TASK.format(shown(old))}")
        yield from _of_lightning(text, pin, own, facts, found)
    ours = facts.uses_lightning or any(pin.name in LIGHTNING for pin in area.pins)
    for pin, found in contradictions(own, area, target) if ours else ():
        yield _match(text, pin, found)
    said: set[Pin] = set()
    if held := conflict(text.text, own, area, target) or builds(text.text, own, area, target):
        said |= set(held.pins)
        yield _of_environment(text, held)
    if moving:
        yield from _alone(text, own, area, facts)
        for pin, found in beside(own, area, target, used):
            if pin not in said:
                said.add(pin)
                yield _match(text, pin, reaching(pin, found, own, others, facts))
    for pin, found in raising(own, others, area, facts):
        if pin not in said:
            yield _match(text, pin, found)


def _without_task(own: Manifest, used: frozenset[str]) -> Pin | None:
    """The requirement that keeps a torchmetrics whose metrics take no task, where the code uses it."""
    held = (pin for pin in own.pins if pin.name == "torchmetrics" and pin.name in used and pin.meant)
    return next((pin for pin in held if not admits_from(pin.meant, METRICS_SINCE, pin.language)), None)


def _of_lightning(text: TextFile, pin: Pin, own: Manifest, facts: Facts, found: PinVerdict | None) -> Iterator[Match]:
    """What is said of a requirement on Lightning, with its new name where the user asks for another namespace."""
    if not facts.namespace or pin.name not in DISTRIBUTIONS.values() or pin.name == DISTRIBUTIONS[facts.namespace]:
        if found:
            yield _match(text, pin, found)
        return
    named, edit = renaming(text.text, pin, own, facts.namespace, found.wanted if found else None)
    if edit:
        kept = found.wanted if found and found.wanted is not None else pin.meant
        wanted = since_2(kept, pin)
        both = found if found and found.wanted is not None else named
        reason = both.reason if both is named else f"{both.reason}; {named.reason}"
        whole = replace(both, reason=reason, wanted=wanted if wanted != pin.specifier else None)
        match = _match(text, pin, whole)
        yield replace(match, edits=_joined(match.edits, edit, text.text))
        if found and both is named:
            yield _match(text, pin, found)
        return
    if found:
        yield _match(text, pin, found)
    yield _match(text, pin, named)


def _joined(edits: Sequence[NodeEdit | TextEdit], name: TextEdit, text: str) -> tuple[NodeEdit | TextEdit, ...]:
    """The edits with that of the name; one where the specifier's takes the whole word."""
    written = text[name.start : name.end]
    for edit in edits:
        if isinstance(edit, TextEdit) and edit.start <= name.start < name.end <= edit.end:
            return (replace(edit, replacement=edit.replacement.replace(written, name.replacement, 1)),)
    return (*edits, name)


def _alone(text: TextFile, own: Manifest, area: Area, facts: Facts) -> Iterator[Match]:
    """What a moved Lightning no longer brings along, where nobody asks for it: said once, at the first that moves."""
    minor, asked = minor_of(facts.target), {other.name for other in area.pins}
    moving = [
        (item.path, pin)
        for item in area.manifests
        for pin in item.pins
        if item.kind != "listed" and moves(pin, area, facts.target)
    ]
    path, pin = moving[0] if moving else ("", None)
    if path != own.path or pin is None:
        return
    place = text.span(pin.place, pin.end)
    if minor.resources and "setuptools" not in asked:
        message = f"Lightning {facts.target} imports pkg_resources, which setuptools 82 removed"
        yield Match(place, message, "manual", "setuptools is not required here: add setuptools<82")


def _in_python(facts: Facts, word: bytes) -> list[str]:
    """The files of Python and notebooks that hold some bytes."""
    return [path for path in facts.mentions.get(word, ()) if facts.kinds.get(path) in ("python", "notebook")]


def _manifest(text: TextFile) -> Manifest:
    kind = manifest_kind(text.path, text.kind, text.text) or ""
    try:
        pins = tuple(pin for pin in read_pins(kind, text.text) if pin.name in _MOVED)
    except Unparsable as error:
        return Manifest(text.path, kind, (), str(error))
    silent = {line for line, codes in text.ignores.items() if codes & {"*", CODE}}
    kept = (replace(pin, problem="ignored") if silent and _line(text, pin) in silent else pin for pin in pins)
    return Manifest(text.path, kind, tuple(kept))


def _line(text: TextFile, pin: Pin) -> int:
    return text.text.count("\n", 0, pin.place) + 1


def _as_text(file: PythonFile | TextFile) -> TextFile:
    return file if isinstance(file, TextFile) else TextFile(file.path, "python", file.text)


def _match(text: TextFile, pin: Pin, found: PinVerdict) -> Match:
    place = text.span(pin.place, pin.end)
    named = pin.name if pin.bare else ""
    edits = (_edit(text, pin, named + found.wanted),) if found.wanted is not None else ()
    return Match(place, found.message, found.fix, found.reason, edits=edits, stops=found.stops)


def _of_environment(text: TextFile, held: Conflict) -> Match:
    """The releases of an environment that go together, as one finding at the first of them."""
    place = text.span(held.pins[0].place, held.pins[0].end)
    return Match(place, held.message, held.fix, held.reason, edits=held.edits, stops=True)


def _edit(text: TextFile, pin: Pin, wanted: str) -> TextEdit:
    """The change of a specifier; a shell word gets quotes where the shell would take its signs for its own."""
    if pin.word and re.search(r"[<>*! ]", wanted):
        start, end = pin.word
        return TextEdit(start, end, f"'{text.text[start : pin.start]}{wanted}{text.text[pin.end : end]}'")
    return TextEdit(pin.start, pin.end, wanted)


def _lock(text: TextFile, others: dict[str, Manifest], facts: Facts) -> Iterator[Match]:
    """That a lock file holds the Lightning of a requirement that moves."""
    folder, _, name = text.path.rpartition("/")
    for bad in _HELD_BAD.finditer(text.text):
        message = f"{name} holds a malicious release of Lightning ({ADVISORY})"
        command = _RENEW.get(name, ("", "the tool that wrote it"))[1]
        reason = f"everyone who installs from it gets it: exclude it in the requirements, then run `{command}`"
        yield Match(text.span(*bad.span()), message, "manual", reason, stops=True)
    manifest, command = _RENEW.get(name, ("", ""))
    source = others.get(f"{folder}/{manifest}" if folder else manifest)
    held = _LOCKED.search(text.text)
    if (
        not source
        or not held
        or not any(moves(pin, area_of(source, others, facts), facts.target) for pin in source.pins)
    ):
        return
    place = text.span(held.start(), held.end())
    message = f"{name} still holds the Lightning that {manifest} required before"
    yield Match(place, message, "manual", f"fixer does not edit lock files: run `{command}`", stops=True)


def _includes(text: TextFile, facts: Facts) -> Iterator[Match]:
    """The files that a requirement file leads to and that are not read, since nothing in their name says what they
    are."""
    folder = text.path.rpartition("/")[0]
    for place, name in included(text.text):
        path = posixpath.normpath(f"{folder}/{name.removeprefix('file:')}" if folder else name.removeprefix("file:"))
        if "://" not in name and "$" not in name and not path.startswith("..") and path not in facts.kinds:
            message = f"`{name}` is not read: its requirements are not checked"
            reason = (
                "it is missing, or it is not named like a requirements file: "
                "check its requirements on Lightning yourself"
            )
            yield Match(text.span(place, place + len(name)), message, "manual", reason)


_OLD = (("train.py", "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n"),)
_NEW = (("train.py", 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(accelerator="gpu", devices=1)\n'),)

RULE = Rule(
    code="PIN001",
    name="pins",
    summary="requirements on Lightning admit the release that the code was rewritten for, and no malicious one",
    why=(
        "After a rewrite the old requirement installs a Lightning on which the code no longer runs. It is changed as "
        "little as will do, in its own style, for the code that the manifest is for. It waits while other places of "
        "that code break on the target and what was rewritten still runs on a release that it allows. Where nothing "
        f"was rewritten only the releases 2.6.2 and 2.6.3 are excluded, which were malicious ({ADVISORY}). "
        "What cannot be installed beside it (torch and what is built for it, torchmetrics, what else Lightning asks "
        "for, an older Python, and what has no build for the oldest that is left) moves with it, by tables of what "
        "each Lightning 2 needs; torch also where rewritten code needs a newer one by itself. "
        "Addresses, hashes and lock files are left to you."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later; 2.6.2 and 2.6.3 in any case",
    triggers=(*MENTIONS, b"torch", b"transformers", b"jsonargparse", b"wandb", b"python_requires", b"-r ", b"-c "),
    check=check,
    collect=collect,
    collect_text=collect,
    kinds=("requirements", "pyproject", "yaml", "dockerfile", "notebook", "shell", "other", "lock"),
    names=("setup.py",),
    mentions=(*MENTIONS, *(word for words in USED.values() for word in words)),
    last=True,
    rows=partial(
        best_levels,
        (
            ("M162", "manual"),
            ("M163", "safe"),
            ("M307", "safe"),
            ("G20090", "safe"),
            ("B17", "safe"),
            ("B18", "manual"),
            ("B21", "safe"),
        ),
    ),
    examples=(
        Example(
            "pytorch-lightning==1.8.0  # strict\n", "pytorch-lightning==2.6.6  # strict\n", "requirements.txt", _OLD
        ),
        Example(
            "pytorch-lightning >1.7.0, <2.0.0\n",
            "pytorch-lightning >=2.0.0, <3.0.0, !=2.6.2, !=2.6.3\n",
            "requirements.txt",
            _OLD,
        ),
        Example(
            '[tool.poetry.dependencies]\npytorch-lightning = "^1.6"\n',
            '[tool.poetry.dependencies]\npytorch-lightning = "^2.0,!=2.6.2,!=2.6.3"\n',
            "pyproject.toml",
            _OLD,
        ),
        Example("lightning>=2.2\n", "lightning>=2.2,!=2.6.2,!=2.6.3\n", "requirements.txt", _NEW),
        Example("pytorch-lightning==1.8.0\n", "pytorch-lightning==1.8.0\n", "requirements.txt", _NEW),
        Example(
            "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@fixes\n",
            "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@fixes\n",
            "requirements.txt",
            _OLD,
        ),
    ),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/security/advisories/GHSA-w37p-236h-pfx3",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/21691",
    ),
)
