"""The HTML report in a browser: `python -m tests.fixer.reports.look FOLDER [PAGE ...]`.

Writes pictures of each page at 360, 800 and 1400 pixels in light and dark, and as it is printed, into a folder; pages
are those of the samples where none is named. Ends with 1, and says why, where a page is wider than its window, loads
something, or cannot be walked by the keyboard: each stop of the Tab key must be seen, have a name and an outline, a box
be ticked by the space bar, and a part that is closed be opened by Enter.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fixer.reports import OutputFormat, render
from fixer.reports.rule_text import rule_texts
from tests.fixer.reports.chromium import Chromium
from tests.fixer.reports.samples import CHECK, HOSTILE, NOT_READY, RUN, many

WIDTHS = (360, 800, 1400)
_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_LOADED = "performance.getEntriesByType('resource').map(one => one.name).filter(one => !one.startsWith('data:'))"
_STOP = """(() => {
  const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
  const name = (at.getAttribute('aria-label') || at.innerText || at.closest('label')?.innerText || '').trim();
  return {tag: at.tagName, name, seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.left >= 0,
          outline: at.tagName === 'BODY' || (style.outlineStyle !== 'none' && style.outlineWidth !== '0px'),
          open: at.parentElement.open ?? null, ticked: at.checked ?? null};
})()"""
_STOPS = "document.querySelectorAll('a[href], input, summary, [tabindex]').length"


def pages() -> dict[str, str]:
    """Pages of each kind."""
    hostile = replace(NOT_READY, findings=(*RUN.findings, *many(9, HOSTILE)), messages=(HOSTILE, "x" * 500))
    results = {"run": RUN, "not-ready": NOT_READY, "check": CHECK, "hostile": hostile}
    return {name: render(result, OutputFormat.html, rule_texts()) for name, result in results.items()}


def faults(browser: Chromium, page: Path, folder: Path) -> Iterator[str]:
    """What is wrong with a page; its pictures are in the folder then."""
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(page, width, dark)
            if wider := browser.value(_WIDE):
                yield f"{wider} pixels wider than a window of {width}"
            height = browser.value("document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12_000), "scale": 1}
            picture = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
            name = f"{page.stem}-{width}-{'dark' if dark else 'light'}.png"
            (folder / name).write_bytes(base64.b64decode(picture["data"]))
    if loaded := browser.value(_LOADED):
        yield f"it loads {loaded}"
    (folder / f"{page.stem}.pdf").write_bytes(base64.b64decode(browser.call("Page.printToPDF")["data"]))
    for width in (WIDTHS[0], WIDTHS[-1]):
        browser.open(page, width)
        yield from _walk(browser)


def _walk(browser: Chromium) -> Iterator[str]:
    """What stops one who has no mouse."""
    first, stops = True, 0
    for _ in range(browser.value(_STOPS) + 1):
        browser.press("Tab", 9)
        stop = browser.value(_STOP)
        if stop["tag"] == "BODY":
            break
        stops += 1
        if first and stop["name"] != "Skip to the result":
            yield f"the first stop is {stop['name']!r}, and not the way to the result"
        first = False
        for lack in ("name", "seen", "outline"):
            if not stop[lack]:
                yield f"{stop['tag']} {stop['name'][:60]!r} is reached by Tab, and has no {lack}"
        if stop["tag"] == "SUMMARY" and not stop["open"]:
            browser.press("Enter", 13, "\r")
            if not browser.value(_STOP)["open"]:
                yield f"{stop['name'][:60]!r} is not opened by Enter"
        if stop["ticked"] is False:
            browser.press(" ", 32, " ")
            if not browser.value(_STOP)["ticked"]:
                yield f"{stop['name'][:60]!r} is not ticked by the space bar"
    if not stops:
        yield "the Tab key stops nowhere"


def main(folder: Path, named: list[Path]) -> int:
    """Looks at the pages; 1 where something is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    if not named:
        for name, text in pages().items():
            (folder / f"{name}.html").write_text(text, encoding="utf-8")
            named.append(folder / f"{name}.html")
    found = 0
    with Chromium() as browser:
        for page in named:
            told = list(dict.fromkeys(faults(browser, page.resolve(), folder)))
            found += len(told)
            print(*(f"{page.name}: {fault}" for fault in told or ["nothing is wrong"]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]]))
