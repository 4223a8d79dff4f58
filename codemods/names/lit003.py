"""LIT003: libraries whose last release was built on Lightning 1.x, and that cannot be imported beside 2.x."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.facts import Facts
from codemods.names.sites import read_sites
from codemods.rule import Example, Match, Rule
from codemods.source import PythonFile, TextFile

ENDED = {
    "pl_bolts": ("lightning-bolts 0.7.0", ""),
    "flash": ("lightning-flash 0.8.2", "audio core graph image pointcloud tabular template text video Trainer"),
}
"""The libraries by their package: the last release, and what of theirs an import names, where the package has a name
that others have too. Both ask for pytorch-lightning<2.0.0."""
ADVICE = (
    "take out what is used of it: most of its classes need torch alone, and its license, Apache 2.0, lets them be "
    "copied into the project"
)


def ended(file: PythonFile, facts: Facts) -> Iterator[tuple[ast.ImportFrom | ast.Import, str]]:
    """The imports of such libraries, with the package; those under a `try` or a question have another way to go."""
    if not any(package in file.text for package in ENDED):
        return
    for node, _, arms in read_sites(file).imports:
        for dotted in () if arms else _dotted(node):
            package, _, rest = dotted.partition(".")
            members = ENDED[package][1].split() if package in ENDED else []
            if package in ENDED and not _is_own(facts, package) and (not members or rest.split(".")[0] in members):
                yield node, package
                break


def _dotted(node: ast.ImportFrom | ast.Import) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level else [f"{node.module}.{alias.name}" for alias in node.names]


def _is_own(facts: Facts, package: str) -> bool:
    """Whether the project has a package of that name itself."""
    return any(f"/{package}/" in f"/{path}" or f"/{path}".endswith(f"/{package}.py") for path in facts.sources)


def refusal(package: str) -> str:
    """What is said of such a library."""
    return f"{ENDED[package][0]}, its last release, was built on pytorch_lightning 1.x"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, PythonFile):
        for node, package in ended(file, facts):
            yield Match(file.span(node), _message(package), "manual", f"Not rewritten: {refusal(package)}; {ADVICE}.")
    elif (found := _IN_TEXT.search(file.text)) and not _is_own(facts, "pl_bolts"):
        reason = f"Not rewritten: {refusal('pl_bolts')}; {ADVICE}."
        yield Match(file.span(*found.span()), _message("pl_bolts"), "manual", reason)


_IN_TEXT = re.compile(r"(?<![\w./-])pl_bolts(?:\.\w+)+")


def _message(package: str) -> str:
    return f"`{package}` cannot be imported beside Lightning 2.x"


USED = """\
from pl_bolts.optimizers.lr_scheduler import LinearWarmupCosineAnnealingLR
from pytorch_lightning import LightningModule
"""
GUARDED = """\
try:
    from pl_bolts.datamodules import CIFAR10DataModule
except ImportError:
    CIFAR10DataModule = None
"""
OTHER = "from flash.attention import flash_attention\n"

RULE = Rule(
    code="LIT003",
    name="library-of-1x",
    summary="Libraries that ended with Lightning 1.x cannot be imported beside 2.x",
    why=(
        "The last releases of lightning-bolts (0.7.0) and lightning-flash (0.8.2) ask for pytorch-lightning<2.0.0 and "
        "import modules that 2.0 took out: with Lightning 2.6.6 every `import pl_bolts...` and `import flash...` is a "
        "ModuleNotFoundError (run). An installer that is asked for both takes a much older release of theirs, or none."
    ),
    fix="manual",
    versions="Lightning 2.0 and later",
    triggers=(b"pl_bolts", b"import flash", b"from flash"),
    text_triggers=(b"pl_bolts.",),
    kinds=("python", "yaml", "json", "toml"),
    check=_check,
    examples=(Example(USED, USED), Example(GUARDED, GUARDED), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    references=("https://pypi.org/project/lightning-bolts/", "https://pypi.org/project/lightning-flash/"),
)
