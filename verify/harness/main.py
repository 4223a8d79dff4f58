"""Runs one training script, trains modules alone, or looks at an installed Lightning; writes what it saw as JSON lines.

Started by path with another interpreter: `python main.py SPEC.json`. Uses the standard library, torch, Lightning and
what lies beside it. Works on Lightning 1.4 to 2.x.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import os
import runpy
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

OLDEST = (3, 10)
ALONE = ("search", "replay", "calls")
"""What is done with modules by themselves; `calls` trains them by arguments of the project's Trainers."""
BY_ENUMERATIONS = ("1.4.", "1.5.")
"""The releases that make names of enumerations."""
CALLED: list[Any] = []
"""What sees which functions of the project are called, once it is in place."""


class Record:
    """The file that events go to, one JSON object a line, written at once."""

    def __init__(self, path: str) -> None:
        self._stream = open(path, "a", encoding="utf-8")  # noqa: SIM115, PTH123

    def __call__(self, event: str, **values: Any) -> None:
        """Write one event."""
        self._stream.write(json.dumps({"event": event, **values}, default=str) + "\n")
        self._stream.flush()


def main(spec_path: str, rank: int | None = None) -> int:
    """Do what the specification asks for; where several train a script together, as one of them."""
    spec = json.loads(Path(spec_path).read_text(encoding="utf-8"))
    record = Record(beside("ranks").place_of(spec["record"], rank))
    limit(spec)
    beside("provided").lend(spec)
    if spec["mode"] == "facts":
        sys.path.pop(0)
        beside("compat_shims").lend({})
        with contextlib.suppress(ImportError):
            lend_operators()
        beside("facts").facts(spec["uses"], record)
        record("end")
        return 0
    if spec["mode"] in ALONE:
        return alone(spec, record)
    if rank is None and not set_up(spec, record):
        return 1
    if spec["mode"] == "data":
        return find_data(spec, record)
    if rank is None and spec.get("devices", 1) > 1:
        return int(beside("ranks").train([sys.executable, __file__, spec_path], spec, record))
    return train(spec, record)


def limit(spec: dict[str, Any]) -> None:
    """Bound what this process and its children may use, and end with whoever started us."""
    with contextlib.suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        seconds = int(spec["seconds"]) * (os.cpu_count() or 1) + 10
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)


# -- training


def set_up(spec: dict[str, Any], record: Record) -> bool:
    """Set the variables that the script is to see, and run what is to be run before it; whether that went well."""
    os.environ.update({"HYDRA_FULL_ERROR": "1", **spec.get("variables", {})})
    for words in spec.get("setup", ()):
        done = subprocess.run([sys.executable, *words], check=False)
        if done.returncode:
            told = f"`python {' '.join(words)}`, which is to be run first, ends with {done.returncode}"
            record("failure", type="SetupFailed", message=told, place=None)
            return False
    return True


def train(spec: dict[str, Any], record: Record) -> int:
    """Run the script with a Trainer that does little and tells what it does."""
    root, script = as_started(spec)
    watch = prepared(spec, record)
    if watch is None:
        return 3
    beside("placement").share(watch.spec, beside("provided").SHARED)
    watch.pace.wait()
    return execute(spec, root, script, watch)


def as_started(spec: dict[str, Any]) -> tuple[Path, Path]:
    """Let a script see its path and its arguments as where a person starts it; the root of the project, and the
    script."""
    root = Path.cwd()
    script = root / spec["script"]
    sys.path[0] = str(script.parent)
    sys.path[1:1] = [str(root), str(root / "src")]
    sys.path += [str(place) for place in script.parent.parents if root in place.parents]  # a project in the project
    sys.argv = [str(script), *spec["args"], *spec.get("chosen", ()), *spec.get("smaller", ())]
    return root, script


def find_data(spec: dict[str, Any], record: Record) -> int:
    """Record what data has to be made up for a script to train, as far as that is found."""
    root, script = as_started(spec)
    watch = prepared(spec, record)
    if watch is None:
        return 3
    tools = beside("data_search")
    watch.record = tools.until_fitted
    tell = functools.partial(_planned, record)
    found = tools.search(spec, root, lambda: run_as_main(watch.spec, script), lambda: watch.steps, tell)
    made = beside("made_data")
    made.write(found, Path(spec["record"]).with_name("made"), made.kept_place)
    tell(found)
    record("end")
    return 0


def _planned(record: Record, plan: list[Any]) -> None:
    record("made", plan=plan)


def prepared(spec: dict[str, Any], record: Record) -> Any:
    """Put everything in place around torch and Lightning; None where that cannot be, which is recorded."""
    try:
        watch = in_place(spec, record)
    except BaseException as error:
        record("unusable", type=type(error).__name__, message=str(error)[:2000])
        return None
    record("start", versions=[sys.modules[name].__version__ for name in spec["namespaces"]])
    return watch


def in_place(spec: dict[str, Any], record: Record) -> Any:
    """What watches torch and Lightning from here on."""
    if sys.version_info < OLDEST:
        raise RuntimeError(f"a proof runs on Python {OLDEST[0]}.{OLDEST[1]} or newer")
    watch: Any
    beside("trackers").watch_trackers(str(Path.cwd()), lambda name, value: watch.handed(name, value))
    held = beside("provided")
    beside("compat_shims").lend(held.LENT)
    beside("compat_shims").lend_loading(held.LENT)
    beside("companions").lend(held.LENT)
    beside("sounds").lend(held.LENT)
    beside("gyms").lend(str(Path.cwd()), spec["seed"], held.LENT)
    packages = lightning_packages(spec["namespaces"])
    beside("placement").unlaunched()
    beside("placement").picked()
    sys.meta_path.append(beside("compiled").Compiler(Path.cwd(), Path(spec["scratch"]), held.COMPILED))
    sys.meta_path.append(beside("scattered").Scatter(Path.cwd(), held.SCATTERED))
    beside("absent").Absent(spec.get("absent", ()), Path.cwd(), held.ABSENT).in_place()
    beside("installed").install(spec.get("own"), Path.cwd(), held.INSTALLED)
    device = beside("placement").found(spec.get("accelerators", ["cuda"]))
    beside("devices").without_cuda(str(Path.cwd()), device, held.MOVED)
    beside("driver").stand_in(str(Path.cwd()), held.MOVED)
    beside("config_access").tell_opened(str(Path.cwd()), held.OPENED)
    watch = beside("watch").Watch(record, {**spec, "device": device})
    beside("short").plain_kernels()
    beside("short").steady_loaders(spec["seed"], workers="workers" in spec.get("without", ()))
    beside("short").steady_shares()
    if samples := spec.get("samples"):
        beside("short").few_samples(int(samples[0]))
    is_alone = spec["mode"] in ALONE
    if spec.get("blank") or is_alone:
        beside("hub_weights").stand_in(held.WEIGHTS)
    if spec.get("hub") or is_alone:
        beside("hub").stand_in(held.HUB)
    beside("data_search").watch_pictures(beside("data_errors").UNREAD)
    beside("data_asked").watch(str(Path.cwd()))
    if spec.get("made") or spec["mode"] == "data":
        beside("data_sets").accepted((*beside("data_errors").OUTSIDE, *beside("data_errors").BESIDE))
        beside("hub_datasets").stand_in(beside("made_data").cells)
        beside("downloads").stand_in(Path.cwd())
    watch.patch_torch()
    watch.patch_warnings()
    for package in packages:
        watch.patch_lightning(package)
        if str(package.__version__).startswith(BY_ENUMERATIONS):
            beside("compat_shims").lend_enumerations(package.__name__, held.LENT)
    if spec["mode"] == "train":
        beside("built").BuiltModules(str(Path.cwd()), spec["script"], record).watch()
    watch.seed()
    CALLED.append(beside("calls").Calls(str(Path.cwd()), spec.get("functions", ())))
    CALLED[-1].begin()
    return watch


def alone(spec: dict[str, Any], record: Record) -> int:
    """Search for recipes by which modules train alone, or train by such recipes, each with a record of its own."""
    root = Path.cwd()
    sys.argv = ["train.py"]
    del sys.path[0]
    watch = prepared(spec, record)
    if watch is None:
        return 3
    sys.path[:0] = [str(root / path) for path in spec["paths"]]  # not before: a `wandb.py` is not what Lightning means
    tools = beside("alone")
    versions = [sys.modules[name].__version__ for name in spec["namespaces"]]
    bench = tools.TryBench(watch, str(root), spec["seed"])
    if spec["mode"] == "search":
        tools.search(bench, spec, record)
        record("end")
        return 0
    for recipe in spec["recipes"]:
        own = Record(recipe["record"])
        watch.begin(own)
        CALLED[-1].begin()
        own("start", versions=versions)
        try:
            tools.replay(bench, recipe)
        except BaseException as error:
            failed(error, root, own, watch.spec)
        own("loaded", files=loaded(root, root / recipe["path"]), warnings=watch.warnings(), **given())
        own("end")
    record("end")
    return 0


def lightning_packages(names: list[str]) -> list[ModuleType]:
    """Import the Lightning packages that the project uses, on a torch and numpy that may be too new for them."""
    version = next((found for name in names if (found := installed(name))), "2")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < (1, 8):
        import numpy
        import torch

        schedulers: Any = torch.optim.lr_scheduler
        numbers: Any = numpy
        numbers.Inf = numpy.inf
        schedulers._LRScheduler = getattr(schedulers, "LRScheduler", None) or schedulers._LRScheduler
    lend_operators()
    return [importlib.import_module(name) for name in names]


def lend_operators() -> None:
    """Declare the operators that torchvision names when it is imported, where its compiled part is not there."""
    import torch

    spec = importlib.util.find_spec("torchvision")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or list(folder.glob("_C*")):
        return
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError, AttributeError):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def installed(name: str) -> str | None:
    """The version of the distribution behind a package."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name.split(".")[0].replace("_", "-"))
    return None


def execute(spec: dict[str, Any], root: Path, script: Path, watch: Any) -> int:
    """Run the script as `__main__` and record how it ended, which files of the project it loaded, and warnings."""

    def tell() -> None:
        watch.record("loaded", files=loaded(root, script), warnings=watch.warnings(), **given())

    tell_exits(root, watch.record, tell)
    try:
        return run_script(watch.spec, root, script, watch.record)
    finally:
        watch.pace.begun()
        tell()


def tell_exits(root: Path, record: Record, tell: Callable[[], None]) -> None:
    """Record where the project ends the process past all exceptions, and what there is to tell by then."""
    own = os.getpid()

    def telling(leave: Callable[..., Any], how: str) -> Callable[..., None]:
        def told(status: int | None = None) -> None:
            if os.getpid() == own:
                where = place(reversed([*traceback.walk_stack(sys._getframe(1))]), root)
                if where and status != 0:
                    said = how if status is None else str(status)
                    record("failure", type="SystemExit", message=said, place=where, when=time.time())
                tell()
            leave() if status is None else leave(status)

        return told

    leaving: Any = os
    for name in ("_exit", "abort"):
        setattr(leaving, name, telling(getattr(os, name), name))


def given() -> dict[str, Any]:
    """What the project had so far besides its files of code and its packages, and which functions of it were called,
    how often."""
    return {**beside("provided").told(), "calls": CALLED[-1].report(), "times": CALLED[-1].times()}


def loaded(root: Path, script: Path) -> list[str]:
    """The project's files that were executed, relative to its root: modules of torch have a bare name for a path."""
    origins = [str(script), *(getattr(module, "__file__", None) for module in list(sys.modules.values()))]
    real, top = functools.cache(os.path.realpath), os.path.realpath(root)
    found = set()
    for folder, name in map(os.path.split, filter(os.path.isabs, filter(None, origins))):
        with contextlib.suppress(ValueError, OSError):
            path = os.path.join(real(folder), name)  # noqa: PTH118 - thousands of files in hundreds of folders
            path = os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114
            if path.startswith(top):
                found.add(Path(path).relative_to(top).as_posix())
    return sorted(found)


def run_script(spec: dict[str, Any], root: Path, script: Path, record: Record) -> int:
    """Run the script and return the status to end with."""
    try:
        run_as_main(spec, script)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            record("failure", type="SystemExit", message=str(stop.code), place=None, when=time.time())
            return 1
    except BaseException as error:
        failed(error, root, record, spec)
        return 1
    record("end")
    return 0


def run_as_main(spec: dict[str, Any], script: Path) -> None:
    """Run the script as `__main__`, without weights that are not here where that is asked for."""
    weights = beside("provided").WEIGHTS if spec.get("blank") else None
    if folders := spec.get("home"):
        os.chdir(script.parent)
        beside("provided").HOME.update(dict.fromkeys(folders))
    with beside("alone_weights").blank(weights, beside("data_objects").is_saved_data):
        if spec["module"]:
            runpy.run_module(spec["module"], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(script), run_name="__main__")


def lacking(error: BaseException, root: Path) -> str | None:
    """What is not here and ended a run, of what can be stood in for: data that it reads, weights that it loads,
    models of a hub."""
    frames = tuple(traceback.walk_tb(error.__traceback__))
    if beside("hub").is_asked(error, frames):
        return "hub"
    if beside("alone_weights").is_missing(error, frames):
        return "weights"
    is_data = beside("downloads").is_asked(error, frames, root) or beside("data_errors").may_follow(error, root)
    return "data" if is_data else None


def failed(error: BaseException, root: Path, record: Record, spec: dict[str, Any]) -> None:
    """Record an exception that ended a training, and what of ours it is about, if it is."""
    error = below_hydra(error)
    told = {
        "type": type(error).__name__,
        "message": str(error)[:4000],
        "place": place(traceback.walk_tb(error.__traceback__), root),
    }
    lacks = lacking(error, root)
    record("failure", **told, lacks=lacks, stands_for=beside("blame").blamed(error, spec), when=time.time())
    traceback.print_exc()


def below_hydra(error: BaseException) -> BaseException:
    """What went wrong where Hydra made an object, of which it says no more than that it could not be made."""
    while type(error).__name__ in ("InstantiationException", "HydraException") and error.__cause__ is not None:
        error = error.__cause__
        while error.__cause__ is not None and type(error) is ImportError:
            error = error.__cause__
    return error


def place(frames: Iterable[tuple[FrameType, int]], root: Path) -> str | None:
    """The last line of the project among some frames."""
    found = None
    for frame, line in frames:
        with contextlib.suppress(ValueError, OSError):
            path = Path(frame.f_code.co_filename).resolve().relative_to(root.resolve())
            found = f"{path.as_posix()}:{line}"
    return found


def beside(name: str) -> Any:
    """A module that lies beside this file, in a package of its own: the project may have one of that name."""
    if (package := "_fixer_harness") not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(Path(__file__).parent)]
    return importlib.import_module(f"{package}.{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else None))
