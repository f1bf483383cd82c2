"""Replays in processes forked off one that has loaded the host already: loading it takes longer than a short replay.

`WarmWorker` takes the place of the `Popen` of a replay's worker. All else is as outside of tests: the worker's
code, its environment, its pipe and its end.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

LOADED = (
    "aider.coders",
    "litellm",
    "aider_gardener.replay.play.runner",
    "aider_gardener.adapters.aider.install",
)
ONE_AT_A_TIME = threading.Lock()


class WarmWorker:
    """A worker's process, with what `run_worker` asks of it."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], stderr: IO[bytes], **_given: Any
    ) -> None:
        environ_file = Path(command[-1]).with_name("environ.json")
        environ_file.write_text(json.dumps(dict(env)), encoding="utf-8")
        (out, its_out), (status, its_status) = os.pipe(), os.pipe()
        with ONE_AT_A_TIME:
            request = json.dumps([command[-1], str(environ_file)]).encode()
            socket.send_fds(server(), [request], [its_out, stderr.fileno(), its_status])
            os.close(its_out)
            os.close(its_status)
            self.stdout = os.fdopen(out, encoding="utf-8", errors="replace")
            self.status = os.fdopen(status, encoding="utf-8")
            self.pid = int(self.status.readline())
        self.returncode: int | None = None

    def wait(self) -> None:
        self.returncode = int(self.status.readline() or -9)
        self.status.close()

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        os.kill(self.pid, 9)


START_WARM = SimpleNamespace(Popen=WarmWorker, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
"""What the module of jobs finds as `subprocess`."""


@functools.cache
def server() -> socket.socket:
    """The way to the process that is forked: begun with the first replay, at its end when this process ends."""
    from aider_gardener.replay.play.sandbox import environment

    ours, its = socket.socketpair()
    home = Path(tempfile.mkdtemp(prefix="gardener-warm-", dir=Path.home()))
    paths = os.pathsep.join(
        filter(None, [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH")])
    )
    subprocess.Popen(
        [sys.executable, __file__, str(its.fileno())],
        env={**environment(home, os.environ), "PYTHONPATH": paths},
        pass_fds=[its.fileno()],
        stdin=subprocess.DEVNULL,
    )
    its.close()
    return ours


def serve(requests: socket.socket) -> None:
    """Fork a worker for every request, until nobody can ask any more."""
    for name in LOADED:
        importlib.import_module(name)
    from litellm import token_counter

    from aider_gardener.replay.play import worker

    token_counter(model="gpt-4o", text="the tokenizer is loaded now")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, files, _flags, _sender = socket.recv_fds(requests, 65_536, 3)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            work(worker.main, *json.loads(request), *files)
        for file in files:
            os.close(file)


def work(main: Any, job_file: str, environ_file: str, out: int, err: int, status: int) -> None:
    """Be the worker of a job, to the end of this process."""
    os.write(status, b"%d\n" % os.getpid())
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.environ.clear()
    os.environ.update(json.loads(Path(environ_file).read_text("utf-8")))
    code = 1
    try:
        code = main([job_file])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os.write(status, b"%d\n" % code)
        os._exit(code)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of the tests
    serve(socket.socket(fileno=int(sys.argv[1])))
