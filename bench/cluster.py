"""CPU seconds of each process of a training on a cluster: the figures of docs/scale.md.

python -m bench.cluster SOURCE [WORKERS]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DASK = [sys.executable, "-m"]


def measure_cpu(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_peak(process: int) -> float:
    """The most memory that a process had."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def main(source: str, n_workers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = (Path(folder) / "log").open("ab")
        file = str(Path(folder) / "scheduler.json")
        common = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]

        def start(module: str, *more: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen([*DASK, module, *common, *more], stdout=log, stderr=log, cwd=folder)

        processes = {"scheduler": start("distributed.cli.dask_scheduler", "--port", "0")}
        for number in range(n_workers):
            processes[f"worker {number}"] = start(
                "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1"
            )
        try:
            from distributed import Client

            while not Path(file).exists():
                time.sleep(0.1)
            with Client(scheduler_file=file) as client:
                client.wait_for_workers(n_workers)
                address = client.scheduler.address
            before = {name: measure_cpu(one.pid) for name, one in processes.items()}
            started = time.monotonic()
            model = str(Path(folder) / "model")
            command = [sys.executable, "-m", "nbspam", "train", "--scheduler", address, "-m", model, source]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds = time.monotonic() - started
            print(done.stderr.strip().splitlines()[-2])
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"elapsed {seconds:.1f} s; client {usage.ru_utime + usage.ru_stime:.1f} s", end="")
            print(f", {usage.ru_maxrss / 1000:.0f} MB")
            for name, one in processes.items():
                used = measure_cpu(one.pid) - before[name]
                print(f"{name} {used:.1f} s, {measure_peak(one.pid):.0f} MB")
        finally:
            for one in processes.values():
                one.kill()
                one.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2)
