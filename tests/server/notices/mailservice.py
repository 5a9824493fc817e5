"""A small mail server on loopback: STARTTLS, TLS from the first byte, or none; with or without a password."""

from __future__ import annotations

import base64
import contextlib
import datetime
import email
import email.policy
import ipaddress
import socketserver
import ssl
import threading
from contextlib import contextmanager


class MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, context=None, *, at_once=False, password=None, refuse=None, drop=False):
        super().__init__(("127.0.0.1", 0), _Session)
        self.context, self.at_once, self.password = context, at_once, password
        self.refuse = refuse or {}  # command → the answer instead of the usual one
        self.drop = drop  # hang up after the text, without a word
        self.mails = []
        self.signed_in = []

    @property
    def port(self):
        return self.server_address[1]


class _Session(socketserver.StreamRequestHandler):
    def setup(self):
        if self.server.at_once:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        self.request.close()

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        try:
            self.say("220 here")
            while line := self.rfile.readline():
                if not self.answer(line.decode().strip()):
                    return
        except (OSError, ssl.SSLError):
            return

    def answer(self, line):
        verb, _, rest = line.partition(" ")
        verb = verb.upper()
        if verb in self.server.refuse:
            self.say(self.server.refuse[verb])
        elif verb == "EHLO":
            encrypted = isinstance(self.request, ssl.SSLSocket)
            offers = ["here"]
            offers += ["STARTTLS"] if self.server.context and not encrypted else []
            offers += ["AUTH PLAIN"] if self.server.password and encrypted else []
            for offer in offers[:-1]:
                self.say(f"250-{offer}")
            self.say(f"250 {offers[-1]}")
        elif verb == "STARTTLS":
            self.say("220 go on")
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
            super().setup()
        elif verb == "AUTH":
            _, user, word = base64.b64decode(rest.split()[1]).decode().split("\0")
            if word == self.server.password:
                self.server.signed_in.append(user)
            self.say("235 welcome" if word == self.server.password else "535 no")
        elif verb == "DATA":
            self.say("354 speak")
            return self.take()
        elif verb == "QUIT":
            self.say("221 bye")
            return False
        else:
            self.say("250 fine")
        return True

    def take(self):
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line[1:] if line.startswith(b".") else line)
        if self.server.drop:
            return False
        self.server.mails.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))
        self.say("250 taken")
        return True


@contextmanager
def mail_server(*arguments, **words):
    server = MailServer(*arguments, **words)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def make_certificate(folder):
    """A certificate for 127.0.0.1 and localhost that signs itself; the file holds its key too."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context
