"""The addresses of the project in its metadata, which hatchling asks for at each build: those of the repository that
PROJECT_HOME names, as the release does, which knows where it is; else none."""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """Fills in `[project.urls]`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Takes the metadata of the project, and sets their `urls`."""
        home = os.environ.get("PROJECT_HOME", "").rstrip("/")
        pages = {"Source": home, "Issues": f"{home}/issues", "Changelog": f"{home}/blob/HEAD/CHANGELOG.md"}
        metadata["urls"] = pages if home else {}
