"""What is read of the files in which a project says what it needs, whatever is written in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.environments.manifests import manifests_in


def pins_in(root: Path) -> tuple[str, ...]:
    return tuple(pin.text for pin in manifests_in(root).pins)


@pytest.mark.parametrize(
    "text",
    [
        'project = "x"', "project = [1]", "[project]\ndependencies = 3", '[project]\ndependencies = "timm"',
        "[project]\noptional-dependencies = 3", "[project.optional-dependencies]\nall = 3", "tool = 1",
        "[tool]\npoetry = 1", "[tool.poetry]\ndependencies = true", "[project]\ndependencies = [1, [2], {a = 3}]",
        "= broken", "\x00",
    ],
)  # fmt: skip
def test_a_pyproject_that_holds_something_else_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "requirements.txt").write_text("numpy\n")
    assert pins_in(tmp_path) == ("numpy",)
    assert manifests_in(tmp_path).addresses == ()


def test_requirement_files_are_read_and_what_is_no_requirement_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r other.txt\nnumpy==1.26.4  # why\n\ntorch>=1\n")
    assert pins_in(tmp_path) == ("numpy==1.26.4", "torch>=1")


def test_manifests_of_all_kinds_are_read(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("needed = ['timm==0.5', f'x']\nsetup(install_requires=needed)\nraise OSError\n")
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    einops>=0.3\n    lmdb\n")
    (tmp_path / "pyproject.toml").write_text(
        "[project]\ndependencies = ['rich<15']\noptional-dependencies = {dev = ['pytest']}\n"
        "[tool.poetry.dependencies]\nclick = '^8'\n"
    )
    (tmp_path / "environment.yaml").write_text(
        "dependencies:\n  - numpy=1.19.2\n  - pip:\n    - 'tqdm==4.1'\n    - hydra-colorlog --pre\n"
        "    - -e git+https://host/a/taming-transformers.git@master#egg=taming\n  - pip=20\nprefix: x\n"
    )
    (tmp_path / "requirements.txt").write_text("git+https://host/openai/CLIP.git\nhydra-core  # why\n")
    assert pins_in(tmp_path) == (
        "hydra-core", "rich<15", "pytest", "click<9,>=8", "einops>=0.3", "lmdb", "timm==0.5", "tqdm==4.1",
        "hydra-colorlog",
    )  # fmt: skip
    assert [address.url for address in manifests_in(tmp_path).addresses] == [
        "git+https://host/openai/CLIP.git", "git+https://host/a/taming-transformers.git@master",
    ]  # fmt: skip
