"""Which distributions are asked for: those that a requirement, an address, the table or the user names."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from verify.environments.distributions import TABLE, distribution, names_of
from verify.environments.local_packages import local_packages
from verify.environments.manifests import manifests_in
from verify.environments.naming import KnownDistributions, NamedPackages, named, said
from verify.environments.origins import origins
from verify.evidence import Evidence
from verify.judging.advice import advice
from verify.reading.sources import Sources


def asked(root: Path, *packages: str, names: tuple[str, ...] = (), added: tuple[str, ...] = ()) -> NamedPackages:
    return named(packages, names, KnownDistributions(manifests_in(root), local_packages(Sources(root)), added))


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)


def test_imports_become_distributions(tmp_path: Path) -> None:
    found = asked(tmp_path, "sklearn", "cv2", "yaml", "PIL", "torch", "verify", names=("TensorBoardLogger",))
    assert found.packages == {
        "scikit-learn", "opencv-python-headless", "pyyaml", "pillow", "numpy", "tensorboard", "tensorboardx",
    }  # fmt: skip
    optional = asked(tmp_path, names=("LightningCLI", "RichProgressBar"))
    assert optional.packages == {"jsonargparse[signatures]", "rich", "numpy"}
    assert asked(tmp_path, "_C", "_ext", "name_", "größe", "timm") == NamedPackages(frozenset({"timm", "numpy"}))
    assert asked(tmp_path, "torchnlp", "pyro").packages == {"pytorch-nlp", "pyro-ppl", "numpy"}


def test_what_a_package_loads_when_it_is_used_is_asked_for_where_a_requirement_names_it(tmp_path: Path) -> None:
    assert asked(tmp_path, "transformers", "pandas").packages == {"transformers", "pandas", "numpy"}
    write(tmp_path, requirements__txt="transformers\nsentencepiece==0.1.96\nxlrd\nzarr\n")
    found = asked(tmp_path, "transformers", "pandas").packages
    assert found == {"transformers", "pandas", "numpy", "sentencepiece", "xlrd"}


def test_tokenizers_of_sentencepiece_are_asked_for_where_code_names_one(tmp_path: Path) -> None:
    assert asked(tmp_path, "transformers", names=("T5Tokenizer",)).packages == {
        "transformers",
        "numpy",
        "sentencepiece",
    }
    assert asked(tmp_path, "transformers", names=("T5TokenizerFast",)).packages == {"transformers", "numpy"}
    assert asked(tmp_path, names=("T5Tokenizer",)).packages == {"numpy"}


def test_an_import_that_nothing_names_is_asked_for_nowhere_and_told(tmp_path: Path) -> None:
    found = asked(tmp_path, "DCN", "commons", "utils", "timm")
    assert found.packages == {"timm", "numpy"}
    assert said(found.left) == (
        "; imported, and not asked for on any index: DCN, commons (no manifest names it), "
        "utils (projects give this name to files of their own)"
    )
    assert said({}) == ""
    write(tmp_path, requirements__txt="dcn==0.1\n")
    assert "dcn" in asked(tmp_path, "DCN").packages


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", "git+https://host/o/DCN.git\n"),
        ("requirements.txt", "-e git+https://host/o/thing@main#egg=dcn\n"),
        ("requirements.txt", "-r more.txt\n"),
        ("setup.py", "from setuptools import setup\nsetup(extras_require={'x': ['dcn @ git+https://host/o/DCN.git']})"),
        ("pyproject.toml", "[tool.poetry.group.gpu.dependencies]\ndcn = {git = 'https://host/o/DCN.git'}\n"),
        ("pyproject.toml", "[project]\ndependencies = ['dcn']\n[tool.uv.sources]\ndcn = {git = 'https://host/o/DCN'}\n"),
        ("Pipfile", "[packages]\ndcn = {git = 'https://host/o/DCN.git', ref = 'v1'}\n"),
        ("poetry.lock", "[[package]]\nname = 'dcn'\nversion = '1.0'\n[package.source]\ntype = 'git'\n"
                        "url = 'https://host/o/DCN.git'\nresolved_reference = 'abc'\n"),
        ("uv.lock", "[[package]]\nname = 'dcn'\nversion = '1.0'\nsource = {git = 'https://host/o/DCN?rev=a#abc'}\n"),
        ("environment.yml", "dependencies:\n  - pip:\n    - git+https://host/o/DCN.git\n"),
    ],
)  # fmt: skip
def test_what_a_manifest_takes_from_an_address_is_asked_for_on_no_index(tmp_path: Path, file: str, text: str) -> None:
    """Not where another file pins it either."""
    write(
        tmp_path, **{"more__txt": "git+https://host/o/DCN.git\n", "setup__cfg": "[options]\ninstall_requires = dcn\n"}
    )
    (tmp_path / file).write_text(text)
    found = asked(tmp_path, "DCN", added=()).packages
    assert [line for line in found if line.startswith("dcn @ git+https://host/o/")] == [*(found - {"numpy"})]
    assert origins(manifests_in(tmp_path), {})[0].barred(["other"]).count("dcn") == 1
    assert origins(manifests_in(tmp_path), {}, ["dcn==1"])[0].barred([]) in ([], ["thing"])


@pytest.mark.parametrize(
    "line",
    [
        "git+ssh://git@host/o/DCN.git", "git@host:o/DCN.git", "dcn @ https://host/dcn-1.0.tar.gz", "./libs/dcn",
        "https://host/dcn-1.0-py3-none-any.whl", "dcn @ file:///home/o/thing", "-e ./dcn", "hg+https://host/o/dcn",
        "https://github.com/o/DCN/archive/refs/heads/main.zip", "git+https://user:secret@host/o/other\ngit+file:///x/dcn",
    ],
)  # fmt: skip
def test_addresses_that_are_not_installed_from_are_left_out_and_told(tmp_path: Path, line: str) -> None:
    write(tmp_path, requirements__txt=f"{line}\ntimm\n")
    found = asked(tmp_path, "DCN", "timm")
    assert found.packages == {"timm", "numpy"}
    assert "requirements.txt takes it from" in found.left["DCN"]
    assert "secret" not in said(found.left)


def test_what_the_environment_itself_needs_comes_from_an_index(tmp_path: Path) -> None:
    place = "https://download.pytorch.org/whl/cu113"
    write(tmp_path, requirements__txt=f"torch @ {place}/torch-1.12.0-cp39-linux_x86_64.whl\n"
                                      f"torchvision @ {place}/torchvision-0.13.0-cp39-linux_x86_64.whl\n")  # fmt: skip
    assert asked(tmp_path, "torch", "torchvision").packages == {"torchvision", "numpy"}
    assert origins(manifests_in(tmp_path), {})[0].barred([]) == []


def test_an_address_brings_what_has_its_name_before_what_has_words_of_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        requirements__txt="git+https://h/o/torch-fidelity.git\ngit+https://h/o/open_clip.git\n"
        "git+https://h/o/CLIP.git\ngit+https://h/o/fork-of-it.git#egg=numpy-extra\ngit+https://h/p/long-words-of-it@v1\n"
        "git+https://h/p/DCNv2_latest\ngit+https://h/p/pandas-profiling\nlosses==2\n",
    )
    found = asked(tmp_path, "torch", "clip", "numpy_extra", "long_of_it", "DCN", "losses", "tools", "pandas")
    assert found.packages == {
        "clip @ git+https://h/o/CLIP.git", "numpy-extra @ git+https://h/o/fork-of-it.git", "numpy", "losses", "pandas",
        "long-of-it @ git+https://h/p/long-words-of-it@v1", "dcn @ git+https://h/p/DCNv2_latest",
    }  # fmt: skip
    assert set(found.left) == {"tools"}


def test_packages_that_the_project_brings_along_are_not_fetched(tmp_path: Path) -> None:
    for package in ("third_party/timm", "lib", "lib/pandas"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    write(
        tmp_path,
        __gitmodules='[submodule "ext/DCN"]\n\tpath = ext/DCN\n\turl = https://host/o/einops.git\n',
        setup__py="from setuptools import setup\nsetup(name='Kornia', version='1')\n",
    )
    found = asked(tmp_path, "timm", "DCN", "einops", "kornia", "pandas")
    assert found.packages == {"numpy", "pandas"}
    assert found.left["timm"] == "is in the project, in third_party/timm"
    assert "git submodule of the project (ext/DCN)" in found.left["DCN"] == found.left["einops"]
    assert found.left["kornia"] == "is the project's own distribution"
    write(tmp_path, requirements__txt="timm\n")
    assert "timm" in asked(tmp_path, "timm").packages


def test_manifests_name_what_the_table_does_not_know(tmp_path: Path) -> None:
    write(tmp_path, requirements__txt="corp-network-tools\njwt\nscikit-learn-extra\nclip-it\n")
    found = asked(tmp_path, "network_tools", "jwt", "sklearn", "clip", "learn")
    assert found.packages == {"corp-network-tools", "jwt", "scikit-learn", "numpy", "scikit-learn-extra"}
    assert set(found.left) == {"clip"}


def test_what_conda_brings_is_asked_for_where_the_table_has_it_alone(tmp_path: Path) -> None:
    write(tmp_path, environment__yml="dependencies:\n  - pandas=1.4\n  - corp::dcn=0.1\n  - pip:\n    - rare==1\n")
    found = asked(tmp_path, "pandas", "dcn", "rare")
    assert found.packages == {"pandas", "rare", "numpy"}
    assert found.left["dcn"].startswith("conda brings it")


def test_extras_that_a_manifest_asks_for_come_along(tmp_path: Path) -> None:
    write(tmp_path, requirements__txt="ray[tune,default]>=1.0\nOwn-Thing[gpu]\npyyaml\n")
    found = asked(tmp_path, "ray", "own_thing", "yaml").packages
    assert found == {"ray[default,tune]", "own-thing[gpu]", "pyyaml", "numpy"}


def test_the_user_names_what_nobody_else_does(tmp_path: Path) -> None:
    write(tmp_path, requirements__txt="git+https://host/o/dcn.git\n")
    found = asked(tmp_path, "dcn", "clip", added=("dcn[x]==2", "clip @ git+https://host/o/CLIP.git"))
    assert found == NamedPackages(frozenset({"dcn[x]", "clip @ git+https://host/o/CLIP.git", "numpy"}))


def test_each_line_of_the_table_has_a_source_and_none_is_a_name_of_files() -> None:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) > 600
    assert [row["import"] for row in rows] == sorted(
        {row["import"] for row in rows}, key=lambda one: (one.lower(), one)
    )
    assert all(row["source"].startswith("https://") and row["distribution"] for row in rows)
    for stranger in ("apex", "clip", "detectron2", "utils", "models", "commons", "DCN"):
        assert distribution(stranger) is None
    assert names_of("PIL") == {"pillow", "pil"} and names_of("_C") == frozenset()


def test_advice_tells_what_was_left_out_from_what_did_not_install_and_what_has_no_such_module(tmp_path: Path) -> None:
    def told(module: str, left: dict[str, str] | None = None, **installed: str) -> str:
        reason = f"ModuleNotFoundError: No module named '{module}' at a.py:1"
        tried = [Evidence("g", (), None, "inconclusive", reason)]
        facts = advice(tried, Sources(tmp_path), left or {}, {"torch": "2.13.0", **installed})
        return "\n".join(fact.text for fact in facts)

    assert "DCN was not installed: no manifest names it; name the distribution" in told(
        "DCN", {"DCN": "no manifest names it"}
    )
    assert "packages = [...]" in told("strange")
    assert "torchtext 0.18.0 is installed and has no module torchtext.legacy" in told(
        "torchtext.legacy", torchtext="0.18.0"
    )
    assert "could not be installed" not in told("dcn.core", dcn="1.0")
    unnamed = told("spacy")
    assert "a package that does not bring it" in unnamed and '`packages = ["spacy"]`' in unnamed
    (tmp_path / "a.py").write_text("import spacy\n")
    assert "spacy could not be installed here" in told("spacy")
    (tmp_path / "a.py").write_text("")
    write(tmp_path, requirements__txt="spacy==2.3.5\n")
    assert "spacy could not be installed here" in told("spacy")
    assert told("pytorch_lightning.utilities.cli") == told("data.an4") == ""
