"""LIT002: one of Lightning's two namespaces for the whole project."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator
from functools import partial

from packaging.requirements import InvalidRequirement, Requirement

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.names.namespace_switch import NEW, OLD, SPACES, python_matches, text_matches
from codemods.rules.names.sites import Sites, dotted_of, read_sites, serves_both
from codemods.rules.names.table import FABRIC

DISTRIBUTIONS = {"pytorch-lightning": OLD, "lightning": NEW}
SPELLINGS = {OLD: (OLD, FABRIC[OLD]), NEW: (NEW, FABRIC[NEW])}


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    """The namespaces that a file takes Lightning from, where it does not take it from either."""
    found = _spaces(file)
    if len(found) > 1:
        found = {space for _, space in _imports(read_sites(file))}
    return tuple(sorted(found)) or None


def _spaces(file: PythonFile) -> set[str]:
    """The namespaces of all imports of a file, those under a `try` or version check included."""
    return {space for node in file.imports for name in _modules(node) if (space := _space(name))}


def _modules(node: ast.ImportFrom | ast.Import) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level else [node.module or ""]


def _space(dotted: str) -> str:
    return next((space for space in SPELLINGS if _is_of(dotted, space)), "")


def _imports(sites: Sites) -> Iterator[tuple[ast.ImportFrom | ast.Import, str]]:
    """The imports of Lightning that no other arm of a `try` or version check makes too, with their namespace."""
    for node, _, arms in sites.imports:
        if serves_both(node, arms):
            continue
        for name in _modules(node):
            if space := _space(name):
                yield node, space


def _is_of(dotted: str, space: str) -> bool:
    return any(dotted == name or dotted.startswith(name + ".") for name in SPELLINGS[space])


def _meets(facts: Facts, path: str, keep: str) -> bool:
    """Whether a file imports, or is imported by, a file of the project that takes Lightning from `keep`."""
    spaces = facts.collected("LIT002")
    others = {other for other, found in spaces.items() if keep in found and other != path}
    return any(other in _imported(facts, path) or path in _imported(facts, other) for other in others)


def _imported(facts: Facts, path: str) -> set[str | None]:
    """The files of the project that a file imports, or imports something from."""
    targets = facts.files[path].exports.values() if path in facts.files else ()
    return {facts.module_path(name, path) for target in targets for name in (target, target.rpartition(".")[0])}


def _chosen(facts: Facts) -> str | None:
    """The namespace to keep: of the only distribution that is asked for, else of most files; None for one alone."""
    counted: Counter[str] = Counter(space for spaces in facts.collected("LIT002").values() for space in spaces)
    if len(counted) < 2:
        return None
    asked = {DISTRIBUTIONS[name] for pin in facts.pins if (name := _distribution(pin)) in DISTRIBUTIONS}
    if len(asked) == 1:
        return next(iter(asked))
    return min(counted, key=lambda space: (-counted[space], space))


def _distribution(pin: str) -> str:
    try:
        return Requirement(pin).name.lower().replace("_", "-")
    except InvalidRequirement:
        return ""


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if facts.namespace:
        to = SPACES[facts.namespace]
        yield from python_matches(file, facts, to) if isinstance(file, PythonFile) else text_matches(file, facts, to)
    elif isinstance(file, PythonFile):
        yield from _mixed(file, facts)


def _mixed(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The imports of a file that take Lightning from another namespace than most of the project."""
    keep = _chosen(facts)
    if keep is None or not _spaces(file) - {keep}:
        return
    if not (keep in facts.collected("LIT002").get(file.path, ()) or _meets(facts, file.path, keep)):
        return
    sites = read_sites(file)
    for node, space in _imports(sites):
        if space == keep:
            continue
        message = f"the project takes Lightning from `{keep}` too, which has classes of its own"
        edit = _edit(file, sites, node, space, keep)
        if edit:
            reason = "Both hold the same code; a library that this file uses may be built on the other one."
            yield Match(file.span(node), message, "unsafe", reason, "B06", (edit,), needs="2.0.0")
        else:
            yield Match(file.span(node), message, "manual", f"Not rewritten: write it with `{keep}` by hand.", "B06")


def _among(facts: Facts) -> Container[str]:
    """The files that take Lightning from another namespace than the one to keep; all, where one is asked for."""
    if facts.namespace:
        return facts.files
    keep = _chosen(facts)
    spaces = facts.collected("LIT002")
    return frozenset(path for path, found in spaces.items() if keep and set(found) - {keep})


def _edit(file: PythonFile, sites: Sites, node: ast.ImportFrom | ast.Import, space: str, keep: str) -> TextEdit | None:
    start, end = file.offsets(node)
    if isinstance(node, ast.Import):
        alias = node.names[0]
        if len(node.names) > 1 or not alias.asname:
            return None
        dotted = alias.name
        start, _ = file.offsets(alias)
    else:
        dotted = node.module or ""
        start = file.text.index(dotted, start, end)
    old = next(name for name in SPELLINGS[space] if dotted == name or dotted.startswith(name + "."))
    new = SPELLINGS[keep][SPELLINGS[space].index(old)]
    reached = {dotted_of(chain, scope) or "" for chain, scope, _ in sites.chains}
    if isinstance(node, ast.Import) and any(name.startswith(f"{dotted}.{dotted}") for name in reached):
        return None
    return TextEdit(start, start + len(old), new)


BEFORE = """\
from pytorch_lightning.callbacks import ModelCheckpoint

import model
"""
AFTER = BEFORE.replace("pytorch_lightning", "lightning.pytorch")
OTHERS = (
    ("model.py", "from lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n    pass\n"),
    ("train.py", "import lightning.pytorch as pl\n\nfrom model import Model\n\npl.Trainer().fit(Model())\n"),
)
BOTH = """\
try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl
"""

RULE = Rule(
    code="LIT002",
    name="two-namespaces",
    summary="Lightning is taken from one of its two namespaces in the whole project",
    why=(
        "`lightning.pytorch` and `pytorch_lightning` hold the same code as two sets of classes: a module of the one "
        "is refused by a Trainer of the other, and a callback works in part (issues 19252 and 17153). The namespace "
        "of the distribution that the project asks for is kept, or that of most of its files. With --namespace the "
        "whole project moves to the one that is asked for: imports, chains, strings, configurations and requirements."
    ),
    fix="unsafe",
    versions="Lightning 2.0 and later",
    triggers=(
        b"pytorch_lightning",
        b"lightning.pytorch",
        b"lightning_fabric",
        b"lightning.fabric",
        b"import lightning",
        b"from lightning import",
    ),
    text_triggers=(
        b"pytorch_lightning",
        b"lightning.pytorch",
        b"lightning_fabric",
        b"lightning.fabric",
        b"lightning.T",
    ),
    kinds=("python", "yaml", "json", "toml", "pyproject", "shell", "docs", "dockerfile", "other"),
    check=_check,
    collect=_collect,
    among=_among,
    rows=partial(best_levels, (("B06", "unsafe"), ("B22", "manual"))),
    examples=(Example(BEFORE, AFTER, "callbacks.py", OTHERS), Example(BOTH, BOTH, "compat.py", OTHERS)),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19252",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/17153",
    ),
)
