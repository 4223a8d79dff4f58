"""torch_scatter in torch's own operations: by hand, and by what its documentation shows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.harness import scattered


@st.composite
def drawn(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, int, int]:
    """Elements, the place of each along a dimension, that dimension, and how many places there are."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    places = draw(st.integers(1, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    src = torch.randint(-3, 4, shape, generator=generator).double()
    index = torch.randint(0, places, (shape[dim],), generator=generator)
    return src, index, dim, places


def groups(src: torch.Tensor, index: torch.Tensor, dim: int, places: int) -> list[torch.Tensor]:
    return [src.index_select(dim, (index == place).nonzero().flatten()) for place in range(places)]


BY_HAND: dict[str, Any] = {
    "sum": lambda each, dim: each.sum(dim),
    "mul": lambda each, dim: each.prod(dim),
    "mean": lambda each, dim: each.mean(dim),
    "min": lambda each, dim: each.min(dim).values,
    "max": lambda each, dim: each.max(dim).values,
    "std": lambda each, dim: (each.var(dim, unbiased=False) * each.size(dim) / max(each.size(dim) - 1, 1)).sqrt(),
    "logsumexp": lambda each, dim: each.logsumexp(dim),
}


@pytest.mark.parametrize("kind", BY_HAND)
@settings(max_examples=60, deadline=None)
@given(case=drawn())
def test_each_place_holds_what_its_elements_make(kind: str, case: tuple[torch.Tensor, torch.Tensor, int, int]) -> None:
    src, index, dim, places = case
    found = scattered.functions()[f"scatter_{kind}"](src, index, dim, dim_size=places)
    found = found[0] if isinstance(found, tuple) else found
    for place, each in enumerate(groups(src, index, dim, places)):
        if each.size(dim):
            assert torch.allclose(found.select(dim, place), BY_HAND[kind](each, dim), atol=1e-3)
        else:
            assert (found.select(dim, place) == (1 if kind == "mul" else 0)).all()


@settings(max_examples=60, deadline=None)
@given(case=drawn())
def test_a_softmax_of_each_place(case: tuple[torch.Tensor, torch.Tensor, int, int]) -> None:
    src, index, dim, places = case
    found = scattered.scatter_softmax(src, index, dim)
    logarithm = scattered.scatter_log_softmax(src, index, dim)
    for each, soft in zip(groups(src, index, dim, places), groups(found, index, dim, places), strict=True):
        assert torch.allclose(soft, each.softmax(dim))
    assert torch.allclose(logarithm.exp(), found)


def test_what_the_documentation_shows() -> None:
    src = torch.tensor([[2, 0, 1, 4, 3], [0, 2, 1, 3, 4]])
    index = torch.tensor([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    best, where = scattered.functions()["scatter_max"](src, index, dim=-1)
    assert best.tolist() == [[0, 0, 4, 3, 2, 0], [2, 4, 3, 0, 0, 0]]
    assert where.tolist() == [[5, 5, 3, 4, 0, 1], [1, 4, 3, 5, 5, 5]]
    ones = torch.ones(2, 6, 2)
    pointers = torch.tensor([0, 2, 5, 6]).view(1, -1)
    assert scattered.segment_csr(ones, pointers)[0, :, 0].tolist() == [2, 3, 1]
    assert scattered.segment_coo(ones, torch.tensor([0, 0, 1, 1, 1, 2]).view(1, -1))[1, :, 1].tolist() == [2, 3, 1]
    held = torch.tensor([1, 2, 3, 4])
    assert scattered.gather_csr(held, torch.tensor([0, 2, 5, 5, 6])).tolist() == [1, 1, 2, 2, 2, 4]
    assert scattered.gather_coo(held, torch.tensor([0, 0, 1, 1, 1, 3])).tolist() == [1, 1, 2, 2, 2, 4]


def test_the_first_of_the_largest_alone_has_a_gradient() -> None:
    src = torch.tensor([1.0, 3.0, 3.0, 2.0], requires_grad=True)
    best, where = scattered.functions()["scatter_max"](src, torch.tensor([0, 0, 0, 1]))
    best.sum().backward()
    assert src.grad is not None and src.grad.tolist() == [0, 1, 0, 1] and where.tolist() == [1, 3]


def test_what_is_given_to_fill_is_filled() -> None:
    out = torch.tensor([1.0, 10.0])
    src, index = torch.tensor([2.0, 3.0]), torch.tensor([0, 1])
    assert scattered.scatter(src, index, out=out.clone()).tolist() == [3, 13]
    assert scattered.scatter(src, index, out=out.clone(), reduce="max").tolist() == [2, 10]
    assert scattered.scatter(torch.tensor([3, 4]), torch.tensor([0, 0]), reduce="mean").tolist() == [3]
    assert scattered.scatter(src[:0], index[:0], dim_size=2).tolist() == [0, 0]


@pytest.fixture
def finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    used: dict[str, None] = {}
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, scattered.Scatter(tmp_path, used)])
    for name in scattered.PARTS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return used


def test_files_of_the_project_find_it(tmp_path: Path, finding: dict[str, None]) -> None:
    text = (
        "from torch_scatter import scatter_mean, segment_max_csr\nfrom torch_scatter.composite import scatter_softmax\n"
    )
    exec(compile(text, str(tmp_path / "model.py"), "exec"), {"__name__": "model"})
    assert list(finding) == ["model.py"]
    for name in scattered.PARTS:
        sys.modules.pop(name, None)


def test_others_do_without(tmp_path: Path, finding: dict[str, None]) -> None:
    with pytest.raises(ModuleNotFoundError):
        exec(compile("import torch_scatter", "/elsewhere/typing.py", "exec"), {"__name__": "library"})
    assert not finding
