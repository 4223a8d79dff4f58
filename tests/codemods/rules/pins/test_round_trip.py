"""Generated manifests: nothing but specifiers changes, nothing malicious is admitted, a second run is quiet."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.lightning.pins.manifest import LIGHTNING, manifest_kind, read_pins
from codemods.lightning.pins.specifier import MALICIOUS, admits
from fixer.files import kind_of
from tests.codemods.rules.pins.support import moved

NAMES = st.sampled_from(["lightning", "pytorch-lightning", "pytorch_lightning", "torch", "torchvision", "torchmetrics"])
OTHERS = st.sampled_from(
    ["numpy", "tqdm==4.0", "x-lightning==1.0", "torchfoo", "Pillow>=9  # é", "# lightning==1.0", ""]
)
VERSIONS = st.sampled_from(["0.8", "1.5.10", "1.9", "2.0.0", "2.6.2", "2.6.6", "1.12.1+cu113"])
CLAUSES = st.builds(
    "{}{}{}".format, st.sampled_from(["==", ">=", "<", "<=", "!=", ">", "~="]), st.sampled_from(["", " "]), VERSIONS
)
SPECIFIERS = st.lists(CLAUSES, max_size=3).map(", ".join)
TAILS = st.sampled_from(["", "  # strict", " ; python_version > '3.7'", " # lightning==1.8"])
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def requirements(draw: st.DrawFn) -> str:
    line = st.builds("{}{}{}{}".format, NAMES, st.sampled_from(["", " ", "[extra]"]), SPECIFIERS, TAILS)
    end = draw(ENDS)
    return "".join(
        f"{draw(st.sampled_from(['', '  ']))}{item}{end}" for item in draw(st.lists(st.one_of(line, OTHERS)))
    )


@st.composite
def manifests(draw: st.DrawFn) -> tuple[str, str]:
    plain = [f"{draw(NAMES)}{draw(SPECIFIERS)}" for _ in range(draw(st.integers(1, 4)))]
    end = draw(ENDS)
    shapes = {
        "setup.cfg": ["[options]", "install_requires =", *(f"    {item}" for item in plain), "x = lightning==1.0"],
        "setup.py": [
            "from setuptools import setup",
            f"setup(name='lightning', install_requires={plain!r},",
            "      extras_require={'a': [" + ", ".join(f'"{item}"' for item in plain) + "]})  # lightning==1.0",
        ],
        "pyproject.toml": ["[project]", "dependencies = [", *(f'  "{item}", # {item}' for item in plain), "]"],
        "environment.yml": [
            "dependencies:",
            "- pip:",
            *(f"  - {item}  # lightning" for item in plain),
            "- lightning=1.*",
        ],
        "Pipfile": ["[packages]", 'tqdm = "*"', f'lightning = "{draw(SPECIFIERS) or "*"}" # lightning = "==1.0"'],
        "cog.yaml": ["build:", "  python_packages:", *(f"  - '{item}'  # {item}" for item in plain), "x: lightning==1"],
        "setup.sh": ["# pip install torch==1", f"pip install {' '.join(map(repr, plain))} \\", "    tqdm # x"],
        "Dockerfile": ["FROM lightning", f"RUN pip install {' '.join(map(repr, plain))} \\", "    tqdm # x"],
    }
    path = draw(st.sampled_from(sorted(shapes)))
    return path, end.join(shapes[path]) + end


def without(path: str, text: str) -> str:
    """The text with every specifier cut out, and the quotes that the shell needs."""
    pins = sorted(read_pins(manifest_kind(path, kind_of(path) or "", text) or "", text), key=lambda pin: -pin.start)
    for pin in pins:
        text = text[: pin.start] + text[pin.end :]
    return re.sub(r"['\"]", "", text) if path in ("Dockerfile", "setup.sh") else text


def holds(path: str, before: str) -> None:
    after = moved({path: before})[path]
    assert without(path, after) == without(path, before)
    old = read_pins(manifest_kind(path, kind_of(path) or "", before) or "", before)
    new = read_pins(manifest_kind(path, kind_of(path) or "", after) or "", after)
    assert [pin.name for pin in new] == [pin.name for pin in old]
    for was, now in zip(old, new, strict=True):
        if now.name in LIGHTNING and now.specifier != was.specifier:
            assert not any(admits(now.meant, bad, now.language) for bad in MALICIOUS)


@settings(deadline=None, max_examples=40)
@given(requirements())
def test_requirement_files(text: str) -> None:
    holds("requirements.txt", text)


@settings(deadline=None, max_examples=40)
@given(manifests())
def test_other_manifests(manifest: tuple[str, str]) -> None:
    holds(*manifest)
