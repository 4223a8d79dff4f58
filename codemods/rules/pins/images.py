"""Container images by the Python that they bring, as their makers publish them.

https://hub.docker.com/_/python, https://circleci.com/developer/images/image/cimg/python,
https://github.com/pytorch/pytorch/releases (1.13 was the first image on Python 3.10),
https://docs.nvidia.com/deeplearning/frameworks/pytorch-release-notes, https://docs.anaconda.com/miniconda/release-notes
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = frozenset(["", "-slim", *(f"{slim}-{name}" for slim in ("", "-slim") for name in ("buster", "bullseye"))])
"""Variants that there are for Python 3.10 as for those before it."""
_PYTHON = re.compile(
    r"(?P<name>(?:(?:docker\.io/)?(?:library/)?|cimg/)python:)(?P<version>3\.\d+)(?:\.\d+)?(?P<rest>[\w.-]*)"
)
_UV = re.compile(r"(?P<name>ghcr\.io/astral-sh/uv:python)(?P<version>3\.\d+)(?P<rest>-[\w-]+)")
_BUILT = (
    (
        re.compile(r"(?:docker\.io/)?pytorch/pytorch:(?:0|1\.(?:\d|1[0-2])(?!\d))[\w.-]*"),
        "a tag of 2.x, such as `pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime`",
    ),
    (re.compile(r"nvcr\.io/nvidia/pytorch:(?:1\d|2[0-2])\.\d\d[\w.-]*"), "`nvcr.io/nvidia/pytorch:24.01-py3` or later"),
    (re.compile(r"(?:continuumio|condaforge)/mini(?:conda|forge)3:v?4\.[\w.-]*"), "one of 2023 or later"),
    (
        re.compile(r"continuumio/anaconda3:(?:20(?:18|19|20|21|22)\.|5\.)[\w.-]*"),
        "`continuumio/anaconda3:2023.03` or later",
    ),
    (re.compile(r"circleci/python:3\.\d(?!\d)[\w.-]*"), "`cimg/python:3.10`"),
)
_SYSTEM = re.compile(
    r"(?:(?:docker\.io/)?(?:library/)?ubuntu:|nvidia/cuda[\w.-]*:[\w.-]*ubuntu)(?P<release>18\.04|20\.04)"
)
_OF_SYSTEM = {"18.04": (3, 6), "20.04": (3, 8)}


@dataclass(frozen=True)
class Image:
    """The Python of an image (a newest one where only that is known), and what to take instead: an image of the same
    kind, where `renewed` has a `{}` for the release, else words."""

    python: tuple[int, int]
    renewed: str | None
    advice: str = ""


def image(name: str, *, by_system: bool = False) -> Image | None:
    """What is known of an image; with `by_system` the Python that its system installs counts."""
    if match := _PYTHON.fullmatch(name) or _UV.fullmatch(name):
        major, minor = map(int, match["version"].split("."))
        plain = match["rest"] in _PLAIN or match.re is _UV
        renewed = f"{match['name']}{{}}{match['rest']}" if plain else None
        return Image((major, minor), renewed, "an image of the same kind with Python {}")
    for pattern, advice in _BUILT:
        if pattern.fullmatch(name):
            return Image((3, 9), None, advice)
    if by_system and (match := _SYSTEM.fullmatch(name)):
        return Image(_OF_SYSTEM[match["release"]], None, "ubuntu22.04 or later, or a Python of its own")
    return None
