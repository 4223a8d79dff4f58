"""Sphinx reads this: `sphinx-build -W -b html docs build/docs` (extra `docs`)."""

project = "fixer"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "fixer"
html_show_copyright = False
myst_heading_anchors = 3
