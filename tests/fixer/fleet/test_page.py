"""The page of a fleet of five thousand in a browser: sorted, filtered and searched."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from fixer.fleet.asked import FleetRepository
from fixer.fleet.report import as_html, of_fleet
from fixer.fleet.state import opened
from tests.fixer.reports.chromium import BROWSER

MANY = 5000
PLAYED = """
<script>
(() => {
  const by = (id) => document.getElementById(id);
  const told = { errors: [] };
  window.addEventListener("error", (event) => told.errors.push(event.message));
  const names = () => [...document.querySelectorAll("#rows tr")].map((row) => row.cells[0].textContent);
  const play = (name, act) => {
    act();
    told[name] = [names().slice(0, 2), names().length, by("shown").textContent];
  };
  const type = (id, text) => {
    by(id).value = text;
    by(id).dispatchEvent(new Event("input"));
  };
  const head = (key) => document.querySelector(`th[data-key=${key}] button`).click();
  play("first", () => {});
  play("down", () => { head("name"); head("name"); });
  play("by count", () => { head("left"); head("left"); });
  play("of a state", () => type("state", "failed"));
  play("searched", () => type("search", "r4999 SERVER"));
  play("nothing", () => type("search", "nowhere"));
  play("all", () => { type("search", ""); type("state", ""); head("name"); by("more").click(); });
  const link = document.querySelector("#rows a");
  told.link = link && link.getAttribute("href");
  told.sorted = [...document.querySelectorAll("th[aria-sort]")].map((one) => [one.dataset.key, one.ariaSort]);
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: JSON.stringify(told) }));
})();
</script>
</body>"""


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_the_page_is_sorted_filtered_and_searched_in_a_browser(tmp_path: Path) -> None:
    every = [FleetRepository(f"acme/r{number}", f"https://example.org/acme/r{number}") for number in range(MANY)]
    with opened(tmp_path, make=True) as state:
        state.enroll(every)
        for number in range(0, MANY, 2):
            state.put(f"acme/r{number}", state="proven", verdict="preserved")
        state.put("acme/r4999", state="failed", reason="the server cannot be reached")
        state.put("acme/r7", state="failed", reason="a bug")
        state.put("acme/r1", state="delivered", pull_request="https://example.org/acme/r1/pull/1")
        state._connection.execute("INSERT INTO finding VALUES ('acme/r42','TBP001','by hand',0,3,1)")
        (tmp_path / "pages").mkdir()
        (tmp_path / "pages" / f"{every[0].key}.html").write_text("a page")
        page = as_html(of_fleet(state, tmp_path), tmp_path)
    (tmp_path / "fleet.html").write_text(page.replace("</body>", PLAYED))
    command = [BROWSER or "", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    place = (tmp_path / "fleet.html").as_uri()
    seen = subprocess.run([*command, f"--user-data-dir={tmp_path / 'profile'}", place], capture_output=True, text=True)
    found = re.search(r'<pre id="told">(.*?)</pre>', seen.stdout, re.DOTALL)
    assert found, seen.stderr
    told = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert told.pop("errors") == []
    assert told == {
        "first": [["acme/r0", "acme/r1"], 500, f"500 of {MANY} shown"],
        "down": [["acme/r4999", "acme/r4998"], 500, f"500 of {MANY} shown"],
        "by count": [["acme/r42", "acme/r0"], 500, f"500 of {MANY} shown"],
        "of a state": [["acme/r7", "acme/r4999"], 2, f"2 of {MANY}"],
        "searched": [["acme/r4999"], 1, f"1 of {MANY}"],
        "nothing": [[], 0, f"0 of {MANY}"],
        "all": [["acme/r0", "acme/r1"], MANY, f"{MANY} of {MANY}"],
        "link": f"pages/{every[0].key}.html",
        "sorted": [["name", "ascending"]],
    }
