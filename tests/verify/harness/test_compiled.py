"""Cython modules of a project are compiled where they are imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm
from verify.harness import HARNESS
from verify.judging.record import besides, read
from verify.reading.sources import Sources

CYTHON = """
def cythonize(extensions, build_dir, quiet):
    for one in extensions:
        text = open(one.sources[0]).read()
        if "syntax error" in text:
            raise ValueError("Error compiling Cython file")
        one.sources = [one.sources[0][:-3] + "txt.c"]
        open(one.sources[0], "w").write(C % ((one.name.rpartition(".")[2],) * 2))
    return extensions


C = '''
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *value) { return PyNumber_Add(value, value); }
static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {NULL}};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "%s", "", -1, methods};
PyMODINIT_FUNC PyInit_%s(void) { return PyModule_Create(&def); }
'''
"""
"""Stands in for Cython, which these tests do without: whatever the source, the module can double numbers."""
TRAINED = """
import lightning as L
import torch
from pkg.fast import twice
from pkg.align import longer


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, longer(1))

    def training_step(self, batch, batch_idx):
        return twice(self.net(batch).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.Trainer(max_epochs=1).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 2), batch_size=4))
"""


def _project(root: Path) -> Path:
    """A project whose build puts one module beside its source, and another into a folder of its package's name."""
    align = root / "pkg" / "align"
    align.mkdir(parents=True)
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "fast.pyx").write_text(
        "from libc.math cimport sqrt\nimport scipy, pkg.align\nfrom torch import nn\n"
    )
    (align / "__init__.py").write_text("from .align.core import twice as longer\n")
    (align / "core.pyx").write_text("cimport cython\n")
    (root / "train.py").write_text(TRAINED)
    return root


def _run(root: Path, folder: Path, cython: str | None) -> Path:
    """Run the script with the harness, in an interpreter that has this for Cython."""
    record = folder / "record.jsonl"
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "record": str(record), "scratch": str(folder),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1,
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    if cython is not None:
        (folder / "site" / "Cython" / "Build").mkdir(parents=True)
        (folder / "site" / "Cython" / "__init__.py").write_text("")
        (folder / "site" / "Cython" / "Build" / "__init__.py").write_text(cython)
    code = (
        "import runpy, subprocess, sys\n"
        "place, sys.argv = sys.argv[1], sys.argv[2:]\n"
        "sys.path[:1] = [sys.argv[0].rpartition('/')[0]]\n"
        "sys.path.append(place)\n"
        "real = subprocess.run\n"
        "def run(command, **more):\n"
        "    inner = f'import runpy, sys; sys.path.append({place!r}); sys.argv = sys.argv[1:]; '\n"
        "    inner += 'runpy.run_path(sys.argv[0], run_name=\"__main__\")'\n"
        "    return real([*command[:2], '-c', inner, *command[2:]], **more)\n"
        "subprocess.run = run\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    (folder / "start.py").write_text(code)
    warm.program(folder / "start.py", str(folder / "site"), str(HARNESS), str(folder / "spec.json"), folder=root)
    return record


def test_a_module_is_compiled_where_it_is_imported_and_in_the_folder_that_its_build_would_make(tmp_path: Path) -> None:
    root = _project(tmp_path / "tree")
    raw = read(_run(root, tmp_path, CYTHON), "train.py")
    assert raw.recording.failure is None and raw.recording.fitted
    assert raw.compiled == ("pkg/fast.pyx", "pkg/align/core.pyx")
    assert besides(None, raw) == (
        "a build of Cython modules, without the settings of setup.py: pkg/fast.pyx, pkg/align/core.pyx",
    )


@pytest.mark.parametrize(
    ("cython", "source", "said", "told"),
    [
        (None, "", "No module named 'pkg.fast'", ()),
        (CYTHON, "syntax error", "pkg/fast.pyx could not be compiled here: ", ("pkg/fast.pyx (which failed)",)),
    ],
)
def test_what_is_not_compiled_fails_as_an_import_does(
    tmp_path: Path, cython: str | None, source: str, said: str, told: tuple[str, ...]
) -> None:
    root = _project(tmp_path / "tree")
    (root / "pkg" / "fast.pyx").write_text(source)
    raw = read(_run(root, tmp_path, cython), "train.py")
    assert raw.recording.failure is not None and said in raw.recording.failure.message
    assert raw.compiled == told


def test_what_fails_to_compile_is_told_and_not_tried_again(tmp_path: Path) -> None:
    root = _project(tmp_path / "tree")
    (root / "pkg" / "fast.pyx").write_text("syntax error")
    again = (
        "try:\n    from pkg.fast import twice\nexcept ImportError as error:\n    twice, said = lambda x: x + x, error\n"
    )
    train = TRAINED.replace("from pkg.fast import twice\n", f"{again}first = said\n{again}")
    (root / "train.py").write_text(f"{train}assert str(first) == str(said) and first is not said\n")
    counting = CYTHON.replace(
        '        if "syntax', '        open(one.sources[0] + ".tries", "a").write("x")\n        if "syntax'
    )
    raw = read(_run(root, tmp_path, counting), "train.py")
    assert raw.recording.failure is None and raw.recording.fitted
    assert raw.compiled == ("pkg/fast.pyx (which failed)", "pkg/align/core.pyx")
    assert (root / "pkg" / "fast.pyx.tries").read_text() == "x"


def test_what_cython_files_need_is_known_where_they_are_imported(tmp_path: Path) -> None:
    sources = Sources(_project(tmp_path))
    assert sources.compiled(["train.py"]) == {"Cython", "scipy", "torch"}
    assert sources.compiled(["pkg/align/__init__.py"]) == {"Cython"}
    assert sources.compiled(["pkg/__init__.py"]) == frozenset()


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ('"""Fast.\n\nimport data from disk\nfrom the import of it\n"""\n# import more\nimport scipy\n', {"scipy"}),
        ("def f():\n    '''\n    import words\n    '''\n    quoted = '\"\"\"'\n    import scipy\n", {"scipy"}),
        ("import numpy as np, scipy.linalg, \\\n    torch  # for speed\n", {"numpy", "scipy", "torch"}),
        ("import numpy as np; import scipy\n", {"numpy", "scipy"}),
        ("cimport numpy as np\nfrom scipy.linalg.cython_blas cimport (\n    dgemm\n)\n", {"numpy", "scipy"}),
        ("cimport cython, openmp\nfrom libcpp.vector cimport vector\nfrom cpython cimport array\n", set()),
        ("from stdlib cimport malloc\ncimport python_dict\nfrom posix.time cimport timespec\n", set()),
        ("cimport shared, fast\nfrom pkg.fast cimport twice\nfrom . cimport other\n", set()),
        ("import data from disk\nimport the whole of it\nfrom all import \n", set()),
    ],
)
def test_what_a_cython_file_needs_is_what_it_imports_and_not_what_it_says(
    tmp_path: Path, text: str, needed: set[str]
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "fast.pyx").write_text(text)
    (tmp_path / "pkg" / "shared.pxd").write_text("")
    installed = tmp_path / "venv" / "scipy"
    installed.mkdir(parents=True)
    (installed / "linalg.pxd").write_text("")
    (tmp_path / "train.py").write_text("from pkg import fast\n")
    assert Sources(tmp_path).compiled(["train.py"]) == {"Cython", *needed}
