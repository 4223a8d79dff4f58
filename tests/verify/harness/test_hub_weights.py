"""Weights that libraries fetch from a hub which is not reached: packages of ours that ask as timm and its like do."""

from __future__ import annotations

import contextlib
import functools
import sys
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from verify.harness import hub_weights
from verify.harness.alone_weights import FETCHED, blank, is_missing


class URLError(OSError):
    """A server that does not answer."""


def hf_hub_download(repo_id: str, filename: str, *, revision: str = "main") -> str:
    if repo_id == "broken":
        raise ValueError("it is broken")
    raise URLError("Name or service not known")


def load_file(filename: Any) -> Any:
    return {"read": Path(filename).name}


def load_pretrained(model: Any, pretrained_cfg: Any = None, strict: bool = True) -> None:
    raise RuntimeError("no weights") from URLError("Name or service not known")


def load_custom_pretrained(model: Any, pretrained_cfg: Any = None) -> None:
    """As timm reads weights of its own format: from a file that it has a server give it."""
    FETCHED["cache/vit.npz"] = "http://weights/vit.npz"
    open("cache/vit.npz")  # noqa: PTH123, SIM115


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    found: list[str] = []
    held = {
        "huggingface_hub.file_download": hf_hub_download,
        "safetensors.torch": load_file,
        "timm.models._builder": load_pretrained,
        "timm.models.helpers": None,
    }
    of_timm = load_custom_pretrained
    for place, function in held.items():
        module = ModuleType(place)
        if function is not None:
            setattr(module, function.__name__, function)
        if place.startswith("timm"):
            module.load_custom_pretrained = of_timm  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, place, module)
    own = sys.modules[__name__]
    kept = {
        name: getattr(own, name)
        for name in ("hf_hub_download", "load_file", "load_pretrained", "load_custom_pretrained")
    }
    with blank(found):
        hub_weights.stand_in(found)
        yield found
    for name, function in kept.items():
        setattr(own, name, function)


def of(place: str) -> Any:
    return sys.modules[place]


def test_weights_of_a_hub_stay_random(names: list[str]) -> None:
    layer = torch.nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    layer.load_state_dict(torch.load(of("huggingface_hub.file_download").hf_hub_download("a/b", "c.bin")))
    place = of("huggingface_hub.file_download").hf_hub_download("a/b", filename="c.safetensors")
    layer.load_state_dict(of("safetensors.torch").load_file(place))
    of("timm.models._builder").load_pretrained(layer, SimpleNamespace(architecture="resnet18"))
    of("timm.models._builder").load_custom_pretrained(layer)
    assert torch.equal(layer.weight, before)
    assert names == ["a/b/c.bin", "a/b/c.safetensors", "resnet18 of timm", "Linear of timm"]


def test_who_wants_more_than_weights_hears_that_there_are_none(names: list[str]) -> None:
    asking: dict[str, Any] = {"__name__": "transformers.utils.hub", "hub": of("huggingface_hub.file_download")}
    exec("def ask():\n    return hub.hf_hub_download('a/b', 'c.bin')\n", asking)
    with pytest.raises(URLError):
        asking["ask"]()
    assert names == []


def test_what_is_here_is_read_and_what_is_wrong_fails(names: list[str], tmp_path: Path) -> None:
    assert of("safetensors.torch").load_file(tmp_path / "own.safetensors") == {"read": "own.safetensors"}
    with pytest.raises(ValueError, match="broken"):
        of("huggingface_hub.file_download").hf_hub_download("broken", "c.bin")
    with pytest.raises(TypeError):
        of("huggingface_hub.file_download").hf_hub_download("a/b", "c.bin", rev="main")
    assert names == []


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (("train", "timm.models._builder", "timm.models._hub"), True),
        (("train", "huggingface_hub.file_download"), True),
        (("train", "datasets.load", "huggingface_hub.hf_api"), False),
        (("train", "transformers.utils.hub", "huggingface_hub.file_download"), False),
        (("train", "requests.api"), False),
    ],
)
def test_only_weights_are_asked_for_again(names: tuple[str, ...], asked: bool) -> None:
    frames: Any = tuple((SimpleNamespace(f_globals={"__name__": name}, f_code=SimpleNamespace(co_filename="x")), 1)
                        for name in names)  # fmt: skip
    assert is_missing(URLError("no"), frames) is asked
    with contextlib.suppress(AttributeError):
        assert not is_missing(ValueError("no"), frames)


def vgg16(*, weights: Any = None, width: int = 2) -> torch.nn.Module:
    assert weights is None
    return torch.nn.Linear(width, 1)


@pytest.fixture
def of_repositories(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Packages that have models which repositories have too, and a GitHub that does not answer."""

    def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
        if repo_or_dir == "here":
            return "loaded"
        raise URLError("Name or service not known")

    vision, timm = ModuleType("torchvision"), ModuleType("timm")
    vision.models = SimpleNamespace(vgg16=vgg16)  # type: ignore[attr-defined]
    timm.create_model = lambda name, **given: (name, given)  # type: ignore[attr-defined]
    for name, module in (("torchvision", vision), ("torchvision.models", vision.models), ("timm", timm)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(torch.hub, "load", load)
    names: list[str] = []
    hub_weights.stand_in(names)
    yield names


def test_models_of_repositories_are_those_of_packages_that_have_them(of_repositories: list[str]) -> None:
    assert torch.hub.load("here", "net") == "loaded"
    made = torch.hub.load("pytorch/vision:v0.6.0", "vgg16", True, pretrained=True, width=3, trust_repo=True)
    assert made.in_features == 3
    made = torch.hub.load("rwightman/pytorch-image-models", "vit_tiny", pretrained=True, num_classes=2)
    assert made == ("vit_tiny", {"num_classes": 2})
    assert of_repositories == ["vgg16 of pytorch/vision:v0.6.0", "vit_tiny of rwightman/pytorch-image-models"]


@pytest.mark.parametrize("asked", [("pytorch/vision", "vgg17"), ("pytorch/visions", "vgg16"), ("mine/nets", "net")])
def test_what_no_package_has_is_said_to_be_asked_of_github(asked: tuple[str, str], of_repositories: list[str]) -> None:
    with pytest.raises(urllib.error.URLError, match=f"torch.hub.load asks GitHub for {asked[0]}"):
        torch.hub.load(*asked)
    assert not of_repositories


def test_a_wrong_argument_of_such_a_model_still_fails(of_repositories: list[str]) -> None:
    with pytest.raises(TypeError):
        torch.hub.load("pytorch/vision", "vgg16", pretraned=True)
    assert not of_repositories


def test_a_hub_that_does_not_answer_is_asked_twice_and_not_for_half_a_minute() -> None:
    def http_backoff(method: str, *, max_retries: int = 5, base_wait_time: float = 1) -> tuple[int, float]:
        return max_retries, base_wait_time

    client = ModuleType("client")
    vars(client).update(
        http_backoff=functools.wraps(http_backoff)(lambda *args, **kwargs: http_backoff(*args, **kwargs))
    )
    hub_weights.hurried(client)
    assert http_backoff("HEAD") == (1, 1)
    hub_weights.hurried(ModuleType("another"))
