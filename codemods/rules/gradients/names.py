"""The calls of torch and Python that matter to a gradient, by dotted name or method."""

from __future__ import annotations

import ast
import re

from codemods.code.source import ClassNode
from codemods.code.syntax import self_name, statements_below

NO_GRAD = frozenset(
    {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autograd.grad_mode.no_grad",
        "torch.autograd.grad_mode.inference_mode",
    }
)
WITH_GRAD = frozenset({"torch.enable_grad", "torch.autograd.enable_grad"})
SWITCH = frozenset({"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"})
KEPT_OUT = re.compile(r"target|teacher|ema|frozen|fixed|momentum|reference|pretrained|old|random|lpips|vgg|shadow|avg")
"""Names of what is kept out of training on purpose."""

CUTTING_METHODS = {
    "item": "item",
    "detach": "detach",
    "detach_": "detach",
    "tolist": "numpy",
    "numpy": "numpy",
    "argmax": "argmax",
    "argmin": "argmax",
    "long": "integer",
    "int": "integer",
    "bool": "integer",
}
REBUILT = frozenset({"torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable"})
KEPT = frozenset({"torch.Tensor", "torch.FloatTensor"})
"""These keep the history of a tensor that they are given, and lose that of the parts of a list (run on torch 2.10 and
2.13)."""
CUTTING_FUNCTIONS = {"torch.argmax": "argmax", "torch.argmin": "argmax", "torch.eq": "comparison"}
CUTTING_BUILTINS = {"float": "float", "int": "integer", "bool": "integer"}
PURE_BUILTINS = frozenset({"sum", "max", "min", "abs", "list", "tuple", "zip", "enumerate", "reversed", "sorted"})
CONTAINERS = frozenset({"list", "tuple", "zip", "enumerate", "reversed", "sorted"})
NUMBERS = frozenset({"len", "range", "isinstance", "str", "hasattr", "print", "type", "id"})

FRESH = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "rand", "randn", "randint", "randperm", "arange", "full", "empty", "eye", "linspace")
)
_LOSSES = frozenset(
    f"torch.nn.{name}"
    for name in (
        "BCELoss",
        "BCEWithLogitsLoss",
        "CosineEmbeddingLoss",
        "CosineSimilarity",
        "CrossEntropyLoss",
        "CTCLoss",
        "GaussianNLLLoss",
        "HingeEmbeddingLoss",
        "HuberLoss",
        "KLDivLoss",
        "L1Loss",
        "MSELoss",
        "MarginRankingLoss",
        "MultiLabelMarginLoss",
        "MultiLabelSoftMarginLoss",
        "MultiMarginLoss",
        "NLLLoss",
        "PairwiseDistance",
        "PoissonNLLLoss",
        "SmoothL1Loss",
        "SoftMarginLoss",
        "TripletMarginLoss",
    )
)
_STATELESS = frozenset(
    f"torch.nn.{name}"
    for name in ("ReLU", "LeakyReLU", "GELU", "SiLU", "ELU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax", "Softplus",
                 "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Flatten", "Unflatten", "Identity", "Upsample",
                 "MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "AdaptiveAvgPool1d",
                 "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "ReLU6", "CELU",
                 "SELU", "Mish", "Hardswish", "Hardtanh", "LogSigmoid", "Softmin", "Softsign", "AlphaDropout",
                 "PixelShuffle", "ZeroPad2d", "ReflectionPad1d", "ReflectionPad2d")
)  # fmt: skip
_COUNTING = re.compile(
    r"(Binary|Multiclass|Multilabel)?"
    r"(Accuracy|Precision|Recall|F1Score|FBetaScore|Specificity|JaccardIndex|AUROC|ConfusionMatrix|StatScores)"
)
PARAMETERLESS = _LOSSES | _STATELESS
"""Modules of torch through which a gradient flows and which have no parameters."""


def differentiable(dotted: str) -> bool:
    """Whether a function of torch hands gradients from its arguments to its result, and nothing else does."""
    if dotted.startswith(("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.")):
        return True
    head, _, last = dotted.rpartition(".")
    return head == "torch" and last[:1].islower() and last not in ("load", "compile", "jit", "func")


def counts(dotted: str) -> bool:
    """Whether a class is a metric of torchmetrics that counts, through which no gradient flows."""
    return dotted.startswith("torchmetrics.") and _COUNTING.fullmatch(dotted.rpartition(".")[2]) is not None


def attributes_of(item: ClassNode) -> dict[str, list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]]:
    """What the methods of a class assign to each attribute of the instance, with the method."""
    found: dict[str, list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]] = {}
    for method in item.methods.values():
        me = self_name(method)
        for node in statements_below(method):
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign) and node.value
                else []
            )
            for target in targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me:
                    found.setdefault(target.attr, []).append((method, node.value))  # type: ignore[attr-defined]
    return found
