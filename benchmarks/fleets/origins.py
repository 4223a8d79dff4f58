"""An organisation of small broken projects, served over http beside a stand-in for GitHub."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fixer.command import NEW
from tests.fixer.fleet.organisation import SECRET, Organisation
from tests.fixer.forges import commit, served

SHAPES = Path(__file__).resolve().parents[2] / "tests" / "projects"
BAD = {
    "settings": {"train.py": NEW, "pyproject.toml": b"[tool.fixer]\nselectt = []\n"},
    "nothing": {"train.py": b"print(1)\n"},
    "broken": {"train.py": b"import pytorch_lightning as pl\ndef f(:\n"},
}


def made(folder: Path, many: int) -> Organisation:
    """An organisation of so many repositories, every tenth of which cannot be worked with."""
    shapes = sorted(place for place in SHAPES.iterdir() if place.is_dir())
    organisation, bad = Organisation(folder), list(BAD.items())
    for number in range(many):
        if number % 10 == 9:
            kind, files = bad[number // 10 % len(bad)]
            name = f"r{number:04}-{kind}"
        else:
            shape = shapes[number % len(shapes)]
            name = f"r{number:04}-{shape.name}"
            files = {
                path.relative_to(shape).as_posix(): path.read_bytes() for path in shape.rglob("*") if path.is_file()
            }
        origin = organisation.add(name, {**files, "notes.md": f"{number}\n".encode()})
        commit(origin, {"notes.md": f"{number}, again\n".encode()})
        for place in origin.parent.glob("workspace-*"):
            shutil.rmtree(place)
    return organisation


@contextmanager
def standing(template: Organisation, folder: Path) -> Iterator[Organisation]:
    """A fresh copy of the organisation, served over http."""
    shutil.copytree(template.folder, folder)
    copy = Organisation(folder)
    for path in template.apis:
        copy.register(path.partition("/")[2])
    header = f"Basic {base64.b64encode(f'x-access-token:{SECRET}'.encode()).decode()}"
    with served(folder, header, copy):
        yield copy


def variables(organisation: Organisation) -> dict[str, str]:
    """What says where the server is, and its token."""
    return {
        "GITHUB_SERVER_URL": organisation.address,
        "GITHUB_API_URL": f"{organisation.address}/api/v3",
        "GITHUB_TOKEN": SECRET,
    }
