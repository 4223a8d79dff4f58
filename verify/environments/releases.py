"""The Lightning releases that a baseline can be chosen from, and what each needs to be installed today.

Versions and what installs: the package index, read 2026-10 with pip 26 and uv 0.13 on Python 3.11 and torch
2.13; dates: the release notes.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

NEVER: frozenset[str] = frozenset({"2.6.2", "2.6.3"})


@dataclass(frozen=True)
class ReleaseLine:
    """One minor release: its newest patch and the oldest patch that still installs.

    `needs` are further requirements, `together` those of the `lightning` distribution alone, `overrides` replace
    what the metadata asks for. `any_installer` is False where only uv accepts the metadata.
    """

    name: str
    newest: int
    oldest: int
    released: str
    any_installer: bool
    needs: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    def version(self, patch: int) -> Version:
        """The release with this patch number."""
        return Version(f"{self.name}.{patch}")

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every final release of this minor, oldest first, without those that must never be installed."""
        numbers = (self.version(patch) for patch in range(self.newest + 1))
        return tuple(version for version in numbers if str(version) not in NEVER)


_RESOURCES = ("setuptools<82",)
_OWN_METRICS = ("setuptools<82", "torchmetrics<0.5.1")
"""Lightning's own metrics, which it had up to 1.4, take names of torchmetrics that 0.6 no longer has; 0.5.1 does not
load where nothing has loaded `tqdm.auto` before."""
_OLD_METRICS = ("setuptools<82", "torchmetrics<0.12")

MINORS: tuple[ReleaseLine, ...] = (
    ReleaseLine("1.4", 9, 9, "2021-09-30", True, _OWN_METRICS),
    ReleaseLine("1.5", 10, 10, "2022-02-08", False, _OLD_METRICS, ("setuptools<82",)),
    ReleaseLine("1.6", 5, 5, "2022-07-13", False, _OLD_METRICS),
    ReleaseLine("1.7", 7, 7, "2022-09-22", False, _OLD_METRICS),
    ReleaseLine("1.8", 6, 4, "2022-12-21", True, _RESOURCES),
    ReleaseLine("1.9", 5, 0, "2023-04-12", True, _RESOURCES, together=("lightning-cloud<0.5.65", "pydantic<2")),
    ReleaseLine("2.0", 9, 0, "2023-09-14", True, _RESOURCES),
    ReleaseLine("2.1", 4, 0, "2024-02-01", True, _RESOURCES),
    ReleaseLine("2.2", 5, 0, "2024-05-22", True, _RESOURCES),
    ReleaseLine("2.3", 3, 0, "2024-07-08", True, _RESOURCES),
    ReleaseLine("2.4", 0, 0, "2024-08-07", True),
    ReleaseLine("2.5", 6, 0, "2025-11-05", True),
    ReleaseLine("2.6", 6, 0, "2026-09-30", True),
)


def minor_of(version: Version) -> ReleaseLine | None:
    """The row of the table that a release belongs to."""
    name = f"{version.major}.{version.minor}"
    return next((minor for minor in MINORS if minor.name == name), None)
