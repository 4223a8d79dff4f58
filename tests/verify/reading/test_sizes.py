"""With which arguments of its own a script trains something smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.reading.sizes import smaller
from verify.reading.sources import Sources

HEAD = "import argparse\nimport model\nfrom model import Net\nparser = argparse.ArgumentParser()\n"


def found(folder: Path, options: str, model: str = "") -> tuple[tuple[str, ...], ...]:
    return smaller("train.py", Sources(tree(folder / "project", train=HEAD + options, model=model)))


def declared(*words: str) -> str:
    return "".join(f"parser.add_argument({word})\n" for word in words)


def test_of_all_sizes_and_of_those_that_nothing_has_to_fit(tmp_path: Path) -> None:
    options = declared("'--n_layer', default=22", "'--n-head', type=int, default=16", "'-e', '--n_embd', default=768",
                       "'--batch_size', type=int, default=256")  # fmt: skip
    every = ("--n_layer=2", "--n-head=4", "--n_embd=32", "--batch_size=8")
    assert found(tmp_path, options) == (every, ("--n_layer=2", "--batch_size=8"))


@pytest.mark.parametrize(
    "option",
    [
        "'--n_layer', default=2",
        "'--n_layer'",
        "'--n_layer', default=None",
        "'--n_layer', default='22'",
        "'--n_layer', default=22.5",
        "'--n_layers', default=22, choices=[22, 44]",
        "'--channels', default=64, nargs=2",
        "'layers', default=22",
        "'--epochs', default=100",
        "'--in_channels', default=64",
        "'--image_size', default=224",
        "'--output_dim', default=100",
        "f'--{name}_dim', default=100",
    ],
)
def test_what_is_small_or_no_size_of_a_model_is_left(option: str, tmp_path: Path) -> None:
    assert found(tmp_path, declared(option)) == ()


OWN = """class Net:
    @staticmethod
    def add_options(parser):
        parser.add_argument("--hidden_size", type=int, default=512)


class Other:
    @staticmethod
    def add_options(parser):
        parser.add_argument("--depth", type=int, default=50)


def add_more(parser):
    parser.add_argument("--num_layers", type=int, default=12)
"""


def test_options_that_what_the_script_calls_declares_count_too(tmp_path: Path) -> None:
    assert found(tmp_path / "a", "Net.add_options(parser)\n", OWN) == (("--hidden_size=32",),)
    assert found(tmp_path / "b", "model.add_more(parser)\n", OWN) == (("--num_layers=2",),)
    assert found(tmp_path / "c", "print(Net)\n", OWN) == ()


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("batch_size: 128 # of pictures\nimage_size: 224\nlayers: 4\nname: x\nnested:\n  heads: 8\n",
         (("--batch_size=8", "--layers=2"),)),
        ("batch_size: 4\n", ()),
    ],
)  # fmt: skip
def test_options_that_are_the_keys_of_a_configuration_count_too(
    text: str, sizes: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    options = "for key, value in read('./config/main.yaml'):\n    parser.add_argument(f'--{key}', default=value)\n"
    root = tree(tmp_path / "project", train=HEAD + options, model="")
    (root / "config").mkdir()
    (root / "config" / "main.yaml").write_text(text)
    assert smaller("train.py", Sources(root)) == sizes
    other = tree(tmp_path / "other", train=HEAD + options.replace("f'", "'"), model="")
    assert smaller("train.py", Sources(other)) == ()


def test_of_two_trees_only_options_that_both_declare_alike(tmp_path: Path) -> None:
    before = declared("'--n_layer', default=22", "'--dim', default=64", "'--heads', default=16", "'--bs', default=99")
    after = declared("'--n_layer', default=22", "'--dim', default=128", "'--n_heads', default=16",
                     "'--bs', type=str, default=99")  # fmt: skip
    trees = [Sources(tree(tmp_path / str(number), train=HEAD + text, model=""))
             for number, text in enumerate((before, after))]  # fmt: skip
    assert smaller("train.py", *trees) == smaller("train.py", *reversed(trees)) == (("--n_layer=2",),)
    assert smaller("train.py", trees[0], Sources(tree(tmp_path / "none", model=""))) == ()


@pytest.mark.parametrize(
    ("path", "before", "after", "sizes"),
    [
        ("main.yaml", "n_layer: 40\nrate: 1\n", "rate: 2\nn_layer: 40\n", ("--n_layer=2", "--batch-size=8")),
        ("main.yaml", "n_layer: 40\n", "n_layer: 50\n", ("--batch-size=8",)),
        ("main.yaml", "batch_size: 40\n", "", ("--n_layer=2",)),
        ("model.py", "parser.set_defaults(n_layer=40)\n", "parser.set_defaults(n_layer=50)\n", ("--batch-size=8",)),
    ],
)
def test_an_option_that_a_changed_line_names_is_left(
    path: str, before: str, after: str, sizes: tuple[str, ...], tmp_path: Path
) -> None:
    options = declared("'--n_layer', default=22", "'--batch-size', default=99")
    trees = []
    for name, text in (("before", before), ("after", after)):
        root = tree(tmp_path / name, train=HEAD + options, model="")
        (root / path).write_text(text)
        trees.append(Sources(root))
    assert smaller("train.py", *trees, changed=(path, "gone.py")) == (sizes,)
