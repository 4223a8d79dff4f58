"""Where a project says on which Python it is run: pipelines, images, tox and nox, version files, `conda create`.

What it says is read as places in the text. Requirements on Python (`python_requires` and its like) are pins.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.lightning.pins.conda import items_of
from codemods.rules.pins.images import image
from codemods.rules.pins.job_installs import installed_by
from codemods.rules.pins.tools import runs_tools_alone

Version = tuple[int, int]
_VERSION = re.compile(r"(?:python-?)?(3)\.(\d+)(?:\.\d+)?(?:\.x|\.\*)?(?:-dev)?")
_KEYS = (
    "py",
    "py-version",
    "py_version",
    "python",
    "python-version",
    "python-versions",
    "python.version",
    "python_version",
    "python_versions",
    "pythonversion",
    "versionspec",
)
_IMAGES = ("image", "container")
_COMPARED = re.compile(r"matrix\.(?:python[-_]?version|python|py)\s*==\s*['\"]?(3\.\d+)(?:\.\d+)?['\"]?")
_CREATE = re.compile(r"\b(?:conda|mamba|micromamba)\s+(?:create|install)\s[^\n;&|#`]*(?:\\\n[^\n;&|#`]*)*")
_WORD = re.compile(r"(?<![\w.:-])python(?P<sign>==?)(?P<version>3\.\d+)(?:\.\d+)?(?:\.\*)?(?![\w.*])")
_OTHERS = re.compile(r"(?<=\s)(?!python=)[A-Za-z][\w.-]*==?\d")
_MADE = re.compile(
    r"(?<![\w/.-])(?:python(?P<a>3\.\d+)\s+-m\s+(?:venv|virtualenv)\b"
    r"|virtualenv\s[^\n;&|]*?(?:-p|--python)[ =]python(?P<b>3\.\d+)"
    r"|uv\s+venv\s[^\n;&|]*?(?:-p|--python)[ =](?:python)?(?P<c>3\.\d+))"
)


@dataclass(frozen=True)
class PythonMention:
    """A Python that is named: where, which (None where it cannot be told, as for `3.x`), and what names another one in
    its place (`{}` stands for its digits as in 3.10, `{0}` without the dot; None where that is not plain)."""

    start: int
    end: int
    version: Version | None
    renewed: str | None


@dataclass(frozen=True)
class PythonMentions:
    """Pythons that are named together. Of a list (`listed`) those that are too old go; `lines` says that each stands
    on lines of its own. `advice` says what to do where it is not plain. `stops` says whether what they are for fails on
    an old one, `brings` whether it is an image that has them. `installs` is what the job installs that they stand in,
    where that is known."""

    items: tuple[PythonMention, ...]
    listed: bool = False
    lines: bool = False
    advice: str = "name Python {} or later"
    stops: bool = True
    brings: bool = False
    installs: frozenset[str] | None = None


def version_of(text: str) -> Version | None:
    """The Python that a text names."""
    match = _VERSION.fullmatch(text.strip())
    return (int(match[1]), int(match[2])) if match else None


def pipeline(text: str) -> Iterator[PythonMentions]:
    """What a file of a CI service or of compose names: versions, matrices, images, and commands."""
    yaml: Any = import_module("yaml")
    try:
        documents = [node for node in yaml.compose_all(text, yaml.SafeLoader) if node is not None]
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for document in documents:
        yield from _of_node(document, (), text)
    for match in _COMPARED.finditer(text):
        item = PythonMention(*match.span(1), version_of(match[1]), None)
        advice = "no job has it: compare with one of the Pythons that are left, such as {}"
        yield PythonMentions((item,), advice=advice, stops=False)
    yield from commands(text)


def _of_node(node: Any, path: tuple[str, ...], text: str) -> Iterator[PythonMentions]:
    if isinstance(node.value, str):
        return
    for entry in node.value:
        if not isinstance(entry, tuple):
            yield from _of_node(entry, path, text)
            continue
        key, value = entry
        name = str(key.value)
        if path == ("jobs",) and isinstance(value.value, list):
            installs = installed_by(value)
            inside = () if runs_tools_alone(value) else _of_node(value, (*path, name), text)
            yield from (replace(item, installs=installs) for item in inside)
            continue
        if name.lower() in _KEYS or (name == "version" and path == ("python",)):
            yield from _versions(value, path, text, _old_torch(node) if "matrix" in path else "")
        elif isinstance(value.value, str) and (name in _IMAGES or (name == "name" and path[-1:] == ("image",))):
            yield from _image(value.value, _inner(value, text))
        if not isinstance(value.value, str):
            yield from _of_node(value, (*path, name), text)


_TORCH = re.compile(r"(?:py)?torch(?:[-_]?version)?s?", re.IGNORECASE)


def _old_torch(matrix: Any) -> str:
    """A torch that a matrix names and that no release of Lightning 2 runs on; empty where there is none."""
    named = (
        str(item.value)
        for key, value in matrix.value
        if _TORCH.fullmatch(str(key.value)) and isinstance(value.value, list)
        for item in value.value
    )
    return next((item for item in named if re.match(r"(?:0|1\.(?:\d|10))(?:\.|$)", item)), "")


def _versions(node: Any, path: tuple[str, ...], text: str, torch: str = "") -> Iterator[PythonMentions]:
    """The Pythons that a key is given. An entry of a matrix that is spelled out belongs to the rest of its job, and so
    does one of a matrix with an old torch."""
    if "exclude" in path:
        return
    single = isinstance(node.value, str)
    nodes = [node] if single else [item for item in node.value if not isinstance(item, tuple)]
    if not all(isinstance(item.value, str) for item in nodes):
        return
    spelled = "include" in path or (single and "matrix" in path) or bool(torch)
    items = tuple(
        PythonMention(
            *_inner(item, text, quotes=False), version_of(item.value), None if spelled else _quoted(item, text)
        )
        for item in nodes
        if item.style not in ("|", ">")
    )
    advice = (
        f"{PythonMentions.advice}, with a torch that Lightning 2 runs on in place of {torch}"
        if torch
        else PythonMentions.advice
    )
    if items:
        yield PythonMentions(items, listed=not single, lines=not single and not node.flow_style, advice=advice)


def _quoted(node: Any, text: str) -> str:
    """Another release in the place of one: in quotes, since YAML reads 3.10 as 3.1."""
    mark = text[node.start_mark.index]
    word = "python" if str(node.value).startswith("python") else ""
    mark = mark if mark in "'\"" else '"'
    return f"{mark}{word}{{}}{mark}"


def _inner(node: Any, text: str, *, quotes: bool = True) -> tuple[int, int]:
    """Where a scalar stands, without its quotes unless they are to go with it."""
    start, end = node.start_mark.index, node.end_mark.index
    return (start + 1, end - 1) if quotes and text[start] in "'\"" else (start, end)


def _image(name: str, place: tuple[int, int], *, by_system: bool = False) -> Iterator[PythonMentions]:
    known = image(name, by_system=by_system)
    if known:
        advice = f"take {known.advice}" if known.advice else "take another image"
        yield PythonMentions(
            (PythonMention(*place, known.python, known.renewed),), advice=advice, brings=known.renewed is None
        )


_FROM = re.compile(r"(?im)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)")
_ARG = re.compile(r"(?im)^[ \t]*ARG[ \t]+(?P<name>\w+)=(?P<quote>[\"']?)(?P<version>3\.\d+(?:\.\d+)?)(?P=quote)[ \t]*$")
_OWN_PYTHON = re.compile(r"conda|mamba|pyenv|deadsnakes|uv python|uv venv|python3\.1\d|Python-3")
_SYSTEM_PYTHON = re.compile(r"\bpython3(?:-pip|-dev|-venv)?\b")


def dockerfile(text: str) -> Iterator[PythonMentions]:
    """What the base images of a Dockerfile bring, and the commands that choose a Python."""
    by_system = _SYSTEM_PYTHON.search(text) is not None and _OWN_PYTHON.search(text) is None
    conda = re.search(r"(?:conda|mamba)\S*\s+(?:create|env|install)", text) is not None
    used = set()
    for match in _FROM.finditer(text):
        name = match["image"]
        used |= set(re.findall(r"python:\$\{?(\w+)", name))
        if not (conda and "conda" in name):
            yield from _everywhere(_image(name, match.span("image"), by_system=by_system), text)
    for match in _ARG.finditer(text):
        if match["name"] in used:
            yield PythonMentions((PythonMention(*match.span("version"), version_of(match["version"]), "{}"),))
    yield from commands(text)


def commands(text: str) -> Iterator[PythonMentions]:
    """The Pythons of environments that shell commands make. One that is asked for beside other exact releases goes with
    what is built for it."""
    for command in _CREATE.finditer(text):
        alone = _OTHERS.search(command.group()) is None
        for word in _WORD.finditer(command.group()):
            start, end = (command.start() + place for place in word.span())
            renewed = f"python{word['sign']}{{}}" if alone else None
            advice = "ask for Python {}, with what is built for it"
            yield PythonMentions((PythonMention(start, end, version_of(word["version"]), renewed),), advice=advice)
    for made in _MADE.finditer(text):
        group = next(name for name in "abc" if made[name])
        mentions = PythonMentions((PythonMention(*made.span(group), version_of(made[group]), "{}"),))
        yield from [mentions] if made["c"] else _everywhere([mentions], text)


def _everywhere(found: Iterable[PythonMentions], text: str) -> Iterator[PythonMentions]:
    """Mentions of one Python, whose renewal is not plain where the text installs it or goes by its name otherwise."""
    places = {made.span(group) for made in _MADE.finditer(text) for group in "ab"}
    for mentions in found:
        (item,) = mentions.items
        digits = ".".join(map(str, item.version or ()))
        named = re.finditer(rf"(?<=python){re.escape(digits)}(?!\d)", text) if digits else ()
        if item.renewed and any(place.span() not in places for place in named):
            advice = f"name Python {{}} or later, here and in each other place that names python{digits}"
            mentions = replace(mentions, items=(replace(item, renewed=None),), advice=advice)
        yield mentions


def file_of_version(text: str) -> Iterator[PythonMentions]:
    """`.python-version` and `runtime.txt`: a release on a line; the first line counts, others are besides."""
    matches = list(re.finditer(r"(?m)^[ \t]*(python-)?(3\.\d+(?:\.\d+)?)[ \t]*$", text))
    items = tuple(PythonMention(*match.span(2), version_of(match[2]), "{}") for match in matches)
    if items:
        yield PythonMentions(items, listed=len(items) > 1, lines=True)


_ENVLIST = re.compile(r"(?m)^(?:envlist|env_list)[ \t]*=(?P<names>[^\n]*(?:\n[ \t]+[^\n]*)*)")
_ENV = re.compile(r"(?<![\w{-])py(?:thon)?(?P<major>3)\.?(?P<minor>\d{1,2})(?![\w}.-])")
_BASE = re.compile(r"(?m)^(?:basepython|base_python)[ \t]*=[ \t]*python(?P<version>3\.\d+)[ \t]*$")
_ACTIONS = re.compile(r"(?m)^\[gh(?:-actions)?\][ \t]*\npython[ \t]*=(?P<lines>(?:[^\n]*\n?[ \t]+[^\n]+)+)")
_MAPPED = re.compile(r"(?m)(?P<version>3\.\d+)[ \t]*[:=][ \t]*[^\n]+$")


def tox(text: str) -> Iterator[PythonMentions]:
    """The environments that tox makes by default, their Pythons, and those that pipelines are mapped to."""
    for match in _ENVLIST.finditer(text):
        yield from _environments(match["names"], match.start("names"))
    for match in _BASE.finditer(text):
        yield PythonMentions((PythonMention(*match.span("version"), version_of(match["version"]), "{}"),))
    for match in _ACTIONS.finditer(text):
        start = match.start("lines")
        items = tuple(
            PythonMention(start + each.start(), start + each.end(), version_of(each["version"]), "{}: py{0}")
            for each in _MAPPED.finditer(match["lines"])
        )
        if items:
            yield PythonMentions(items, listed=True, lines=True)


def _environments(text: str, offset: int) -> Iterator[PythonMentions]:
    """The names of a list, by commas or by lines; those with factors (`py{37,38}-torch`) are left to a person."""
    plain, factors = [], []
    for match in re.finditer(r"[^\s,{}]*(?:\{[^}]*\}[^\s,{}]*)+|[^\s,]+", text):
        start, end = offset + match.start(), offset + match.end()
        name = _ENV.fullmatch(match.group())
        olds = re.findall(r"py3\.?(\d{1,2})(?!\d)", match.group()) if not name else []
        olds += [item for inner in re.findall(r"py3?\{([^}]*)\}", match.group()) for item in inner.split(",")]
        if name:
            plain.append(PythonMention(start, end, (3, int(name["minor"])), "py{0}"))
        elif versions := [_minor(old) for old in olds if old.strip().isdigit()]:
            factors.append(PythonMention(start, end, min(versions), None))
        else:
            plain.append(PythonMention(start, end, None, None))
    if any(item.version for item in plain):
        yield PythonMentions(tuple(plain), listed=True, lines=text.lstrip(" \t").startswith("\n") and "," not in text)
    yield from (
        PythonMentions((item,), advice="take the old ones out, and put py{0} in their place") for item in factors
    )


def _minor(text: str) -> Version:
    digits = text.strip()
    return 3, int(digits[1:] if len(digits) > 1 and digits[0] == "3" else digits)


def nox(file: PythonFile) -> Iterator[PythonMentions]:
    """The Pythons of nox's sessions, as literals or by a name of the module."""
    named = {
        target.id: node.value
        for node in file.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    seen = set()
    for node in walk(file.tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) in ("nox.session", "session")):
            continue
        for keyword in node.keywords:
            value = named.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else keyword.value
            if keyword.arg == "python" and value is not None and value not in seen:
                seen.add(value)
                yield from _literals(file, value)


def _literals(file: PythonFile, node: ast.expr) -> Iterator[PythonMentions]:
    listed = isinstance(node, ast.List | ast.Tuple)
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    strings = [item for item in nodes if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if not strings or len(strings) < len(nodes):
        return
    items = []
    for item in strings:
        start, end = file.offsets(item)
        mark = file.text[start]
        items.append(
            PythonMention(start, end, version_of(str(item.value)), f"{mark}{{}}{mark}" if mark in "'\"" else None)
        )
    trailing = isinstance(node, ast.Tuple) and len(items) < 3
    yield PythonMentions(
        tuple(replace(item, renewed=None) for item in items) if trailing else tuple(items), listed=listed
    )


_CLASSIFIER = re.compile(
    r"(?m)^[ \t]*(?P<quote>[\"']?)Programming Language :: Python :: (?P<version>3\.\d+)(?P=quote)[ \t]*,?[ \t]*$"
)


def classifiers(text: str) -> Iterator[PythonMentions]:
    """The classifiers of a distribution, each on a line of its own. They stop nothing."""
    found = list(_CLASSIFIER.finditer(text))
    items = tuple(
        PythonMention(match.start("version"), match.end("version"), version_of(match["version"]), "{}")
        for match in found
    )
    if items:
        yield PythonMentions(items, listed=True, lines=True, stops=False)


_PIN = re.compile(r"python(?P<sign>==?)(?P<version>3\.\d+)(?:\.\d+)?(?:\.\*)?")
_OWN = re.compile(r"(?:\S*::)?(?:python|pip|setuptools|wheel)\b")


def conda(text: str) -> Iterator[PythonMentions]:
    """The Python of a conda environment. It is plain where no other package of conda's is asked for by its release."""
    own = [item for item in items_of(text, ("dependencies",)) if item.key == "dependencies"]
    alone = not any("=" in item.stated and not _OWN.match(item.stated) for item in own)
    for item in own:
        if match := _PIN.fullmatch(item.stated):
            renewed = f"python{match['sign']}{{}}" if alone else None
            python = PythonMention(item.place, item.place + len(item.stated), version_of(match["version"]), renewed)
            yield PythonMentions((python,), advice="ask for python={}, with what is built for it")


_BY_NAME: Mapping[str, Callable[[str], Iterator[PythonMentions]]] = {
    ".python-version": file_of_version,
    "runtime.txt": file_of_version,
    "tox.ini": tox,
}


def pythons(path: str, kind: str, manifest: str | None, text: str) -> Iterator[PythonMentions]:
    """What a file that is no Python says; `kind` is that of the source, `manifest` that of its requirements."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        yield from _BY_NAME[name](text)
    elif manifest == "workflow" or re.fullmatch(r"(?:docker-)?compose[\w.-]*\.ya?ml|cog\.ya?ml", name):
        yield from pipeline(text)
    elif manifest == "conda":
        yield from conda(text)
    elif kind == "dockerfile":
        yield from dockerfile(text)
    elif kind in ("shell", "docs"):
        yield from commands(text)
    elif name in ("setup.cfg", "pyproject.toml"):
        yield from classifiers(text)
        yield from tox(text)


def remaining(named: PythonMentions, floor: Version) -> tuple[Sequence[PythonMention], Sequence[PythonMention]]:
    """The Pythons that are too old, and those that stay."""
    old = [item for item in named.items if item.version is not None and item.version < floor]
    return old, [item for item in named.items if item not in old]
