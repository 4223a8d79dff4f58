"""What common callables do with what they are given.

Those named here keep nothing of it, change nothing of it and give nothing back that leads to it: a program without
such a call does the same to everything else. What is not named may do anything.
"""

from __future__ import annotations

import ast
from collections.abc import Container

from codemods.code.nodes import every_node

CONTEXTS = frozenset({
    "torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autocast", "torch.amp.autocast",
    "torch.cuda.amp.autocast", "torch.cpu.amp.autocast",
})  # fmt: skip
"""Contexts that do nothing before they are entered, and may be entered again."""
BUILTINS = frozenset({
    "ascii", "bool", "callable", "dir", "format", "hasattr", "hash", "id", "isinstance", "issubclass", "len", "print",
    "repr", "str", "type",
})  # fmt: skip
"""Functions that nothing in the file may have taken the name of."""
FAILING = frozenset({"format", "hash", "issubclass", "len"})
"""Those of them that fail where they are given something else."""
LOGGERS = frozenset({"logging.getLogger", "structlog.get_logger"})
RANK_ZERO = (
    "pytorch_lightning.utilities", "pytorch_lightning.utilities.rank_zero", "pytorch_lightning.utilities.distributed",
    "lightning.pytorch.utilities", "lightning.pytorch.utilities.rank_zero", "lightning.fabric.utilities.rank_zero",
    "lightning_fabric.utilities.rank_zero", "lightning_utilities.core.rank_zero",
)  # fmt: skip
"""Modules that have functions which tell something in one process alone."""
DOTTED = frozenset({
    "warnings.warn", "logging.debug", "logging.info", "logging.warning", "logging.error", "logging.critical",
    "logging.log", "logging.exception", "pprint.pprint", "pprint.pformat", "sys.stdout.write", "sys.stderr.write",
    "sys.stdout.flush", "sys.stderr.flush", "time.time", "time.perf_counter", "time.monotonic", "time.process_time",
    "time.ctime", "time.strftime", "datetime.datetime.now", "datetime.now", "traceback.print_exc", "gc.collect",
    "sys.getsizeof", "os.getpid", "os.getcwd", "socket.gethostname", "platform.node",
    "tqdm.tqdm.write", "tqdm.auto.tqdm.write", "rich.print", "rich.pretty.pprint", "click.echo", "click.secho",
    "torch.cuda.empty_cache", "torch.cuda.memory_allocated", "torch.cuda.max_memory_allocated", "torch.is_tensor",
    "torch.is_grad_enabled", "torch.cuda.is_available", "torch.cuda.device_count", "json.dumps", *CONTEXTS, *LOGGERS,
    *(f"{home}.rank_zero_{name}" for home in RANK_ZERO for name in ("debug", "info", "warn")),
})  # fmt: skip
"""Functions of modules, by their dotted names."""
REFUSING = frozenset({"warnings.warn", "json.dumps", *(f"{home}.rank_zero_warn" for home in RANK_ZERO)})
"""Those of them that may raise something."""
TOLD = frozenset({"__class__", "__doc__", "__module__", "__name__", "__qualname__", "shape", "dtype", "device", "ndim"})
"""Attributes that tell what something is."""
LOGURU = "loguru.logger"
LOGGING = frozenset({"debug", "info", "warning", "error", "critical", "log", "exception"})
"""Methods of a logger."""


def is_quiet(node: ast.expr, imported: dict[str, str], taken: Container[str]) -> bool:
    """Whether what an expression does can be seen by nobody but a reader of the output: it reads names, attributes
    that tell what these are, constants and what the callables of this table make of them. `imported` are the dotted
    names that names of the file stand for, `taken` all others that it binds."""
    if isinstance(node, ast.Name | ast.Constant):
        return True
    if isinstance(node, ast.Lambda):
        return not (node.args.defaults or any(node.args.kw_defaults))
    if isinstance(node, ast.Call):
        given = [*node.args, *(item.value for item in node.keywords)]
        if getattr(node.func, "id", "") == "getattr":
            told = len(given) == 3 and isinstance(given[1], ast.Constant) and given[1].value in TOLD
            return told and "getattr" not in taken and all(is_quiet(item, imported, taken) for item in given)
        return callee_is_quiet(node.func, imported, taken) and all(is_quiet(item, imported, taken) for item in given)
    if isinstance(node, ast.JoinedStr):
        return all(is_quiet(item, imported, taken) for item in node.values)
    if isinstance(node, ast.FormattedValue):
        return is_quiet(node.value, imported, taken) and (
            node.format_spec is None or is_quiet(node.format_spec, imported, taken)
        )
    if isinstance(node, ast.Tuple | ast.List):
        return all(is_quiet(item, imported, taken) for item in node.elts)
    if isinstance(node, ast.Dict):
        named = all(isinstance(item, ast.Constant) for item in node.keys)
        return named and all(is_quiet(item, imported, taken) for item in node.values)
    if isinstance(node, ast.BinOp):
        # What operators do with two names is for their classes to say.
        named = isinstance(node.left, ast.Name) and isinstance(node.right, ast.Name)
        return not named and all(is_quiet(item, imported, taken) for item in (node.left, node.right))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        inside = any(isinstance(item, ast.In | ast.NotIn) for item in node.ops)
        if inside and not all(_is_text(item, imported, taken) for item in sides):
            return False
        named = sum(isinstance(item, ast.Name) for item in sides) > 1
        same = not named or all(isinstance(item, ast.Is | ast.IsNot) for item in node.ops)
        return same and all(is_quiet(item, imported, taken) for item in sides)
    if isinstance(node, ast.BoolOp):
        return all(is_quiet(item, imported, taken) for item in node.values)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and is_quiet(node.operand, imported, taken)
    if not isinstance(node, ast.Attribute):
        return False
    told = node.attr in TOLD and is_quiet(node.value, imported, taken)
    return told or dotted_name(node, imported) is not None


def _is_text(node: ast.expr, imported: dict[str, str], taken: Container[str]) -> bool:
    """Whether an expression gives a string: what is in anything else may be used up where it is asked for."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    told = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("ascii", "repr", "str")
    return told and callee_is_quiet(node.func, imported, taken)  # type: ignore[attr-defined]


def may_fail(node: ast.expr, imported: dict[str, str]) -> bool:
    """Whether a quiet expression may raise what somebody waits for, as a warning too."""
    calls = (item.func for item in every_node(node) if isinstance(item, ast.Call))
    return any(getattr(item, "id", "") in FAILING or dotted_name(item, imported) in REFUSING for item in calls)


def callee_is_quiet(node: ast.expr, imported: dict[str, str], taken: Container[str]) -> bool:
    """Whether a callable is one of this table."""
    if isinstance(node, ast.Name) and node.id in BUILTINS:
        return node.id not in taken and node.id not in imported
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
        return node.attr in LOGGING and dotted_name(node.value.func, imported) in LOGGERS
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant):
        return node.attr == "format" and isinstance(node.value.value, str)
    dotted = dotted_name(node, imported) or ""
    return dotted in DOTTED or (dotted.startswith(f"{LOGURU}.") and dotted.rpartition(".")[2] in LOGGING)


def dotted_name(node: ast.expr, imported: dict[str, str]) -> str | None:
    """What a chain of attributes of an imported name stands for."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imported:
        return None
    return ".".join([imported[node.id], *reversed(parts)])
