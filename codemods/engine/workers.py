"""Those who look at files: this process, or several others."""

from __future__ import annotations

import gc
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from codemods.code.parsed_files import KEPT_BYTES, ParsedFiles
from codemods.engine.warnings_off import ignore_warnings
from codemods.engine.workspace import Workspace
from codemods.lightning.class_answers import ClassAnswers
from codemods.lightning.facts import Facts
from codemods.rule import OthersRules, others_rules, take_others

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

POOL_BYTES = 1_000_000
CHUNK = 8

Item = tuple[str, tuple[str, ...]]
"""A path, and the codes of the rules that are to look at it."""
Result = TypeVar("Result")
Look = Callable[[Workspace, Item], Result]


@dataclass(frozen=True)
class Worker:
    """A process that looks at files, and the way to it."""

    process: BaseProcess
    connection: Connection[Any, Any]


class Workers:
    """The process of the workspace alone or, once there is enough to do, several others. Each of these has a share of
    the files, and so still has what it parsed of them when they are looked at again."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._jobs = min(workspace.options.jobs, os.cpu_count() or 1)
        self._workers: list[Worker] = []
        self._share: dict[str, int] = {}
        self._load = [0] * self._jobs
        self._seen: set[str] = set()
        self._spent: dict[Connection[Any, Any], Mapping[str, float]] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.terminate()
            worker.process.join()
            worker.connection.close()

    @property
    def seen(self) -> set[str]:
        """The files that rules followed facts into."""
        return self._seen | self.workspace.watched.seen

    @property
    def spent(self) -> Mapping[str, float]:
        """The seconds of each rule in all processes together."""
        total = dict(self.workspace.spent)
        for each in self._spent.values():
            for code, seconds in each.items():
                total[code] = total.get(code, 0.0) + seconds
        return total

    def learn(self, facts: Facts) -> None:
        """Tells everybody the facts."""
        self.workspace.learn(facts)
        told = replace(facts, sources={}, trees=ParsedFiles({}), of_sources={}, of_classes=ClassAnswers())
        for worker in self._workers:
            worker.connection.send(told)

    def look(self, look: Look[Result], items: Sequence[Item]) -> Iterator[tuple[str, Result]]:
        """What a look at each item gives, with its path, in whatever order it comes."""
        if not self._workers and not self._is_enough(items):
            yield from ((item[0], look(self.workspace, item)) for item in items)
            return
        if not self._workers:
            self._hire()
        yield from self._looked(look, items)

    def _is_enough(self, items: Sequence[Item]) -> bool:
        return self._jobs > 1 and sum(len(self.workspace.sources[path].data) for path, _ in items) >= POOL_BYTES

    def _hire(self) -> None:
        import multiprocessing

        known = self.workspace.trees.parsed if multiprocessing.get_start_method() == "fork" else None
        given = Workspace(self.workspace.sources, self.workspace.options, KEPT_BYTES // self._jobs, known)
        for _ in range(self._jobs):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_work, args=(given, others_rules(), theirs), daemon=True)
            with _interruptions_wait():
                process.start()
                self._workers.append(Worker(process, ours))
            theirs.close()
        self.learn(self.workspace.facts)

    def _looked(self, look: Look[Result], items: Sequence[Item]) -> Iterator[tuple[str, Result]]:
        """Everybody has one part of its share in hand at a time, so that nobody waits to be read."""
        from multiprocessing.connection import wait

        shares: list[list[Item]] = [[] for _ in self._workers]
        for item in items:
            shares[self._shared(item[0])].append(item)
        left = {worker.connection: share for worker, share in zip(self._workers, shares, strict=True) if share}
        for connection, share in left.items():
            connection.send((look, share[:CHUNK]))
        while left:
            for connection in [each for each in wait(list(left)) if each in left]:
                found, seen, self._spent[connection] = self._answer(connection)
                left[connection] = left[connection][CHUNK:]
                if left[connection]:
                    connection.send((look, left[connection][:CHUNK]))
                else:
                    del left[connection]
                self._seen |= seen
                yield from found

    def _answer(self, connection: Connection[Any, Any]) -> tuple[list[tuple[str, Any]], set[str], Mapping[str, float]]:
        """What a process found, the files that it was led into and the seconds that its rules took. Raises RuntimeError
        with the traceback of one that failed, and ChildProcessError for one that was ended from outside."""
        try:
            answer = connection.recv()
        except (EOFError, ConnectionResetError):
            process = next(worker.process for worker in self._workers if worker.connection is connection)
            process.join()
            raise ChildProcessError(
                f"a process that read files was ended from outside (exit status {process.exitcode}): one process alone "
                "(--jobs 1) needs less memory"
            ) from None
        if isinstance(answer, str):
            raise RuntimeError(f"in a process that reads files:\n{answer}")
        found, seen, spent = answer
        return found, seen, spent

    def _shared(self, path: str) -> int:
        if path not in self._share:
            self._share[path] = min(range(self._jobs), key=self._load.__getitem__)
            self._load[self._share[path]] += len(self.workspace.sources[path].data)
        return self._share[path]


@contextmanager
def _interruptions_wait() -> Iterator[None]:
    """Holds back what interrupts while a process is made: a KeyboardInterrupt in what runs around a fork is printed and
    forgotten, and one in a process that cannot tell of it yet ends that alone."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _interrupting())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupting() -> set[signal.Signals]:
    return {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}


def _work(workspace: Workspace, known: OthersRules, connection: Connection[Any, Any]) -> None:
    """What a process does until it is ended: it learns facts, and looks at items."""
    take_others(known)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _interrupting())
    gc.disable()
    ignore_warnings()
    while True:
        try:
            asked = connection.recv()
        except EOFError:
            return
        if isinstance(asked, Facts):
            workspace.learn(asked)
            continue
        look, items = asked
        try:
            found = [(item[0], look(workspace, item)) for item in items]
            connection.send((found, workspace.watched.seen, workspace.spent))
        except Exception:
            connection.send(traceback.format_exc())
