"""The server: where it is, how it is reached safely, what is said when it is not, and its tables (see
`tables.sql`), all in the schema `gardener`.

Its address comes from the user's environment alone (AIDER_GARDENER_DATABASE_URL, else libpq's own PG*
variables), never from a file of a repository. No password stands in any message.
"""

from __future__ import annotations

import hashlib
import importlib
import ipaddress
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import StoreError, UsageError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

VARIABLE = "AIDER_GARDENER_DATABASE_URL"
NAMING = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")
"""Any of these says that a server is meant; libpq knows the others."""
STATEMENT_SECONDS = 120
USUAL = {
    "connect_timeout": "10", "application_name": "aider-gardener",
    "keepalives_idle": "20", "keepalives_interval": "5", "keepalives_count": "4", "tcp_user_timeout": "40000",
}  # fmt: skip
"""What the address need not say. That the network was cut is noticed in a minute, and not in two hours."""
SCHEMES = ("postgresql://", "postgres://")
VERIFIED = "verify-full"
AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)
NO_ADDRESS = f"there is no server: set {VARIABLE}=postgresql://ROLE@HOST/DATABASE, or PGHOST and the like"
NOT_AN_ADDRESS = f"{VARIABLE} is no address of PostgreSQL; write postgresql://ROLE@HOST/DATABASE"
NO_ARCHIVE_ADDRESS = "an archive on a server is postgresql://ROLE@HOST/DATABASE#NAME"
NOT_INSTALLED = "PostgreSQL needs an extra: uv tool install '.[postgres]' in the checkout"
WEAK = "the connection to {host} is not verified (sslmode={mode}): whoever is on the way can read it"
AWAY = "{host} cannot be used now ({why}); nothing is lost, try again when it answers"
REFUSED = "{host} refuses this to {user}: {why}"
BROKEN = "{host} failed: {why}"
TABLES_VERSION = 1
LOCK = 0x41474431
"""The advisory lock under which the tables are made, and with an archive's number its lines written."""
LEAST_EXTENSION = (0, 8)
"""pgvector before 0.8 stops a search too early when rows are filtered."""
NO_EXTENSION = (
    "the server's pgvector is {found}, 0.8 is needed: install it there and let an administrator run CREATE"
    " EXTENSION vector, or ALTER EXTENSION vector UPDATE"
)
MAY_NOT_MAKE = (
    "{role} may not make the gardener's tables in this database: let its owner run `gardener store share"
    " --prepare`, and an administrator CREATE EXTENSION vector"
)
NOT_PREPARED = "nothing is shared on this server yet: `gardener store share` begins"
OTHER_VERSION = "the server's tables are of another aider-gardener (version {found}, this one has {own})"
SECRET = re.compile(
    r"(?i)(://[^:/@\s]*:)[^@\s]*@|((?:password|passfile|sslpassword)\s*=\s*)('[^']*'|[^\s&]+)"
)


@dataclass(frozen=True)
class Address:
    """Where a server keeps an archive whole: how the server is reached, and the archive's name there."""

    url: str = field(repr=False)
    name: str = "archive"

    @classmethod
    def of(cls, text: str) -> Address:
        """The address in postgresql://ROLE@HOST/DATABASE#NAME. Raises UsageError for any other text."""
        url, _, name = text.partition("#")
        if not url.startswith(SCHEMES) or not name.isprintable():
            raise UsageError(NO_ARCHIVE_ADDRESS)
        return cls(url, name or cls.name)

    @property
    def environ(self) -> dict[str, str]:
        """The environment in which this is the server."""
        return {**os.environ, VARIABLE: self.url}

    def __str__(self) -> str:
        """Host and name, without role and password."""
        return f"postgresql://{host_of(self.environ)}#{self.name}"


class ServerError(StoreError):
    """The server cannot be used as it is; the message says what to do."""


def is_named(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name, "").strip() for name in (VARIABLE, *NAMING))


def named_as(environ: Mapping[str, str]) -> str:
    """How the environment names the server, as a digest: the same as long as it leads to the same place with
    the same care. Passwords do not count."""
    parts = [SECRET.sub(r"\1\2", environ.get(VARIABLE, ""))]
    for name in sorted(environ):
        if name.startswith(("PG", "SSL_CERT_")) and not name.startswith("PGPASS"):
            parts += [name, environ[name]]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def parameters(environ: Mapping[str, str]) -> dict[str, str]:
    """What the connection is made with, by libpq's names; TLS is verified unless another mode is written out.

    A socket or a loopback address needs none. Raises UsageError where no server is named, or badly.
    """
    in_address, asked = _asked(environ)
    found = USUAL | in_address
    if "sslmode" not in asked and not _is_here(asked):
        found["sslmode"] = VERIFIED
        if "sslrootcert" not in asked and not Path("~/.postgresql/root.crt").expanduser().exists():
            found["sslrootcert"] = _authorities(environ)
    return found


def _asked(environ: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the address says, and with it what libpq takes from the environment where that says nothing."""
    if not is_named(environ):
        raise UsageError(NO_ADDRESS)
    psycopg = _library()
    try:
        found = psycopg.conninfo.conninfo_to_dict(environ.get(VARIABLE, "").strip())
    except psycopg.Error:
        raise UsageError(NOT_AN_ADDRESS) from None
    in_address = {name: str(value) for name, value in found.items()}
    variables = ((each.keyword, each.envvar or b"") for each in psycopg.pq.Conninfo.get_defaults())
    given = {name.decode(): environ.get(variable.decode(), "") for name, variable in variables}
    return in_address, {name: value for name, value in given.items() if value} | in_address


def _authorities(environ: Mapping[str, str]) -> str:
    """The file of the authorities that this system trusts, else libpq's word for what OpenSSL finds: that in
    psycopg's wheels looks into a folder that no system has."""
    named = environ.get("SSL_CERT_FILE", "")
    places = [named] if named else AUTHORITIES
    return next((place for place in places if Path(place).is_file()), "system")


def warning(environ: Mapping[str, str]) -> str:
    """One line where the address asks for less than verified TLS on the way to another machine, else ""."""
    _, asked = _asked(environ)
    mode = asked.get("sslmode", VERIFIED)
    is_safe = mode == VERIFIED or _is_here(asked)
    return "" if is_safe else WEAK.format(host=host_of(environ), mode=mode)


def host_of(environ: Mapping[str, str]) -> str:
    """The server as it is named in messages: without role or password."""
    try:
        return ", ".join(filter(None, _hosts(_asked(environ)[1]))) or "the server of this machine"
    except UsageError:
        return "the server"


@contextmanager
def connected(environ: Mapping[str, str] = os.environ, *, seconds: int = 0) -> Iterator[Connection]:
    """A connection for one piece of work; nothing is open afterwards.

    Each `with connection.transaction()` in it is a transaction; what stands outside is none. With `seconds`,
    at least 2, connecting takes at most so long at each of the server's addresses, and each statement. Raises
    UsageError or ServerError; errors of the server's within the context come out so too.
    """
    given = parameters(environ) | ({"connect_timeout": str(seconds)} if seconds else {})
    psycopg = _library()
    try:
        found: Connection = psycopg.connect(**given, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise explained(error, environ) from None
    try:
        found.execute(f"SET statement_timeout = '{seconds or STATEMENT_SECONDS}s'")
        found.execute("SET search_path = pg_catalog")
        yield found
    except psycopg.Error as error:
        raise explained(error, environ) from None
    finally:
        found.close()


def explained(error: psycopg.Error, environ: Mapping[str, str]) -> ServerError:
    """One line for an error of the driver's: what happened, what to do, and no password."""
    psycopg, asked = _library(), _asked(environ)[1]
    template = BROKEN
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        template = REFUSED
    elif isinstance(error, psycopg.OperationalError):
        template = AWAY
    why = scrubbed(error.diag.message_primary or str(error), asked.get("password", ""))
    return ServerError(template.format(host=host_of(environ), user=asked.get("user", "this role"), why=why))


def scrubbed(text: str, password: str = "") -> str:
    """A text in one line without passwords, whether they are known or stand where one does."""
    line = SECRET.sub(lambda found: f"{found[1] or found[2]}***{'@' if found[1] else ''}", text)
    line = line.replace(password, "***") if password else line
    return " ".join(line.split()) or "no reason given"


def _hosts(asked: Mapping[str, str]) -> list[str]:
    """Where the connection goes, "" being a socket of this machine."""
    hosts = asked.get("hostaddr") or asked.get("host")
    if not hosts and "service" in asked:
        return [f"service {asked['service']}"]
    return [each.strip() for each in (hosts or "").split(",")]


def _is_here(asked: Mapping[str, str]) -> bool:
    return all(host in ("", "localhost") or host[0] in "/@" or _is_loopback(host) for host in _hosts(asked))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _library() -> Any:
    """psycopg. Raises UsageError that says how to install it."""
    try:
        psycopg = importlib.import_module("psycopg")
        importlib.import_module("psycopg.conninfo")
        return psycopg
    except ImportError as error:
        raise UsageError(NOT_INSTALLED) from error


def check(connection: Connection) -> str:
    """Which server this is, by a random name that its tables were given. Raises ServerError unless its tables
    are there, of this version, and pgvector is."""
    if _one(connection, "SELECT to_regclass('gardener.about')") is None:
        raise ServerError(NOT_PREPARED)
    row = connection.execute("SELECT version, server FROM gardener.about").fetchone() or (0, "")
    if row[0] != TABLES_VERSION:
        raise ServerError(OTHER_VERSION.format(found=row[0], own=TABLES_VERSION))
    _extension(connection)
    return str(row[1])


def prepare(connection: Connection) -> str:
    """Make the tables if there are none, all or nothing; then as `check`. Raises ServerError."""
    role = str(_one(connection, "SELECT session_user"))
    psycopg = _library()
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if _one(connection, "SELECT to_regclass('gardener.about')") is None:
                _make(connection)
    except psycopg.errors.InsufficientPrivilege:
        raise ServerError(MAY_NOT_MAKE.format(role=role)) from None
    return check(connection)


def _make(connection: Connection) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    tables = files(__package__).joinpath("tables.sql").read_text("utf-8")
    for name, value in (("space", _extension(connection)), ("lock", str(LOCK))):
        tables = tables.replace("{" + name + "}", value)
    connection.execute(tables.encode())
    connection.execute("INSERT INTO gardener.about VALUES (%s, %s)", (uuid.uuid4().hex, TABLES_VERSION))


def _extension(connection: Connection) -> str:
    """The schema that pgvector lies in, quoted. Raises ServerError where it is missing or too old."""
    row = connection.execute(
        """SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e
           JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    ).fetchone()
    space, version = row or ("", "missing")
    if row is None or tuple(int(part) for part in str(version).split(".")[:2]) < LEAST_EXTENSION:
        raise ServerError(NO_EXTENSION.format(found=version))
    return str(space)


def _one(connection: Connection, sql: str) -> object:
    row = connection.execute(sql.encode()).fetchone()
    return None if row is None else row[0]
