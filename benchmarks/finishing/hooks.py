"""Hooks that the installed Lightning does not call, refuses, or calls with other arguments."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.finishing import installed
from benchmarks.finishing.files import File, Violation
from benchmarks.finishing.program import Class, Program, decorated
from benchmarks.finishing.scopes import Function

KINDS = ("LightningModule", "Callback", "LightningDataModule")
REFUSED = ("training_epoch_end", "validation_epoch_end", "test_epoch_end")
STEPS = {"training_step": 2, "validation_step": 3, "test_step": 3, "predict_step": 3}
"""The steps, and how many arguments each gets at most."""
NOT_CALLED = frozenset({
    "log", "log_dict", "forward", "print", "all_gather", "save_hyperparameters", "load_from_checkpoint",
    "from_datasets", "freeze", "unfreeze", "manual_backward", "optimizers", "lr_schedulers",
    "toggle_optimizer", "untoggle_optimizer", "clip_gradients", "to_onnx", "to_torchscript", "state_dict",
    "load_state_dict", "configure_callbacks",
})  # fmt: skip
"""Methods that the project calls rather than Lightning, or that are not Lightning's alone."""
BY_KEYWORD = {
    "setup": ("stage",),
    "teardown": ("stage",),
    "configure_gradient_clipping": ("gradient_clip_val", "gradient_clip_algorithm"),
}
WITHOUT_INDEX = ("optimizer_idx", "opt_idx", "optimizer_i", "optimizer_index")
OF_OPTIMIZERS = frozenset({
    "optimizer_step", "optimizer_zero_grad", "lr_scheduler_step", "configure_gradient_clipping",
    "on_before_optimizer_step", "backward", "on_before_zero_grad", "training_step", "training_step_end",
    "finetune_function",
})  # fmt: skip


def hooks(program: Program, file: File) -> Iterator[Violation]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef):
            item = program.classes[node]
            if program.lightning(item):
                for method in node.body:
                    if isinstance(method, Function):
                        for line, what in _hook(program, item, method):
                            yield replace(file.violation(line, "hook", what), also=_step(file, node))


def _step(file: File, node: ast.ClassDef) -> int:
    """The line of the class's training_step, 0 where it has none."""
    lines = [each.lineno for each in node.body if isinstance(each, Function) and each.name == "training_step"]
    return file.violation(lines[0], "", "").line if lines else 0


def _hook(program: Program, item: Class, method: Function) -> Iterator[tuple[int, str]]:
    """Each line and what is wrong there."""
    for what in _itself(program, item, method):
        yield method.lineno, what
    family = program.family(item)
    if "LightningModule" in family and method.name in (*STEPS, *REFUSED):
        yield from _returned(method, "LightningModule")
    if "Callback" in family and method.name == "on_save_checkpoint":
        yield from ((line, f"Callback.{method.name} returns a state") for line in _returns(method))


def _itself(program: Program, item: Class, method: Function) -> Iterator[str]:
    family = program.family(item)
    kind = next((name for name in KINDS if name in family), program.lightning(item)[0].__name__)
    name = method.name
    if kind == "LightningModule" and name in REFUSED:
        yield f"{kind}.{name}"
        return
    if name.startswith("_"):
        return
    for base in program.lightning(item):
        found = installed.gone(base, name)
        if found == "hook" or (found and kind not in KINDS):
            if not program.is_called(item, name):
                yield f"{kind}.{name}"
            return
    yield from _signature(program, item, method, kind)
    if kind == "LightningModule" and name == "configure_optimizers":
        yield from _optimizers(program, item, method)


def _signature(program: Program, item: Class, method: Function, kind: str) -> Iterator[str]:
    name, given = method.name, _Parameters(method)
    if kind == "LightningModule" and name in STEPS:
        if name == "training_step" and {"optimizer_idx", "hiddens"} & {*given.names}:
            yield f"{kind}.{name}({', '.join(sorted({'optimizer_idx', 'hiddens'} & {*given.names}))})"
        elif given.required > STEPS[name]:
            yield f"{kind}.{name}(more than {STEPS[name]})"
        return
    classes = (installed.by_name()[kind], *program.lightning(item)) if kind in KINDS else program.lightning(item)
    base = next((getattr(each, name, None) for each in classes if hasattr(each, name)), None)
    if not inspect.isfunction(base) or name in NOT_CALLED or (kind not in KINDS and name != "finetune_function"):
        return
    if name in OF_OPTIMIZERS and (index := {*WITHOUT_INDEX} & {*given.names}):
        yield f"{kind}.{name}({index.pop()})"
        return
    if name in BY_KEYWORD:
        if not all(given.takes(keyword) for keyword in BY_KEYWORD[name]):
            yield f"{kind}.{name}(without {', '.join(BY_KEYWORD[name])})"
        return
    parameters = [each for each in inspect.signature(base).parameters.values() if each.name != "self"]
    plain = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    least = (
        1 if name == "backward" else sum(each.name != "dataloader_idx" or each.default is each.empty for each in plain)
    )
    most = least if name == "backward" else len(plain)
    several = "dataloader_idx" in given.names and _several_loaders(program, item)
    if given.required > (most if several else least):
        yield f"{kind}.{name}({', '.join(given.needed[least:])})"
    elif given.room < least and not given.everything:
        yield f"{kind}.{name}(only {given.room} of {least})"
    elif name == "on_train_epoch_end" and "outputs" in given.names and _reads(method, "outputs"):
        yield f"{kind}.{name}(outputs)"


class _Parameters:
    """What a method takes, without the instance."""

    def __init__(self, method: Function) -> None:
        arguments = method.args
        named = [*arguments.posonlyargs, *arguments.args]
        skipped = 0 if decorated(method, "staticmethod") else 1
        self.names = [each.arg for each in named[skipped:]]
        self.required = max(0, len(named) - skipped - len(arguments.defaults))
        self.needed = self.names[: self.required]
        self.room = len(self.names)
        self.everything = arguments.vararg is not None
        self.keywords = {*self.names, *(each.arg for each in arguments.kwonlyargs)}
        self.rest = arguments.kwarg is not None

    def takes(self, keyword: str) -> bool:
        return keyword in self.keywords or self.rest


def _several_loaders(program: Program, item: Class) -> bool:
    """Whether a step of the class asks for the loader's index, which it gets of several loaders alone."""
    steps = ("validation_step", "test_step", "predict_step")
    return any(
        isinstance(method, Function) and method.name in steps and "dataloader_idx" in _Parameters(method).needed
        for each in program.ancestors(item)
        for method in each.node.body
    )


def _optimizers(program: Program, item: Class, method: Function) -> Iterator[str]:
    if any(_turns_manual(each.node) for each in program.ancestors(item)):
        return
    for node in _own(method):
        if isinstance(node, ast.Return) and node.value and _count(node.value) > 1:
            yield "LightningModule.configure_optimizers: several optimizers"
            return


def _count(value: ast.expr) -> int:
    """How many optimizers a returned value holds, as far as it is written out."""
    if not isinstance(value, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in value.elts):
        return 0
    first = value.elts[0] if value.elts else None
    if len(value.elts) == 2 and isinstance(first, ast.List | ast.Tuple):
        return len(first.elts)
    second = value.elts[1] if len(value.elts) == 2 else None
    if isinstance(value, ast.Tuple) and isinstance(second, ast.List | ast.Tuple | ast.ListComp):
        return 0
    if isinstance(value, ast.Tuple) and len(value.elts) == 2 and _means_lists(value):
        return 0
    return len(value.elts)


def _means_lists(value: ast.Tuple) -> bool:
    """Whether two names say that they hold lists: `optimizers, schedulers`."""
    return any("sched" in ast.unparse(each).lower() or ast.unparse(each).endswith("s") for each in value.elts)


def _turns_manual(node: ast.ClassDef) -> bool:
    for inner in ast.walk(node):
        targets = inner.targets if isinstance(inner, ast.Assign) else []
        if any("automatic_optimization" in ast.unparse(each) for each in targets):
            return not (isinstance(inner.value, ast.Constant) and inner.value.value is True)
        if isinstance(inner, Function) and inner.name == "automatic_optimization":
            return True
    return False


def _returned(method: Function, kind: str) -> Iterator[tuple[int, str]]:
    """Keys of a returned dictionary that Lightning 1.0 stopped to read; it never read those of an evaluation step."""
    for node in _own(method) if method.name not in ("validation_step", "test_step") else ():
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            keys = {key.value for key in node.value.keys if isinstance(key, ast.Constant)}
            for key in sorted({"log", "progress_bar"} & keys):
                yield node.lineno, f"{kind}.{method.name} returns {key!r}"


def _returns(method: Function) -> Iterator[int]:
    """The lines that return something."""
    for node in _own(method):
        if isinstance(node, ast.Return) and node.value is not None and not _is_nothing(node.value):
            yield node.lineno


def _is_nothing(value: ast.expr) -> bool:
    return (isinstance(value, ast.Constant) and value.value is None) or "super()" in ast.unparse(value)


def _own(method: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    waiting: list[ast.AST] = list(method.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _reads(method: Function, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(method))
