"""What is measured in a training process besides losses, steps and gradients.

Copied beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

NODES = 5000
LOOKED = 64
ASKED = ("max_epochs", "max_steps", "accumulate_grad_batches", "limit_train_batches", "check_val_every_n_epoch",
         "gpus", "tpu_cores", "num_processes", "devices", "num_nodes")  # fmt: skip
NUDGE = 2.0**-23


def graph(loss: Any) -> tuple[int, int]:
    """How many operations a loss was computed with, and how many of them change a tensor's type.

    States that are carried on without being cut off make the first number grow from chunk to chunk.
    """
    stack, casts = [loss.grad_fn], 0
    seen: set[Any] = set()
    while stack and len(seen) < NODES:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        casts += node.name() == "ToCopyBackward0"
        stack.extend(following for following, _ in node.next_functions)
    return len(seen), casts


def autocast() -> str | None:
    """The type that operations are cast to at this moment; None where they are not."""
    import torch

    kind: Any = None
    for device in ("cpu", "cuda", "mps"):
        try:
            kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else kind
        except TypeError:  # before torch 2.4
            kind = torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
            kind = torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else kind
        except RuntimeError:  # a torch that casts nothing on this device
            continue
    return None if kind is None else str(kind).removeprefix("torch.")


def batch(trainer: Any) -> tuple[int, int]:
    """The number of the training batch at hand, from 1 on, and how many there will be at most; raises where a release
    or a loader does not tell."""
    return int(trainer.fit_loop.total_batch_idx) + 1, int(trainer.num_training_batches) * int(trainer.max_epochs)


@contextlib.contextmanager
def first_layer(wanted: bool, look: Callable[[], None]) -> Iterator[None]:
    """Call `look` when a layer is about to work for the first time."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    seen = not wanted

    def before(*_: Any) -> None:
        nonlocal seen
        if not seen:
            seen = True
            look()

    handle = register_module_forward_pre_hook(before) if wanted else None
    try:
        yield
    finally:
        if handle is not None:
            handle.remove()


def norm(optimizer: Any) -> float:
    """The L2 norm of the gradients that an optimizer has used: the closure that makes them runs inside its step."""
    total = 0.0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                total += float(parameter.grad.detach().float().norm()) ** 2
    return math.sqrt(total)


def digest(module: Any) -> str:
    """A digest of all parameters and buffers, to the last bit."""
    import torch

    found = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        if isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            found.update(f"{name} {plain.dtype} {tuple(plain.shape)}".encode())
            found.update(plain.flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def memory() -> int | None:
    """The most bytes that were in use: on the device where there is one, else by this process."""
    import torch

    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def schedulers(trainer: Any) -> list[list[Any]]:
    """Each scheduler: its class, how often it was stepped, the learning rates it came to, and the best value that one
    that watches a metric has seen."""
    held: Any = getattr(trainer, "lr_scheduler_configs", None)
    held = getattr(trainer, "lr_schedulers", ()) if held is None else held
    found = []
    for config in held:
        scheduler = config["scheduler"] if isinstance(config, dict) else getattr(config, "scheduler", config)
        rates = [float(group["lr"]) for group in scheduler.optimizer.param_groups]
        best = getattr(scheduler, "best", None)
        seen = float(best) if best is not None and math.isfinite(best) else None
        found.append([type(scheduler).__name__, int(getattr(scheduler, "last_epoch", -1)), rates, seen])
    return found


def unheld(trainer: Any) -> list[str]:
    """The trainable parameters that no optimizer holds."""
    held = {
        id(each) for optimizer in trainer.optimizers for group in optimizer.param_groups for each in group["params"]
    }
    named = trainer.lightning_module.named_parameters()
    return [name for name, each in named if each.requires_grad and id(each) not in held]


def planned(trainer: Any, asked: dict[str, Any], steps: int) -> dict[str, int | None]:
    """How long the whole training would be, by the project's own limits and the length of its loader.

    `steps` optimizer steps were made here. What cannot be known is None.
    """
    loop = trainer.fit_loop.epoch_loop
    run = loop.total_batch_idx + (0 if "total_batch_idx" in vars(loop) else 1)  # 1.4 counts what is done
    batches = _batches(trainer, asked.get("limit_train_batches"))
    accumulate = asked.get("accumulate_grad_batches") or 1
    most = asked.get("max_steps")
    most = most if isinstance(most, int) and most >= 0 else None
    epochs = asked.get("max_epochs")
    epochs = 1000 if epochs is None and most is None else epochs
    each = None
    if batches is not None and isinstance(accumulate, int) and run:
        by_hand = not getattr(trainer.lightning_module, "automatic_optimization", True) or len(trainer.optimizers) > 1
        each = round(batches * steps / run) if by_hand or steps > run else math.ceil(batches / accumulate)
    total = epochs * each if each is not None and isinstance(epochs, int) and epochs >= 0 else None
    limits = [number for number in (total, most) if number is not None]
    nodes, every = asked.get("num_nodes"), asked.get("check_val_every_n_epoch")
    return {"batches": batches, "epochs": epochs if isinstance(epochs, int) else None, "max_steps": most,
            "steps": min(limits, default=None), "devices": _devices(asked), "nodes": nodes if isinstance(nodes, int)
            else None, "every": every if isinstance(every, int) else 1, **_samples(trainer)}  # fmt: skip


def _devices(asked: dict[str, Any]) -> int | None:
    """How many devices a Trainer was asked for, in the spelling of any release; None where the machine decides."""
    for name in ("gpus", "tpu_cores", "devices", "num_processes"):
        value = asked.get(name)
        if isinstance(value, str):
            parts = [part for part in value.split(",") if part.strip()]
            value = int(value) if value.strip().isdigit() else len(parts) if "," in value else None
        if isinstance(value, (list, tuple)):
            value = len(value)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _batches(trainer: Any, limit: Any) -> int | None:
    """The batches of an epoch: the length of the training loader, within the project's own limit."""
    loader = trainer.train_dataloader
    loader = getattr(loader, "loaders", loader)
    try:
        count = len(loader)
    except TypeError:
        return None
    if isinstance(limit, float):
        return int(count * limit)
    return min(count, limit) if isinstance(limit, int) and not isinstance(limit, bool) else count


def _samples(trainer: Any) -> dict[str, int]:
    """How many samples the training loaders were to put into a batch, where they put fewer."""
    loader = trainer.train_dataloader
    loader = getattr(loader, "loaders", loader)
    every = loader.values() if isinstance(loader, dict) else loader if isinstance(loader, (list, tuple)) else [loader]
    asked = [size for each in every if isinstance(size := getattr(each, "_asked", None), int)]
    return {"samples": sum(asked)} if asked else {}


def short(texts: Iterator[str], most: int = 50) -> list[str]:
    """Texts without those that were said before, each in one line."""
    return list(dict.fromkeys(" ".join(text.split())[:300] for text in texts))[:most]


def nudge(module: Any, seed: int) -> None:
    """Move each weight of a module by one rounding of 32 bits, or not at all: what comes of that is what rounding grows
    to in its training."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    for weight in module.parameters() if isinstance(module, torch.nn.Module) else ():
        with contextlib.suppress(RuntimeError, ValueError, TypeError), torch.no_grad():
            if weight.dtype in (torch.float32, torch.float64):
                moved = torch.rand(weight.shape, generator=generator).to(weight)
                weight.mul_(1 + (2 * moved - 1) * NUDGE)
