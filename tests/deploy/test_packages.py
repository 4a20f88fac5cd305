"""What is released: archives for pip, a Debian package, man pages, completion in shells, systemd units."""

import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from nbspam import __version__
from nbspam.cli.commands import COMMANDS
from tests.deploy.recipes import ROOT, read_until
from tests.programs import needs, needs_root, what_lacks_for_core

pytestmark = pytest.mark.timeout(900)  # builds and installs
SYSTEM = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
MAN = [sys.executable, ROOT / "docs/man_pages.py"]
APT = ("apt-get", "-qq", "-y", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends")
NO_CORE = what_lacks_for_core()
# To compile fast: what the core needs is compiled once for all tests, and nothing is optimised.
CARGO = {
    "CARGO_TARGET_DIR": str(ROOT / "core/target/tests"),
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
}
TABLES = [*(ROOT / "nbspam/tables").glob("*.txt")]
BIN = Path(sys.executable).parent
READY = {  # the file that a shell reads, and a prompt for it
    "bash": (".bashrc", "PS1=READY"),
    "zsh": (".zshrc", "PS1=READY"),
    "fish": (".config/fish/config.fish", "function fish_prompt; echo READY; end"),
}


def run(*command: str | Path, folder: Path | None = None, **more: str) -> str:
    """The output of a command that succeeds; nothing of the environment of the tests but a home."""
    done = subprocess.run(command, cwd=folder, env=SYSTEM | more, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def learns_and_judges(program: Path, folder: Path) -> None:
    model, messages = folder / "model.nbspam", [ROOT / "data/ham/0001.eml", ROOT / "data/spam/0002.eml"]
    assert run(program, "--version").startswith(f"nbspam {__version__}\nreader: ")
    run(program, "train", "-q", ROOT / "data", "-m", model)
    verdicts = run(program, "classify", "-m", model, *messages)
    assert re.findall("^[a-z]+", verdicts, re.MULTILINE) == ["ham", "spam"]


def build_archives(source: Path, folder: Path, can_build: bool = False, **more: str) -> dict[str, Path]:
    """The source archive, and the wheel that is built from it.  can_build : no other tools are needed"""
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | more
    command = [sys.executable, "-m", "build", *["--no-isolation"] * can_build, "--outdir", folder, source]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return {"sdist": sdist, "wheel": wheel}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_archives(ROOT, tmp_path_factory.mktemp("dist"))


def list_tables(archive: Path) -> set[str]:
    """The names of the tables of words in a source archive or wheel."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            names = wheel.namelist()
    else:
        with tarfile.open(archive) as sdist:
            names = [member.name for member in sdist if member.isfile()]
    return {Path(name).name for name in names if Path(name).match("nbspam*/tables/*.txt")}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment without packages."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin"


def install(programs: Path, *what: str | Path) -> None:
    pip = [programs / "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, *what], check=True, timeout=600)


def test_archives_have_the_tables_of_words(archives: dict[str, Path]) -> None:
    tables = {path.name for path in TABLES}
    assert [list_tables(archive) for archive in archives.values()] == [tables, tables]


def test_archives_install_into_an_empty_environment(
    archives: dict[str, Path], empty: Path, tmp_path: Path
) -> None:
    install(empty, archives["wheel"])
    learns_and_judges(empty / "nbspam", tmp_path)
    install(empty, "--force-reinstall", "--no-deps", archives["sdist"])
    assert run(empty / "nbspam", "--version").startswith(f"nbspam {__version__}\nreader: ")
    assert list(empty.parent.glob("lib/*/site-packages/nbspam/py.typed"))


@pytest.mark.slow
@pytest.mark.skipif(bool(NO_CORE), reason=NO_CORE)
def test_core_is_built_from_its_source_archive_and_reads(
    archives: dict[str, Path], empty: Path, tmp_path: Path
) -> None:
    more = CARGO | {"PATH": f"{BIN}:{os.environ['PATH']}"}  # maturin may be installed here
    core = build_archives(ROOT / "core", tmp_path / "dist", (BIN / "maturin").exists(), **more)
    assert core["sdist"].name == f"nbspam_core-{__version__}.tar.gz"
    assert core["wheel"].name.startswith(f"nbspam_core-{__version__}-cp311-abi3-")
    assert list_tables(core["sdist"]) == {path.name for path in (ROOT / "core/tables").iterdir()}
    install(empty, archives["wheel"], core["wheel"])
    version = run(empty / "nbspam", "--version", NBSPAM_CORE="require")
    assert version == f"nbspam {__version__}\nreader: compiled core {__version__}\n"
    learns_and_judges(empty / "nbspam", tmp_path)


def test_changelogs_and_citation_have_this_version_and_nothing_newer() -> None:
    for path, first in (
        ("CHANGELOG.md", f"## {__version__}"),
        ("debian/changelog", f"nbspam ({__version__})"),
        ("CITATION.cff", f"version: {__version__}"),
    ):
        text = (ROOT / path).read_text("utf-8")
        headings = re.findall(r"^(?:## .*|nbspam \(.*?\)|version: .*)", text, re.MULTILINE)
        released = [heading for heading in headings if heading != "## Unreleased"]
        assert released[0].startswith(first), path


def test_every_command_has_a_man_page_with_its_options(tmp_path: Path) -> None:
    subprocess.run([*MAN, tmp_path], check=True)
    assert {f"nbspam-{name}.1" for name in COMMANDS} < {path.name for path in tmp_path.iterdir()}
    page = (tmp_path / "nbspam-classify.1").read_text("utf-8")
    assert ".SH NAME\nnbspam\\-classify \\- Classify messages as ham or spam\n" in page
    assert ".TP\n.B \\-p, \\-\\-passthrough\n" in page
    assert ".SH EXAMPLES\n.nf\n    nbspam classify message.eml\n" in page
    assert ".SH EXIT STATUS\n0 done; with \\-\\-exit\\-code 0 spam" in page
    if not shutil.which("man"):
        pytest.skip("man is not installed")
    for path in tmp_path.iterdir():
        done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True, env=SYSTEM)
        assert (done.returncode, done.stderr) == (0, ""), path


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in READY])
def test_command_of_the_manual_makes_a_shell_complete(shell: str, installed: Path, tmp_path: Path) -> None:
    environment = SYSTEM | {"HOME": str(tmp_path), "TERM": "xterm"}
    environment["PATH"] = f"{installed.parent}:{SYSTEM['PATH']}"
    (tmp_path / ".config/fish/completions").mkdir(parents=True)  # as fish does when it first starts
    manual = (ROOT / "docs/install.md").read_text("utf-8")
    (line,) = re.findall(rf"^    (.*_NBSPAM_COMPLETE={shell}_source nbspam.*)", manual, re.MULTILINE)
    subprocess.run(["sh", "-ec", line], env=environment, check=True)
    settings, prompt = READY[shell]
    with (tmp_path / settings).open("a") as file:
        file.write(f"\n{prompt}\n")
    (tmp_path / "my.nbspam").write_bytes(b"no model\n")
    terminal, screen = pty.openpty()
    command = ["setsid", "--ctty", shell, "-i"]  # fish insists on a terminal of its own
    running = subprocess.Popen(
        command, stdin=screen, stdout=screen, stderr=screen, env=environment, cwd=tmp_path
    )
    try:
        read_until(terminal, lambda shown: b"READY" in shown)
        os.write(terminal, b"nbspam unlea\t--hel\t\r")
        read_until(terminal, lambda shown: b"Usage: nbspam unlearn [OPTIONS]" in shown)
        os.write(terminal, b"nbspam model check -m my\t\r")
        read_until(terminal, lambda shown: b"nbspam: my.nbspam: " in shown)
    finally:
        running.kill()
        running.wait()
        os.close(terminal)
        os.close(screen)


def build_package(source: Path, **more: str) -> None:
    """Build nbspam and, if that is possible, nbspam-core."""
    command = ["dpkg-buildpackage", "-us", "-uc"]
    if NO_CORE:
        run(*command, folder=source, **more)
        return
    cargo = Path(shutil.which("cargo") or "")
    more["PATH"] = f"{SYSTEM['PATH']}:{cargo.parent}"
    more["CARGO_HOME"] = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
    more["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
    # -d: this cargo may not be of Debian
    run(*command, "-d", "--build-profiles=pkg.nbspam.core", folder=source, **more, **CARGO)


@pytest.mark.debian
@needs_root("installs a Debian package")
@needs("dpkg-buildpackage", "dh_python3", "lintian")
@pytest.mark.skipif(Path("/usr/bin/nbspam").exists(), reason="the package nbspam is in use here")
def test_debian_package_is_clean_and_works(archives: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(archives["sdist"]) as archive:
        archive.extractall(tmp_path)  # our own; Debian 12 has no filters yet
    source = tmp_path / f"nbspam-{__version__}"
    run("dpkg-checkbuilddeps", folder=source)
    build_package(source, HOME=str(tmp_path))
    (changes,) = tmp_path.glob("*.changes")
    assert run("lintian", "--allow-root", "--fail-on", "warning", changes) == ""
    packages = sorted(tmp_path.glob("*.deb"))
    assert len(packages) == (1 if NO_CORE else 2)
    try:
        run(*APT, "install", *packages)
        program = Path("/usr/bin/nbspam")
        reader = "Python" if NO_CORE else f"compiled core {__version__}"
        assert f"\nreader: {reader}" in run(program, "--version")
        assert program.read_text().startswith("#!/usr/bin/python3\n")
        learns_and_judges(program, tmp_path)
        tables = Path("/usr/lib/python3/dist-packages/nbspam/tables")
        assert {path.name for path in tables.glob("*.txt")} == {path.name for path in TABLES}
        system, user = Path("/lib/systemd/system"), Path("/usr/lib/systemd/user")
        assert all("[Unit]\n" in (folder / "nbspam-imap@.service").read_text() for folder in (system, user))
        if shutil.which("systemd-analyze"):
            run("systemd-analyze", "verify", system / "nbspam.service")
            run("systemd-analyze", "verify", system / "nbspam-imap@.service")
            run(
                "systemd-analyze",
                "--user",
                "verify",
                user / "nbspam-learn.timer",
                XDG_RUNTIME_DIR=str(tmp_path),
            )
        for folder in ("bash-completion/completions/nbspam", "zsh/vendor-completions/_nbspam"):
            assert "_NBSPAM_COMPLETE" in Path("/usr/share", folder).read_text()
    finally:
        run(*APT, "purge", "nbspam", *([] if NO_CORE else ["nbspam-core"]))
