"""Where packages come from, as the user has set it for pip: handed on to uv, and into a sandbox without their home."""

from __future__ import annotations

import configparser
import os
from typing import Dict, List, Mapping

# pip's option -> uv's variable. uv reads none of pip's files, and pip's variables neither.
_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
}
_READ = (*_TO_UV, "no-index")
_UV_SAYS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONFIG_FILE")


def package_sources(environ: Mapping[str, str], prefix: str = "") -> Dict[str, str]:
    """Variables for pip and for uv that name the same package indexes as the user's pip settings.

    Settings made for uv itself win: then uv's variables are left alone.
    """
    options = _pip_options(environ, prefix)
    found = {"PIP_" + name.upper().replace("-", "_"): value for name, value in options.items()}
    if not any(environ.get(name) for name in _UV_SAYS):
        for name, value in ((name, value) for name, value in options.items() if name in _TO_UV):
            found[_TO_UV[name]] = value if name != "find-links" else ",".join(value.split())
        if "extra-index-url" in options:
            # pip takes the best version of all indexes, uv by default the first index that knows the name.
            found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    uv_file = os.path.join(_config_folder(environ), "uv", "uv.toml")
    if not environ.get("UV_CONFIG_FILE") and os.path.isfile(uv_file):
        found["UV_CONFIG_FILE"] = uv_file
    return found


def is_without_index(sources: Mapping[str, str]) -> bool:
    """Do the user's pip settings forbid every index? uv knows this as an argument only."""
    return sources.get("PIP_NO_INDEX", "").lower() in ("1", "true", "yes", "on")


def _pip_options(environ: Mapping[str, str], prefix: str) -> Dict[str, str]:
    """pip's own order: its files from the system's to the environment's, then its variables."""
    options: Dict[str, str] = {}
    for path in _pip_files(environ, prefix):
        options.update(_read(path))
    for name in _READ:
        value = environ.get("PIP_" + name.upper().replace("-", "_"))
        if value:
            options[name] = " ".join(value.split())
    return options


def _pip_files(environ: Mapping[str, str], prefix: str) -> List[str]:
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen:
        return [chosen]
    files = [
        "/etc/pip.conf",
        os.path.join(_home(environ), ".pip", "pip.conf"),
        os.path.join(_config_folder(environ), "pip", "pip.conf"),
    ]
    return [*files, os.path.join(prefix, "pip.conf")] if prefix else files


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _config_folder(environ: Mapping[str, str]) -> str:
    return environ.get("XDG_CONFIG_HOME") or os.path.join(_home(environ), ".config")


def _read(path: str) -> Dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, configparser.Error, UnicodeDecodeError):
        return {}
    found: Dict[str, str] = {}
    for section in ("global", "install"):
        if parser.has_section(section):
            for name, value in parser.items(section):
                option = name.replace("_", "-")
                if option in _READ:
                    found[option] = " ".join(value.split())
    return found
