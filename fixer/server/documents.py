"""The documents that an editor has open, and what they are as files."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

from codemods.code.source import BOM
from fixer.files import SourceKind


@dataclass(frozen=True)
class Document:
    """A document as the editor has it: `path` is where its file lies, or will lie."""

    uri: str
    path: Path
    text: str
    version: int | None


def as_bytes(text: str, kind: SourceKind, on_disk: bytes | None) -> bytes:
    """What is in the file once a document is saved: in the encoding that Python code names, with the byte order mark
    that the file has, which editors do not show."""
    data = text.encode("utf-8", "replace")
    encoding = _encoding(data) if kind == "python" else "utf-8"
    if encoding.startswith("utf-8"):
        return (BOM if on_disk and on_disk.startswith(BOM) and not data.startswith(BOM) else b"") + data
    return text.encode(encoding, "replace")


def as_text(data: bytes, kind: SourceKind) -> str:
    """The text of a file as an editor shows it. Raises UnicodeDecodeError."""
    encoding = _encoding(data) if kind == "python" else "utf-8"
    return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except (SyntaxError, UnicodeDecodeError):
        return "utf-8"
