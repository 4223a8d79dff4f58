"""What a script builds the project's modules with, as descriptions of arguments: modules that are trained alone can be
built with the same. What a description cannot hold, as an open file or a layer of torch's with weights, is left out.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import enum
import functools
import inspect
import os
import sys
import types
import weakref
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from .alone_values import Arguments

LEFT_OUT = object()
_EACH, _DEEP, _MOST, _SMALL, _FRAMES = 3, 8, 3000, 64, 40


class BuiltModules:
    """Tells of each module of a project that takes a training step what it is built with, the first times. `script` is
    the file that runs as `__main__`."""

    def __init__(self, root: str, script: str, tell: Callable[..., None]) -> None:
        self.root, self.script, self.tell = os.path.realpath(root), script, tell
        self.known: weakref.WeakKeyDictionary[Any, Arguments] = weakref.WeakKeyDictionary()
        self.counts: dict[type, int] = {}
        self.paths: dict[type, str] = {}

    def watch(self) -> None:
        """Look at every module when torch begins to make it: by then its own `__init__` has bound what it was given."""
        import torch

        kind: Any = torch.nn.Module
        original = kind.__init__

        @functools.wraps(original)
        def init(this: Any, *args: Any, **kwargs: Any) -> None:
            original(this, *args, **kwargs)
            if self._path(type(this)):
                try:
                    self._look(this)
                except Exception:  # the project's objects may do anything when they are looked at
                    self.counts[type(this)] = _EACH

        kind.__init__ = init

    def _path(self, cls: type) -> str:
        """The file of a class of the project's, from its root; "" for any other."""
        if cls not in self.paths:
            file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
            inside = bool(file) and os.path.realpath(file).startswith(self.root + os.sep)
            self.paths[cls] = os.path.relpath(os.path.realpath(file), self.root) if inside else ""
        return self.paths[cls]

    def _look(self, module: Any) -> None:
        cls = type(module)
        if self.counts.get(cls, 0) >= _EACH:
            return
        self.counts[cls] = self.counts.get(cls, 0) + 1
        given = self._given(module)
        if given is None:
            return
        self.known[module] = given
        if hasattr(cls, "training_step") and "<locals>" not in cls.__qualname__:
            self.tell("built", path=self._path(cls).replace(os.sep, "/"), cls=cls.__name__, arguments=given)

    def _given(self, module: Any) -> Arguments | None:
        """The arguments that the `__init__` of a module's class has, as far as they can be described."""
        function = inspect.unwrap(type(module).__init__)
        code, frame = getattr(function, "__code__", None), sys._getframe(2)
        for _ in range(_FRAMES):
            if frame.f_code is code and frame.f_locals.get(code.co_varnames[0]) is module:
                break
            if frame.f_back is None:
                return None
            frame = frame.f_back
        else:
            return None
        held, room = frame.f_locals, [_MOST]
        parameters = list(inspect.signature(function).parameters.values())[1:]
        found: Arguments = {}
        for each in parameters:
            if each.kind is each.VAR_KEYWORD:
                found |= {name: self.described(value, room) for name, value in held.get(each.name, {}).items()}
            elif each.kind is not each.VAR_POSITIONAL and each.name in held:
                found[each.name] = self.described(held[each.name], room)
        return {name: value for name, value in found.items() if value is not LEFT_OUT}

    # -- descriptions

    def described(self, value: Any, room: list[int], depth: int = 0) -> Any:
        """A value as a description of an argument; `LEFT_OUT` where there is none."""
        room[0] -= 1
        if depth > _DEEP or room[0] < 0:
            return LEFT_OUT
        if value is None or type(value) in (bool, int, float):
            return value
        if isinstance(value, enum.Enum):
            return self._named(type(value), f".{value.name}")
        if isinstance(value, str):
            return str(value).replace(self.root + os.sep, "")
        if type(value).__module__.startswith("omegaconf.") and (cls := self._schema(value)):
            given = self._each({name: value[name] for name in value if not _is_missing(value, name)}, room, depth)
            return {**self._named(cls), "@": "object", "values": given, "structured": True}
        if isinstance(value, Mapping | Namespace | types.SimpleNamespace):
            held = value if isinstance(value, Mapping) else vars(value)
            return {"@": "config", "values": self._each(self._plain(held), room, depth)}
        if isinstance(value, list | tuple):
            return self._row(value, room, depth)
        if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            return self._named(value)
        return self._object(value, room, depth)

    def _schema(self, held: Any) -> type | None:
        """The class of the project's that a configuration of OmegaConf was made by."""
        from omegaconf import OmegaConf  # type: ignore[import-not-found,unused-ignore]

        cls = OmegaConf.get_type(held)
        return cls if isinstance(cls, type) and self._path(cls) and self._named(cls) is not LEFT_OUT else None

    def _plain(self, held: Any) -> Mapping[Any, Any]:
        """What a configuration of OmegaConf holds, with what it refers to in its place."""
        if type(held).__module__.startswith("omegaconf."):
            from omegaconf import OmegaConf  # type: ignore[import-not-found,unused-ignore]

            return OmegaConf.to_container(held, resolve=True)  # type: ignore[no-any-return,unused-ignore]
        return held  # type: ignore[no-any-return]

    def _each(self, held: Mapping[Any, Any], room: list[int], depth: int) -> dict[str, Any]:
        found = {name: self.described(value, room, depth + 1) for name, value in held.items() if type(name) is str}
        return {name: value for name, value in found.items() if value is not LEFT_OUT}

    def _row(self, value: Any, room: list[int], depth: int) -> Any:
        items = [self.described(item, room, depth + 1) for item in value]
        if any(item is LEFT_OUT for item in items) or not (isinstance(value, list) or type(value) is tuple):
            return LEFT_OUT
        return {"@": "tuple", "items": items} if type(value) is tuple else items

    def _named(self, value: Any, more: str = "") -> Any:
        """What goes by a name of a module: of one that is run, by the name of its file."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "<")
        if not module or "<" in name:
            return LEFT_OUT
        if module == "__main__":
            module = os.path.relpath(self.script, self.root).removesuffix(".py").replace(os.sep, ".")
        return {"@": "named", "name": f"{module}.{name}{more}"}

    def _object(self, value: Any, room: list[int], depth: int) -> Any:
        import torch

        kind = type(value)
        if isinstance(value, functools.partial):
            of = self.described(value.func, room, depth + 1)
            kwargs = self._each(value.keywords, room, depth)
            made = {"@": "call", "of": of, "args": [], "kwargs": kwargs, "partial": True}
            return made if of is not LEFT_OUT and not value.args and len(kwargs) == len(value.keywords) else LEFT_OUT
        if isinstance(value, PurePath | torch.device):
            called = "torch.device" if isinstance(value, torch.device) else "pathlib.Path"
            return {"@": "call", "name": called, "args": [self.described(str(value), room)], "kwargs": {}}
        if isinstance(value, torch.dtype):
            return {"@": "named", "name": str(value)}
        if kind.__module__.startswith("omegaconf."):
            return self.described(self._plain(value), room, depth)
        if kind.__module__ == "numpy" or isinstance(value, torch.Tensor):
            return self._numbers(value)
        if isinstance(value, torch.nn.Module):
            return self._module(value)
        if not self._path(kind) or not hasattr(value, "__dict__"):
            return LEFT_OUT
        named = self._named(kind)
        values = self._each(vars(value), room, depth)
        return {"@": "object", "name": named["name"], "values": values} if named is not LEFT_OUT else LEFT_OUT

    def _numbers(self, value: Any) -> Any:
        import torch

        if getattr(value, "ndim", 1) == 0 and not isinstance(value, torch.Tensor):
            return value.item() if isinstance(value.item(), bool | int | float | str) else LEFT_OUT
        size = value.numel() if isinstance(value, torch.Tensor) else value.size
        if size > _SMALL or getattr(value, "requires_grad", False) or str(value.dtype) == "object":
            return LEFT_OUT
        kind = str(value.dtype)
        called, dtype = ("torch.tensor", kind) if isinstance(value, torch.Tensor) else ("numpy.array", f"numpy.{kind}")
        return {
            "@": "call",
            "name": called,
            "args": [value.tolist()],
            "kwargs": {"dtype": {"@": "named", "name": dtype}},
        }

    def _module(self, value: Any) -> Any:
        """A module of the project's by what it was built with, one without weights by its class alone."""
        named = self._named(type(value))
        if named is LEFT_OUT:
            return LEFT_OUT
        given = self.known.get(value)
        if given is None and not self._path(type(value)) and not [*value.parameters(), *value.children()]:
            takes = inspect.signature(type(value)).parameters.values()
            needed = [each for each in takes if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD]
            given = None if needed else {}
        return {"@": "call", "name": named["name"], "kwargs": given} if given is not None else LEFT_OUT


def _is_missing(held: Any, name: Any) -> bool:
    from omegaconf import OmegaConf  # type: ignore[import-not-found,unused-ignore]

    return bool(OmegaConf.is_missing(held, name))
