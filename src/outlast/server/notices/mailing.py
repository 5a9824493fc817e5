"""The mail server that an admin named, and its password, which stays out of settings, database and logs."""

from __future__ import annotations

import contextlib
import os
import smtplib
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from outlast.errors import CredentialError, UsageError
from outlast.keeper.home import Home
from outlast.keeper.secrets import SecretsFile
from outlast.server.notices.outcome import Departing, Undelivered
from outlast.settings import Settings
from outlast.store.keyrings import open_keyring

PASSWORD = "OUTLAST_SMTP_PASSWORD"
_ENTRY = "smtp"
#: scheme → its usual port
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
_HINT = "outlast config set smtp 'smtp://robot@mail.lab:587?from=robot@lab.org'"


@dataclass(frozen=True)
class MailServer:
    """`smtp://` turns TLS on before anything is said, `smtps://` begins with it, `smtp+plain://` has none."""

    scheme: str
    host: str
    port: int
    user: str
    sender: str

    @classmethod
    def parse(cls, address: str) -> MailServer:
        """The setting `smtp`; `UsageError` without repeating it."""
        try:
            parts = urlsplit(address)
            port = parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            parts, port = urlsplit(""), 0
        user = unquote(parts.username or "")
        sender = parse_qs(parts.query).get("from", [user])[0]
        if parts.scheme not in _PORTS or not parts.hostname or not port:
            raise UsageError("the setting smtp is not the address of a mail server", hint=_HINT)
        if parts.password:
            raise UsageError(
                "the setting smtp holds a password", hint="leave it out; keep it with: outlast notify password"
            )
        if sender.count("@") != 1 or not sender.isprintable() or " " in sender:
            raise UsageError("the setting smtp does not say from whom mail comes", hint=_HINT)
        if parts.scheme == "smtp+plain" and user:
            raise UsageError("smtp+plain:// would send the password unencrypted", hint="use smtp:// or smtps://")
        return cls(parts.scheme, parts.hostname, port, user, sender)


class Mailbox:
    """Sends mail through the server of the setting `smtp`."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ

    @property
    def server(self) -> MailServer:
        if not self._settings.smtp:
            raise UsageError("no mail server is set", hint=_HINT)
        return MailServer.parse(self._settings.smtp)

    @property
    def sender(self) -> str:
        return self.server.sender

    def send(self, mail: EmailMessage, timeout_s: float, departing: Departing) -> bool:
        """Hand a mail over, or raise `Undelivered`; False when `departing` kept it back.

        Whatever fails before the text went out may be tried again.
        """
        departed = False
        try:
            session = self._open(self.server, timeout_s)
            try:
                session.ehlo_or_helo_if_needed()
                _accept("the sender", session.mail(self.sender)[0])
                _accept("the receiver", session.rcpt(str(mail["To"]))[0])
                departed = departing()
                if not departed:
                    return False
                code, _ = session.data(mail.as_bytes())
                departed = False  # it has answered: nothing is unsure any more
                _accept("the text", code)
                return True
            finally:
                _leave(session)
        except smtplib.SMTPAuthenticationError as error:
            raise Undelivered(f"the mail server refused the password: {error.smtp_code}", retryable=False) from None
        except smtplib.SMTPResponseException as error:
            raise Undelivered(f"the mail server answered {error.smtp_code}", retryable=error.smtp_code < 500) from None
        except UnicodeEncodeError:
            raise Undelivered("the password has letters that mail servers do not take", retryable=False) from None
        except CredentialError as error:
            raise Undelivered(error.message, hint=error.hint) from None
        except (OSError, smtplib.SMTPException) as error:
            raise Undelivered(f"the mail server cannot be used: {_reason(error)}", unsure=departed) from None

    def _open(self, server: MailServer, timeout_s: float) -> smtplib.SMTP:
        context = ssl.create_default_context()
        own = socket.gethostname()  # smtplib would ask the name service for more, for as long as that takes
        if server.scheme == "smtps":
            session: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, own, timeout=timeout_s, context=context)
        else:
            session = smtplib.SMTP(server.host, server.port, own, timeout=timeout_s)
        try:
            if server.scheme == "smtp":
                session.starttls(context=context)  # raises where the server has none: never silently without
            if server.user:
                session.login(server.user, find_password(self._settings.home, self._environ))
        except BaseException:
            session.close()
            raise
        return session


def _accept(what: str, code: int) -> None:
    if code not in (250, 251, 252):
        raise Undelivered(f"the mail server refused {what}: {code}", retryable=code < 500)


def _leave(session: smtplib.SMTP) -> None:
    """Say goodbye; a mail that was taken stays taken, whatever happens now."""
    with contextlib.suppress(OSError, smtplib.SMTPException):
        session.quit()
    session.close()


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return "it offers no encryption, or no way to sign in"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return "timed out" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or type(error).__name__


def find_password(home: Path, environ: Mapping[str, str]) -> str:
    """From the environment, the keyring, or the home's private file; `CredentialError` when none has it."""
    if environ.get(PASSWORD):
        return environ[PASSWORD]
    kept = SecretsFile(Home(home)).named().get(PASSWORD)
    if kept is not None:
        return kept
    keyring = open_keyring(home)
    try:
        if keyring is not None:
            return keyring.read(_ENTRY)["password"]
    except (CredentialError, KeyError):
        pass  # said below, with what to do about it
    raise CredentialError("the password of the mail server is not known", hint="keep it with: outlast notify password")


def keep_password(home: Path, password: str) -> str:
    """Keep it in the keyring where there is one, else in the home's private file; says which."""
    file = SecretsFile(Home(home))
    keyring = open_keyring(home)
    if keyring is not None and keyring.save(_ENTRY, {"password": password}):
        file.forget_named(PASSWORD)
        return "keyring"
    file.save_named(PASSWORD, password)
    return "file"
