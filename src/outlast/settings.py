"""What can be set for a whole home: one table, read once, passed down.

A value comes from the default, from `config.toml` in the home folder, or from the environment variable
`OUTLAST_<NAME>`; the later one wins, and `origins` remembers which it was.
"""

from __future__ import annotations

import dataclasses
import difflib
import getpass
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlast.errors import HomeError
from outlast.model.quantities import parse_duration

CONFIG_NAME = "config.toml"


@dataclass(frozen=True)
class Setting:
    """One row of the table. `default` is written as a user would write it."""

    name: str
    default: str
    sentence: str
    kind: str


SETTINGS: tuple[Setting, ...] = (
    Setting("home", "~/.outlast", "folder that keeps everything of this user", "path"),
    Setting("store", "", "address of the store for new runs; empty means the folder 'store' in the home", "address"),
    Setting("platform", "local", "where runs go when the request names no platform", "text"),
    Setting("user", "", "who is asking, for queues and lists; empty means the login name", "text"),
    Setting("grace_s", "10", "time between asking a script to stop and ending it", "duration"),
    Setting("min_limit_s", "1", "shortest time limit of a stint that is accepted", "duration"),
    Setting("silence_limit_s", "60", "a running stint without a sign of life for so long is lost", "duration"),
    Setting("launch_silence_s", "120", "a started stint that claims nothing for so long is lost", "duration"),
    Setting("no_progress_limit", "3", "stints in a row without a new checkpoint before a run gives up", "count"),
    Setting("backoff_s", "0,1,5,30,120,300", "waits before the next stint, by lost stints in a row", "durations"),
    Setting("refusal_wait_s", "10", "first wait before a platform that refused is asked again; it grows", "duration"),
    Setting("keeper_idle_s", "60", "the keeper exits when there was nothing to do for so long", "duration"),
    Setting("sandbox", "auto", "run scripts in bubblewrap: auto, on or off", "sandbox"),
    Setting("user_weights", "", "shares of the machine when it is full, like 'ann=2,bob=1'", "weights"),
    Setting("keep_last", "3", "checkpoints of each run that gc keeps", "count"),
    Setting("free_limit_s", "1h", "time limit of a job on a free flavor at the server's ModelArts door", "duration"),
    Setting("training_limit_s", "24h", "time limit of a training instance of a hub project", "duration"),
    Setting("database", "", "where accounts and the list of runs are kept; empty means files in the home", "database"),
    Setting("smtp", "", "mail server of notifications, like smtp://robot@mail.lab:587?from=robot@lab.org", "text"),
    Setting("notice_private", "off", "let notifications go to private networks and over http: on or off", "switch"),
    Setting("server", "", "address of an outlast server to work with; empty or 'local' means this home", "server"),
)

_BY_NAME = {setting.name: setting for setting in SETTINGS}


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("some text")
    return value.strip()


def _duration(value: str) -> float:
    try:
        return parse_duration(value)
    except ValueError:
        raise ValueError("a duration like 90s, 15m or 1h30m") from None


def _count(value: str) -> int:
    if not value.strip().isdigit() or int(value) < 1:
        raise ValueError("a whole number from 1")
    return int(value)


def _durations(value: str) -> tuple[float, ...]:
    try:
        return tuple(parse_duration(part) for part in value.split(","))
    except ValueError:
        raise ValueError("durations with commas between, like 0,1,5,30") from None


def _sandbox(value: str) -> str:
    if value not in ("auto", "on", "off"):
        raise ValueError("auto, on or off")
    return value


def _switch(value: str) -> bool:
    if value not in ("on", "off"):
        raise ValueError("on or off")
    return value == "on"


def _weights(value: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in value.split(","))):
        user, equals, weight = part.partition("=")
        try:
            weights[user.strip()] = float(weight)
        except ValueError:
            raise ValueError("users and weights like ann=2,bob=1") from None
        if not equals or not user.strip() or not 0 < weights[user.strip()] < float("inf"):
            raise ValueError("users and positive weights like ann=2,bob=1")
    return weights


def _address(value: str) -> str:
    if "://" in value:
        return value if value.startswith("file:") else value.rstrip("/")
    if value.startswith("/"):
        return Path(value).as_uri()
    raise ValueError("an address like file:///data/outlast or obs://bucket/prefix, or an absolute path")


def read_database(value: str) -> str:
    """A database's address as SQLAlchemy takes it; `HomeError` for what is none."""
    if value.startswith(("postgresql://", "postgres://")):
        return "postgresql+psycopg://" + value.partition("://")[2]
    if value.startswith(("postgresql+psycopg://", "sqlite:///")):
        return value
    if value.startswith("/"):
        return f"sqlite:///{value}"
    # Not _read's message: it would repeat the value, and that may hold a password.
    raise HomeError(
        "the setting database is not an address that outlast knows",
        hint="write it like postgresql://user@host/name, or as an absolute path of an SQLite file",
    )


def read_server(value: str) -> str:
    """A server's address without a slash at its end; empty for this home. `HomeError` for what is none."""
    from urllib.parse import urlsplit

    if value.strip() in ("", "local"):
        return ""
    try:
        parts = urlsplit(value.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    # Not _read's message: it would repeat the value, and that may hold a token.
    if not is_address or "@" in parts.netloc or parts.query or parts.fragment:
        raise HomeError(
            "the setting server is not the address of a server",
            hint="write it like https://lab.example; its token is kept by: outlast login server",
        )
    return value.strip().rstrip("/")


_READERS: dict[str, Callable[[str], Any]] = {
    "path": _text, "address": _address, "text": _text, "duration": _duration, "count": _count,
    "durations": _durations, "sandbox": _sandbox, "weights": _weights, "database": read_database,
    "server": read_server, "switch": _switch,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """All settings of one home, checked. Built once by `Settings.load` and passed down."""

    home: Path
    store: str
    platform: str
    user: str
    grace_s: float
    min_limit_s: float
    silence_limit_s: float
    launch_silence_s: float
    no_progress_limit: int
    backoff_s: tuple[float, ...]
    refusal_wait_s: float
    keeper_idle_s: float
    sandbox: str
    user_weights: Mapping[str, float]
    keep_last: int
    free_limit_s: float
    training_limit_s: float
    database: str
    smtp: str
    notice_private: bool
    server: str
    #: Lets this client into the server; not part of the table, so that nothing ever shows it.
    token: str = field(default="", repr=False, compare=False)
    #: name -> "default", "config.toml", "environment OUTLAST_X" or "given"
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, home: str | os.PathLike[str] | None = None) -> Settings:
        """Read every setting. `home`, when given, wins over `OUTLAST_HOME`. Creates nothing."""
        environ = os.environ if environ is None else environ
        origins: dict[str, str] = {}
        folder = _find_home(environ, home, origins)
        given = _gather(environ, folder / CONFIG_NAME, origins)
        values: dict[str, Any] = {"home": folder}
        for setting in SETTINGS[1:]:
            text = given.get(setting.name, "")
            origins.setdefault(setting.name, "default")
            if text or setting.default:
                values[setting.name] = _read(setting, text or setting.default, origins[setting.name])
        values.setdefault("store", (folder / "store").as_uri())
        values.setdefault("user", login_name(environ))
        values.setdefault("user_weights", {})
        values.setdefault("smtp", "")
        values.setdefault("database", f"sqlite:///{folder / 'server.db'}")
        values.setdefault("server", "")
        return cls(**values, token=environ.get("OUTLAST_TOKEN", ""), origins=origins)

    @property
    def shares_index(self) -> bool:
        """Whether the list of runs lies in a database that other homes may use too."""
        return self.database.startswith("postgresql")

    def at(self, server: str | None = None, token: str | None = None) -> Settings:
        """The same with another server or token; None leaves it as it is."""
        return dataclasses.replace(
            self,
            server=self.server if server is None else read_server(server),
            token=self.token if token is None else token,
        )

    def shown(self) -> list[tuple[Setting, str, str]]:
        """(setting, value as text, origin) of each, in the table's order; for `outlast config`."""
        return [(setting, self._text_of(setting.name), self.origins[setting.name]) for setting in SETTINGS]

    def _text_of(self, name: str) -> str:
        value = getattr(self, name)
        if name in ("database", "smtp"):
            return without_password(value)
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, tuple):
            return ",".join(f"{part:g}" for part in value)
        if isinstance(value, Mapping):
            return ",".join(f"{user}={weight:g}" for user, weight in value.items())
        return f"{value:g}" if isinstance(value, float) else str(value)


def without_password(url: str) -> str:
    """A database's address as it may be shown."""
    import re

    # Greedy up to the last @: a password may hold one that was not escaped.
    hidden = re.sub(r"://([^/@:]*):.*@", r"://\1:***@", url)
    return re.sub(r"([?&]password)=[^&]*", r"\1=***", hidden)


def login_name(environ: Mapping[str, str]) -> str:
    """The user's name; works without a passwd entry, as in containers started with a bare number."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if environ.get(name):
            return environ[name]
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid-{os.getuid()}"


def write_setting(home: Path, name: str, value: str) -> None:
    """Set one value in the home's `config.toml`, leaving every other line and all comments as they are.

    The value is checked first; the file is replaced as a whole or not at all.
    """
    setting = _known(name, "outlast config set")
    if name == "home":
        raise HomeError(
            "the home folder cannot be set in its own config.toml", hint="set the environment variable OUTLAST_HOME"
        )
    if value or setting.default:
        _read(setting, value, "outlast config set")
    path = home / CONFIG_NAME
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = _edited(before, name, value)
        _parse_toml(after, path)
        _replace(path, after)
    except OSError as error:
        raise HomeError(f"cannot write {path}: {error.strerror}", hint="check the folder or set OUTLAST_HOME") from None


def _find_home(environ: Mapping[str, str], home: str | os.PathLike[str] | None, origins: dict[str, str]) -> Path:
    if home is not None:
        origins["home"] = "given"
        text = os.fspath(home)
    elif environ.get("OUTLAST_HOME"):
        origins["home"] = "environment OUTLAST_HOME"
        text = environ["OUTLAST_HOME"]
    else:
        origins["home"] = "default"
        text = SETTINGS[0].default
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise HomeError(f"no home folder is known for {text}", hint="set OUTLAST_HOME to a folder") from None


def _gather(environ: Mapping[str, str], config: Path, origins: dict[str, str]) -> dict[str, str]:
    """The raw text of each setting that was given anywhere but in the defaults."""
    given: dict[str, str] = {}
    try:
        text = config.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise HomeError(f"cannot read {config}: {error}", hint="check the file or set OUTLAST_HOME") from None
    for name, value in (_parse_toml(text, config) if text else {}).items():
        _known(name, str(config))
        if name == "home":
            raise HomeError(f"{config}: home cannot be set here", hint="set the environment variable OUTLAST_HOME")
        given[name] = _as_text(name, value, config)
        origins[name] = CONFIG_NAME
    for setting in SETTINGS[1:]:
        variable = "OUTLAST_" + setting.name.upper()
        if environ.get(variable):
            given[setting.name] = environ[variable]
            origins[setting.name] = "environment " + variable
    return given


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    import tomllib  # 20 ms that a home without config.toml does not pay

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HomeError(f"{path} is not TOML: {error}", hint="correct it, or move it away") from None


def _as_text(name: str, value: Any, path: Path) -> str:
    if isinstance(value, list):
        return ",".join(_as_text(name, part, path) for part in value)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise HomeError(f"{path}: {name} = {value!r} is not text or a number")


def _known(name: str, where: str) -> Setting:
    if name in _BY_NAME:
        return _BY_NAME[name]
    close = difflib.get_close_matches(name, _BY_NAME, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    raise HomeError(f"{where}: unknown setting {name!r}{guess}", hint="see all of them with: outlast config")


def _read(setting: Setting, text: str, origin: str) -> Any:
    try:
        return _READERS[setting.kind](text)
    except ValueError as form:
        raise HomeError(f"setting {setting.name} = {text!r} ({origin}) is not {form}") from None


def _edited(text: str, name: str, value: str) -> str:
    """`text` with the line of `name` changed, or a new line at the end; the line's comment stays."""
    import json
    import re

    quoted = json.dumps(value, ensure_ascii=False)
    line = re.compile(rf"""^([ \t]*{name}[ \t]*=[ \t]*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[[^\]]*\]|[^\s#]+)""", re.M)
    if line.search(text):
        return line.sub(lambda match: match.group(1) + quoted, text, count=1)
    if text and not text.endswith("\n"):
        text += "\n"
    return f"{text}{name} = {quoted}\n"


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".config-")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(temporary, path)  # noqa: PTH105


assert tuple(_BY_NAME) == tuple(f.name for f in dataclasses.fields(Settings))[: len(SETTINGS)]
