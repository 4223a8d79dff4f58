from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from verify.environments import Plan, Unavailable, Wanted, build, inspect, needs, pins_in, target
from verify.installer import Installer, find, parse_settings, uv_flags

LISTED = r"""
global.cert='/etc/cert.pem'
global.extra-index-url='https://one/simple\nhttps://two/simple'
global.index-url='https://main/simple'
install.index-url='https://install/simple'
:env:.find-links='/wheels /more'
broken line
global.no-index=
"""


def test_settings_of_pip_are_read_with_its_precedence() -> None:
    settings = parse_settings(LISTED)
    assert settings["index-url"] == "https://install/simple"
    assert settings["cert"] == "/etc/cert.pem"
    assert "no-index" not in settings


def test_uv_is_handed_pips_settings() -> None:
    flags = " ".join(uv_flags(parse_settings(LISTED)))
    assert "--index-strategy unsafe-best-match" in flags
    assert "--default-index https://install/simple" in flags
    assert "--find-links /wheels --find-links /more" in flags
    assert "--extra-index-url https://one/simple --extra-index-url https://two/simple" in flags


def test_the_environment_of_pip_reaches_the_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/planted")
    monkeypatch.setenv("PIP_CERT", "/planted.pem")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    found = find(threading.Event())
    assert "/planted" in found.flags
    assert found.environment["SSL_CERT_FILE"] == "/planted.pem"


def test_imports_become_distributions() -> None:
    found = needs({"sklearn", "cv2", "yaml", "PIL", "torch", "my_package", "verify"}, {"TensorBoardLogger"})
    assert found == {
        "scikit-learn", "opencv-python-headless", "pyyaml", "pillow", "my-package", "numpy",
        "tensorboard", "tensorboardx",
    }  # fmt: skip


def test_requirement_files_are_read_and_what_is_no_requirement_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r other.txt\nnumpy==1.26.4  # why\n\ntorch>=1\n")
    assert pins_in(tmp_path) == ("numpy==1.26.4", "torch>=1")


def test_an_interpreter_says_what_it_is_and_what_is_none_is_named() -> None:
    found = inspect(Path(sys.executable))
    assert found.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert "packaging" in found.packages
    with pytest.raises(Unavailable, match="does not run"):
        inspect(Path("/nowhere/python"))


def test_what_fixer_runs_in_serves_as_target(tmp_path: Path) -> None:
    wanted = Wanted("pytorch-lightning", frozenset({"numpy"}))
    ready = target(wanted, "2.6.6", None, find(threading.Event()), tmp_path, lambda text: None)
    assert ready.interpreter.path == Path(sys.executable)
    assert dict(ready.environment.packages)["pytorch-lightning"] == "2.6.6"


def test_a_given_interpreter_with_another_lightning_is_refused(tmp_path: Path) -> None:
    wanted = Wanted("pytorch-lightning", frozenset())
    with pytest.raises(Unavailable, match=r"-m pip install pytorch-lightning==2\.5\.6"):
        target(wanted, "2.5.6", inspect(Path(sys.executable)), find(threading.Event()), tmp_path, lambda text: None)


@pytest.mark.parametrize("uv", [True, False])
def test_two_at_once_build_one_environment_that_the_next_finds(tmp_path: Path, uv: bool) -> None:
    found = find(threading.Event())
    tools = found if uv else replace(found, uv=None)
    plan = Plan(("idna", "six==1.17.0"), (), ("packaging==0.0.1",))
    told: list[str] = []
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(build, plan, Path(sys.executable), tools, tmp_path, told.append) for _ in range(2)]
        results = [job.result() for job in jobs]
    assert told == ["building an environment with six==1.17.0"]
    assert results[0] == results[1] == build(plan, Path(sys.executable), tools, tmp_path, told.append)
    assert results[0][0].packages["six"] == "1.17.0"
    assert "packaging" in results[0][0].packages


def test_without_an_index_the_reason_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    found = find(threading.Event())
    dark = Installer(
        found.uv,
        (*found.flags[:2], "--no-index", "--offline"),
        {**found.environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
        found.stop,
    )
    plan = Plan(("torch==0.0.1", "pytorch-lightning==9.9.9"), (), ())
    with pytest.raises(Unavailable, match=r"pytorch-lightning==9\.9\.9 cannot be installed"):
        build(plan, Path(sys.executable), dark, tmp_path / "cache", lambda text: None)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]
