"""LIT003: libraries whose last release was built on Lightning 1.x, and that cannot be imported beside 2.x."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule
from codemods.rules.names.sites import Arms, dotted_of, read_sites, serves_both

_PARTS = "audio core graph image pointcloud tabular template text video"
_WHOLE = "DataKeys DataModule FlashCallback InputTransform OutputTransform RunningStage Task Trainer"
ENDED = {
    "pl_bolts": ("lightning-bolts 0.7.0", ""),
    "flash": ("lightning-flash 0.8.2", f"{_PARTS} {_WHOLE}"),
}
"""The libraries by their package: the last release, and what of theirs an import names, where the package has a name
that others have too. Both ask for pytorch-lightning<2.0.0."""
ADVICE = (
    "copy what you use of it into the project, which its license, Apache 2.0, allows (most of its classes need torch "
    "alone), and remove `{}`"
)


def ended(file: PythonFile, facts: Facts) -> Iterator[tuple[ast.ImportFrom | ast.Import | ast.expr, str]]:
    """The imports of such libraries, with the package; those that are looked after where there is none of it have
    another way to go."""
    if not any(package in file.text for package in ENDED):
        return
    sites = read_sites(file)
    reached = {dotted for chain, scope, _ in sites.chains if (dotted := dotted_of(chain, scope))}
    for node, _, arms in sites.imports:
        for dotted in () if _is_guarded(node, arms) else _dotted(node, reached):
            if package := _package(facts, dotted):
                yield node, package
                break
    for call in file.calls_near(["import_module"]):
        loads = call.scope.resolve(call.node.func) == "importlib.import_module"
        given = call.node.args[0] if call.node.args and loads else None
        named = given.value if isinstance(given, ast.Constant) else None
        if given and isinstance(named, str) and (package := _package(facts, named)):
            yield given, package


def _package(facts: Facts, dotted: str) -> str | None:
    """Such a library of which something is named."""
    package, _, rest = dotted.partition(".")
    members = ENDED[package][1].split() if package in ENDED else []
    known = package in ENDED and (not members or rest.split(".")[0] in members)
    return package if known and not _is_own(facts, package) else None


def _is_guarded(node: ast.ImportFrom | ast.Import, arms: Arms) -> bool:
    """Whether an import may fail, another takes its place, or it is asked first whether there is such a library."""
    caught = any(
        isinstance(outer, ast.Try) and (part == "handlers" or (part != "finalbody" and _takes_failures(outer)))
        for outer, part in arms
    )
    asked = any(isinstance(outer, ast.If) and _ASKED.search(ast.unparse(outer.test)) for outer, _ in arms)
    return caught or asked or serves_both(node, arms)


def _takes_failures(node: ast.Try) -> bool:
    """Whether a statement goes on where an import fails."""
    caught = [name for item in node.handlers for name in (walk(item.type) if item.type else [None])]
    return any(name is None or getattr(name, "id", "") in _FAILURES for name in caught)


_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_ASKED = re.compile(r"version|available|installed|find_spec", re.IGNORECASE)


def _dotted(node: ast.ImportFrom | ast.Import, reached: Collection[str]) -> list[str]:
    """What a statement imports, and what the file reaches through a package that it imports whole."""
    if isinstance(node, ast.ImportFrom):
        return [] if node.level else [f"{node.module}.{alias.name}" for alias in node.names]
    named = [alias.name for alias in node.names]
    return [*named, *(dotted for dotted in reached if dotted.partition(".")[0] in named)]


def _is_own(facts: Facts, package: str) -> bool:
    """Whether the project has a package of that name itself."""
    code = [f"/{path}" for path in facts.sources if path.endswith(".py")]
    return any(f"/{package}/" in path or path.endswith(f"/{package}.py") for path in code)


def _spelled(file: PythonFile, node: ast.AST) -> str:
    """What asks for the library, without the names that it takes."""
    return f"from {node.module} import ..." if isinstance(node, ast.ImportFrom) else brief(file, node)


def refusal(package: str) -> str:
    """What is said of such a library."""
    return f"{ENDED[package][0]}, its last release, was built on pytorch_lightning 1.x"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, PythonFile):
        for node, package in ended(file, facts):
            advice = ADVICE.format(_spelled(file, node))
            yield Match(file.span(node), _message(package), "manual", f"Not rewritten: {refusal(package)}; {advice}.")
        return
    for found in _IN_TEXT.finditer(file.text):
        if named := _package(facts, found.group()):
            reason = f"Not rewritten: {refusal(named)}; {ADVICE.format(found.group())}."
            yield Match(file.span(*found.span()), _message(named), "manual", reason)
            return


_IN_TEXT = re.compile(
    rf"(?<![\w./-])(?:pl_bolts(?:\.\w+)+|flash\.(?:(?:{'|'.join(_PARTS.split())})(?:\.\w+)*\.[A-Z]\w*|[A-Z]\w+))"
)


def _message(package: str) -> str:
    return f"`{package}` cannot be imported together with Lightning 2.x"


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
    summary="Libraries that ended with Lightning 1.x cannot be imported together with 2.x",
    why=(
        "The last releases of lightning-bolts (0.7.0) and lightning-flash (0.8.2) ask for pytorch-lightning<2.0.0 and "
        "import modules that 2.0 took out: with Lightning 2.6.6 every `import pl_bolts...` and `import flash...` is a "
        "ModuleNotFoundError (run). An installer that is asked for both takes a much older release of theirs, or none."
    ),
    fix="manual",
    versions="Lightning 2.0 and later",
    triggers=(b"pl_bolts", b"import flash", b"from flash"),
    text_triggers=(b"pl_bolts.", b"flash."),
    kinds=("python", "yaml", "json", "toml"),
    check=_check,
    examples=(Example(USED, USED), Example(GUARDED, GUARDED), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    references=("https://pypi.org/project/lightning-bolts/", "https://pypi.org/project/lightning-flash/"),
)
