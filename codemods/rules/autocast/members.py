"""What the attributes of a class are: modules with weights, modules without, optimizers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from codemods.code.calls import value_of
from codemods.code.nodes import walk
from codemods.code.scopes import Scope, bind
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, assigned_once, is_false, is_made_frozen, own_nodes, returns, self_name
from codemods.lightning.facts import MODULE
from codemods.rules.autocast.project import Defined, ProjectFiles

Verdict = Literal["module", "nothing", "unknown"]
Key = tuple[str, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WEIGHTLESS = _words("""
    Identity Flatten Unflatten Dropout Dropout1d Dropout2d Dropout3d AlphaDropout ReLU ReLU6 LeakyReLU ELU SELU GELU
    SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softplus Hardtanh Hardswish Hardsigmoid Upsample PixelShuffle
    PixelUnshuffle MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d
    AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d CosineSimilarity PairwiseDistance ZeroPad2d ReflectionPad1d
    ReflectionPad2d ReplicationPad2d ConstantPad2d Fold Unfold UpsamplingBilinear2d UpsamplingNearest2d
    LayerNorm GroupNorm RMSNorm BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm InstanceNorm1d InstanceNorm2d
    InstanceNorm3d LocalResponseNorm Embedding EmbeddingBag
""")
"""Modules without weights, or with weights that autocast does not cast."""

CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})
HUBS = ("torchvision.models.", "timm.", "segmentation_models_pytorch.", "torch.hub.load", "transformers.")
WITHOUT = ("torchmetrics.", "torchvision.transforms.", "torch.nn.functional.", "kornia.augmentation.", "torchaudio.")
_TOOLS = re.compile(r"(?:Tokenizer\w*|Processor|FeatureExtractor|Config|Scheduler|Loss|Criterion|Metric)$")
_LOSS_NAME = re.compile(
    r"loss|criteri|metric|accuracy|^acc(_|$)|transform|augment|normali[sz]e|tokeni[sz]|scheduler|noise|sampl(er|e_)"
    r"|preprocess|postprocess|mask|freeze|^(log|get|set|update|compute|calc|check|make|build|plot)_",
    re.IGNORECASE,
)
_USES = ("parameters", "named_parameters", "zero_grad", "state_dict", "load_state_dict", "requires_grad_")


class Assigned(NamedTuple):
    """A value that a method assigns, the scope of its names and the file that it stands in."""

    value: ast.expr
    scope: Scope
    file: PythonFile


@dataclass(frozen=True)
class Members:
    """A class with those of its bases that stand in the project, nearest first.

    `whole` holds where every base was found, in the project or as a library's class with known methods.
    """

    project: ProjectFiles
    classes: tuple[Defined, ...]
    whole: bool

    @classmethod
    def of(cls, project: ProjectFiles, item: Defined) -> Members:
        asked = item.item.node, "members"
        if asked not in project.known:
            project.known[asked] = cls._read(project, item)
        known: Members = project.known[asked]
        return known

    @classmethod
    def _read(cls, project: ProjectFiles, item: Defined) -> Members:
        found: list[Defined] = []
        waiting, whole = [item], True
        while waiting:
            current = waiting.pop(0)
            if current in found:
                continue
            found.append(current)
            for base in current.item.node.bases:
                dotted = current.item.scope.resolve(base)
                if dotted in ("torch.nn.Module", MODULE, "object"):
                    continue
                if above := project.class_of(dotted, current.file):
                    waiting.append(above)
                else:
                    whole = False
        return cls(project, tuple(found), whole)

    @property
    def files(self) -> tuple[PythonFile, ...]:
        return tuple({item.file.path: item.file for item in self.classes}.values())

    def method(self, name: str, after: Defined | None = None) -> tuple[Defined, Function] | None:
        """The method of that name and the class that defines it; `after` starts behind a class (`super()`)."""
        start = self.classes.index(after) + 1 if after in self.classes else 0
        return next(
            ((found, found.item.methods[name]) for found in self.classes[start:] if name in found.item.methods), None
        )

    def _functions(self) -> Iterator[tuple[Function, Scope, PythonFile]]:
        for file, item in self.classes:
            inner = bind(item.node, scope=item.scope)
            for function in item.methods.values():
                yield function, bind(function, scope=inner), file

    @cached_property
    def assigned(self) -> dict[str, list[Assigned]]:
        """Every value assigned to `self.name` in a method, by name."""
        found: dict[str, list[Assigned]] = {}
        for function, scope, file in self._functions():
            for name, value in _assignments(function, file):
                found.setdefault(name, []).append(Assigned(value, scope, file))
        return found

    def verdict(self, attribute: str) -> Verdict:
        """What `self.attribute` is. Attributes used as modules are (`self.net.parameters()`) count as such."""
        values = [
            classify(value, scope, file, self.project)
            for value, scope, file in self.assigned.get(attribute, [])
            if not (isinstance(value, ast.Constant) and value.value is None)
        ]
        if "module" in values:
            return "module"
        if values and all(value == "nothing" for value in values):
            return "nothing"
        if any(used_as_module(file, ("self", attribute)) for file in self.files):
            return "module"
        if self.is_object(attribute) and not values:
            return "module"
        return "unknown"

    def is_object(self, attribute: str) -> bool:
        """Whether `self.attribute` is called and has methods of its own: an object, not a method."""
        return ("self", attribute) in self._chains and any(
            len(chain) == 3 and chain[:2] == ("self", attribute) for chain in self._chains
        )

    @cached_property
    def _chains(self) -> frozenset[Key]:
        """What the files call."""
        chains = (chain_of(call.node.func) for file in self.files for call in file.calls)
        return frozenset(chain for chain in chains if chain is not None)

    def inner(self, attribute: str) -> Members | None:
        """The class of `self.attribute`, where the project defines it."""
        asked = self.classes[0].item.node, f"inner {attribute}"
        if asked not in self.project.known:
            self.project.known[asked] = self._inner(attribute)
        known: Members | None = self.project.known[asked]
        return known

    def _inner(self, attribute: str) -> Members | None:
        found = {
            self.project.opened(dotted_class(value, scope), file)
            for value, scope, file in self.assigned.get(attribute, [])
            if not (isinstance(value, ast.Constant) and value.value is None)
        }
        item = found.pop() if len(found) == 1 else None
        return Members.of(self.project, item) if item else None

    def weights(self, seen: frozenset[str] = frozenset()) -> Verdict:
        """Whether the class builds anything with weights; `seen` are classes of which it is a part."""
        values = [
            classify(value, scope, file, self.project, seen) if not _is_parameter(value, scope) else "module"
            for found in self.assigned.values()
            for value, scope, file in found
            if isinstance(value, ast.Call)
        ]
        if "module" in values:
            return "module"
        return "unknown" if "unknown" in values or not self.whole else "nothing"

    @cached_property
    def frozen(self) -> frozenset[Key]:
        """The attributes whose weights a constructor freezes without a condition."""
        found = set()
        for _, item in self.classes:
            if function := item.methods.get("__init__"):
                for statement in function.body:
                    if key := freezes(statement):
                        found.add(key)
        return frozenset(found)

    @cached_property
    def freezable(self) -> dict[Key, tuple[PythonFile, int]]:
        """The attributes whose weights some method freezes, with the line."""
        found: dict[Key, tuple[PythonFile, int]] = {}
        for function, _, file in self._functions():
            for node in own_nodes(function):
                if isinstance(node, ast.stmt) and (key := freezes(node)):
                    found.setdefault(key, (file, node.lineno))
        return found

    @cached_property
    def optimized(self) -> tuple[tuple[Key, ...] | None, ...] | None:
        """The attributes that each optimizer of `configure_optimizers` is given, None where it cannot be seen."""
        found = self.method("configure_optimizers")
        values = [node.value for node in returns(found[1]) if node.value] if found else []
        if found is None or len(values) != 1:
            return None
        inner = bind(found[1], scope=bind(found[0].item.node, scope=found[0].item.scope))
        return _optimizers(values[0], found[1], inner)


def _optimizers(value: ast.expr, function: Function, scope: Scope) -> tuple[tuple[Key, ...] | None, ...] | None:
    value = assigned_once(function, value)
    if isinstance(value, ast.Tuple | ast.List) and value.elts:
        first = assigned_once(function, value.elts[0])
        if isinstance(first, ast.Tuple | ast.List):
            return _optimizers(first, function, scope)
        return tuple(_optimized(item, function, scope) for item in value.elts)
    return (_optimized(value, function, scope),)


def _optimized(value: ast.expr, function: Function, scope: Scope) -> tuple[Key, ...] | None:
    value = assigned_once(function, value)
    if isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "optimizer":
                return _optimized(item, function, scope)
        return None
    if not isinstance(value, ast.Call):
        return None
    given = value_of(value, "params", 0)
    return _own(parameters_in(assigned_once(function, given))) if given is not None else None


def parameters_in(value: ast.expr) -> tuple[Key, ...] | None:
    """The modules whose `.parameters()` an expression holds, None where it holds none."""
    found = [
        chain[:-1]
        for node in walk(value)
        if isinstance(node, ast.Call)
        and (chain := chain_of(node.func))
        and chain[-1] in ("parameters", "named_parameters")
        and len(chain) > 1
    ]
    return tuple(found) or None


def _own(keys: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    """The keys where all are attributes of `self`."""
    return keys if keys and all(key[0] == "self" for key in keys) else None


def _assignments(function: Function, file: PythonFile) -> list[tuple[str, ast.expr]]:
    """What a method assigns to `self.name`, worked out once for all classes that inherit it."""
    known: dict[ast.AST, list[tuple[str, ast.expr]]] = file.memo.setdefault("autocast.assigned", {})
    if function not in known:
        own = self_name(function)
        known[function] = [
            (chain[1], node.value)
            for node in own_nodes(function)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if (chain := chain_of(target)) and len(chain) == 2 and chain[0] == own
        ]
    return known[function]


def chain_of(node: ast.AST) -> Key | None:
    """The parts of a name or attribute chain."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else None


def freezes(statement: ast.stmt) -> Key | None:
    """The module whose weights a statement freezes: `m.requires_grad_(False)`, `m = make().requires_grad_(False)`,
    `m.freeze()`, or a loop over `m.parameters()` that does it."""
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        chain, falsy = chain_of(call.func), is_false(call)
        if chain and ((chain[-1] == "requires_grad_" and falsy) or (chain[-1] == "freeze" and not call.args)):
            return chain[:-1]
    if isinstance(statement, ast.Assign) and is_made_frozen(statement.value):
        return chain_of(statement.targets[0])
    if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name | ast.Tuple):
        keys = parameters_in(statement.iter)
        for inner in statement.body:
            if keys and len(keys) == 1 and _sets_requires_grad(inner):
                return keys[0]
    return None


def _sets_requires_grad(node: ast.stmt) -> bool:
    """Whether a statement is `p.requires_grad = False` or `p.requires_grad_(False)`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        value = node.value
        return node.targets[0].attr == "requires_grad" and isinstance(value, ast.Constant) and value.value is False
    return freezes(node) is not None


def used_as_module(file: PythonFile, key: Key) -> bool:
    """Whether a file calls `key.parameters()` or what else only modules have."""
    return any(chain_of(node.value) == key for name in _USES for node in file.attributes(name))


def looks_weightless(name: str) -> bool:
    """Whether something of which nothing else is known has the name of a loss, a metric or a helper."""
    return _LOSS_NAME.search(name) is not None


def dotted_class(value: ast.expr, scope: Scope) -> str | None:
    return scope.resolve(value.func) if isinstance(value, ast.Call) else None


def classify(
    value: ast.expr, scope: Scope, file: PythonFile, project: ProjectFiles, seen: frozenset[str] = frozenset()
) -> Verdict:
    """What an expression of a file builds."""
    if isinstance(value, ast.IfExp):
        found = {classify(item, scope, file, project, seen) for item in (value.body, value.orelse)}
        return "module" if "module" in found else "nothing" if found == {"nothing"} else "unknown"
    if isinstance(value, ast.Constant | ast.Dict | ast.Lambda | ast.Compare | ast.BinOp | ast.JoinedStr):
        return "nothing"
    if not isinstance(value, ast.Call):
        return "unknown"
    if isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda", "eval", "train", "requires_grad_"):
        return classify(value.func.value, scope, file, project, seen)
    dotted = scope.resolve(value.func)
    return _classify(dotted, value, scope, file, project, seen) if dotted else "unknown"


def _classify(
    dotted: str, value: ast.Call, scope: Scope, file: PythonFile, project: ProjectFiles, seen: frozenset[str]
) -> Verdict:
    last = dotted.rpartition(".")[2]
    owner = dotted.rpartition(".")[0].rpartition(".")[2] if last == "from_pretrained" else last
    if dotted.startswith("torch.nn."):
        if last in CONTAINERS and value.args and isinstance(value.args[0], ast.Call):
            parts = {classify(item, scope, file, project, seen) for item in value.args}
            return "nothing" if parts == {"nothing"} else "module"
        return "nothing" if last in WEIGHTLESS or last.endswith("Loss") else "module"
    if dotted == "copy.deepcopy":
        return "module"
    if dotted.startswith(WITHOUT) or _TOOLS.search(owner):
        return "nothing"
    if dotted.startswith(HUBS):
        return "module"
    item = project.opened(dotted, file)
    if item is not None:
        name = f"{item.file.path}:{item.item.qualname}"
        verdict = "nothing" if name in seen else Members.of(project, item).weights(seen | {name})
        if verdict != "unknown" or item.file is file:
            return verdict
    known = project.facts.find_class(dotted, file.path)
    if known is None:
        return "unknown"
    bases = {base for member in project.facts.ancestry(known) or () for base in member.bases}
    return "module" if {"torch.nn.Module", MODULE} & bases else "unknown"


def _is_parameter(value: ast.expr, scope: Scope) -> bool:
    return isinstance(value, ast.Call) and scope.resolve(value.func) == "torch.nn.Parameter"
