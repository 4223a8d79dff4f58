"""LIT130: Trainer.add_argparse_args and from_argparse_args, and those of datamodules and modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from codemods.facts import TRAINER, Facts
from codemods.finding import Fix
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.scopes import ROOT, canonical
from codemods.source import CallNode, PythonFile
from codemods.trainer import helpers
from codemods.trainer.calls import keywords
from codemods.trainer.kept import calls_of, kept_in, space_of
from codemods.trainer.options import LIGHTNINGS, read_options
from codemods.trainer.table import current, once
from codemods.trainer.values import bound_once

CODE = "LIT130"
WORDS = ("add_argparse_args", "from_argparse_args")
GONE = {
    "parse_argparser": "M274",
    "match_env_arguments": "M275",
    "default_attributes": "M272",
    "get_init_arguments_and_types": "M271",
}
ROWS = {"add_argparse_args": "M276", "from_argparse_args": "M273"}
OWN_ROWS = {"add_argparse_args": "M268", "from_argparse_args": "M270"}
CLI = "LightningCLI is what Lightning offers instead"
RENAMED = {"replace_sampler_ddp": "use_distributed_sampler"}
"""Defaults of options that only have another name."""
NEW = frozenset(
    {"callbacks", "barebones", "use_distributed_sampler", "model_registry", "enable_autolog_hparams", "inference_mode"}
)
"""Arguments of Trainer that were no options in every 1.x."""
COMMON = ("args", "hparams", "opt", "opts", "hp", "params")
"""What scripts call what was parsed."""
KEPT = ("distributed_backend", "gpus", "resume_from_checkpoint")
"""Options of 1.x that stay, where the script speaks of them."""

SUCCESSORS = {
    "gpus": frozenset({"gpus", "accelerator", "devices"}),
    "distributed_backend": frozenset({"distributed_backend", "strategy", "plugins"}),
}
"""What takes the place of an option of 1.x in the call that builds the Trainer."""


@dataclass(frozen=True)
class Site:
    """A call of one of the methods. `owner` is what it is called of, `level` how surely that is Lightning's."""

    call: CallNode
    method: str
    owner: ast.expr
    trainer: bool
    level: Fix


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    sites = [site for call in file.calls_near(WORDS) if (site := _site(file, facts, call))]
    if sites:
        why = _refusal(file, sites)
        yield from (_left(file, site, why) for site in sites) if why else _rewritten(file, sites)
    for call in file.calls_near(GONE):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in GONE:
            continue
        if call.scope.resolve(function.value) == TRAINER:
            message = f"`Trainer.{function.attr}` was removed in Lightning 2.0"
            reason = f"Not rewritten: read inspect.signature(Trainer), or vars(args); {CLI}."
            yield Match(file.span(call.node), message, "manual", reason, GONE[function.attr])


def _site(file: PythonFile, facts: Facts, call: CallNode) -> Site | None:
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in WORDS:
        return None
    owner = function.value
    dotted = call.scope.resolve(owner)
    if dotted == TRAINER:
        return Site(call, function.attr, owner, True, "safe")
    if isinstance(owner, ast.Call) or ast.unparse(owner) in ("super()", "self", "cls"):
        return None
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is not None:
        if any(function.attr in member.methods for member in facts.ancestry(fact)):
            return None
        kind = facts.kind(fact)
        if kind == "other":
            return None
        return Site(call, function.attr, owner, kind == TRAINER, "safe" if kind else "unsafe")
    own = any(facts.mentions.get(f"def {word}".encode()) for word in WORDS)
    if own or not _reads_lightning(file):
        return None
    return Site(call, function.attr, owner, False, "unsafe")


def _reads_lightning(file: PythonFile) -> bool:
    return any(canonical(target).startswith(ROOT) for found in file.scope.bindings.values() for target in found)


def _refusal(file: PythonFile, sites: Sequence[Site]) -> str | None:
    """Why a file is left as it is."""
    if "hasattr(" in file.text and re.search(r"hasattr\([^)]*argparse_args", file.text):
        return "the file asks whether the method is there"
    taken = [name for name in helpers.NAMES if name in file.scope.bindings]
    if taken:
        return f"the file uses the name {taken[0]} already"
    for site in sites:
        node = site.call.node
        wide = site.method == "add_argparse_args" and (len(node.args) != 1 or node.keywords)
        if wide or not node.args or isinstance(node.args[0], ast.Starred):
            return f"the arguments of `{site.method}` in line {node.lineno} are not the usual ones"
        if not isinstance(node.args[0], ast.Name) and site.method == "add_argparse_args":
            return "the parser is no plain name"
    clash = sorted(NEW & read_options(file).kinds.keys())
    if clash:
        return f"the script has an option --{clash[0]} of its own, which Trainer takes too now"
    if any(site.trainer for site in sites):
        return _unkept(file, sites)
    return None


def _spoken(file: PythonFile, names: frozenset[str]) -> set[str]:
    """Which options that are gone a file reads, sets or spells, as `args.name`, a default, or `--name`."""
    own = {name for name, kinds in read_options(file).kinds.items() if kinds != {LIGHTNINGS}}
    bases = {*COMMON, *_arguments(file)}
    defaults = {item.arg for call in _defaults(file) for item in call.node.keywords}
    return {
        name
        for name in names
        if name not in own
        and name in file.text
        and (name in defaults or f"--{name}" in file.text or _is_read(file, name, bases))
    }


def _arguments(file: PythonFile) -> set[str]:
    """The names that `from_argparse_args` is called with."""
    calls = [call.node for call in file.calls_near(["from_argparse_args"]) if call.node.args]
    return {ast.unparse(node.args[0]) for node in calls}


def _is_read(file: PythonFile, name: str, bases: Collection[str]) -> bool:
    return any(ast.unparse(node.value).removeprefix("self.") in bases for node in file.attributes(name))


def _defaults(file: PythonFile) -> list[CallNode]:
    return [
        call
        for call in file.calls_near(["set_defaults"])
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "set_defaults"
    ]


def _unkept(file: PythonFile, sites: Sequence[Site]) -> str | None:
    """An option of 1.x that the script speaks of and that has no plain successor."""
    spoken = sorted(_spoken(file, once() - current() - set(KEPT) - set(RENAMED)))
    if spoken:
        return f"the script speaks of the option {spoken[0]}, which went with Trainer's argument"
    built = [site for site in sites if site.trainer and site.method == "from_argparse_args"]
    own = {name for name, kinds in read_options(file).kinds.items() if kinds != {LIGHTNINGS}} & (once() - current())
    for site in built:
        given = keywords(site.call.node).keys()
        if any(item.arg is None for item in site.call.node.keywords):
            return "more arguments come by `**`, where those of 1.x may stand"
        if own - given:
            return f"the script has an option --{min(own - given)} of its own, which 1.x gave to Trainer"
        value = site.call.node.args[0]
        bound = bound_once(file, site.call, value.id) if isinstance(value, ast.Name) else value
        if isinstance(bound, ast.Call) and ast.unparse(bound.func).rpartition(".")[2] == "Namespace":
            return "its arguments come from a dictionary, where options of 1.x may stand"
    kept = _spoken(file, frozenset(KEPT))
    for option, successors in SUCCESSORS.items():
        if option in kept and any(successors & keywords(site.call.node).keys() for site in built):
            return f"what takes the place of --{option} is given beside it, so that the option would be read nowhere"
    adding = [site for site in sites if site.trainer and site.method == "add_argparse_args"]
    if kept and any(isinstance(_statement(file, site), ast.Return) for site in adding):
        return f"the script speaks of the option {min(kept)}, which would have to stand behind a return"
    if kept and not adding:
        return f"the script speaks of the option {min(kept)}, which is declared elsewhere"
    if "resume_from_checkpoint" in kept and any(_fits(file, site) is None for site in built):
        return "the script speaks of the option resume_from_checkpoint, and its fit is not seen"
    return None


def _fits(file: PythonFile, site: Site) -> list[CallNode] | None:
    """The `fit` calls of the Trainer that a site builds."""
    name = kept_in(file, site.call)
    fits = calls_of(file, site.call, name, "fit") if name else []
    usable = all(fit.node.args or fit.node.keywords for fit in fits)
    return fits if fits and usable and not any("ckpt_path" in keywords(fit.node) for fit in fits) else None


def _left(file: PythonFile, site: Site, why: str) -> Match:
    advice = "add the options with parser.add_argument, and give Trainer the arguments one by one"
    return Match(
        file.span(site.call.node), _message(site), "manual", f"Not rewritten: {why}; {advice}; {CLI}.", _row(site)
    )


def _message(site: Site) -> str:
    return f"`{site.method}` was removed in Lightning 2.0"


def _row(site: Site) -> str:
    return (ROWS if site.trainer else OWN_ROWS)[site.method]


def _rewritten(file: PythonFile, sites: Sequence[Site]) -> Iterator[Match]:
    level: Fix = "unsafe" if any(site.level == "unsafe" for site in sites) else "safe"
    spoken = _spoken(file, frozenset(KEPT)) if any(site.trainer for site in sites) else set()
    shared = [*_helpers(file, sites), *_renamed_defaults(file)]
    for index, site in enumerate(sites):
        edits = [*_edits(file, site, spoken), *(shared if index == 0 else [])]
        if site.trainer:
            edits += (
                _options(file, site, spoken) if site.method == "add_argparse_args" else _resumed(file, site, spoken)
            )
        reason = f"A function beside it does what the method did, with the arguments that Trainer takes now; {CLI}"
        if site.trainer and site.method == "from_argparse_args":
            reason += "; without accelerator= 2.x takes what it finds, where 1.x took the CPU"
        unit = f"{file.path}:argparse"
        yield Match(file.span(site.call.node), _message(site), level, f"{reason}.", _row(site), tuple(edits), (), unit)


def _edits(file: PythonFile, site: Site, spoken: set[str]) -> list[TextEdit]:
    """The call with the class as its first argument, and with the devices that `--gpus` asks for."""
    node = site.call.node
    first = node.args[0]
    name = "add_arguments" if site.method == "add_argparse_args" else "from_arguments"
    start, end = file.offsets(node.func)
    at = file.offsets(first)[0]
    between = file.text[end:at]
    separator = "," + between[between.index("(") + 1 :] if "\n" in between else ", "
    owner = file.source_of(site.owner)
    devices = _devices(file, node, spoken) if site.trainer and name == "from_arguments" else []
    if not devices:
        return [TextEdit(start, end, name), TextEdit(at, at, f"{owner}{separator}")]
    args = file.source_of(first)
    if "\n" in between:
        place = file.offsets(first)[1]
        added = "".join(f"{separator}{item}" for item in devices)
        return [TextEdit(start, end, name), TextEdit(at, at, f"{owner}{separator}"), TextEdit(place, place, added)]
    line = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    rest = [file.source_of(item) if item.arg else f"**{file.source_of(item.value)}" for item in node.keywords]
    items = [owner, args, *map(file.source_of, node.args[1:]), *devices, *rest]
    text = "".join(f"{newline}{indent}    {item}," for item in items)
    return [TextEdit(*file.offsets(node), f"{name}({text}{newline}{indent})")]


def _devices(file: PythonFile, node: ast.Call, spoken: set[str]) -> list[str]:
    """The keywords that take the place of the options of 1.x for hardware."""
    args, given = file.source_of(node.args[0]), keywords(node).keys()
    found = []
    if "gpus" in spoken and not SUCCESSORS["gpus"] & given:
        found += [f'accelerator="gpu" if {args}.gpus else {args}.accelerator', f"devices={args}.gpus or {args}.devices"]
    if "distributed_backend" in spoken and not SUCCESSORS["distributed_backend"] & given:
        found.append(f"strategy={args}.distributed_backend or {args}.strategy")
    return found


def _options(file: PythonFile, site: Site, spoken: set[str]) -> list[TextEdit]:
    """The options of 1.x that stay, behind the statement of the site."""
    if not spoken:
        return []
    statement = _statement(file, site)
    start, end = file.offsets(statement)
    indent = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    parser = file.source_of(site.call.node.args[0])
    newline = "\r\n" if "\r\n" in file.text else "\n"
    lines = {
        "gpus": f'{parser}.add_argument("--gpus", type=plain_value, default=None)',
        "resume_from_checkpoint": f'{parser}.add_argument("--resume_from_checkpoint", default=None)',
        "distributed_backend": f'{parser}.add_argument("--distributed_backend", default=None)',
    }
    return [TextEdit(end, end, "".join(f"{newline}{indent}{lines[name]}" for name in sorted(spoken)))]


def _statement(file: PythonFile, site: Site) -> ast.stmt:
    return next(
        node
        for node in ast.walk(space_of(file, site.call))
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) and node.value is site.call.node
    )


def _resumed(file: PythonFile, site: Site, spoken: set[str]) -> list[TextEdit]:
    """The checkpoint, which fit takes now."""
    edits = []
    args = file.source_of(site.call.node.args[0])
    for fit in (_fits(file, site) or []) if "resume_from_checkpoint" in spoken else []:
        given: list[ast.expr | ast.keyword] = [*fit.node.args, *fit.node.keywords]
        at = max(file.offsets(item)[1] for item in given)
        edits.append(TextEdit(at, at, f", ckpt_path={args}.resume_from_checkpoint"))
    return edits


def _renamed_defaults(file: PythonFile) -> list[TextEdit]:
    edits = []
    for call in _defaults(file):
        for item in call.node.keywords:
            if item.arg in RENAMED:
                start = file.offsets(item)[0]
                edits.append(TextEdit(start, start + len(item.arg), RENAMED[item.arg]))
    return edits


def _helpers(file: PythonFile, sites: Sequence[Site]) -> list[TextEdit]:
    """The functions before the first statement of the module that needs one, and their imports."""
    adds = any(site.method == "add_argparse_args" for site in sites)
    builds = any(site.method == "from_argparse_args" for site in sites)
    body = file.tree.body
    lines = [site.call.node.lineno for site in sites]
    index = next(number for number, node in enumerate(body) if (node.end_lineno or 0) >= min(lines))
    if not isinstance(body[index], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
        while index > _imports(body) and isinstance(body[index - 1], ast.Assign | ast.Expr | ast.AnnAssign):
            index -= 1
    place = _line_start(file, body[index])
    above = file.text[:place].replace("\r\n", "\n")
    blank = len(above) - len(above.rstrip("\n")) - 1 if above else 2
    newline = "\r\n" if "\r\n" in file.text else "\n"
    text = helpers.text(adds, builds)
    edits = [TextEdit(place, place, ("\n" * max(0, 2 - blank) + text).replace("\n", newline))]
    missing = [name for name in helpers.modules(adds) if file.scope.lookup(name) != name]
    if missing:
        first = next(
            node
            for node in body
            if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
        )
        at = file.text.rfind("\n", 0, file.offsets(first)[0]) + 1
        edits.append(TextEdit(at, at, "".join(f"import {name}{newline}" for name in missing)))
    return edits


def _imports(body: Sequence[ast.stmt]) -> int:
    """The number of statements up to the last import."""
    found = [number for number, node in enumerate(body) if isinstance(node, ast.Import | ast.ImportFrom)]
    return found[-1] + 1 if found else 0


def _line_start(file: PythonFile, node: ast.stmt) -> int:
    """Where the line of a statement begins, its decorators and the comments right above it included."""
    decorators = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(item.lineno for item in decorators)])
    while line > 1 and file.lines[line - 2].startswith("#"):
        line -= 1
    return sum(len(text) for text in file.lines[: line - 1])


BEFORE = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer


def main(args):
    trainer = Trainer.from_argparse_args(args, max_epochs=3)
    trainer.fit(build_model(args))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    parser.set_defaults(gpus=1)
    main(parser.parse_args())
"""
AFTER = f"""\
import ast
import inspect
from argparse import ArgumentParser

from pytorch_lightning import Trainer


{helpers.text(True, True)}def main(args):
    trainer = from_arguments(
        Trainer,
        args,
        accelerator="gpu" if args.gpus else args.accelerator,
        devices=args.gpus or args.devices,
        max_epochs=3,
    )
    trainer.fit(build_model(args))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser = add_arguments(Trainer, parser)
    parser.add_argument("--gpus", type=plain_value, default=None)
    parser.set_defaults(gpus=1)
    main(parser.parse_args())
"""
LEFT = BEFORE.replace("gpus=1", "auto_lr_find=True")
OTHER = "from cluster import Trainer\n\nparser = Trainer.add_argparse_args(parser)\n"

RULE = Rule(
    code=CODE,
    name="trainer-argparse",
    summary="`Trainer.add_argparse_args` and `from_argparse_args` become functions of the script",
    why=(
        "Lightning 2.0 removed them from Trainer, datamodules and modules (guide rows M268 to M281, pull request "
        "16708): an AttributeError, the third most common one. Two small functions that read the signature do the "
        "same for the arguments there are now, so that every option that still means something stays."
    ),
    fix="safe",
    versions="Lightning 0.8 - 1.9 -> 2.0 and later",
    triggers=tuple(word.encode() for word in (*WORDS, *GONE)),
    check=_check,
    mentions=tuple(f"def {word}".encode() for word in WORDS),
    rows=partial(
        best_levels,
        (
            ("M268", "safe"),
            ("M270", "safe"),
            ("M273", "safe"),
            ("M276", "safe"),
            ("B03", "safe"),
            ("M269", "manual"),
            ("M271", "manual"),
            ("M272", "manual"),
            ("M274", "manual"),
            ("M275", "manual"),
        ),
    ),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    needs="2.0.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16708",),
)
