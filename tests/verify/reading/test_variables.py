"""Which environment variables a project is lent, and what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.reading.sources import Sources
from verify.reading.variables import lent

FOLDER = Path("/lent")


def values(folder: Path, **files: str) -> dict[str, str]:
    return dict(lent(Sources(tree(folder / "project", **files)), FOLDER, Path("/here")))


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("os.environ['IMAGE_PATH']", "/lent/IMAGE_PATH"),
        ("os.environ['DATA_ROOT']", "/lent/DATA_ROOT"),
        ("os.path.join(os.environ['WHERE'], 'x')", "/lent/WHERE"),
        ("Path(os.environ['WHERE']) / 'x'", "/lent/WHERE"),
        ("os.environ['PROJECT_ROOT']", "/here"),
        ("Path(os.environ['CODE_DIR']) / 'data'", "/here"),
        ("Path(os.getenv('WHERE')) / 'x'", "/lent/WHERE"),
        ("os.environ.get('WHERE') + '/x'", "/lent/WHERE"),
        ("int(os.getenv('WHERE'))", "1"),
        ("int(os.environ['WHERE'])", "1"),
        ("os.environ['NUM_WORKERS']", "1"),
        ("environ['SERVICE_PORT']", "29500"),
        ("os.environ['TRACKING_URI']", "http://localhost"),
        ("os.environ['WANDB_API_KEY']", "fixer"),
        ("os.environ['SLURM_JOB_ID']", "1"),
        ("Rows(os.environ['TRAIN_CSV'])", "/lent/TRAIN_CSV/train_csv.csv"),
        ("open(os.environ['LABELS'])", "/lent/LABELS/labels.txt"),
        ("json.load(open(os.environ['LABELS_JSON']))", "/lent/LABELS_JSON/labels_json.json"),
        ("pandas.read_csv(os.environ['DATA_PATH'], sep=';')", "/lent/DATA_PATH/data_path.csv"),
        ("Path(os.environ['WHERE']).read_text()", "/lent/WHERE/where.txt"),
        ("os.environ['DATA_PATH']\nwith open(x) as file:\n    pass", "/lent/DATA_PATH/data_path.txt"),
        ("os.environ['DATA_PATH']\nwith open(os.path.join(x, 'a.txt')) as file:\n    pass", "/lent/DATA_PATH"),
        ("os.environ['DATA_PATH']\nopen(x)\ny = os.listdir(x)", "/lent/DATA_PATH"),
        ("os.environ['DATA_PATH']\nx = x\ny = open(x / 'a.txt')", "/lent/DATA_PATH"),
    ],
)
def test_what_it_holds_is_told_by_its_use_or_its_name(code: str, value: str, tmp_path: Path) -> None:
    assert list(values(tmp_path, train=f"x = {code}\n").values()) == [value]


@pytest.mark.parametrize(
    "code",
    [
        "x = os.environ.get('A_PATH')",
        "x = os.getenv('A_PATH')",
        "os.environ['A_PATH'] = 'x'",
        "os.environ['A_PATH'] = 'x'\ny = os.environ['A_PATH']",
        "os.environ.setdefault('A_PATH', 'x')\ny = os.environ['A_PATH']",
        "os.environ.update({'A_PATH': 'x'})\ny = os.environ['A_PATH']",
        "os.environ.update(A_PATH='x')\ny = os.environ['A_PATH']",
        "if 'A_PATH' in os.environ:\n    y = os.environ['A_PATH']",
        "try:\n    y = os.environ['A_PATH']\nexcept KeyError:\n    y = None",
        "try:\n    y = os.environ['A_PATH']\nexcept (ValueError, LookupError):\n    y = None",
        "try:\n    y = os.environ['A_PATH']\nexcept:\n    y = None",
        "if os.environ.get('A_PATH'):\n    y = os.environ['A_PATH']",
        "x = config['A_PATH']",
        "x = os.environ[name]",
        "del os.environ['A_PATH']",
    ],
)
def test_what_the_code_sets_or_does_without_is_not_lent(code: str, tmp_path: Path) -> None:
    assert values(tmp_path, train=code + "\n") == {}


GETTER = """import os
def get_env(name, default=None):
    if name not in os.environ:
        if default is None:
            raise KeyError(name)
        return default
    return os.environ[name]
"""


def test_what_a_function_of_the_project_reads_is_lent(tmp_path: Path) -> None:
    uses = "from utils import get_env\nx = get_env('PROJECT_ROOT'), get_env('LOG_DIR', 'logs'), get_env(name)\n"
    assert values(tmp_path / "a", utils=GETTER, train=uses) == {"PROJECT_ROOT": "/here"}
    plain = "def get_env(name):\n    {}return os.environ[name]\nx = get_env('A_PATH')\n"
    assert values(tmp_path / "b", train=plain.format("")) == {"A_PATH": "/lent/A_PATH"}
    assert values(tmp_path / "c", train=plain.format("if name in os.environ: ")) == {}


def test_what_configurations_cannot_be_resolved_without_is_lent(tmp_path: Path) -> None:
    root = tree(tmp_path / "project", train="import os\n")
    asked = "a: [{b: '${oc.env:DATA_DIR}/x'}, '${env:SEED}']\nc: ${oc.env:LOGS,none}\n"
    (root / "config.yaml").write_text(f"{asked}d: ${{oc.env:RANK}}\ne: ${{oc.env:TOKEN}}\n")
    (root / ".env").write_text("# of here\nexport TOKEN=1\n")
    assert dict(lent(Sources(root), FOLDER, Path("/here"))) == {"DATA_DIR": "/lent/DATA_DIR", "SEED": "1"}


def test_what_another_file_sets_is_not_lent(tmp_path: Path) -> None:
    files = {"train": "x = os.environ['A_PATH'], os.environ['B_PATH']\n", "settings": "os.environ['A_PATH'] = 'x'\n"}
    assert list(values(tmp_path, **files)) == ["B_PATH"]


@pytest.mark.parametrize(
    "name",
    ["RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "MASTER_PORT", "SLURM_NTASKS", "CUDA_VISIBLE_DEVICES", "HOME"],
)
def test_what_launchers_set_is_never_made_up(name: str, tmp_path: Path) -> None:
    assert values(tmp_path, train=f"x = os.environ['{name}']\n") == {}
