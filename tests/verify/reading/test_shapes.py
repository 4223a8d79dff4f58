"""Shapes that a project writes down about its data: which are read, in which order, and what is none."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verify.reading.constants import ConstantNames, number, sizes
from verify.reading.shapes import LARGEST, MOST, Shape, recorded
from verify.reading.sources import Sources

IMPORTS = """
import albumentations as A
import cv2
import numpy as np
import torch
import torchvision.transforms.functional as TF
from PIL import Image
from torch import randn
from torchvision import transforms
"""


def read(root: Path, files: dict[str, str], first: str = "model.py", **values: list[Any]) -> list[Shape]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    return recorded(Sources(root), first, values)


def told(shape: Shape) -> str:
    kind = " sides" if shape.sides else f" {shape.dtype}" if shape.dtype else ""
    return "x".join(map(str, shape.sizes)) + kind


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x = torch.randn(2, 3, 64, 64)", ["2x3x64x64 float32"]),
        ("x = torch.rand((2, 3, 64, 48))", ["2x3x64x48 float32"]),
        ("x = torch.zeros([2, 9])", ["2x9 float32"]),
        ("x = torch.ones(size=(4, 5))", ["4x5 float32"]),
        ("x = torch.ones(4, 5, dtype=torch.long)", ["4x5 int64"]),
        ("x = torch.ones(4, 5).long().cuda()", ["4x5 int64"]),
        ("x = torch.ones(4, 5).bool()", []),
        ("x = torch.empty(4, 5, dtype=torch.bool)", []),
        ("x = torch.randint(0, 255, (8, 128))", ["8x128 int64"]),
        ("x = torch.randint(50, size=(8, 128))", ["8x128 int64"]),
        ("x = torch.randint(0, 255, (3, 32, 32)).float()", ["3x32x32 float32"]),
        ("x = torch.Tensor(1, 40, 90)", ["1x40x90 float32"]),
        ("x = torch.LongTensor(1, 40)", ["1x40 int64"]),
        ("x = torch.Tensor([1, 40])", []),
        ("x = torch.full((2, 7), 1.5)", ["2x7 float32"]),
        ("x = randn(2, 6)", ["2x6 float32"]),
        ("x = np.random.rand(3, 64)", ["3x64 float32"]),
        ("x = np.random.randn(10, 3, 8)", ["10x3x8 float32"]),
        ("x = np.random.random((16, 2))", ["16x2 float32"]),
        ("x = np.random.uniform(0, 1, (16, 2))", ["16x2 float32"]),
        ("x = np.random.uniform(0, 1, 16)", []),
        ("x = np.zeros((5, 6), dtype=np.int64)", ["5x6 int64"]),
        ("x = np.random.randint(0, 9, size=(5, 6))", ["5x6 int64"]),
        ("b, t = 2, 30\nx = torch.randn(b, t, 7)", ["2x30x7 float32"]),
        ("SIDE = 2 * 24\nx = torch.randn(1, 3, SIDE, SIDE // 2)", ["1x3x48x24 float32"]),
        ("shape = (3, 20)\nx = torch.randn(4, *shape)", ["4x3x20 float32"]),
        ("shape = (3, 20)\nx = torch.randn((4,) + shape)", ["4x3x20 float32"]),
        ("def f(side=80):\n    return torch.randn(1, 3, side, side)", ["1x3x80x80 float32"]),
        ("def f(side):\n    return torch.randn(1, 3, side, side)", []),
        ("side = 9\ndef f(side):\n    return torch.randn(1, 3, side, side)", []),
        ("x = torch.randn(2, args.width)", ["2x77 float32"]),
        ("x = torch.randn(2, self.hparams['width'])", ["2x77 float32"]),
        ("x = torch.randn(2, other.width)", []),
        ("x = torch.randn(n, 3)", []),
        ("input_shape = (1, 28, 28)", ["1x28x28"]),
        ("self.dims = (1, 28, 28)", ["1x28x28"]),
        ("x = torch.flip(y, dims=(2, 3))", []),
        ("net = Net(image_shape=[3, 40, 50])", ["3x40x50"]),
        ("cfg = {'input_size': (3, 224, 224)}", ["3x224x224"]),
        ("def f(img_size=(96, 64)): pass", ["96x64", "96x64 sides"]),
        ("out_dims: tuple = (1, 2)", []),
        ("input_size = 28", []),
        ("summary(model, (3, 224, 224))", ["3x224x224"]),
        ("summary(model, [(3, 60, 60), (2,)])", ["3x60x60"]),
        ("summary(model, input_size=(1, 3, 60, 60))", ["1x3x60x60"]),
        ("t = transforms.Resize(224)", ["224x224 sides"]),
        ("t = transforms.Resize((120, 80))", ["120x80 sides"]),
        ("t = transforms.Resize(64, 2)", ["64x64 sides"]),
        ("t = transforms.CenterCrop(size=[120, 80])", ["120x80 sides"]),
        ("t = transforms.RandomResizedCrop(224, scale=(0.2, 1.0))", ["224x224 sides"]),
        ("t = transforms.RandomCrop(32, padding=4)", ["32x32 sides"]),
        ("t = transforms.Resize(side)", []),
        ("t = transforms.Resize(args.width)", ["77x77 sides"]),
        ("t = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])", ["224x224 sides"]),
        ("t = A.Resize(120, 80)", ["120x80 sides"]),
        ("t = A.Resize(width=80, height=120)", ["120x80 sides"]),
        ("x = cv2.resize(x, (80, 120))", ["120x80 sides"]),
        ("x = Image.open(path).resize((80, 120))", ["120x80 sides"]),
        ("x = TF.resize(x, (120, 80))", ["120x80 sides"]),
        ("x = x.resize(2, 3)", []),
        ("x = torch.zeros(5)", []),
        ("x = torch.zeros(0, 3)", []),
        ("x = torch.zeros(4, 100000, 100000)", []),
        ("x = torch.zeros(1, 1, 1, 1, 1, 1)", []),
        ("x = torch.zeros(True, 3)", []),
        ("x = torch.zeros(2.0, 3)", []),
        ("t = transforms.Resize(4)", []),
        ("t = transforms.Resize(4096)", []),
    ],
)
def test_each_way_to_write_a_shape_down_is_read(tmp_path: Path, line: str, found: list[str]) -> None:
    assert [told(shape) for shape in read(tmp_path, {"model.py": IMPORTS + line}, width=[77])] == found


def test_what_a_model_computes_with_is_no_data(tmp_path: Path) -> None:
    text = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            self.token = nn.Parameter(torch.zeros(1, 1, 64))
            self.register_buffer("mean", torch.zeros(3, 1, 1))
            self.noise = torch.randn(8, 100)

    class Model(LightningModule):
        dims = (1, 28, 28)

        def training_step(self, batch, batch_idx):
            z = torch.randn(16, 100)

        def train_dataloader(self):
            return DataLoader(torch.rand(50, 200))

    class Bare:
        def forward(self, x):
            return x + torch.ones(2, 7)

    scale = nn.Parameter(torch.ones(2, 9))

    class Data(LightningDataModule):
        def setup(self):
            self.train = torch.rand(60, 300)
    """
    assert [told(shape) for shape in read(tmp_path, {"model.py": text})] == [
        "1x28x28",
        "50x200 float32",
        "60x300 float32",
    ]


def test_the_nearest_file_comes_first_and_each_shape_has_its_place(tmp_path: Path) -> None:
    data = "from torch.utils.data import Dataset\nimport torch\nclass Set(Dataset):\n    def __getitem__(self, i):\n"
    files = {
        "a/first_by_name.py": "import torch\ntorch.randn(5, 5)\n",
        "b/data.py": f"{data}        return torch.randn(4, 4)\n",
        "b/part.py": "import torch\nx = torch.randn(3, 3)\n",
        "tests/test_model.py": "import torch\nfrom b.model import Net\n\ndef test_it():\n    torch.randn(2, 2)\n",
        "b/model.py": "import torch\nfrom b.part import x\n\nif __name__ == '__main__':\n    torch.randn(1, 1)\n",
        "README.md": "# It\n\n```python\nimport numpy as np\nx = np.zeros((6, 6))\n```\n\n```python\nx = = 1\n```\n",
    }
    assert [(shape.sizes[0], shape.place) for shape in read(tmp_path, files, "b/model.py")] == [
        (1, "b/model.py:5"),
        (2, "tests/test_model.py:5"),
        (4, "b/data.py:5"),
        (3, "b/part.py:2"),
        (5, "a/first_by_name.py:2"),
        (6, "README.md:5"),
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("img_size: [32, 128]", ["32x128", "32x128 sides"]),
        ("data:\n  input_shape: [3, 40, 50]", ["3x40x50"]),
        ("model:\n  - name: a\n    Image_Size: 96", ["96x96 sides"]),
        ("crop_size: 64", ["64x64 sides"]),
        ("input_size: 512", []),
        ("input_size: [512]", []),
        ("img_size: 2048", []),
        ("img_size: true", []),
        ("img_size: ${model.img_size}", []),
        ("img_size: [3, wide]", []),
        ("img_size: [3, 40, -1]", []),
        ("img_size: [1, 2, 3, 4, 5, 6]", []),
        ("img_size: [4, 100000, 100000]", []),
        ("hidden_size: [3, 40, 50]", []),
    ],
)
def test_what_configurations_call_a_shape_is_read(tmp_path: Path, line: str, found: list[str]) -> None:
    shapes = read(tmp_path, {"model.py": "", "configs/main.yaml": line})
    assert [told(shape) for shape in shapes] == found
    assert all(shape.place.startswith("configs/main.yaml (") for shape in shapes)


def test_configurations_come_after_what_is_near_and_before_the_rest(tmp_path: Path) -> None:
    files = {
        "train.py": "import torch\nfrom model import Net\ntorch.randn(2, 2)\n",
        "a/other.py": "import torch\ntorch.randn(5, 5)\n",
        "configs/small.json": '{"model": {"img_size": [20, 30]}, "image_size": 40}',
        "configs/model/large.yaml": "image_size: 60\nimg_size: [20, 30]\n",
        "model.py": "",
    }
    assert [(shape.sizes, shape.place) for shape in read(tmp_path, files)] == [
        ((2, 2), "train.py:3"),
        ((40, 40), "configs/small.json (image_size)"),
        ((20, 30), "configs/small.json (img_size)"),
        ((20, 30), "configs/small.json (img_size)"),
        ((60, 60), "configs/model/large.yaml (image_size)"),
        ((5, 5), "a/other.py:2"),
    ]


def test_no_more_is_read_than_is_tried(tmp_path: Path) -> None:
    lines = "".join(f"torch.randn({number}, 3)\n" for number in range(1, 60))
    files = {f"m{number}.py": "import torch\n" + lines.replace("3)", f"{number + 3})") for number in range(9)}
    found = read(tmp_path, files, "m0.py")
    assert len(found) == MOST
    assert {shape.place.partition(":")[0] for shape in found[:12]} == {"m0.py"} != {found[12].place.partition(":")[0]}


def test_a_file_that_nests_too_deeply_is_left_out(tmp_path: Path) -> None:
    deep = "import torch\ntorch.randn(2, " + "+".join(["1"] * 3000) + ")\nx" + ".a" * 900 + ".randn(1)\n"
    files = {"model.py": deep, "other.py": "import torch\ntorch.randn(2, 5)\n"}
    assert [told(shape) for shape in read(tmp_path, files)] == ["2x5 float32"]


NUMBERS = st.one_of(
    st.integers(-3, 5000).map(str),
    st.sampled_from(
        ["a", "b", "args.a", "self.h['b']", "1.5", "None", "True", "10 ** 99", "x[0]", "int(a)", "*a", "*b"]
    ),
)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "/", "**"]), inner).map(" ".join).map("({})".format),
        st.lists(inner, max_size=7).map(lambda items: f"({', '.join([*items, ''])})"),
        st.lists(inner, max_size=7).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=5).map(lambda items: f"torch.randn({', '.join(items)})"),
        st.lists(inner, max_size=3).map(lambda items: f"T.Compose([T.Resize({', '.join(items)})])"),
    ),
    max_leaves=8,
)
LINES = st.tuples(
    st.sampled_from(["a", "b", "a, b", "input_shape", "self.dims", "x: int"]),
    EXPRESSIONS,
    st.sampled_from([
        "{} = {}", "{} = torch.zeros({})", "{} = summary(m, {})", "{} = I.resize({})", "def f({}={}): pass",
        "def f(a):\n    {} = torch.rand(size={})", "{} = dict(image_size={})", "{} = np.full({}, 1).long()",
    ]),
).map(lambda parts: parts[2].format(parts[0], parts[1]))  # fmt: skip


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=8), st.one_of(st.none(), st.integers(), st.lists(st.integers(), max_size=7)))
def test_whatever_is_written_is_read_within_bounds(tmp_path: Path, lines: list[str], value: Any) -> None:
    kept = [line for line in lines if _parses(line)]
    (tmp_path / "model.py").write_text(IMPORTS + "\n".join(kept))
    found = recorded(Sources(tmp_path), "model.py", {"a": [value], "b": []})
    assert len(found) <= MOST
    for shape in found:
        assert 2 <= len(shape.sizes) <= 5 and all(type(size) is int and 0 < size < 10**9 for size in shape.sizes)
        product = 1
        for size in shape.sizes[1:]:
            product *= size
        assert product <= LARGEST
        assert shape.dtype in ("", "float32", "int64")
        assert not shape.sides or (len(shape.sizes) == 2 and all(8 <= side <= 1024 for side in shape.sizes))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.text(max_size=300))
def test_no_file_is_too_strange_to_be_read(tmp_path: Path, code: bytes, readme: str) -> None:
    (tmp_path / "model.py").write_bytes(code)
    (tmp_path / "README.md").write_text(f"```python\n{readme}\n```\n", encoding="utf-8", errors="replace")
    assert len(recorded(Sources(tmp_path), "model.py", {})) <= MOST


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from(["+", "-", "*", "//"]))
def test_small_calculations_are_right(left: int, right: int, sign: str) -> None:
    text = f"({left}) {sign} ({right})"
    tree = ast.parse(text, mode="eval").body
    expected = None if (sign == "//" and not right) else eval(text)
    if left >= 0 and right >= 0:
        assert number(tree, ConstantNames({}, {})) == expected


def test_a_name_that_leads_back_to_itself_is_not_known() -> None:
    tree = ast.parse("a = b\nb = a\na = (a,\n b)\nx = a")
    names = ConstantNames.of(tree, {})
    last = tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert number(last.value, names) is None and sizes(last.value, names) is None


def _parses(line: str) -> bool:
    try:
        ast.parse(line)
    except SyntaxError:
        return False
    return True
