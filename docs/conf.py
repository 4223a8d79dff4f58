"""Sphinx reads this: `sphinx-build -W -b html docs build/docs` (extra `docs`).

With FIXER_DOCS_VERSION each page lists the versions that switcher.json in the folder above has, see versions.py."""

import os

project = "fixer"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "fixer"
html_show_copyright = False
myst_heading_anchors = 3
version = os.environ.get("FIXER_DOCS_VERSION", "")
if version:
    html_title = f"fixer {version}"
    templates_path = ["_templates"]
    sidebar = ("brand", "search", "scroll-start", "navigation", "scroll-end")
    html_sidebars = {"**": [*(f"sidebar/{part}.html" for part in sidebar), "versions.html"]}
