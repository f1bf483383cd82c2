"""TLS before a server that has none: authorities and certificates for tests, and what ends TLS at a port of its
own. The PostgreSQL of the wheel is built without OpenSSL."""

from __future__ import annotations

import selectors
import socket
import ssl
import struct
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ASKED_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""The first eight bytes of a client that asks for TLS."""
CHUNK = 1 << 16


@dataclass
class Authority:
    """A certificate authority of a test's; `file` is its certificate."""

    file: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def issue(self, folder: Path, host: str, *, days: int = 1) -> Path:
        """A file with a key and a certificate for a host; with negative `days` one that ran out."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        built = _builder(host, self.certificate.subject, key, days).add_extension(names, critical=False)
        file = folder / f"{host}.{self.file.stem}.{days}.pem"
        file.write_bytes(_private(key) + _public(built.sign(self.key, hashes.SHA256())))
        return file


def authority(folder: Path, name: str) -> Authority:
    """A new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    built = _builder(name, subject, key, 2).add_extension(x509.BasicConstraints(True, 0), critical=True)
    certificate = built.sign(key, hashes.SHA256())
    file = folder / f"{name}.pem"
    file.write_bytes(_public(certificate))
    return Authority(file, key, certificate)


def _builder(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=10))
        .not_valid_after(now + timedelta(days=days))
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _public(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


class Front:
    """A port of this machine that ends TLS and passes on to a server. `versions`: of TLS, one for each client
    that was let in; `passed`: how many bytes of clients were passed on."""

    def __init__(self, certificate: Path, port_behind: int) -> None:
        self.versions: list[str] = []
        self.passed = 0
        self._behind = port_behind
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            client.settimeout(10)
            try:
                if client.recv(8, socket.MSG_WAITALL) != ASKED_FOR_TLS:
                    return
                client.sendall(b"S")
                with (
                    self._context.wrap_socket(client, server_side=True) as safe,
                    socket.create_connection(("127.0.0.1", self._behind)) as behind,
                ):
                    self.versions.append(safe.version() or "")
                    self._pipe(safe, behind)
            except OSError:  # a client that does not trust the certificate goes away
                return

    def _pipe(self, safe: ssl.SSLSocket, behind: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (safe, behind):
                selector.register(each, selectors.EVENT_READ)
            while True:
                for ready, _ in selector.select():
                    if ready.fileobj is behind:
                        data = behind.recv(CHUNK)
                        safe.sendall(data)
                    else:
                        data = safe.recv(CHUNK)
                        while safe.pending():
                            data += safe.recv(CHUNK)
                        self.passed += len(data)
                        behind.sendall(data)
                    if not data:
                        return
