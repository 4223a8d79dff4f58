"""How long `fixer server` takes from a change to the diagnostics, beside what no tool can go below.

    python benchmarks/server.py CHECKOUT FILE [FILE ...] [--runs 9]

Prints a Markdown table. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fixer.server.analyst import DEBOUNCE  # noqa: E402
from tests.fixer.server.editor import Editor  # noqa: E402


def changed(text: str) -> Iterator[str]:
    """A text with one statement more in its last function, another one each time."""
    lines = text.split("\n")
    last = max((node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)),
               key=lambda node: node.body[0].lineno)  # fmt: skip
    place = last.body[0].lineno - 1
    number = 0
    while True:
        number += 1
        more = f"{' ' * last.body[0].col_offset}unused = {number}"
        yield "\n".join([*lines[:place], more, *lines[place:]])


def row(editor: Editor, path: Path, runs: int) -> str:
    """A file's line of the table. Seconds are those of the processor: the server's own, and this process's for the
    floor; what passes on the clock stands behind."""
    server = psutil.Process(editor.process.pid)
    text = path.read_text()
    begun = server.cpu_times().user
    uri = editor.open(path, text)
    found = editor.diagnostics(uri)
    first = server.cpu_times().user - begun
    texts = changed(text)
    clock, early = [], []
    for _ in range(runs):
        started, begun = time.perf_counter(), server.cpu_times().user
        editor.type(uri, next(texts))
        editor.diagnostics(uri)
        clock.append(time.perf_counter() - started - DEBOUNCE)
        early.append(server.cpu_times().user - begun)
    taken = statistics.mean(early)
    begun = server.cpu_times().user
    for _ in range(runs):
        editor.type(uri, next(texts))
        editor.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
    complete = (server.cpu_times().user - begun) / runs
    mark, begun = len(editor.said), server.cpu_times().user
    editor.diagnostics(uri, after=mark)
    whole = server.cpu_times().user - begun
    begun = time.process_time()
    for _ in range(runs):
        ast.parse(text)
    floor = (time.process_time() - begun) / runs
    lines = text.count("\n")
    return (
        f"| {path.name} | {lines} | {len(found)} | {floor * 1000:.0f} | {taken * 1000:.0f} "
        f"| {taken / lines * 1e6:.0f} | {taken / floor:.0f} | {statistics.median(clock) * 1000:.0f} "
        f"| {complete * 1000:.0f} | {first:.1f} | {whole:.1f} |"
    )


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description="Time `fixer server` over files of a checkout.")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--runs", type=int, default=15)
    asked = parser.parse_args()
    root: Path = asked.checkout.resolve()
    print(
        "| file | lines | findings | `ast.parse`, ms | change to diagnostics, ms | for 1,000 lines | ratio "
        "| by the clock | to all of them, ms | first, s | whole, s |"
    )
    print(f"|---|{'---:|' * 10}")
    for name in asked.files:
        with Editor(root) as editor:
            print(row(editor, root / name, asked.runs))
            editor.end()


if __name__ == "__main__":
    main()
