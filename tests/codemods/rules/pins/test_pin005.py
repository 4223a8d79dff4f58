"""PIN005: what names a Python that the new requirement on Lightning does not run on."""

from __future__ import annotations

from importlib.metadata import metadata

import pytest
from packaging.specifiers import SpecifierSet

from codemods.lightning.pins.compat import minor_of
from tests.codemods.rules.pins.support import CODE, moved, planned, told

OLD = {"requirements.txt": "pytorch-lightning==1.8.6\n"}
HEAD = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n"
WORKFLOW = ".github/workflows/test.yml"
CIRCLE = ".circleci/config.yml"
NOX = "import nox\n\nP = {}\n\n\n@nox.session(python=P)\ndef test(session):\n    pass\n"


def after(path: str, text: str) -> str:
    """The file after the rules, in a project that moves to 2.6.6; a second run must leave it alone."""
    return moved({**OLD, path: text})[path]


def left(path: str, text: str) -> list[str]:
    """What is said of a file that must stay as it is, and left to a person."""
    assert after(path, text) == text
    return [said for where, _, fix, said in told({**OLD, path: text}) if where == path and fix == "manual"]


def test_the_table_says_what_the_release_asks_for() -> None:
    asked = SpecifierSet(metadata("lightning")["Requires-Python"])
    floor = minor_of("2.6.6").python
    assert asked.contains(f"{floor}.0") and not asked.contains("3.9.20")


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("[3.7, 3.8]", '["3.10"]'),
        ("['3.7', '3.8']", "['3.10']"),
        ("[3.7, '3.10', 3.8]", "['3.10']"),
        ('["3.9", "3.10", "3.11"]', '["3.10", "3.11"]'),
        ("[3.8, 3.x]", '["3.10", 3.x]'),
        ('\n          - 3.7\n          - "3.8"  # old\n          - "3.11"', '\n          - "3.11"'),
        ("\n          - 3.7\n          - 3.8", '\n          - "3.10"'),
        ('["3.10", "3.12"]', '["3.10", "3.12"]'),
    ],
)
def test_a_matrix(before: str, wanted: str) -> None:
    rest = "\n    steps:\n    - run: pytest\n"
    text = f"{HEAD}    strategy:\n      matrix:\n        python-version: {{}}{rest}"
    assert after(WORKFLOW, text.format(before)) == text.format(wanted)


EACH = "name Python 3.10 or later, here and in each other place that names python3.7"


@pytest.mark.parametrize(
    ("path", "before", "wanted"),
    [
        (WORKFLOW, f"{HEAD}    steps:\n    - with:\n        python-version: 3.8\n", '"3.10"'),
        (WORKFLOW, f"{HEAD}    steps:\n    - with: {{python-version: '3.8.12'}}\n", "'3.10'"),
        (WORKFLOW, f"{HEAD}    container: python:3.8-slim\n", "python:3.10-slim"),
        (WORKFLOW, f"{HEAD}    steps:\n    - run: conda create -n x python=3.8 pip\n", "python=3.10"),
        (".gitlab-ci.yml", "image: python:3.7.9-slim-buster\n", "python:3.10-slim-buster"),
        (".gitlab-ci.yml", 'test:\n  image:\n    name: "python:3.8"\n', "python:3.10"),
        (CIRCLE, "jobs:\n  build:\n    docker:\n      - image: cimg/python:3.8\n", "cimg/python:3.10"),
        ("azure-pipelines.yml", "steps:\n- inputs:\n    versionSpec: '3.8'\n", "'3.10'"),
        (".travis.yml", "language: python\npython: 3.6\n", '"3.10"'),
        (".travis.yml", 'python:\n  - "3.6"\n  - "3.7"\n', '"3.10"'),
        ("docker-compose.yml", "services:\n  train:\n    image: python:3.8\n", "python:3.10"),
        ("Dockerfile", "FROM --platform=linux/amd64 python:3.8-slim AS base\n", "python:3.10-slim"),
        ("Dockerfile", "ARG PY=3.8\nFROM python:${PY}-slim\n", "PY=3.10"),
        ("Dockerfile", "FROM ubuntu:22.04\nRUN conda create -y -n x python=3.8\n", "python=3.10"),
        ("install.sh", "conda create --name x python==3.8.5 && pip install .\n", "python==3.10 "),
        ("install.sh", "uv venv --python 3.8\n", "--python 3.10"),
        ("README.md", "Tested on Python 3:\n\n    python3.8 -m venv env\n", "python3.10 -m venv"),
        ("Dockerfile", "FROM python:3.8\nRUN python3.8 -m venv /env\n", "FROM python:3.10\nRUN python3.10 -m venv"),
        ("README.md", "# It\n\n```\nconda create -n it python=3.8\n```\n", "python=3.10"),
        (".readthedocs.yml", "version: 2\npython:\n  version: 3.8\n", 'version: "3.10"'),
        (".python-version", "3.8.10\n", "3.10\n"),
        ("runtime.txt", "python-3.7.3\n", "python-3.10\n"),
        ("tox.ini", "[tox]\nenvlist = py37, py38\n", "envlist = py310\n"),
        ("tox.ini", "[tox]\nenvlist =\n    py37\n    py38\n    lint\n", "envlist =\n    py310\n    lint\n"),
        ("tox.ini", "[gh-actions]\npython =\n    3.7: py37\n    3.10: py310\n", "python =\n    3.10: py310\n"),
        ("noxfile.py", NOX.format("['3.7', '3.8']"), "P = ['3.10']"),
        ("noxfile.py", NOX.format('["3.8", "3.11"]'), 'P = ["3.11"]'),
        ("noxfile.py", NOX.format('"3.8"'), 'P = "3.10"'),
        ("environment.yml", "dependencies:\n  - python=3.8\n  - pip\n  - pip:\n    - tqdm==4.0\n", "python=3.10\n"),
    ],
)
def test_what_is_plain(path: str, before: str, wanted: str) -> None:
    found = after(path, before)
    assert wanted in found and not any(old in found for old in ("3.6", "3.7", "3.8"))
    assert len(found.splitlines()) <= len(before.splitlines())


def test_classifiers_go_and_stop_nothing() -> None:
    line = '        "Programming Language :: Python :: {}",\n'
    head, foot = "from setuptools import setup\n\nsetup(\n    classifiers=[\n", "    ],\n)\n"
    text = head + line.format("3") + line.format("3.7") + line.format("3.8") + line.format("3.11") + foot
    assert after("setup.py", text) == head + line.format("3") + line.format("3.11") + foot
    (found,) = (item for item in planned({**OLD, "setup.py": text}).findings if item.path == "setup.py")
    assert not found.stops


@pytest.mark.parametrize(
    ("path", "text", "advice"),
    [
        ("Dockerfile", "FROM pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime\n", "`pytorch/pytorch:2."),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:21.03-py3\n", "24.01-py3"),
        ("Dockerfile", "FROM continuumio/miniconda3:4.8.2\nRUN pip install .\n", "2023"),
        ("Dockerfile", "FROM nvidia/cuda:11.1.1-base-ubuntu18.04\nRUN apt-get install -y python3-pip\n", "ubuntu22.04"),
        ("Dockerfile", "FROM python:3.7-stretch\n", "Python 3.10"),
        ("Dockerfile", "FROM python:3.8-alpine\n", "Python 3.10"),
        ("Dockerfile", "FROM own\nRUN apt install python3.7-venv\nRUN python3.7 -m venv /env\n", EACH),
        ("Dockerfile", "FROM ubuntu\nRUN python3.7 get-pip.py && python3.7 -m venv /env\n", EACH),
        ("Dockerfile", "FROM python:3.7\nCOPY --from=made /usr/lib/python3.7/site-packages /x\n", EACH),
        ("README.md", "python3.7 -m venv env\npython3.7 -m pip install -e .\n", EACH),
        ("tox.ini", "[tox]\nenvlist = py{37,38}-torch\n", "py310"),
        ("environment.yml", "dependencies:\n  - python=3.8\n  - cudatoolkit=10.2\n", "python=3.10"),
        ("install.sh", "conda create -n x python=3.8 cudatoolkit=10.2\n", "3.10"),
        (WORKFLOW, f"{HEAD}    strategy:\n      matrix:\n        include:\n        - python-version: 3.7\n", "3.10"),
    ],
)
def test_what_is_left_to_a_person(path: str, text: str, advice: str) -> None:
    (said,) = left(path, text)
    assert advice in said
    (found,) = (item for item in planned({**OLD, path: text}).findings if item.path == path)
    assert found.stops


def test_a_job_that_compares_with_one_that_is_gone_is_named() -> None:
    matrix = f"{HEAD}    strategy:\n      matrix:\n        python-version: [3.8, '3.11']\n"
    text = f"{matrix}    steps:\n    - if: matrix.python-version == 3.8\n      run: upload\n"
    assert after(WORKFLOW, text) == text.replace("[3.8, '3.11']", "['3.11']")
    said = [(line, fix) for path, line, fix, _ in told({**OLD, WORKFLOW: text}) if path == WORKFLOW]
    assert said == [(7, "safe"), (9, "manual")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (WORKFLOW, f"{HEAD}    steps:\n    - name: on Python 3.8\n      run: echo 3.8\n"),
        (WORKFLOW, f"{HEAD}    strategy:\n      matrix:\n        exclude:\n        - python-version: 3.7\n"),
        (WORKFLOW, f"{HEAD}    strategy:\n      matrix:\n        torch: [1.8, 3.8]\n"),
        (WORKFLOW, "a: [\n# 3.8\n"),
        ("conf/model.yaml", "python: 3.8\nimage: python:3.8\n"),
        ("Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n"),
        ("Dockerfile", "FROM pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime\n"),
        ("Dockerfile", "FROM continuumio/miniconda3:4.8.2\nRUN conda env create -f environment.yml\n"),
        ("Dockerfile", "FROM ubuntu:20.04\nRUN add-apt-repository ppa:deadsnakes/ppa && apt install python3-pip\n"),
        ("Dockerfile", "FROM python:3.11-slim\nENV RELEASE=3.8\n"),
        ("Dockerfile", "FROM python:${PYTHON}-slim\n"),
        ("tox.ini", "[tox]\nenvlist = py310, lint\n[testenv]\ndeps = foo==3.8\n"),
        ("pyproject.toml", '[tool.mypy]\npython_version = "3.8"\n[tool.ruff]\ntarget-version = "py38"\n'),
        ("install.sh", "export PATH=/usr/lib/python3.8/bin:$PATH\n"),
        ("README.md", "Written for Python 3.8.\n"),
    ],
)
def test_traps(path: str, text: str) -> None:
    assert left(path, text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".travis.yml", "python: 3.6\n"),
        (WORKFLOW, f"{HEAD}    container: python:3.8-slim\n"),
        (CIRCLE, "jobs:\n  build:\n    docker:\n      - image: cimg/python:3.8\n"),
    ],
)
def test_pipelines_that_came_with_code_of_another_project_are_read_by_nobody(path: str, text: str) -> None:
    assert "3.10" in after(path, text)
    assert after(f"lib/theirs/{path}", text) == text
    assert not [where for where, *_ in told({**OLD, f"lib/theirs/{path}": text}) if where.startswith("lib")]
    assert "3.10" in after("train/.gitlab-ci.yml", "image: python:3.8\n")


@pytest.mark.parametrize(
    ("pin", "wanted"),
    [
        ("pytorch-lightning>=1.5", "3.8"),
        ("pytorch-lightning==1.8.6  # fixer: ignore", "3.7"),
        ("pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git", "3.7"),
        ("torch", "3.7"),
    ],
)
def test_no_older_than_the_requirement_says(pin: str, wanted: str) -> None:
    files = {"requirements.txt": f"{pin}\n", ".gitlab-ci.yml": "image: python:3.7\n"}
    assert moved(files)[".gitlab-ci.yml"] == f"image: python:{wanted}\n"


def test_a_project_that_has_moved_already() -> None:
    files = {"requirements.txt": "lightning==2.6.6\n", ".gitlab-ci.yml": "image: python:3.8\n"}
    new = 'from lightning.pytorch import Trainer\n\nTrainer(devices=1, accelerator="gpu")\n'
    assert moved(files, new)[".gitlab-ci.yml"] == "image: python:3.10\n"


STEPS = f"{HEAD}    steps:\n    - uses: actions/setup-python@v5\n      with:\n        python-version: 3.8\n"


@pytest.mark.parametrize(
    "run",
    [
        "pip install black==22.3.0 flake8\n        python -m black --check . && flake8 .",
        "python -m pip install --upgrade pip build twine\n        python -m build\n        twine check dist/*",
        "git pull; ruff check .  # only this",
    ],
)
def test_a_job_that_runs_tools_alone_keeps_its_python(run: str) -> None:
    assert left(WORKFLOW, f"{STEPS}    - run: |\n        {run}\n") == []


@pytest.mark.parametrize(
    "run",
    [
        "pip install -r requirements.txt\n        black .",
        "pip install . && flake8 .",
        "pip install black\n        make lint",
        "pip install flake8 pytest\n        flake8 .",
        "pip install black 'unclosed",
        "echo no tool",
    ],
)
def test_a_job_that_may_need_the_project_does_not(run: str) -> None:
    text = f"{STEPS}    - run: |\n        {run}\n"
    assert after(WORKFLOW, text) == text.replace("3.8", '"3.10"')


SETUP = "from setuptools import setup\n\nsetup(name='a', install_requires={})\n"


@pytest.mark.parametrize(
    ("run", "setup", "kept"),
    [
        ("python -m pip install --upgrade pip\n        pip install pytest -e .\n        pytest -v", "['numpy']", True),
        ("pip install -r docs.txt\n        python -m pip list", "['numpy']", True),
        ("pip install .[dev] pytest>=7\n        python -m pytest", "['numpy']", True),
        ("pip install -e .\n        pytest", "open('requirements.txt').read().split()", False),
        ("pip install -e .\n        pytest", "read(f'{requirements}.txt')", False),
        ("pip install -r docs.txt -r ./requirements.txt\n        pytest", "['numpy']", False),
        ("pip install -e .\n        pip install -r requirements.txt", "['numpy']", False),
        ("pip install -e .\n        make test", "['numpy']", False),
        ("pip install -e .\n        pip install $MORE", "['numpy']", False),
        ("pip install -e .\n        pip install -c a.txt -U ../b", "['numpy']", False),
        ("pytest", "['numpy']", False),
    ],
)
def test_a_job_that_installs_another_part_of_the_project_keeps_its_python(run: str, setup: str, kept: bool) -> None:
    text = f"{STEPS}    - run: |\n        {run}\n"
    files = {WORKFLOW: text, "requirements.txt": "pytorch-lightning==1.8.6\n", "docs.txt": "sphinx\n"}
    made = moved({**files, "setup.py": SETUP.format(setup)})
    assert made[WORKFLOW] == (text if kept else text.replace("3.8", '"3.10"'))
    assert made["requirements.txt"] == "pytorch-lightning==2.6.6\n"


def test_a_job_with_an_action_that_is_not_known_does_not() -> None:
    text = f"{STEPS}    - uses: me/install@v1\n    - run: black .\n"
    assert after(WORKFLOW, text) == text.replace("3.8", '"3.10"')


def test_a_matrix_with_an_old_torch_is_raised_as_a_whole() -> None:
    matrix = (
        f"{HEAD}    strategy:\n      matrix:\n        python: ['3.8']\n        {{}}\n    steps:\n    - run: pytest\n"
    )
    (said,) = left(WORKFLOW, matrix.format("pytorch-version: ['1.8.0', nightly]"))
    assert "in place of 1.8.0" in said
    new = matrix.format("torch: ['2.1.0', '2.3.1']")
    assert after(WORKFLOW, new) == new.replace("['3.8']", "['3.10']")


@pytest.mark.parametrize("install", ['pip install -e ".[dev]"', "pip install .[dev,test]", "uv sync --extra dev"])
def test_an_extra_that_a_pipeline_installs_counts(install: str) -> None:
    setup = '[project]\nname = "a"\ndependencies = ["pytorch-lightning>=1.5"]\n[project.optional-dependencies]\n'
    text = f"{STEPS}    - run: {install}\n"
    files = {"pyproject.toml": f'{setup}dev = ["pytorch-lightning==1.8.6"]\n', WORKFLOW: text}
    assert moved(files)[WORKFLOW] == text.replace("3.8", '"3.10"')
    other = text.replace("dev", "docs")
    assert moved({**files, WORKFLOW: other})[WORKFLOW] == other


def test_an_image_is_named_with_what_it_has() -> None:
    text = "FROM nvcr.io/nvidia/pytorch:21.03-py3\n"
    (said,) = left("Dockerfile", text)
    assert said.startswith("`nvcr.io/nvidia/pytorch:21.03-py3` has no Python newer than 3.9, and ")


def test_what_an_example_asks_for_says_nothing_of_the_project_around_it() -> None:
    files = {"setup.py": "from setuptools import setup\n\nsetup(install_requires=['torch'])\n", "pkg/__init__.py": ""}
    example = {"examples/a/requirements.txt": "pytorch-lightning==1.8.6\n", "examples/a/train.py": CODE}
    text = f"{STEPS}    - run: pip install -e .\n"
    assert moved({**files, **example, WORKFLOW: text}, "")[WORKFLOW] == text
    named = text.replace("-e .", "-r examples/a/requirements.txt")
    assert moved({**files, **example, WORKFLOW: named}, "")[WORKFLOW] == named.replace("3.8", '"3.10"')
    settings = {"pyproject.toml": "[tool.black]\nline-length = 88\n"}
    assert moved({**settings, **example, WORKFLOW: text}, "")[WORKFLOW] == text.replace("3.8", '"3.10"')


@pytest.mark.parametrize("steps", ["- - black .", "- black .", "- run: {a: 1}"])
def test_jobs_and_steps_of_other_shapes(steps: str) -> None:
    text = "jobs:\n- job: a\n  python-version: 3.8\n  {0}\n- [b]\n"
    listed = text.format("pool: {matrix: [{python: 3.8}]}")
    assert after("azure-pipelines.yml", listed).count('"3.10"') == 1
    odd = f"jobs:\n  a:\n    python-version: 3.8\n    steps:\n    {steps}\n  b: [[1], c]\n"
    assert after(WORKFLOW, odd) == odd.replace("3.8", '"3.10"')


def test_a_requirement_of_conda_leads_to_its_python_where_unsafe_repairs_raise_it() -> None:
    listed = "dependencies:\n  - python=3.9\n  - torch=2.4\n  - pytorch-lightning={}\n"
    made = "```\nconda create -n it python=3.9 -c conda-forge\n```\n"
    files = {"environment.yml": listed.format("1.6.2"), "README.md": made}
    assert moved(files, unsafe=True)["README.md"] == made.replace("3.9", "3.10")
    assert moved(files) == files
