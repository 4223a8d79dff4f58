"""Packages whose code runs while they are built, and whenever the interpreter starts that they are installed in."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from verify.environments.building import EnvironmentPlan, build
from verify.environments.installer import STORE, Installer, find, pip_settings
from verify.environments.interpreters import inspect
from verify.environments.netrc import entries_for
from verify.environments.resolve import resolve
from verify.sandbox.containment import contain

CONFIGURED = """[global]
cert = /etc/cert.pem
extra-index-url =
    https://one/simple
    https://two/simple
index_url = https://main/simple
[install]
index-url = https://install/simple
[list]
index-url = https://list/simple
"""
SECRET = "a-token-of-the-user"
BACKEND = """
import os, pathlib, zipfile

def looked(place):
    try:
        return pathlib.Path(place).read_text()
    except OSError:
        return None

def tried(place):
    try:
        return pathlib.Path(place).write_text("planted")
    except OSError:
        return None

SEEN = {"environ": dict(os.environ), "read": looked(%(kept)r), "written": tried(%(planted)r)}
ALWAYS = %(always)r

def build_wheel(folder, config=None, metadata=None):
    with zipfile.ZipFile(os.path.join(folder, "spy-1.0-py3-none-any.whl"), "w") as archive:
        archive.writestr("spy.py", f"SEEN = {SEEN!r}")
        archive.writestr("spy.pth", ALWAYS)
        archive.writestr("spy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: spy\\nVersion: 1.0\\n")
        archive.writestr("spy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("spy-1.0.dist-info/RECORD", "")
    return "spy-1.0-py3-none-any.whl"

def build_sdist(folder, config=None):
    raise NotImplementedError
"""
ALWAYS = """
try:
    with open(%(ran)r, "a") as stream:
        stream.write(str(dict(os.environ)))
except OSError:
    pass
"""


class Place:
    """A folder with a package to install, and with what its code must not get at."""

    def __init__(self, folder: Path) -> None:
        self.index, self.cache, self.home = (folder / name for name in ("index", "cache", "user"))
        self.ran, self.kept, self.planted = (self.home / name for name in ("ran", "kept", "planted"))
        self.index.mkdir()
        self.home.mkdir()
        self.kept.write_text(SECRET)
        always = f"import os; exec({ALWAYS % {'ran': str(self.ran)}!r})"
        texts = {
            "PKG-INFO": "Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n",
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
            "backend.py": BACKEND % {"kept": str(self.kept), "planted": str(self.planted), "always": always},
        }
        with tarfile.open(self.index / "spy-1.0.tar.gz", "w:gz") as archive:
            for name, text in texts.items():
                told = tarfile.TarInfo(f"spy-1.0/{name}")
                told.size = len(text.encode())
                archive.addfile(told, io.BytesIO(text.encode()))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_SETTING", "UV_PUBLISH_TOKEN", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(found.index))
    monkeypatch.setenv("HOME", str(found.home))
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:1")
    return found


@pytest.fixture(params=["uv", "pip"])
def tools(request: pytest.FixtureRequest, place: Place) -> Installer:
    found = find(threading.Event())
    return found if request.param == "uv" else replace(found, uv=None)


def test_the_code_of_a_package_gets_at_nothing_of_the_users(place: Place, tools: Installer) -> None:
    (place.cache).mkdir()
    folder = place.cache / "environment"
    assert tools.create(folder, Path(sys.executable)) is None
    assert tools.install(folder, ["spy==1.0"]) is None
    seen = json.loads(tools.says(folder, "import json, spy; print(json.dumps(spy.SEEN))"))
    assert SECRET not in str(seen["environ"])
    assert seen["environ"]["HTTPS_PROXY"] == "http://proxy.invalid:1"
    assert seen["environ"]["HOME"] != str(place.home)
    assert tools.loads(folder, "spy")
    tools.remove(folder, "spy")
    assert not tools.loads(folder, "spy")
    assert not place.ran.exists() or SECRET not in place.ran.read_text()
    if tools.contained.level == "full":
        assert (seen["read"], seen["written"]) == (None, None)
        assert sorted(path.name for path in place.home.iterdir()) == ["kept"]


@pytest.mark.parametrize("uv", [True, False])
def test_where_nothing_may_be_built_no_code_of_a_package_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch, uv: bool
) -> None:
    monkeypatch.setenv("PIP_ONLY_BINARY", ":all:")
    found = find(threading.Event())
    tools = found if uv else replace(found, uv=None)
    place.cache.mkdir()
    assert tools.create(place.cache / "environment", Path(sys.executable)) is None
    wrong = tools.install(place.cache / "environment", ["spy==1.0"]) or ""
    assert "spy==1.0" in wrong and "build backend" not in wrong
    assert sorted(path.name for path in place.home.iterdir()) == ["kept"]


def test_an_environment_with_such_a_package_is_built_and_used_shut_in(place: Place, tools: Installer) -> None:
    plan = EnvironmentPlan(("spy==1.0", "spy==1.0"), (), ())
    for _ in range(2):
        found, left = build(plan, inspect(Path(sys.executable)), tools, place.cache, lambda text: None)
        assert (found.packages["spy"], left) == ("1.0", ())
    assert not place.ran.exists() or SECRET not in place.ran.read_text()
    if tools.contained.level == "full":
        assert sorted(path.name for path in place.home.iterdir()) == ["kept"]


def test_a_build_writes_to_no_finished_environment_and_to_no_file_of_ours(place: Place) -> None:
    tools = find(threading.Event())
    base = inspect(Path(sys.executable))
    first, _ = build(EnvironmentPlan(("spy==1.0", "spy==1.0"), (), ()), base, tools, place.cache, lambda text: None)
    folder = first.path.parent.parent
    lock = folder.with_name(f"{folder.name}.lock")
    assert lock.read_text() == ""
    code = f"""
import pathlib
for place in ({str(folder / "planted")!r}, {str(place.cache / "planted")!r}, {str(lock)!r}):
    try:
        pathlib.Path(place).write_text("planted")
    except OSError:
        pass
"""
    if tools.contained.level != "full":
        assert not os.environ.get("CI"), "this is to be seen in CI, with bubblewrap or a mount namespace"
        pytest.skip("this system gives us no mount namespace: builds run with the rights of the user")
    assert tools.fetch([sys.executable, "-c", code], place.cache / STORE) is None
    assert not (folder / "planted").exists()
    assert {path.name for path in place.cache.iterdir()} == {folder.name, lock.name, STORE}
    assert lock.read_text() == ""


def test_requirements_are_resolved_shut_in(place: Place) -> None:
    assert resolve(["spy"]).packages == (("spy", "1.0"),)
    if contain(place.home / "tried").level == "full":
        assert not place.planted.exists()


def test_what_an_environment_says_of_its_folders_lets_nobody_out(place: Place) -> None:
    tools = find(threading.Event())
    plan = EnvironmentPlan(("spy==1.0", "spy==1.0"), (), ())
    found, _ = build(plan, inspect(Path(sys.executable)), tools, place.cache, lambda text: None)
    packages = next(found.path.parent.parent.glob("[Ll]ib/**/site-packages"))
    (packages / "spy.pth").write_text(f"import sys; sys.prefix = {str(place.home)!r}\n{place.home}\n")
    (packages / "out").symlink_to(place.home)
    found, _ = build(plan, inspect(Path(sys.executable)), tools, place.cache, lambda text: None)
    assert str(packages) in found.folders
    assert str(place.home) not in found.folders


def test_an_installer_sees_the_users_passwords_for_its_own_servers_alone(place: Place) -> None:
    (place.home / ".netrc").write_text(
        "machine index.example login me password one\nmachine other login me password two\n"
    )
    assert (
        entries_for(["--default-index", "https://index.example/simple"])
        == "machine index.example login me password one\n"
    )
    assert entries_for(["/wheels", "http://[", "180"]) == ""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, with settings of pip in it."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, folder in (("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_CONFIG_DIRS", "machine")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    for place, text in (("config", CONFIGURED), (".pip", "[global]\nproxy = http://old\ncert = /old.pem\n")):
        (tmp_path / place / "pip").mkdir(parents=True)
        (tmp_path / place / ("pip" if place == "config" else "") / "pip.conf").write_text(text)
    return tmp_path


def test_settings_of_pip_are_read_with_its_precedence(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = pip_settings()
    assert settings["index-url"] == "https://install/simple"
    assert (settings["cert"], settings["proxy"]) == ("/etc/cert.pem", "http://old")
    monkeypatch.setenv("PIP_INDEX_URL", "https://environment/simple")
    assert pip_settings()["index-url"] == "https://environment/simple"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert "cert" not in pip_settings()


@pytest.mark.parametrize("named", ["", "named", "missing"])
def test_the_settings_are_those_that_pip_itself_finds(
    configured: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    (configured / "machine/pip").mkdir(parents=True)
    (configured / "machine/pip/pip.conf").write_text("[global]\ntimeout = 7\nproxy = http://machine\n")
    (configured / "named").write_text("[global]\n--retries = 3\nindex-url = https://named/simple\n")
    if named:
        monkeypatch.setenv("PIP_CONFIG_FILE", str(configured / named))
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        lines = [line.partition("=") for line in listed.stdout.splitlines() if line.startswith(f"{section}.")]
        found |= {name.removeprefix(f"{section}."): ast.literal_eval(value) for name, _, value in lines}
    assert found and pip_settings() == found


def test_what_users_ask_for_when_they_install_for_themselves_is_left(
    configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (configured / "config/pip/pip.conf").write_text("[install]\nuser = true\ntimeout = 7\n")
    given = {"PIP_TARGET": "t", "PIP_DRY_RUN": "1", "UV_REQUIRE_HASHES": "1", "UV_PYTHON": "3.13", "UV_INDEX": "mine"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = find(threading.Event()).environment
    assert {name for name in (*given, "PIP_USER", "PIP_TIMEOUT") if name in found} == {"UV_INDEX", "PIP_TIMEOUT"}


def test_places_are_told_as_the_user_means_them(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (configured / "wheels").mkdir()
    monkeypatch.chdir(configured)
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels ~/wheels ./none https://more/wheels")
    there = str(configured / "wheels")
    assert pip_settings()["find-links"] == f"{there} {there} ./none https://more/wheels"


def test_uv_is_handed_pips_settings(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels /more")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "inner")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    found = find(threading.Event())
    flags = " ".join(found.flags)
    assert "--index-strategy unsafe-best-match" in flags
    assert "--default-index https://install/simple" in flags
    assert "--find-links /wheels --find-links /more" in flags
    assert "--extra-index-url https://one/simple --extra-index-url https://two/simple" in flags
    assert "--allow-insecure-host inner" in flags
    assert "--no-index" not in flags
    assert found.environment["HTTPS_PROXY"] == found.environment["HTTP_PROXY"] == "http://old"
    assert found.environment["SSL_CERT_FILE"] == "/etc/cert.pem"
    assert found.environment["PIP_INDEX_URL"] == "https://install/simple"


def test_the_environment_of_pip_reaches_the_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/planted")
    monkeypatch.setenv("PIP_CERT", "/planted.pem")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    found = find(threading.Event())
    assert "/planted" in found.flags
    assert found.environment["SSL_CERT_FILE"] == "/planted.pem"


def test_installers_get_their_own_secrets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "UV_INDEX_MINE_PASSWORD", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "planted")
    found = {name for name, value in find(threading.Event()).environment.items() if value == "planted"}
    assert found == {"UV_INDEX_MINE_PASSWORD", "HTTPS_PROXY"}
