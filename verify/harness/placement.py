"""What a training runs on: the accelerator that is here, on how many devices, and by which strategy.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from .half_precision import on_cpu

TRAINERS = {"cuda": "gpu", "mps": "mps", "cpu": "cpu"}
"""How a Trainer is asked for a device."""
PLAIN = "ddp"
DDP = frozenset({"DDPStrategy", "DDPPlugin"})
LAUNCHES = re.compile(r"_(spawn|fork|notebook|cpu)(?=_|$)")
"""What says of a strategy only how its processes come to be: ours are there when the script begins."""
SHARDS = re.compile(r"ddp2|sharded")
OURS: dict[str, Any] = {"_start_method": "popen", "_process_group_backend": None, "cluster_environment": None}
"""What an object says of how processes come to be and find each other."""


def found(allowed: Iterable[str]) -> str:
    """The first of these kinds of devices that is here, else the CPU."""
    import torch

    metal = getattr(torch.backends, "mps", None)
    here = {"cuda": torch.cuda.is_available(), "mps": metal is not None and metal.is_available()}
    return next((name for name in allowed if here[name]), "cpu")


def share(spec: dict[str, Any], shared: dict[str, None]) -> None:
    """Let ranks train on the same GPU where there are fewer than ranks; what is shared is added to `shared`.

    Lightning gives no device to two ranks of a node, so that each is a node of its own, and NCCL takes none twice, so
    that they meet by Gloo.
    """
    import torch

    ranks, here = spec.get("devices", 1), torch.cuda.device_count()
    if spec["device"] != "cuda" or here >= ranks:
        return
    rank = int(os.environ["RANK"])
    os.environ.update(LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", GROUP_RANK=str(rank), GROUP_WORLD_SIZE=str(ranks))
    spec["gpu"] = rank % here
    distributed: Any = torch.distributed
    started = distributed.init_process_group

    @functools.wraps(started)
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        return started("gloo", *args, **kwargs)

    distributed.init_process_group = init_process_group
    shared[f"{ranks} on {here}"] = None


def unlaunched() -> None:
    """Let no Lightning take this process for one that MPI started: to find out, it initialises MPI, which ends the
    process where there is no network or no `ssh`. Our processes are started as torchrun does."""
    for name in ("lightning.fabric", "lightning_fabric"):
        module = sys.modules.get(f"{name}.plugins.environments.mpi")
        if module is not None:
            module.MPIEnvironment.detect = staticmethod(lambda: False)


def picked() -> None:
    """Let `find_usable_cuda_devices` answer with the numbers of as many devices as it is asked for: where a Trainer
    works is said in the place of that, and there may be none."""
    packages = ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric")
    for name in (f"{package}.accelerators{end}" for package in packages for end in ("", ".cuda")):
        module: Any = sys.modules.get(name)
        if hasattr(module, "find_usable_cuda_devices"):
            module.find_usable_cuda_devices = lambda num_devices=-1: list(range(max(num_devices, 1)))


def placed(given: dict[str, Any], names: frozenset[str], spec: dict[str, Any]) -> dict[str, Any]:
    """The arguments that say where a Trainer works, for what the proof was asked for."""
    kind, devices = spec["device"], spec.get("devices", 1)
    shares = {"num_nodes": devices} if "gpu" in spec else {}
    which = [spec["gpu"]] if "gpu" in spec else devices
    if "devices" not in names:
        return {"gpus": which, **shares} if kind == "cuda" else {}
    arguments: dict[str, Any] = {"accelerator": TRAINERS[kind], "devices": which, **shares}
    if kind == "cpu" and "strategy" not in names and (half := on_cpu(given)):
        arguments["plugins"] = half
    if devices == 1:
        return arguments
    own = next(filter(None, map(_ddp, _asked(given))), PLAIN)
    arguments |= {"strategy": own} if "strategy" in names else {"plugins": [own, *arguments.get("plugins", ())]}
    if kind == "cuda" and given.get("sync_batchnorm"):
        arguments["sync_batchnorm"] = True
    return arguments


def _asked(given: dict[str, Any]) -> Iterator[Any]:
    """What may name a strategy, in the spelling of any release."""
    for name in ("strategy", "accelerator", "distributed_backend"):
        yield given.get(name)
    plugins = given.get("plugins")
    yield from plugins if isinstance(plugins, (list, tuple)) else [plugins]


def _ddp(asked: Any) -> Any:
    """A strategy that trains a copy on each device, as the project asks for it; None where it is of another kind."""
    if isinstance(asked, str):
        name = LAUNCHES.sub("", asked)
        return name if name.startswith(PLAIN) and not SHARDS.search(name) else None
    kinds = (kind for kind in type(asked).__mro__ if kind.__module__.startswith(("pytorch_lightning", "lightning")))
    if next((kind.__name__ for kind in kinds), None) not in DDP:
        return None
    for name, value in OURS.items():
        if hasattr(asked, name):
            setattr(asked, name, value)
    return asked
