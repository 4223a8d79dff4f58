"""The edits of a script that used Lightning's argparse methods: calls, options of 1.x that stay, and the checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.argparse_calls import (
    OF_OPTIONS,
    ArgparseCall,
    declares_trainers,
    fits_of,
    parser_of,
    statement_of,
)
from codemods.lightning.argparse_options import (
    IDLE,
    NUMBERS,
    OF_OLD,
    RENAMED,
    SUCCESSORS,
    accelerator_of,
    defaults_of,
    kinds_of_gpus,
    only_defaults,
    own_read,
)
from codemods.lightning.namespace_from_dict import configured
from codemods.lightning.namespace_uses import default_calls
from codemods.lightning.trainer_variables import calls_of
from codemods.rule import TextEdit

HARDWARE = ("accelerator", "gpus", "tpu_cores", "num_tpu_cores", "ipus", "num_processes")
"""What in a call says which hardware is meant, so that nothing is to be added. A strategy alone left 1.x on the CPU."""

LONG = 120
EVALUATING = ("test", "validate", "predict")
"""The methods of a Trainer that may run in the place of `fit`."""


def call_edits(file: PythonFile, site: ArgparseCall, extra: Sequence[str], listed: bool = False) -> list[TextEdit]:
    """The call with the class as its first argument, and with more keywords behind the second. Where what was parsed
    brings callbacks along (`listed`), they come before those of the call."""
    node, first = site.call.node, site.given
    assert first is not None
    builder = OF_OPTIONS if configured(file, site.call) else "from_arguments"
    name = "add_arguments" if site.adds else builder
    start, end = file.offsets(node.func)
    at = file.offsets(node.args[0] if node.args else node.keywords[0])[0]
    between = file.text[end:at]
    separator = "," + between[between.index("(") + 1 :] if "\n" in between else ", "
    owner = file.source_of(site.owner)
    named = file.offsets(first)[0] if site.adds else at
    edits = [TextEdit(start, end, name), TextEdit(at, named, f"{owner}{separator}")]
    callbacks = keywords(node).get("callbacks") if listed else None
    brought = f"*({_parsed(file, site)}.callbacks or [])"
    if isinstance(callbacks, ast.List):
        brought += ", " if callbacks.elts else ""
        into = file.offsets(callbacks)[0] + 1
        edits.append(TextEdit(into, into, brought))
    lines = {first.lineno, *(item.value.lineno for item in node.keywords)}
    crowded = len(lines) <= len(node.keywords) and "\n" in between
    if ("\n" in between and not crowded) or len(extra) < 2 or "#" in file.source_of(node) or not node.args:
        place = file.offsets(first)[1]
        added = "".join(f"{separator}{item}" for item in extra)
        return [*edits, TextEdit(place, place, added)] if added else edits
    line = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    rest = [file.source_of(item) if item.arg else f"**{file.source_of(item.value)}" for item in node.keywords]
    if isinstance(callbacks, ast.List):
        rest = [item.replace("[", f"[{brought}", 1) if item.startswith("callbacks") else item for item in rest]
    items = [owner, file.source_of(first), *map(file.source_of, node.args[1:]), *extra, *rest]
    between = f"{newline}{indent}    "
    text = "".join(f"{between}{_wrapped(item, between)}," for item in items)
    return [TextEdit(*file.offsets(node), f"{name}({text}{newline}{indent})")]


def _wrapped(item: str, between: str) -> str:
    """A keyword whose value is a condition, on three lines where one would be long."""
    value, _, rest = item.partition(" if ")
    test, _, other = rest.rpartition(" else ")
    return f"{value}{between}if {test}{between}else {other}" if test and len(between) + len(item) > LONG else item


def _parsed(file: PythonFile, site: ArgparseCall) -> str:
    """The text of the parser, or of what was parsed."""
    return file.source_of(site.given) if site.given else ""


def hardware(file: PythonFile, site: ArgparseCall, kept: Collection[str], otherwise: str | None) -> list[str]:
    """The keywords for the hardware: those that take the place of options of 1.x, or else the accelerator that 1.x
    took where nothing was said."""
    args, given = _parsed(file, site), keywords(site.call.node).keys()
    if configured(file, site.call):
        return _of_options(args, kept, given)
    if "gpus" in own_read(file, site):
        if declares_trainers(file):
            return [f"accelerator={_accelerator(file, args)}", f"devices={args}.gpus or {args}.devices"]
        several = "1" if kinds_of_gpus(file) <= NUMBERS else '"auto"'
        return [f'accelerator="gpu" if {args}.gpus else "cpu"', f"devices={args}.gpus or {several}"]
    found = []
    if "gpus" in kept and not SUCCESSORS["gpus"] & given:
        found += [f"accelerator={_accelerator(file, args)}", f"devices={args}.gpus or {args}.devices"]
    elif otherwise and not given & set(HARDWARE):
        found.append(f"accelerator={otherwise.replace('{}', args)}")
    if "distributed_backend" in kept and not SUCCESSORS["distributed_backend"] & given:
        found.append(f"strategy={args}.distributed_backend or {args}.strategy")
    return found


def _accelerator(file: PythonFile, args: str) -> str:
    """The GPU where some are asked for, and else the accelerator that was parsed, or the CPU where a default of the
    script's may be None. A strategy by that name goes to Trainer, which refuses it, rather than nowhere; but for `ddp`,
    which several GPUs have by themselves."""
    said = [literal(value)[1] for name, value in defaults_of(file) or () if name == "accelerator"]
    if accelerator_of(file).moved or all(isinstance(value, str) and value for value in said):
        return f'"gpu" if {args}.gpus and {args}.accelerator in ("cpu", "ddp") else {args}.accelerator'
    return f'"gpu" if {args}.gpus and {args}.accelerator in (None, "cpu", "ddp") else {args}.accelerator or "cpu"'


def _of_options(args: str, kept: Collection[str], given: Collection[str]) -> list[str]:
    """The arguments of a call that takes all options of a dictionary: the names of those that are handled elsewhere,
    and the keywords for the hardware."""
    found = [f'"{name}"' for name in sorted(kept)]
    otherwise = f'getattr({args}, "accelerator", "cpu")'
    if "gpus" in kept:
        gpus = f'getattr({args}, "gpus", None)'
        found.append(f'accelerator="gpu" if {gpus} and {otherwise} in ("cpu", "ddp") else {otherwise}')
        found.append(f'devices={gpus} or getattr({args}, "devices", "auto")')
    elif not set(HARDWARE) & set(given):
        found.append(f"accelerator={otherwise}")
    return found


def option_edits(file: PythonFile, site: ArgparseCall, kept: Collection[str]) -> list[TextEdit]:
    """The options of 1.x that stay, behind the statement of the site."""
    statement = statement_of(file, site) if kept else None
    if statement is None:
        return []
    start, end = file.offsets(statement)
    indent = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    parser = parser_of(file, site) or _parsed(file, site)
    newline = "\r\n" if "\r\n" in file.text else "\n"
    lines = {
        "gpus": f'{parser}.add_argument("--gpus", type=plain_value, default=None)',
        "resume_from_checkpoint": f'{parser}.add_argument("--resume_from_checkpoint", default=None)',
        "distributed_backend": f'{parser}.add_argument("--distributed_backend", default=None)',
        **{
            name: f'{parser}.add_argument("--{name}", type=plain_value, nargs="?", const=True, default={default})'
            for name, default in IDLE.items()
        },
    }
    return [TextEdit(end, end, "".join(f"{newline}{indent}{lines[name]}" for name in sorted(kept)))]


def checkpoint_edits(file: PythonFile, site: ArgparseCall, kept: Collection[str], instead: bool) -> list[TextEdit]:
    """The checkpoint, which fit takes now; so does what runs `instead` of it, for which 1.x loaded it until 1.4."""
    if "resume_from_checkpoint" not in {*kept, *own_read(file, site)}:
        return []
    args, fits = _parsed(file, site), fits_of(file, site) or []
    path = f"{args}.resume_from_checkpoint"
    if configured(file, site.call):
        path = f'getattr({args}, "resume_from_checkpoint", None)'
    edits = []
    for call in [*fits, *(_instead(file, fits) if instead else [])]:
        given: list[ast.expr | ast.keyword] = [*call.node.args, *call.node.keywords]
        at = max(file.offsets(item)[1] for item in given)
        edits.append(TextEdit(at, at, f", ckpt_path={path}"))
    return edits


def evaluates_untold(file: PythonFile, site: ArgparseCall, instead: bool) -> bool:
    """Whether a Trainer evaluates a model that is given no checkpoint, as what runs `instead` of fit is."""
    fits = fits_of(file, site) or []
    told = _instead(file, fits) if instead else []
    return any(call not in told for fit in fits for call in _evaluating(file, fit) if not _is_told(call))


def _evaluating(file: PythonFile, fit: CallNode) -> list[CallNode]:
    """The calls that evaluate a model by the Trainer of a `fit`."""
    owner = ast.unparse(fit.node.func).rpartition(".")[0]
    return [call for method in EVALUATING for call in calls_of(file, fit, owner, method)]


def _is_told(call: CallNode) -> bool:
    """Whether a call names its checkpoint, or no model."""
    given = keywords(call.node)
    return "ckpt_path" in given or len(call.node.args) > 2 or not (call.node.args or "model" in given)


def _instead(file: PythonFile, fits: Sequence[CallNode]) -> list[CallNode]:
    """The calls that evaluate a model where an `if` does so in the place of one of some calls of `fit`."""
    found: list[CallNode] = []
    for fit in fits:
        for call in _evaluating(file, fit):
            if not _is_told(call) and call not in found and _are_apart(file, fit.node, call.node):
                found.append(call)
    return found


def _are_apart(file: PythonFile, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in different arms of an `if`."""
    for node in walk(file.tree):
        if isinstance(node, ast.If):
            arms = [{id(item) for part in arm for item in walk(part)} for arm in (node.body, node.orelse)]
            if any(id(one) in first and id(other) in second for first, second in (arms, arms[::-1])):
                return True
    return False


def renamed_defaults(file: PythonFile) -> list[TextEdit]:
    """Defaults of options that only have another name."""
    names = RENAMED | {name: OF_OLD[name] for name in only_defaults(file)}
    edits = []
    for call in default_calls(file):
        for item in call.node.keywords:
            if item.arg in names:
                start = file.offsets(item)[0]
                edits.append(TextEdit(start, start + len(item.arg), names[item.arg]))
    return edits
