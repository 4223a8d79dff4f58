"""COM008: filters that Pillow dropped in 10."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit

FILTERS = {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}
"""The second names of filters, and the first ones, which are older than Pillow itself or came with 2.7."""
MODULE = "PIL.Image"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for node, within in file.nodes_near(FILTERS):
        if not isinstance(node, ast.Attribute) or node.attr not in FILTERS or not isinstance(node.ctx, ast.Load):
            continue
        if file.scope_within(within).resolve(node.value) == MODULE:
            new, end = FILTERS[node.attr], file.offsets(node)[1]
            edit = TextEdit(end - len(node.attr), end, new)
            message = f"`Image.{node.attr}` was removed in Pillow 10"
            yield Match(file.span(node), message, "safe", f"It is {new} by another name.", edits=(edit,))


BEFORE = """\
from PIL import Image


def smaller(path):
    return Image.open(path).resize((64, 64), Image.ANTIALIAS)
"""
AFTER = BEFORE.replace("ANTIALIAS", "LANCZOS")
OTHER = "from enum import Enum\n\n\nclass Image(Enum):\n    LINEAR = 1\n\n\nprint(Image.LINEAR)\n"

RULE = Rule(
    code="COM008",
    name="pillow-filters",
    summary="Filters that Pillow dropped go by their other names",
    why=(
        "Pillow 10 took out `Image.ANTIALIAS`, `Image.LINEAR` and `Image.CUBIC`, each a second name of another filter: "
        "a data set that makes its pictures smaller by one ends with an AttributeError. LANCZOS, BILINEAR and BICUBIC "
        "are there since Pillow 2.7, and in each release since."
    ),
    fix="safe",
    versions="Pillow 10 and later",
    triggers=(b"PIL",),
    words=tuple(name.encode() for name in FILTERS),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER), Example(OTHER, OTHER)),
    stops=True,
    references=("https://pillow.readthedocs.io/en/stable/deprecations.html#constants",),
)
