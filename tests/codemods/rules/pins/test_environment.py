"""PIN001: what of an environment moves together, conda's and wheels for one CUDA."""

from __future__ import annotations

import pytest

from tests.codemods.rules.pins.support import moved, told

WHOLE = """\
name: ldm
channels:
  - pytorch
  - defaults
dependencies:
  - python=3.8.5
  - pip=20.3
  - cudatoolkit=11.0  # ours
  - pytorch=1.7.0
  - torchvision=0.8.1
  - numpy=1.19.2
  - ninja=1.10.2
  - pip:
    - pytorch-lightning==1.4.2
    - einops==0.3.0
"""
SOLVED = """\
name: ldm
channels:
  - pytorch
  - nvidia
  - defaults
dependencies:
  - python=3.10
  - pip
  - pytorch-cuda=11.8  # ours
  - pytorch=2.3.1
  - mkl<2024.1
  - torchvision=0.18.1
  - numpy=1.23.5
  - ninja=1.10.2
  - pip:
    - pytorch-lightning==2.6.6
    - einops==0.3.0
"""
PATH = "environment.yaml"


LINES = "channels:\n  - pytorch\n  - defaults\n"


@pytest.mark.parametrize("channel", ["pytorch", "'pytorch'", '"pytorch"'])
def test_channels_between_brackets_are_read_and_written(channel: str) -> None:
    text = WHOLE.replace(LINES, f"channels: [{channel}, defaults]  # ours\n")
    wanted = SOLVED.replace(
        LINES.replace("pytorch\n", "pytorch\n  - nvidia\n"), f"channels: [{channel}, nvidia, defaults]  # ours\n"
    )
    assert unsafely(text) == wanted
    (said,) = [each for *_, each in told({PATH: text.replace(f"[{channel},", "[menpo,")}) if "not rewritten" in each]
    assert "the channel pytorch is not named" in said


def unsafely(text: str, path: str = PATH) -> str:
    """The file after the rules with `--unsafe-fixes`, which a second run must leave alone."""
    return moved({path: text}, unsafe=True)[path]


def about(text: str, path: str = PATH, target: str = "2.6.6") -> list[tuple[str, str]]:
    """What is said of anything but Lightning itself: levels and texts."""
    found = told({path: text}, target=target)
    return [(fix, said) for _, _, fix, said in found if "does not allow Lightning" not in said]


def test_a_set_is_written_as_one() -> None:
    assert unsafely(WHOLE) == SOLVED
    ((fix, said),) = about(WHOLE)
    assert fix == "unsafe" and said.startswith("`python=3.8.5`, `pytorch=1.7.0`, `torchvision=0.8.1`, `numpy=1.19.2` ")
    assert "pytorch-cuda=11.8 in place of cudatoolkit=11.0, the channel nvidia" in said


def test_line_ends_and_prefixes_stay() -> None:
    text = WHOLE.replace("- pytorch=", "- pytorch::pytorch=").replace("\n", "\r\n")
    assert unsafely(text) == SOLVED.replace("- pytorch=", "- pytorch::pytorch=").replace("\n", "\r\n")


def test_without_unsafe_fixes_the_set_stays() -> None:
    after = moved({PATH: WHOLE})[PATH]
    assert after == WHOLE.replace("lightning==1.4.2", "lightning==2.6.6")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- cudatoolkit=11.0  # ours", "- cpuonly"),
        ("  - pip=20.3\n", ""),
        ("- numpy=1.19.2", "- numpy"),
        ("- torchvision=0.8.1", "- mkl=2021.4"),
    ],
)
def test_what_does_not_stand_there_is_not_added(before: str, after: str) -> None:
    found = unsafely(WHOLE.replace(before, after))
    assert after in found and "pytorch=2.3.1" in found
    assert ("nvidia" in found) == ("cpuonly" not in after)
    assert found.count("mkl") == 1


def test_a_python_with_bounds_gets_a_lower_one() -> None:
    assert "- python>=3.10,<4\n" in unsafely(WHOLE.replace("python=3.8.5", "python>3.6,<4"))


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("ninja=1.10.2", "scipy=1.5.2", "for that Python is there of scipy=1.5.2"),
        ("ninja=1.10.2", "cudnn=8.0", "for that Python is there of cudnn=8.0"),
        ("  - pytorch\n", "", "the channel pytorch is not named"),
        ("  - pytorch\n", "  - conda-forge\n", "the channel pytorch is not named"),
    ],
)
def test_one_conflict_with_its_way_out(before: str, after: str, why: str) -> None:
    text = WHOLE.replace(before, after, 1)
    assert unsafely(text) == text.replace("lightning==1.4.2", "lightning==2.6.6")
    ((fix, said),) = about(text)
    assert fix == "manual" and "these releases work together: python=3.10" in said and why in said


def test_where_the_python_stays_what_is_built_for_it_alone_is_there_still() -> None:
    """Found in a public project, where scikit-learn held up torch beside a Python that did not move."""
    kept = WHOLE.replace("python=3.8.5", "python=3.10").replace("ninja=1.10.2", "scikit-learn=1.2.*")
    found = unsafely(kept)
    assert "pytorch=2.3.1" in found and "scikit-learn=1.2.*" in found
    text = kept.replace("scikit-learn=1.2.*", "pytorch3d=0.7.1")
    assert unsafely(text) == text.replace("lightning==1.4.2", "lightning==2.6.6")
    assert "whether a build for that torch is there of pytorch3d=0.7.1" in about(text)[0][1]


@pytest.mark.parametrize(
    "text",
    [
        WHOLE.replace("1.7.0", "2.1.0").replace("0.8.1", "0.16.0").replace("1.19.2", "1.26.4").replace("3.8.5", "3.10"),
        WHOLE.replace("lightning==1.4.2", "lightning>=2.0,!=2.6.2,!=2.6.3")
        .replace("=1.7.0", "=1.13.1")
        .replace("0.8.1", "0.14.1"),
        WHOLE.replace("    - pytorch-lightning==1.4.2\n", ""),
    ],
)
def test_traps_stay(text: str) -> None:
    after = unsafely(text)
    assert after.replace("lightning==2.6.6", "lightning==1.4.2") == text


def test_an_environment_that_is_stuck_is_told_when_lightning_stands_already() -> None:
    text = WHOLE.replace("lightning==1.4.2", "lightning==2.6.6")
    assert unsafely(text) == SOLVED


CUDA = "--extra-index-url https://download.pytorch.org/whl/cu113\nlightning==1.8\ntorch==1.12.1+cu113  # ours\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            CUDA,
            "--extra-index-url https://download.pytorch.org/whl/cu118\nlightning==2.6.6\ntorch==2.3.1+cu118  # ours\n",
        ),
        (
            "-f https://download.pytorch.org/whl/torch_stable.html\nlightning==1.8\ntorch == 1.9.0+cpu\n"
            "torchvision==0.10\n",
            "-f https://download.pytorch.org/whl/torch_stable.html\n"
            "lightning==2.6.6\ntorch == 2.3.1+cpu\ntorchvision==0.18.1\n",
        ),
    ],
)
def test_wheels_for_one_cuda_move_with_their_index(before: str, after: str) -> None:
    assert unsafely(before, "requirements.txt") == after
    assert [fix for fix, _ in about(before, "requirements.txt")] == ["safe"]


@pytest.mark.parametrize("build", ["cu102", "cu110"])
def test_wheels_for_a_cuda_before_11_1_may_need_another_driver(build: str) -> None:
    text = CUDA.replace("cu113", build)
    ((fix, said),) = about(text, "requirements.txt")
    assert fix == "unsafe" and "cannot tell what the machine" in said


@pytest.mark.parametrize(
    "lines",
    [
        "torch==1.12.1+cu113\ntorchaudio==0.12.1+cu113\ntorchvision==0.13.1+cu113\n",
        "--extra-index-url https://download.pytorch.org/whl/cu113\ntorch==1.12.1+cu113\ntorchvision<0.14\n",
        "torch==1.12.1+cu113\n",
    ],
)
def test_wheels_without_a_plain_set_are_one_conflict(lines: str) -> None:
    text = f"lightning==1.8\n{lines}"
    assert unsafely(text, "requirements.txt") == text.replace("==1.8\n", "==2.6.6\n")
    ((fix, said),) = about(text, "requirements.txt")
    assert fix == "manual" and "torch==2.3.1+cu118" in said and "whl/cu118" in said


@pytest.mark.parametrize("kept", ["torch==2.1.0+cu118", "torch==2.3.1+cu121", "torch==2.2.0+cpu"])
def test_wheels_that_work_stay(kept: str) -> None:
    text = f"--extra-index-url https://download.pytorch.org/whl/cu113\nlightning==1.8\n{kept}\n"
    assert unsafely(text, "requirements.txt") == text.replace("==1.8\n", "==2.6.6\n")
