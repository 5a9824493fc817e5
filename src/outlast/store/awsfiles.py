"""Keys and endpoints that the AWS tools keep in `~/.aws`, so that a user of those need not log in again."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path

from outlast.errors import CredentialError
from outlast.inside.stores.access import Access


def read_aws_files(environ: Mapping[str, str]) -> Access | None:
    """The access of the section `AWS_PROFILE` (or `default`), or None when it holds no keys."""
    home = Path(environ.get("HOME") or "~").expanduser()
    credentials = _parse(_place(environ, "AWS_SHARED_CREDENTIALS_FILE", home / ".aws" / "credentials"))
    config = _parse(_place(environ, "AWS_CONFIG_FILE", home / ".aws" / "config"))
    name = aws_section(environ)
    found = {**_section(config, name if name == "default" else f"profile {name}"), **_section(credentials, name)}
    key, secret = found.get("aws_access_key_id", ""), found.get("aws_secret_access_key", "")
    if not key or not secret:
        return None
    own = _nested(found.get("s3", ""))
    services = _section(config, f"services {found['services']}") if "services" in found else {}
    endpoint = _nested(services.get("s3", "")).get("endpoint_url") or own.get("endpoint_url")
    style = own.get("addressing_style", "auto")
    return Access(
        kind="s3",
        endpoint=endpoint or found.get("endpoint_url", ""),
        region=found.get("region", ""),
        key=key,
        secret=secret,
        token=found.get("aws_session_token", ""),
        path_style={"path": True, "virtual": False}.get(style),
        ca_file=found.get("ca_bundle", ""),
    )


def aws_section(environ: Mapping[str, str]) -> str:
    """The section that the AWS tools would read."""
    return environ.get("AWS_PROFILE") or "default"


def _place(environ: Mapping[str, str], variable: str, usual: Path) -> Path:
    return Path(environ[variable]).expanduser() if environ.get(variable) else usual


def _parse(path: Path) -> configparser.RawConfigParser:
    # An empty name for the defaults: `[default]` is a section like any other here.
    parser = configparser.RawConfigParser(default_section="", strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (OSError, configparser.Error, UnicodeDecodeError):
        # Not the parser's words: they quote the line, and it may hold a secret.
        raise CredentialError(
            f"{path} cannot be read as a file of the AWS tools", hint="mend it, or log in with: outlast login s3"
        ) from None
    return parser


def _section(parser: configparser.RawConfigParser, name: str) -> dict[str, str]:
    return dict(parser.items(name)) if parser.has_section(name) else {}


def _nested(text: str) -> dict[str, str]:
    """The indented lines below a name, as in `s3 =` followed by `  addressing_style = path`."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
