"""Which distribution to install for an imported package, where the names differ."""

from __future__ import annotations

from packaging.utils import canonicalize_name

DISTRIBUTIONS: dict[str, str] = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "git": "gitpython",
    "hydra": "hydra-core",
    "jsonargparse": "jsonargparse[signatures]",
    "Levenshtein": "levenshtein",
    "mpl_toolkits": "matplotlib",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "pl_bolts": "lightning-bolts",
    "pkg_resources": "setuptools",
    "ruamel": "ruamel.yaml",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "torch_geometric": "torch-geometric",
    "umap": "umap-learn",
    "yaml": "pyyaml",
}


def distribution(package: str) -> str:
    """The distribution that brings a top-level package."""
    return DISTRIBUTIONS.get(package) or canonicalize_name(package)
