"""Which distribution to install for an imported package, where the names differ."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

DISTRIBUTIONS: dict[str, str] = {
    "absl": "absl-py",
    "attr": "attrs",
    "Bio": "biopython",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "ffmpeg": "ffmpeg-python",
    "fitz": "pymupdf",
    "gin": "gin-config",
    "git": "gitpython",
    "grpc": "grpcio",
    "haiku": "dm-haiku",
    "hydra": "hydra-core",
    "imblearn": "imbalanced-learn",
    "jsonargparse": "jsonargparse[signatures]",
    "jwt": "pyjwt",
    "Levenshtein": "levenshtein",
    "mpl_toolkits": "matplotlib",
    "open_clip": "open-clip-torch",
    "OpenSSL": "pyopenssl",
    "ot": "pot",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pl_bolts": "lightning-bolts",
    "progressbar": "progressbar2",
    "pyro": "pyro-ppl",
    "pywt": "pywavelets",
    "ruamel": "ruamel.yaml",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skmisc": "scikit-misc",
    "slugify": "python-slugify",
    "torch_geometric": "torch-geometric",
    "torchnlp": "pytorch-nlp",
    "tree": "dm-tree",
    "umap": "umap-learn",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
AMBIGUOUS = frozenset({
    "clip", "common", "config", "configs", "core", "data", "dataset", "engine", "evaluation", "experiment", "helper",
    "helpers", "layers", "lib", "libs", "logger", "loss", "losses", "main", "metric", "metrics", "model", "models",
    "modules", "net", "nets", "network", "networks", "ops", "opt", "options", "preprocess", "runner", "scripts",
    "solver", "src", "test", "tests", "tool", "tools", "train", "trainer", "trainers", "transform", "transforms",
    "util", "utils", "vis", "visualization", "visualize",
})  # fmt: skip
"""Names that many projects give their own files: the package of that name on an index is another one."""


def distribution(package: str) -> str | None:
    """The distribution that brings a top-level package; None where none can have such a name (`_C`)."""
    if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", package, re.ASCII):
        return None
    return DISTRIBUTIONS.get(package) or canonicalize_name(package)


def modules_of(name: str) -> list[str]:
    """The top-level packages that are known by another name than their distribution."""
    return [
        package for package, brought_by in DISTRIBUTIONS.items() if canonicalize_name(brought_by.split("[")[0]) == name
    ]
