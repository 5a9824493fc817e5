"""The script's Python environment: made once per set of requirements, found in no time afterwards."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import site
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .errors import InsideError, PlaceError
from .indexes import is_without_index, package_sources
from .interpreter import Interpreter, examine_python, is_unchanged
from .requirements import Line, explain_failure, has_hashes, is_local, options, read_requirements

#: Runs a tool: command, extra variables, folders it writes to, folders it must be able to read. Returns its exit
#: code and its output. The runner puts the sandbox around it: building a package runs a stranger's code.
RunCommand = Callable[[List[str], Dict[str, str], List[str], List[str]], Tuple[int, str]]

# Part of every key: a change in how environments are made must not find the old ones.
_RECIPE = "1"
_PLANNED = re.compile(r"^ ([+~-]) (\S+?)==(\S+)( \(from .*\))?$", re.MULTILINE)


class Environment(NamedTuple):
    """An interpreter that has what the script asked for."""

    python: str
    env: Dict[str, str]  # variables that belong to it
    seconds: float  # what preparing it took
    built: bool  # False: it was there already
    folders: List[str]  # what must be readable for it to work


def prepare(
    requirements_path: Optional[str],
    python: str,
    cache: str,
    run_command: RunCommand,
    log: Callable[[str], None],
) -> Environment:
    """The interpreter to run the script with: the given one, or one of our own that adds the requirements to it.

    Packages that the given interpreter has and that satisfy the requirements are kept: an image's own build of a
    framework is not replaced. A killed build is noticed and made anew. `RequestError` when the requirements cannot
    be satisfied anywhere, `PlaceError` when the network or the disk failed.
    """
    started = time.monotonic()
    base = examine_python(python, cache)
    if requirements_path is None:
        return Environment(base.executable, _variables(base), time.monotonic() - started, False, base.folders)
    lines = read_requirements(requirements_path)
    folder = os.path.join(cache, "envs", _key(lines, base, os.path.dirname(requirements_path)))
    ready = _read_ready(folder)
    built = ready is None
    if ready is None:
        ready = _Build(folder, requirements_path, lines, base, cache, run_command, log).run()
    folders = [*base.folders, folder]
    return Environment(ready["python"], _variables(base), time.monotonic() - started, built, folders)


def _variables(base: Interpreter) -> Dict[str, str]:
    """The script gets a private home, but packages that the user installed for themselves stay importable."""
    return {"PYTHONUSERBASE": base.user_base} if base.user_base else {}


def _key(lines: List[Line], base: Interpreter, folder: str) -> str:
    parts = [_RECIPE, os.path.realpath(base.executable), base.executable, base.version]
    parts += [line.text for line in lines]
    if is_local(lines):
        parts.append(os.path.realpath(folder))
    return hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()[:32]


def _read_ready(folder: str) -> Optional[Dict[str, Any]]:
    """The mark of a finished environment; None when there is none or what it rests on has changed."""
    try:
        with open(os.path.join(folder, "ready.json"), encoding="utf-8") as file:
            ready: Dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return None
    if not os.path.exists(str(ready.get("python", ""))) or not is_unchanged(ready.get("stamps", {})):
        return None
    return ready


def find_uv() -> Optional[str]:
    """Where uv is: on PATH, beside our own interpreter, or among the user's own programs."""
    candidates = [os.path.join(os.path.dirname(sys.executable or ""), "uv")]
    candidates.append(os.path.join(site.getuserbase() or "", "bin", "uv"))
    return shutil.which("uv") or next((path for path in candidates if os.access(path, os.X_OK)), None)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """One builder at a time; the kernel frees the lock of a builder that was killed."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Build:
    """Making one environment, in place (environments cannot be moved), marked as ready last."""

    def __init__(
        self,
        folder: str,
        path: str,
        lines: List[Line],
        base: Interpreter,
        cache: str,
        run_command: RunCommand,
        log: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._path = path
        self._shown = os.path.basename(path)
        self._lines = lines
        self._base = base
        self._run_command = run_command
        self._log = log
        self._tools = os.path.join(cache, "tools")
        self._uv = find_uv()
        self._env = package_sources(os.environ, base.prefix)
        self._env.update(
            UV_CACHE_DIR=os.path.join(self._tools, "uv"),
            UV_LINK_MODE="copy",  # links cannot cross from one mount of the sandbox to another
            UV_PYTHON_DOWNLOADS="never",
            UV_NO_PROGRESS="1",
            PIP_CACHE_DIR=os.path.join(self._tools, "pip"),
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            PIP_NO_INPUT="1",
            PIP_PROGRESS_BAR="off",
        )

    def run(self) -> Dict[str, Any]:
        try:
            os.makedirs(os.path.dirname(self._folder), exist_ok=True)
            os.makedirs(self._tools, exist_ok=True)
            with _locked(self._folder + ".lock"):
                ready = _read_ready(self._folder)
                return ready if ready is not None else self._make()
        except OSError as error:
            raise PlaceError("cannot make an environment in %s: %s" % (self._folder, error.strerror)) from None

    def _make(self) -> Dict[str, Any]:
        started = time.monotonic()
        if os.path.lexists(self._folder):
            shutil.rmtree(self._folder)
        os.makedirs(self._folder)
        if is_local(self._lines):
            self._log("%s installs from the code folder itself: made anew for every stint" % self._shown)
        ready = self._with_uv() if self._uv else self._with_pip()
        self._log("environment for %s is ready after %.1f s" % (self._shown, time.monotonic() - started))
        aside = os.path.join(self._folder, "ready.json.tmp")
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(ready, file)
        os.replace(aside, os.path.join(self._folder, "ready.json"))
        return ready

    def _with_uv(self) -> Dict[str, Any]:
        uv = str(self._uv)
        # A dry run against the given interpreter tells what is missing there. Installing the file as it is into a
        # new environment would fetch everything again: uv does not look at packages below an environment.
        install = [uv, "pip", "install", *(["--no-index"] if is_without_index(self._env) else [])]
        against = [*install, "--python", self._base.executable, "--break-system-packages"]
        planned = self._run([*against, "--dry-run", "-r", self._path])
        if "Would make no changes" in planned:
            self._log("%s already has everything in %s" % (self._base.executable, self._shown))
            return {"python": self._base.executable, "stamps": self._base.stamps}
        sees_base = ["--system-site-packages"] if self._base.sees_base or not self._base.is_virtual else []
        python = os.path.join(self._folder, "bin", "python")
        self._run(
            [uv, "venv", "--quiet", "--allow-existing", *sees_base, "--python", self._base.executable, self._folder]
        )
        self._show_base()
        self._run([*install, "--python", python, *self._wanted(planned)])
        return {"python": python}

    def _wanted(self, planned: str) -> List[str]:
        """Arguments that install what the plan adds; the file itself when the plan cannot be repeated by name."""
        steps = _PLANNED.findall(planned)
        if not steps or has_hashes(self._lines) or is_local(self._lines) or any(step[3] for step in steps):
            return ["-r", self._path]
        pins = ["%s==%s" % (name, version) for sign, name, version, _ in steps if sign in "+~"]
        pinned = os.path.join(self._folder, "wanted.txt")
        with open(pinned, "w", encoding="utf-8") as file:
            file.write("\n".join([*options(self._lines), *pins]) + "\n")
        return ["--no-deps", "-r", pinned]

    def _with_pip(self) -> Dict[str, Any]:
        sees_base = ["--system-site-packages"] if self._base.sees_base or not self._base.is_virtual else []
        python = os.path.join(self._folder, "bin", "python")
        self._run([self._base.executable, "-m", "venv", *sees_base, self._folder])
        self._show_base()
        self._run([python, "-m", "pip", "install", "-r", self._path])
        return {"python": python}

    def _show_base(self) -> None:
        """An environment made from an environment sees the first one's origin only; name its packages as well."""
        if not self._base.is_virtual:
            return
        major_minor = ".".join(self._base.version.split(".")[:2])
        packages = os.path.join(self._folder, "lib", "python" + major_minor, "site-packages")
        # `addsitedir` and not a bare path: it follows the .pth files in there, which is how editable installs work.
        with open(os.path.join(packages, "_outlast_base.pth"), "w", encoding="utf-8") as file:
            for folder in self._base.sites:
                file.write("import site; site.addsitedir(%r)\n" % folder)

    def _run(self, argv: List[str]) -> str:
        readable = [*self._base.folders, *([self._uv] if self._uv else []), os.path.dirname(self._path)]
        readable += [path for path in (self._env.get("UV_CONFIG_FILE"), os.environ.get("SSL_CERT_FILE")) if path]
        code, output = self._run_command(argv, dict(self._env), [self._folder, self._tools], readable)
        for line in output.splitlines():
            self._log(line)
        if code != 0:
            raise self._failure(output)
        return output

    def _failure(self, output: str) -> InsideError:
        return explain_failure(output, self._lines, self._shown)
