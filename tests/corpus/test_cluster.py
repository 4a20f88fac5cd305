"""A cluster: a real scheduler and two worker processes give the same integers as one process, or no model."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from nbspam.corpus import cluster
from nbspam.corpus.labelled import open_labelled
from nbspam.errors import TryAgainError
from nbspam.settings import Settings
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from tests.conftest import ROOT
from tests.tiny_mail import counts, error, run

pytest.importorskip("distributed", reason="Dask is not installed: the extra nbspam[dask]")
pytestmark = pytest.mark.slow

HERE = ["--host", "127.0.0.1", "--no-dashboard"]
SCHEDULER = ["-m", "distributed.cli.dask_scheduler", *HERE]
WORKER = ["-m", "distributed.cli.dask_worker", *HERE, "--no-nanny", "--nthreads", "1"]
# As a scheduler of another version answers.
OLD_SCHEDULER = """
import distributed.versions as versions
versions.version = lambda package: "2020.1.0"
from distributed.cli.dask_scheduler import main
main()
"""


class Place(NamedTuple):
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


# A worker looks so long for another one that was killed; by default half a minute, some times over.
FAST = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}


@contextmanager
def started(folder: Path, n_workers: int, scheduler: list[str] = SCHEDULER) -> Iterator[Place]:
    """A scheduler with some workers, until the context ends."""
    with ExitStack() as stack:

        def start(*arguments: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / "log").open("ab"))
            process = subprocess.Popen(
                [sys.executable, *arguments], stdout=log, stderr=log, cwd=folder, env=os.environ | FAST
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        first = start(*scheduler, "--port", "0", "--scheduler-file", "file.json")
        workers = [start(*WORKER, "--scheduler-file", "file.json") for _ in range(n_workers)]
        from distributed import Client

        deadline = time.monotonic() + 60
        while not (folder / "file.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with Client(scheduler_file=str(folder / "file.json"), timeout=30) as client:
            client.wait_for_workers(n_workers, timeout=60) if n_workers else None
            address = client.scheduler.address
        yield Place(address, first, workers)


@pytest.fixture(scope="module")
def bucket(data: Path) -> Iterator[str]:
    """The URL of data/ on an S3 server of this machine; in the environment is how to reach it."""
    pytest.importorskip("s3fs", reason="s3fs is not installed: the extra nbspam[dask]")
    server_of = pytest.importorskip("moto.server", reason="moto, an S3 server for tests, is not installed")
    import fsspec

    server = server_of.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        system = fsspec.filesystem("s3")
        system.mkdir("mail")
        for path in sorted(data.glob("*/*.eml"))[::4]:
            system.pipe_file(f"mail/data/{path.parent.name}/{path.name}", path.read_bytes())
        yield "s3://mail/data"
    server.stop()


@pytest.fixture(scope="module")
def two(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Two workers, which can reach the bucket."""
    with started(tmp_path_factory.mktemp("cluster"), 2) as workers:
        yield workers


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of 20 files: their counts are merged in several steps."""
    monkeypatch.setattr(cluster, "TASK_FILES", 20)


def test_program_counts_on_a_cluster_as_alone(two: Place, data: Path, tmp_path: Path) -> None:
    alone, there = tmp_path / "alone", tmp_path / "there"
    run("train", data, "-m", alone, "-q")
    run("train", "--scheduler", two.address, data, "-m", there, "-q")
    assert counts(there) == counts(alone)


def test_program_starts_a_cluster_of_its_own(data: Path, tmp_path: Path) -> None:
    """Its worker processes import the script that people start."""
    command = [sys.executable, ROOT / "bin/nbspam", "train", data, "--local-cluster", "1"]
    done = subprocess.run([*command, "-m", tmp_path / "there"], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-3].startswith("Trained on 246 messages (133 ham, 113 spam); ")
    run("train", data, "-m", tmp_path / "alone", "-q")
    assert counts(tmp_path / "there") == counts(tmp_path / "alone")


def test_mail_at_a_url_counts_as_its_files(
    two: Place, bucket: str, data: Path, tmp_path: Path, small_tasks: None
) -> None:
    models = [tmp_path / name for name in ("files", "url", "there")]
    paths = sorted(data.glob("*/*.eml"))[::4]
    run("train", *[word for path in paths for word in (f"--{path.parent.name}", path)], "-m", models[0], "-q")
    run("train", bucket, "-m", models[1], "-q")
    run("train", "--scheduler", two.address, bucket, "-m", models[2], "-q")
    assert counts(models[0]) == counts(models[1]) == counts(models[2])


@pytest.mark.parametrize("options", [["--features", "both"], ["--vocab", "words"]])
def test_bins_and_vocabularies_count_the_same(
    two: Place, bucket: str, tmp_path: Path, small_tasks: None, options: list[str]
) -> None:
    words = tmp_path / "words"
    run("vocab", "build", bucket, "--size", 300, "-o", words, "-q")
    options = [str(words) if one == "words" else one for one in options]
    run("train", *options, bucket, "-m", tmp_path / "alone", "-q")
    run("train", *options, "--scheduler", two.address, bucket, "-m", tmp_path / "there", "-q")
    assert counts(tmp_path / "there") == counts(tmp_path / "alone")


@pytest.mark.parametrize(
    ("lost", "n_workers", "why"),
    [("worker", 2, ""), ("worker", 1, "no worker is left"), ("scheduler", 1, "the scheduler")],
)
def test_killed_processes_change_nothing_or_end_the_run(
    lost: str,
    n_workers: int,
    why: str,
    data: Path,
    tmp_path: Path,
    small_tasks: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 1)
    monkeypatch.setattr(cluster, "STALLED_SECONDS", 25)
    source, seen, model = open_labelled([str(data)]), [], tmp_path / "there"
    ending = pytest.raises(TryAgainError, match=f"{why}.*; nothing is written") if why else nullcontext()
    with started(tmp_path, n_workers) as place, ending, cluster.open_cluster(place.address, 0) as there:

        def kill(messages: int) -> None:
            if not seen:
                (place.scheduler if lost == "scheduler" else place.workers[0]).kill()
            seen.append(messages)

        def train() -> None:
            train_model(source.files(), source.classes, str(model), Plan(Settings()), there, kill)

        try:
            train()
        except TryAgainError as error:
            if why or "no worker has had a result" not in error.why:
                raise
            assert not model.exists()
            train()  # the next step that the error names
    assert model.exists() == (not why)
    if not why:
        assert len(seen) > 10
        run("train", data, "-m", tmp_path / "alone", "-q")
        assert counts(model) == counts(tmp_path / "alone")


@pytest.mark.parametrize(
    ("asked", "status", "slug"),
    [
        ("--scheduler tcp://127.0.0.1:9", 66, "scheduler"),
        ("--scheduler tcp://127.0.0.1:9 --jobs 2", 64, "usage"),
        ("s3://no-such-bucket/mail", 66, "url-unreadable"),
        ("nosuch://place", 66, "url-unreadable"),
        ("s3://mail/empty", 66, "url-empty"),
    ],
)
def test_wrong_input_is_an_error_and_makes_no_model(
    bucket: str, data: Path, tmp_path: Path, asked: str, status: int, slug: str
) -> None:
    source = [data] if asked.startswith("--") else []
    with mock.patch.object(cluster, "CONNECT_SECONDS", 1):
        found = error("train", *source, *asked.split(), "-m", tmp_path / "model", status=status)
    assert f"[{slug}]" in found
    assert list(tmp_path.iterdir()) == []


def test_scheduler_of_another_version_or_without_workers_is_refused(data: Path, tmp_path: Path) -> None:
    for scheduler, workers, slug in (
        (SCHEDULER, 0, "no-workers"),
        (["-c", OLD_SCHEDULER, *HERE], 1, "cluster-version"),
    ):
        folder = tmp_path / slug
        folder.mkdir()
        with started(folder, workers, scheduler) as place:
            found = error("train", data, "--scheduler", place.address, "-m", tmp_path / "model", status=66)
        assert f"[{slug}]" in found
    assert not (tmp_path / "model").exists()


def test_worker_that_is_killed_while_it_starts_is_temporary_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **__: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", start)
    with pytest.raises(TryAgainError, match="a worker process does not start"), cluster.open_cluster("", 2):
        pass
