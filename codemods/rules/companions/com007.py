"""COM007: yaml.load without its loader."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.versions import admits_from
from codemods.rewrite.keywords import with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, touches

PACKAGE = ("pyyaml",)
LOADS = ("yaml.load", "yaml.load_all")
NAME = "Loader"
MESSAGE = "`{}` requires `Loader=` since PyYAML 6.0"
TAGS = "!!python/"
OBJECTS = (
    "A file of the project has tags of Python, of which it makes fewer objects since 5.4; fixer assumes no others."
)
SAME = "FullLoader is what it took by default since PyYAML 5.1, with a warning."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not admits_from(facts, PACKAGE, "5.1"):
        return
    for call in file.calls_near(["load", "load_all"]):
        dotted = call.scope.resolve(call.node.func)
        if dotted in LOADS and _is_told_nothing(call.node):
            yield _judged(file, facts, call, dotted)


def _is_told_nothing(call: ast.Call) -> bool:
    """Whether a call gives the stream alone. What `*` and `**` give is not known."""
    given = {item.arg for item in call.keywords}
    starred = None in given or any(isinstance(item, ast.Starred) for item in call.args)
    return not starred and NAME not in given and len(call.args) + len(given) == 1


def _judged(file: PythonFile, facts: Facts, call: CallNode, dotted: str) -> Match:
    message, place = MESSAGE.format(dotted), file.span(call.node)
    function = call.node.func
    if not isinstance(function, ast.Attribute):
        reason = f"Not rewritten: the file has no name for the loader; write `{NAME}=yaml.FullLoader`, and import yaml."
        return Match(place, message, "manual", reason)
    text = f"{file.source_of(function.value)}.FullLoader"
    edit = touches("arguments")(partial(with_keyword, name=NAME, text=text))
    if facts.holding(TAGS):
        return Match(place, message, "unsafe", f"{SAME} {OBJECTS}", edits=(NodeEdit(call.node, edit),))
    return Match(place, message, "safe", SAME, edits=(NodeEdit(call.node, edit),))


BEFORE = """\
import yaml


def configuration(path):
    with open(path) as file:
        return yaml.load(file)
"""
AFTER = BEFORE.replace("load(file)", "load(file, Loader=yaml.FullLoader)")
BY_NAME = "from yaml import load\n\nconfiguration = load(open('a.yaml'))\n"
TOLD = "import yaml\n\nconfiguration = yaml.load(open('a.yaml'), yaml.SafeLoader)\n"

RULE = Rule(
    code="COM007",
    name="yaml-loader",
    summary="`yaml.load` names its loader",
    why=(
        "PyYAML 6.0 made the loader a required argument of `yaml.load` and `yaml.load_all`: a script that reads its "
        "configuration without one ends with a TypeError. From 5.1 to 5.4 the default was FullLoader, with a warning. "
        "For files from strangers `yaml.safe_load` is the better choice."
    ),
    fix="safe",
    versions="PyYAML 6.0 and later",
    triggers=(b"yaml",),
    words=(b"load", b"load_all"),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(AFTER, AFTER),
        Example(BEFORE, BEFORE, pins=("PyYAML<5",)),
        Example(BY_NAME, BY_NAME),
        Example(TOLD, TOLD),
    ),
    stops=True,
    references=("https://github.com/yaml/pyyaml/pull/561",),
)
