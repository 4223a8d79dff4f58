"""What is trained on, and what asks for CUDA by name where there is none."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests import warm
from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET
from verify.environments.interpreters import Interpreter
from verify.environments.versions import ReadyEnvironment
from verify.evidence import Environment
from verify.harness import devices, placement, ranks
from verify.harness.devices import without_cuda
from verify.harness.half_precision import on_cpu
from verify.harness.placement import found, placed, share
from verify.harness.watch import Watch, sample
from verify.judging.record import RunRecord, besides, read
from verify.judging.verdict import judge
from verify.request import Request
from verify.running import Pair, accelerators

TRAINED = """
import lightning as L
import torch


@torch.jit.script
def half(x):
    return torch.full([1], 0.5) * x + torch.zeros(1)


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1).to("cuda:0").to(torch.device("cuda"), torch.float64)
        self.net = self.net.cuda().float()
        torch.cuda.set_device(torch.cuda.current_device())
        torch.cuda.reset_peak_memory_stats(0)
        torch.cuda.ipc_collect()
        assert torch.cuda.max_memory_allocated(0) == 0
        with torch.device("meta"):
            assert torch.zeros(1).is_meta and torch.nn.Linear(2, 1).weight.is_meta
        self.net.bias.data += torch.zeros(1, device="cuda") + half(torch.ones(1, device=0))

    def training_step(self, batch, batch_idx):
        assert batch.to("cpu") is batch
        return self.net(batch.cuda(non_blocking=True).to(device="cuda").to(0)).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.Trainer(max_epochs=1).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 2), batch_size=4))
"""


def test_what_asks_for_cuda_trains_on_the_cpu_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINED)
    record = tmp_path / "record.jsonl"
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "record": str(record), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1, "variables": {"CUDA_VISIBLE_DEVICES": ""},
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", tmp_path)
    raw = read(record, "train.py")
    assert raw.recording.failure is None and raw.recording.fitted and raw.recording.device == "cpu"
    assert raw.moved == ("__main__",)
    assert besides(raw) == ("another device in place of CUDA, which is not here, to: __main__",)


def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what is put in the place of functions of torch taken away again."""
    for holder, names in ((torch, devices._MAKERS), (torch.cuda, devices._OF_ONE)):
        for name in names:
            monkeypatch.setattr(holder, name, getattr(holder, name))


def test_other_errors_are_left_and_nothing_is_done_where_there_is_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor: Any = torch.Tensor
    to, cuda = tensor.to, tensor.cuda
    used: dict[str, None] = {}
    _kept(monkeypatch)
    try:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        without_cuda("/", "cpu", used)
        assert tensor.to is to
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        without_cuda("/", "cpu", used)
        for wrong in ({"device": "nowhere"}, {"device": "cpu", "dtype": "float"}, {"nothing": 1}):
            with pytest.raises((RuntimeError, TypeError)):
                torch.zeros(2, **wrong)  # type: ignore[call-overload]
        with pytest.raises(RuntimeError):
            torch.rand(2).to("nowhere")
        with pytest.raises(TypeError):
            tensor.to(torch.rand(2), "cpu", nothing=1)
        assert used == {}
    finally:
        tensor.to, tensor.cuda = to, cuda


def test_what_is_put_on_cuda_goes_to_the_device_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meta device stands for MPS."""
    tensor: Any = torch.Tensor
    to, cuda = tensor.to, tensor.cuda
    used: dict[str, None] = {}
    _kept(monkeypatch)
    try:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        without_cuda("/", "meta", used)
        moved = [torch.rand(2).cuda(), torch.rand(2).to("cuda:0"), torch.rand(2).to(torch.device("cuda"), torch.half)]
        moved += torch.nn.Linear(2, 2).cuda().parameters()
        moved += [torch.zeros(2, device="cuda"), torch.tensor([1], device=torch.device("cuda", 1))]
        with pytest.raises(RuntimeError):
            torch.zeros(-1, device="cuda")
        assert [each.device.type for each in moved] == ["meta"] * 7
        assert torch.rand(2).to("cpu").device.type == "cpu"
        assert used
    finally:
        tensor.to, tensor.cuda = to, cuda


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [
        (True, False, ["cuda", "cuda", "cpu"]),
        (True, True, ["cuda", "cuda", "cpu"]),
        (False, True, ["mps", "cpu", "cpu"]),
        (False, False, ["cpu"] * 3),
    ],
)
def test_the_best_that_is_here_and_both_trees_know_is_taken(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, chosen: list[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert [found(allowed) for allowed in (("cuda", "mps"), ("cuda",), ())] == chosen
    monkeypatch.setattr(torch.backends, "mps", None)
    assert found(("cuda", "mps")) == ("cuda" if cuda else "cpu")


@pytest.mark.parametrize(
    ("old", "accelerator", "devices", "allowed"),
    [
        ("1.9.5", "auto", 1, ("cuda", "mps")),
        ("1.7.0", "auto", 1, ("cuda", "mps")),
        ("1.6.5", "auto", 1, ("cuda",)),
        (None, "auto", 1, ("cuda", "mps")),
        ("1.9.5", "auto", 2, ("cuda",)),
        ("1.9.5", "cpu", 1, ()),
        ("1.9.5", "cpu", 2, ()),
    ],
)
def test_both_trees_may_train_on_the_same(
    old: str | None, accelerator: str, devices: int, allowed: tuple[str, ...]
) -> None:
    def ready(version: str) -> ReadyEnvironment:
        held = Interpreter(Path("python"), "3.11", {"pytorch-lightning": version})
        return ReadyEnvironment(held, Environment("target", "3.11", (), ""))

    request = Request("g", (), (), "2.6.6", None, (), (), accelerator=accelerator, devices=devices)
    assert accelerators(request, Pair(ready(old) if old else None, ready("2.6.6"), "")) == allowed


@pytest.mark.parametrize(
    ("gpus", "device", "devices", "which"),
    [(1, "cuda", 2, [0]), (2, "cuda", 3, [1]), (2, "cuda", 2, None), (1, "cuda", 1, None), (0, "cpu", 2, None)],
)
def test_ranks_share_a_gpu_where_there_are_fewer(
    gpus: int, device: str, devices: int, which: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[tuple[object, ...]] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda *args, **kwargs: began.append((*args, kwargs)))
    for name, value in ranks.variables(1, devices, 1).items():
        monkeypatch.setenv(name, value)
    spec: dict[str, Any] = {"device": device, "devices": devices}
    shared: dict[str, None] = {}
    share(spec, shared)
    torch.distributed.init_process_group("nccl", rank=1, device_id=torch.device("cpu"))
    arguments = placed({}, NAMES, spec)
    if which is None:
        assert not shared and arguments["devices"] == devices and "num_nodes" not in arguments
        assert os.environ["LOCAL_RANK"] == "1" and began == [("nccl", {"rank": 1, "device_id": torch.device("cpu")})]
        return
    assert list(shared) == [f"{devices} on {gpus}"] and began == [("gloo", {"rank": 1})]
    assert (arguments["devices"], arguments["num_nodes"]) == (which, devices)
    assert [os.environ[name] for name in ("LOCAL_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE", "LOCAL_WORLD_SIZE")] == [
        "0", "1", str(devices), "1",
    ]  # fmt: skip


NAMES = frozenset({"accelerator", "devices", "strategy", "sync_batchnorm"})


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        ({}, "ddp"),
        ({"strategy": "ddp"}, "ddp"),
        ({"strategy": "ddp_spawn"}, "ddp"),
        ({"strategy": "ddp_notebook_find_unused_parameters_true"}, "ddp_find_unused_parameters_true"),
        ({"strategy": "ddp_find_unused_parameters_false"}, "ddp_find_unused_parameters_false"),
        ({"accelerator": "ddp_cpu"}, "ddp"),
        ({"plugins": "ddp_find_unused_parameters_false", "strategy": None}, "ddp_find_unused_parameters_false"),
        ({"plugins": [object(), "ddp_sharded"]}, "ddp"),
        ({"strategy": "ddp2"}, "ddp"),
        ({"strategy": "ddp_sharded_spawn"}, "ddp"),
        ({"strategy": "fsdp"}, "ddp"),
        ({"strategy": object()}, "ddp"),
    ],
)
def test_several_devices_train_by_the_strategy_of_the_project_where_it_is_ddp(
    given: dict[str, Any], strategy: str
) -> None:
    spec = {"device": "cpu", "devices": 2}
    assert placed(given, NAMES, spec) == {"accelerator": "cpu", "devices": 2, "strategy": strategy}
    assert placed(given, NAMES, {"device": "mps"}) == {"accelerator": "mps", "devices": 1}
    assert placed(given, NAMES - {"strategy"}, spec)["plugins"] == [strategy]


def test_a_strategy_that_is_an_object_keeps_all_but_how_its_processes_start() -> None:
    from lightning.pytorch.plugins.environments import LightningEnvironment
    from lightning.pytorch.strategies import DDPStrategy, DeepSpeedStrategy, FSDPStrategy

    class Own(DDPStrategy): ...

    own = Own(cluster_environment=LightningEnvironment(), process_group_backend="nccl", start_method="spawn",
              find_unused_parameters=True)  # fmt: skip
    assert placed({"strategy": own}, NAMES, {"device": "cpu", "devices": 2})["strategy"] is own
    assert (own.cluster_environment, own.process_group_backend, own._start_method) == (None, None, "popen")
    assert own._ddp_kwargs == {"find_unused_parameters": True}
    for other in (FSDPStrategy(), DeepSpeedStrategy.__new__(DeepSpeedStrategy)):
        assert placed({"strategy": other}, NAMES, {"device": "cpu", "devices": 2})["strategy"] == "ddp"


def test_batch_norm_is_synchronised_where_it_can_be() -> None:
    given = {"sync_batchnorm": True}
    assert placed(given, NAMES, {"device": "cuda", "devices": 2})["sync_batchnorm"] is True
    assert "sync_batchnorm" not in placed(given, NAMES, {"device": "cpu", "devices": 2})


def test_the_device_is_the_one_of_a_training_step(tmp_path: Path) -> None:
    """At its end `fit` moves the module back to the CPU."""
    module: Any = torch.nn.Linear(1, 1)
    module.device, module.trainer = "cuda:0", None

    class Strategy:
        lightning_module = module

        def training_step(self) -> str:
            return "done"

    watch = Watch(lambda kind, **told: None, {"scratch": str(tmp_path)})
    watch.patch_step(Strategy)
    assert Strategy().training_step() == "done"
    module.device = "cpu"
    assert watch.device == "cuda:0"


@pytest.mark.parametrize("package", ["lightning.fabric", "lightning_fabric"])
def test_no_lightning_takes_the_process_for_one_of_mpi(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To find out, Lightning initialises MPI, which aborts the process where there is no network."""
    module = importlib.import_module(f"{package}.plugins.environments.mpi")
    communicator = SimpleNamespace(Get_size=lambda: pytest.fail("MPI was asked"))
    monkeypatch.setattr(module, "_MPI4PY_AVAILABLE", True)
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=communicator)))
    monkeypatch.setattr(module.MPIEnvironment, "detect", module.MPIEnvironment.detect)
    placement.unlaunched()
    assert module.MPIEnvironment.detect() is False


def test_devices_that_are_not_here_are_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric")
    modules = [importlib.import_module(f"{package}.accelerators") for package in packages]
    modules += [importlib.import_module(f"{package}.accelerators.cuda") for package in packages]
    picking = [module for module in modules if hasattr(module, "find_usable_cuda_devices")]
    for module in picking:
        monkeypatch.setattr(module, "find_usable_cuda_devices", module.find_usable_cuda_devices)
    placement.picked()
    assert {id(module) for module in picking} >= {id(module) for module in modules[:4]}
    for module in picking:
        assert module.find_usable_cuda_devices(2) == [0, 1]
        assert module.find_usable_cuda_devices() == [0]


SIXTEEN = """
import {package} as pl
import torch


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).float().pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


pl.Trainer(max_epochs=1, logger=False, {arguments}).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 4)))
"""


def sixteen(package: str, arguments: str, release: str) -> RunRecord:
    return recorded({"train.py": SIXTEEN.format(package=package, arguments=arguments)}, release)


def test_what_asks_a_gpu_for_16_bits_computes_as_later_releases_do_on_a_cpu() -> None:
    before = sixteen("pytorch_lightning", "gpus=1, precision=16", "1.4.9")
    after = sixteen("lightning.pytorch", 'accelerator="gpu", devices=1, precision="16-mixed"', TARGET)
    assert judge(before, after, ()).verdict == "preserved"
    assert "pytorch_lightning (bfloat16 for its 16 bits)" in before.moved
    plain = sixteen("lightning.pytorch", 'accelerator="gpu", devices=1', TARGET)
    lost = judge(before, plain, ())
    assert lost.verdict == "changed" and "bf16" in lost.reason, lost.reason


def test_16_bits_that_no_gpu_is_asked_for_fail_as_they_do_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = sixteen("pytorch_lightning", "precision=16", "1.4.9").recording.failure
    assert failure and failure.type == "MisconfigurationException"
    place = "pytorch_lightning.plugins.precision.precision_plugin"
    monkeypatch.setitem(sys.modules, place, SimpleNamespace(PrecisionPlugin=object))  # type: ignore[arg-type]
    assert [plugin.precision for plugin in on_cpu({"gpus": 1, "precision": 16})] == ["bf16"]
    assert on_cpu({"gpus": 1, "precision": 32}) == on_cpu({"gpus": 0, "precision": 16}) == []
    assert [plugin.precision for plugin in on_cpu({"gpus": 1, "precision": 16, "amp_level": "O1"})] == ["bf16"]
    assert on_cpu({"gpus": 1, "precision": 16, "amp_backend": "apex", "amp_level": "O1"}) == []
    assert on_cpu({"gpus": 1, "precision": 16, "amp_backend": "apex"}) == []


def test_values_of_a_weight_larger_than_whole_numbers_of_32_bits_are_taken_from_within_it() -> None:
    weight = torch.zeros(2**24 + 4)
    weight[-1] = 3.0
    assert sample(weight, 5) == (3.0, [0.0, 0.0, 0.0, 0.0, 3.0])
