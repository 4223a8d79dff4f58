"""What torch, Lightning, Fabric and mmcv call their contexts: gradient modes, autocast regions, wrappers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.scopes import Scope


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUTOCAST = frozenset(
    {
        "torch.autocast",
        "torch.amp.autocast",
        "torch.amp.autocast_mode.autocast",
        "torch.cuda.amp.autocast",
        "torch.cuda.amp.autocast_mode.autocast",
        "torch.cpu.amp.autocast",
        "torch.cpu.amp.autocast_mode.autocast",
        "mmengine.runner.autocast",
        "mmengine.runner.amp.autocast",
    }
)
DECORATORS = frozenset({"mmcv.runner.auto_fp16", "mmcv.runner.fp16_utils.auto_fp16"})
NO_GRAD = frozenset({"torch.no_grad", "torch.autograd.no_grad", "torch.autograd.grad_mode.no_grad"})
INFERENCE = frozenset(
    {"torch.inference_mode", "torch.autograd.inference_mode", "torch.autograd.grad_mode.inference_mode"}
)
ENABLE = frozenset({"torch.enable_grad", "torch.autograd.enable_grad", "torch.autograd.grad_mode.enable_grad"})
SET = frozenset(
    {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled"}
)
CLEAR = "torch.clear_autocast_cache"
DEEPCOPY = frozenset({"copy.deepcopy", "copy.copy"})
WRAPPERS = frozenset(
    {
        "torch.compile",
        "torch.jit.script",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
    }
)
CHECKPOINT = frozenset({"torch.utils.checkpoint.checkpoint"})
FABRIC = frozenset(
    {"lightning.Fabric", "lightning.fabric.Fabric", "lightning.fabric.fabric.Fabric", "lightning_fabric.Fabric"}
    | {"lightning.pytorch.Fabric", "accelerate.Accelerator", "accelerate.accelerator.Accelerator"}
)
STACKS = frozenset({"contextlib.ExitStack", "contextlib.AsyncExitStack"})
SAME = frozenset({"to", "cuda", "cpu", "float", "half", "bfloat16", "double", "train", "eval", "requires_grad_", "xpu"})
"""Methods of a module that return it."""

NOT_FORWARD = SAME | _words("""
    parameters named_parameters modules named_modules children named_children buffers named_buffers state_dict
    load_state_dict zero_grad apply register_buffer register_parameter register_module add_module register_forward_hook
    register_forward_pre_hook register_full_backward_hook get_submodule get_parameter get_buffer extra_repr compile
    type share_memory named_members set_submodule freeze unfreeze
    log log_dict print all_gather manual_backward backward optimizers lr_schedulers lr_scheduler_step toggle_optimizer
    untoggle_optimizer clip_gradients configure_gradient_clipping save_hyperparameters save_checkpoint
    load_from_checkpoint add_to_queue get_from_queue to_onnx to_torchscript optimizer_step optimizer_zero_grad
    append extend keys values items get pop update copy size dim numel item tolist step reset compute
    data grad weight bias clone detach mean sum view reshape numpy exp log sqrt softmax sigmoid clamp setdefault
""")
"""Attributes of a module whose call computes nothing with its weights."""

NOT_MODULES = _words("""
    trainer logger loggers hparams hparams_initial fabric device dtype training current_epoch global_step global_rank
    local_rank example_input_array automatic_optimization strict_loading device_mesh
""")
"""Attributes of a LightningModule that are no modules."""

_ORDER = ("device_type", "dtype", "enabled", "cache_enabled")
_OLD_ORDER = ("enabled", "dtype", "cache_enabled")
STEPS = frozenset({"step", "first_step", "second_step", "ascent_step", "descent_step"})
"""Methods by which an optimizer changes weights; the latter ones are those of SAM and its relatives."""


@dataclass(frozen=True)
class Grad:
    """A gradient mode: `on` where `test` is None, else `on` where the expression holds and not `on` elsewhere."""

    on: bool
    test: ast.expr | None = None


@dataclass(frozen=True)
class Region:
    """An autocast region. `caches` holds unless autocast or its cache is switched off there."""

    caches: bool
    opened: ast.AST | None = None
    lightning: bool = False


def grad_of(node: ast.expr, scope: Scope) -> Grad | None:
    """The gradient mode that a context manager or decorator sets, None where it sets none."""
    call = node if isinstance(node, ast.Call) else None
    dotted = scope.resolve(call.func if call else node)
    if dotted in NO_GRAD:
        return Grad(False)
    if dotted in ENABLE:
        return Grad(True)
    if dotted in INFERENCE:
        given = _argument(call, "mode") if call else None
        return Grad(False) if given is None else _set(given, False)
    if dotted in SET and call:
        given = _argument(call, "mode")
        return _set(given, True) if given else None
    if isinstance(node, ast.IfExp):
        first, second = grad_of(node.body, scope), grad_of(node.orelse, scope)
        if first and first.test is None and not first.on and second is None:
            return Grad(False, node.test)
        if second and second.test is None and not second.on and first is None:
            return Grad(True, node.test)
    return None


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    given = value_of(call, name)
    return call.args[0] if call.args else given


def _set(given: ast.expr, on: bool) -> Grad:
    """The mode of `set_grad_enabled(given)`, or with `on` False of `inference_mode(given)`."""
    known, value = literal(given)
    return Grad(bool(value) is on) if known else Grad(on, given)


def region_of(node: ast.expr, scope: Scope) -> Region | None:
    """The autocast region that a context manager or decorator opens, None where it opens none."""
    if isinstance(node, ast.IfExp):
        return region_of(node.body, scope) or region_of(node.orelse, scope)
    call = node if isinstance(node, ast.Call) else None
    dotted = scope.resolve(call.func if call else node)
    if dotted in DECORATORS:
        return Region(True, node)
    if dotted not in AUTOCAST or call is None:
        return None
    order = _OLD_ORDER if dotted.startswith(("torch.cuda.", "torch.cpu.")) else _ORDER
    given = [*zip(order, call.args, strict=False), *((item.arg, item.value) for item in call.keywords)]
    off = any(name in ("enabled", "cache_enabled") and literal(value) == (True, False) for name, value in given)
    return Region(not off, node)
