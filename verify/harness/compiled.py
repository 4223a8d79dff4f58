"""Compiles the Cython modules of a project when they are imported: its own build would have put them there, by settings
of its `setup.py` that are not known here.

Runs in the target's interpreter, beside the harness, where the project is shut in. The project's `setup.py` is not
executed. Both trees get the same; what is compiled lies outside of the tree.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_SAID = 300


class Compiler(importlib.abc.MetaPathFinder):
    """Finds, behind all other finders, modules of which a project has the Cython source. `used` gets the paths of the
    sources that were compiled, or were to be, and `scratch` is where that is done."""

    def __init__(self, root: Path, scratch: Path, used: dict[str, None]) -> None:
        self.root, self.scratch, self.used = root, scratch / "compiled", used
        self.failed: dict[str, str] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The compiled module of a `.pyx` file by its name, or the folder that a build would put it into."""
        last = name.rpartition(".")[2]
        for folder in map(Path, sys.path if path is None else path):
            if not folder.absolute().is_relative_to(self.root):
                continue
            if (source := folder / f"{last}.pyx").is_file():
                if (built := self._built(name, source)) is None:
                    return None
                loader = ExtensionFileLoader(name, str(built))
                return importlib.util.spec_from_file_location(name, built, loader=loader)
            if path is not None and folder.name == last and any(folder.glob("*.pyx")):
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(folder)]
                return spec
        return None

    def _built(self, name: str, source: Path) -> Path | None:
        """The module that Cython and a C compiler make; None without Cython. Raises ImportError where they fail."""
        if importlib.util.find_spec("Cython") is None:
            return None
        told = source.absolute().relative_to(self.root).as_posix()
        if told in self.failed:
            raise ImportError(self.failed[told], name=name)
        folder = self.scratch / name
        command = [sys.executable, "-I", __file__, name, str(source.absolute()), str(folder)]
        done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
        built = [path for end in EXTENSION_SUFFIXES for path in folder.glob(f"lib/**/*{end}")]
        if done.returncode or not built:
            lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            self.used[f"{told} (which failed)"] = None
            self.failed[told] = f"{told} could not be compiled here: {' '.join(lines[-2:])[:_SAID]}"
            raise ImportError(self.failed[told], name=name)
        self.used[told] = None
        return built[0]


def compile_one(name: str, source: str, folder: str) -> None:
    """Compile a Cython file to the module of a name, somewhere below a folder."""
    build: Any = importlib.import_module("Cython.Build")
    tools: Any = importlib.import_module("setuptools")
    headers = [str(Path(source).parent)]
    if importlib.util.find_spec("numpy"):
        numpy: Any = importlib.import_module("numpy")
        headers.append(numpy.get_include())
    quick = [] if sys.platform == "win32" else ["-O1"]
    asked = tools.Extension(name, [source], include_dirs=headers, extra_compile_args=quick)
    made = build.cythonize([asked], build_dir=f"{folder}/c", quiet=True)
    command = tools.Distribution({"name": name, "ext_modules": made}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = f"{folder}/lib", f"{folder}/c"
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    compile_one(*sys.argv[1:])
