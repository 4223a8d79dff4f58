"""Batches of modules that are trained alone, of shapes that the project's code writes down."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from tests.verify.harness.test_alone import search
from verify.harness import alone_climb
from verify.harness.alone_arguments import ArgumentHints
from verify.harness.alone_batches import leaf, told
from verify.harness.alone_climb import TRIES, Climb
from verify.harness.alone_data import Offers
from verify.harness.alone_shapes import FIRST, beginnings, fitting
from verify.harness.alone_tries import STEP_SCORE, Attempt, TooSlow, TryBench, TryState
from verify.reading import modules

HEAD = """
import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F


class Base(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
"""

PROJECT = {
    "spectra.py": f"""{HEAD}

class Spectra(Base):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 4, 3), nn.Linear(4 * 38 * 88, 3)

    def forward(self, x):
        assert x.shape[2:] == (40, 90), "forty bands"
        return self.head(self.conv(x).flatten(1))


if __name__ == "__main__":
    BANDS = 40
    print(Spectra()(torch.randn(2, 1, BANDS, 90)).shape)
""",
    "deep.py": f"""{HEAD}

class Deep(Base):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3 if not depth else 4, 4, 3, stride=2) for depth in range(5)]
        self.net, self.head = nn.Sequential(*layers), nn.Linear(4 * 2 * 2, 3)

    def forward(self, x):
        return self.head(self.net(x).view(-1, 4 * 2 * 2))
""",
    "data/pictures.py": """
from torchvision import transforms
from deep import Deep

made = transforms.Compose([transforms.Resize(110), transforms.CenterCrop(96), transforms.ToTensor()])
""",
    "text.py": f"""{HEAD}

class Text(Base):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(11, 6), nn.Linear(6, 3)
        self.places = nn.Parameter(torch.zeros(17, 6))

    def forward(self, x):
        return self.head((self.words(x) + self.places[: x.shape[1]]).mean(1)) / (x.shape[1] == 17)
""",
    "tests/test_text.py": """
import torch
from text import Text


def test_text():
    assert Text()(torch.randint(0, 11, (2, 17))).shape == (2, 3)
""",
    "misled.py": f"""{HEAD}

class Misled(Base):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 4, 3), nn.Linear(4 * 30 * 30, 3)
        self.rest = nn.Parameter(torch.zeros(8, 3, 44, 45))

    def forward(self, x):
        assert x.shape[2] == 32
        return self.head(self.conv(x).flatten(1))


class Other(nn.Module):
    input_shape = (3, 50, 50)


def show(model):
    summary(model, (3, 60, 61))
    summary(model, (1, 3, 70, 70))
    summary(model, (3, 80, 80))
    summary(model, (1, 28, 28))
""",
}
RECORDED = {"Spectra": "float32 4x1x40x90", "Deep": "float32 4x3x96x96", "Text": "int64 4x17"}
PLACES = {"Spectra": "spectra.py:29", "Deep": "data/pictures.py:5", "Text": "tests/test_text.py:7"}
FILES = ("spectra.py", "deep.py", "text.py", "misled.py")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shapes") / "project"
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def searched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return search(tmp_path_factory.mktemp("with"), project, FILES)


@pytest.mark.parametrize("cls", sorted(RECORDED))
def test_what_trains_on_a_recorded_shape_alone_does_so_at_once(searched: dict[str, Any], cls: str) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["tries"] == 1
    assert searched[cls]["told"]["batch"] == f"({RECORDED[cls]}, int64 4), shaped as {PLACES[cls]} has it"


def test_shapes_that_do_not_train_leave_the_search_as_it_is(searched: dict[str, Any]) -> None:
    assert searched["Misled"]["event"] == "recipe", searched["Misled"].get("why")
    assert searched["Misled"]["told"]["batch"] == "(float32 4x3x32x32, int64 4)"
    assert searched["Misled"]["tries"] == FIRST + 1


def test_without_them_the_same_modules_take_more_tries(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "recorded", lambda *_: [])
    found = search(tmp_path, project, FILES[1:], budget=100)
    assert found["Deep"]["tries"] > 1 and found["Text"]["tries"] > 1
    assert found["Misled"]["tries"] == 1


# -- which shapes fit


def shape(*sizes: int, dtype: str = "", sides: bool = False, where: str = "a.py:1") -> dict[str, Any]:
    return {"sizes": list(sizes), "dtype": dtype, "sides": sides, "where": where}


FLOAT = "float32"


@pytest.mark.parametrize(
    ("layer", "written", "wanted"),
    [
        (nn.Conv2d(3, 4, 3), shape(9, 3, 50, 60, dtype=FLOAT), [4, 3, 50, 60]),
        (nn.Conv2d(3, 4, 3), shape(3, 50, 60), [4, 3, 50, 60]),
        (nn.Conv2d(3, 4, 3), shape(50, 60, sides=True), [4, 3, 50, 60]),
        (nn.Conv2d(3, 4, 3), shape(50, 60), None),
        (nn.Conv2d(3, 4, 3), shape(9, 1, 50, 60), None),
        (nn.Conv2d(3, 4, 3), shape(9, 50, 60, 3), None),
        (nn.Conv2d(3, 4, 3), shape(3, 50, 60, dtype="int64"), None),
        (nn.Conv2d(3, 4, 3), shape(3, 700, 700), None),
        (nn.ConvTranspose2d(64, 4, 3), shape(8, 64, 2, 2), [4, 64, 2, 2]),
        (nn.Conv1d(2, 4, 3), shape(9, 2, 500), [4, 2, 500]),
        (nn.Conv1d(2, 4, 3), shape(2, 500), [4, 2, 500]),
        (nn.Conv1d(2, 4, 3), shape(500, 2), None),
        (nn.Conv1d(2, 4, 3), shape(20, 20, sides=True), None),
        (nn.Conv3d(1, 4, 3), shape(2, 1, 8, 20, 20), [4, 1, 8, 20, 20]),
        (nn.Linear(7, 4), shape(9, 30, 7), [4, 30, 7]),
        (nn.Linear(7, 4), shape(9, 7), None),
        (nn.Linear(7, 4), shape(7, 9), None),
        (nn.Linear(784, 4), shape(1, 28, 28), [4, 1, 28, 28]),
        (nn.Linear(784, 4), shape(16, 1, 28, 28), [4, 1, 28, 28]),
        (nn.Linear(784, 4), shape(28, 28), [4, 28, 28]),
        (nn.Linear(784, 4), shape(28, 28, sides=True), [4, 1, 28, 28]),
        (nn.Linear(3072, 4), shape(32, 32, sides=True), [4, 3, 32, 32]),
        (nn.Linear(100, 4), shape(28, 28, sides=True), None),
        (nn.Bilinear(7, 7, 4), shape(9, 30, 7), None),
        (nn.LSTM(5, 4, batch_first=True), shape(9, 30, 5), [4, 30, 5]),
        (nn.LSTM(5, 4, batch_first=True), shape(30, 5), [4, 30, 5]),
        (nn.LSTM(5, 4), shape(30, 9, 5), [30, 4, 5]),
        (nn.GRU(5, 4), shape(9, 30, 6), None),
        (nn.Embedding(50, 4), shape(9, 30, dtype="int64"), [4, 30]),
        (nn.Embedding(50, 4), shape(9, 30, dtype=FLOAT), None),
        (nn.Embedding(50, 4), shape(9, 30), None),
        (nn.Embedding(50, 4), shape(30, dtype="int64"), None),
        (nn.Embedding(50, 4), shape(32, 32, sides=True), None),
        (nn.ReLU(), shape(9, 8), None),
    ],
)  # fmt: skip
def test_a_shape_is_taken_where_it_fits_the_first_layer(
    layer: nn.Module, written: dict[str, Any], wanted: list[int] | None
) -> None:
    found = list(fitting(nn.Sequential(layer, nn.Linear(8, 2)) if wanted else layer, [written]))
    assert [spec["shape"] for spec, _ in found] == ([wanted] if wanted else [])
    assert all(spec["dtype"] == ("int64" if isinstance(layer, nn.Embedding) else FLOAT) for spec, _ in found)
    assert all(spec["high"] == (50 if isinstance(layer, nn.Embedding) else 2) for spec, _ in found)


def test_a_whole_shape_may_fit_a_convolution_that_is_defined_later() -> None:
    module = nn.Sequential(nn.ConvTranspose2d(64, 8, 3), nn.Linear(7, 4), nn.Conv2d(3, 64, 3))
    written = [shape(1, 3, 50, 60), shape(40, 40, sides=True), shape(9, 30, 7), shape(1, 64, 5, 5)]
    found = [spec["shape"] for spec, _ in fitting(module, written)]
    assert found == [[4, 3, 50, 60], [4, 64, 40, 40], [4, 64, 5, 5]]


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Conv2d(3, 4, 3)

    def training_step(self, batch: dict[str, Any], batch_idx: int) -> Any:
        return self.net(batch["photo"]) * batch["mask"]


PAIRS = [shape(3, 40, 50, where="a.py:1"), shape(60, 60, sides=True, where="b.py:2"), shape(3, 40, 50, where="c.py:3")]


def said(module: nn.Module, arguments: dict[str, Any], shapes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(told(spec), where) for spec, where in beginnings(module, arguments, shapes)]


def test_the_rest_of_a_batch_goes_with_its_first_input() -> None:
    assert said(Masked(), {}, PAIRS) == [
        ("{mask: float32 4x40x50, photo: float32 4x3x40x50}", "a.py:1 has it"),
        ("{mask: float32 4x60x60, photo: float32 4x3x60x60}", "b.py:2 has it"),
        ("{mask: float32 4x32x32, photo: float32 4x3x32x32}", ""),
    ]


def test_sides_that_arguments_name_come_before_recorded_ones() -> None:
    found = said(Masked(), {"image_size": 48}, PAIRS)
    assert [where for _, where in found] == ["", "a.py:1 has it", "b.py:2 has it"]
    assert "photo: float32 4x3x48x48" in found[0][0]


def test_an_example_of_the_module_itself_is_the_only_one() -> None:
    module = Masked()
    module.example_input_array = torch.rand(2, 3, 70, 70)
    assert [where for _, where in said(module, {}, PAIRS)] == [""]


def test_only_a_few_are_tried_and_one_that_is_the_guess_takes_no_try_more() -> None:
    many = [shape(3, 30 + number, 30, where=f"a.py:{number}") for number in range(9)]
    assert [where for _, where in said(Masked(), {}, many)] == [
        *(f"a.py:{number} has it" for number in range(FIRST)),
        "",
    ]
    assert len(said(Masked(), {}, [shape(32, 32, sides=True)])) == 1


def test_the_evidence_tells_a_shape_that_was_changed() -> None:
    offers = Offers(TryBench(None, ".", 1), lambda *_: ModuleType("none"), (), PAIRS)
    kept = {"items": [leaf([4, 3, 40, 50]), leaf([4, 9])], "kind": "list"}
    assert offers.told("a.py:1 has it", kept) == ", shaped as a.py:1 has it"
    assert offers.told("b.py:2 has it", kept) == ", shaped as b.py:2 has it, changed until the training took it"
    assert offers.told("b.py:2 has it", leaf([4, 1, 60, 60])) == ", shaped as b.py:2 has it"


# -- what they may cost


def climbed(monkeypatch: pytest.MonkeyPatch, attempt: Any, children: Any) -> tuple[TryState | None, int]:
    monkeypatch.setattr(alone_climb, "attempt", attempt)
    monkeypatch.setattr(alone_climb, "children", children)
    cls = type("Any", (), {"__init__": lambda self: None})
    bench = TryBench(None, ".", 1)
    offers = Offers(bench, lambda *_: ModuleType("none"), (), PAIRS)
    state, tries, _ = Climb(bench, cls, ArgumentHints({}), {}, 100, offers).run()
    return state, tries


GUESS = {"items": [1000]}


def begun(error: Exception, score: float) -> Attempt:
    others = (({"items": [2]}, "b.py:2 has it"), (GUESS, ""))
    return Attempt(error, (), score, nn.Linear(1, 1), {"items": [1]}, shaped="a.py:1 has it", others=others)


def test_a_search_that_is_stuck_on_recorded_shapes_goes_on_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the guess leads to is found after as many tries as it takes, though recorded shapes came further."""

    def attempt(_: object, __: object, state: TryState, *___: object, **____: object) -> Attempt:
        if state.batch is None:
            return begun(ValueError("0"), 3.0 * STEP_SCORE)
        number = state.batch["items"][0]
        error = None if number == 1060 else ValueError(str(number))
        score = STEP_SCORE + number if state.shaped == "" else 3.0 * STEP_SCORE - number / 1000
        return Attempt(error, (), score, nn.Linear(1, 1), state.batch, shaped=state.shaped)

    def children(_: object, __: object, state: TryState, *___: object) -> Iterator[tuple[TryState, float]]:
        assert state.batch is not None
        number = state.batch["items"][0]
        if state.shaped == "":
            yield TryState({}, {"items": [number + 1]}), 0
        else:
            yield from ((TryState({}, {"items": [2 * number + more]}, shaped=state.shaped), 0) for more in (0, 1))

    state, tries = climbed(monkeypatch, attempt, children)
    assert state is not None and state.batch == {"items": [1060]} and state.shaped == ""
    assert tries < TRIES


def test_a_recorded_shape_that_is_too_large_ends_their_tries_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: deque[Any] = deque()

    def attempt(_: object, __: object, state: TryState, *___: object, **____: object) -> Attempt:
        seen.append(state.batch)
        if state.batch is None:
            return begun(TooSlow("it takes too long"), STEP_SCORE)
        return Attempt(None, (), 0.0, nn.Linear(1, 1), state.batch, seconds=0.1, shaped=state.shaped)

    state, tries = climbed(monkeypatch, attempt, lambda *_: iter(()))
    assert list(seen) == [None, GUESS]
    assert state is not None and (state.batch, state.shaped, tries) == (GUESS, "", 2)
