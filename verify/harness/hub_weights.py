"""Weights that libraries fetch from the Hugging Face hub for a script, where it is not reached: what they would be
loaded into stays random. So do models that torch.hub takes from a repository, where a package has the same.

Runs in the target's interpreter, beside the harness, with what alone_weights puts in place of the rest.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import re
import sys
import tempfile
import urllib.error
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .alone_weights import FETCHED, Blank, is_of_others, put, unreached
from .hub import chain
from .trackers import Changed

Function = Callable[..., Any]
_OF_TIMM = ("load_pretrained", "load_custom_pretrained")
_OF_REPOSITORIES = (
    (re.compile(r"pytorch/vision(?::|$)"), "torchvision.models"),
    (re.compile(r"(?:rwightman|huggingface)/pytorch-image-models(?::|$)|facebookresearch/deit(?::|$)"), "timm"),
)
"""The packages that have what `torch.hub.load` takes from a repository."""
_OF_WEIGHTS = ("pretrained", "weights")
_OF_LOADING = ("source", "trust_repo", "force_reload", "verbose", "skip_validation")


def stand_in(names: list[str]) -> None:
    """Have it so for what is imported from now on; what was asked for is added to `names`."""

    def from_hub(repo_id: Any, filename: Any, *args: Any, **kwargs: Any) -> str:
        place = os.path.join(tempfile.gettempdir(), "hub", str(repo_id), str(filename))  # noqa: PTH118
        FETCHED[place] = f"{repo_id}/{filename}"
        return place

    def untrained(model: Any, given: Any = None, *args: Any, **kwargs: Any) -> None:
        names.append(f"{getattr(given, 'architecture', None) or type(model).__name__} of timm")

    def from_file(filename: Any, *args: Any, **kwargs: Any) -> Blank:
        names.append(FETCHED[os.fspath(filename)])
        return Blank()

    def from_repository(repo_or_dir: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        made = _of_package(str(repo_or_dir), str(model), args, kwargs)
        names.append(f"{model} of {repo_or_dir}")
        return made

    _once_imported("huggingface_hub.utils._http", hurried)
    _whenever("torch.hub", ("load",), lambda plain: _patient(plain, from_repository))
    _whenever("huggingface_hub.file_download", ("hf_hub_download",), lambda plain: _patient(plain, from_hub))
    _whenever("safetensors.torch", ("load_file",), lambda plain: _for_fetched(plain, from_file))
    _whenever("timm.models._builder", _OF_TIMM, lambda plain: _patient(plain, untrained))
    _whenever("timm.models.helpers", _OF_TIMM, lambda plain: _patient(plain, untrained))


def hurried(client: Any) -> None:
    """Let the hub's client ask once more where nobody answers, and not again and again for half a minute."""
    for name in ("http_backoff", "http_stream_backoff"):
        defaults = getattr(inspect.unwrap(getattr(client, name, hurried)), "__kwdefaults__", None) or {}
        if "max_retries" in defaults:
            defaults["max_retries"] = 1


def _of_package(repository: str, model: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A model of a repository as the package that has the same makes it, without its weights. Raises URLError where
    there is none."""
    name = next((name for pattern, name in _OF_REPOSITORIES if pattern.match(repository.lower())), "")
    package: Any = None
    with contextlib.suppress(ImportError):
        package = importlib.import_module(name) if name else None
    make = getattr(package, model, None)
    if name == "timm" and hasattr(package, "create_model"):
        make = functools.partial(package.create_model, model)
    if make is None:
        raise urllib.error.URLError(f"torch.hub.load asks GitHub for {repository}")
    given = {key: value for key, value in kwargs.items() if key not in _OF_WEIGHTS + _OF_LOADING}
    return make(*(arg for arg in args if not isinstance(arg, bool)), **given)


def _patient(plain: Function, otherwise: Function) -> Function:
    """A function that does as ever where a server answers, and else something with what it was given."""

    @functools.wraps(plain)
    def asked(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        except Exception as error:
            if not any(map(_is_absent, chain(error))) or is_of_others(_running()):
                raise
        return otherwise(*args, **kwargs)

    return asked


def _is_absent(error: BaseException) -> bool:
    """Whether an error is of a server that does not answer, or of a file that it did not give."""
    return unreached(error) or (isinstance(error, FileNotFoundError) and str(error.filename) in FETCHED)


def _running() -> Iterator[str]:
    frame: Any = sys._getframe(1)
    while frame:
        yield str(frame.f_globals.get("__name__"))
        frame = frame.f_back


def _for_fetched(plain: Function, otherwise: Function) -> Function:
    """A reader of files that reads another way what no server gave."""

    @functools.wraps(plain)
    def read(filename: Any, *args: Any, **kwargs: Any) -> Any:
        is_fetched = isinstance(filename, str | os.PathLike) and os.fspath(filename) in FETCHED
        return (otherwise if is_fetched else plain)(filename, *args, **kwargs)

    return read


def _whenever(place: str, names: Sequence[str], make: Callable[[Function], Function]) -> None:
    """Other functions by these names of a module, now or once it is imported."""

    def change(module: Any) -> None:
        for plain in filter(None, [getattr(module, name, None) for name in names]):
            put(plain, make(plain))

    _once_imported(place, change)


def _once_imported(place: str, change: Callable[[Any], None]) -> None:
    if place in sys.modules:
        change(sys.modules[place])
    else:
        sys.meta_path.insert(0, Changed(place, change))
