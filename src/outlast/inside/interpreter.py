"""What an interpreter says about itself: its version, its folders, and where its packages lie.

Asking takes 20 to 40 ms, so the answer is kept in the cache until one of the folders it depends on changes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
from typing import Dict, List, Optional

from .errors import PlaceError, RequestError

_QUESTION = """
import json, os, site, sys
def call(name):
    try:
        found = getattr(site, name)()
    except Exception:
        return []
    return [found] if isinstance(found, str) else list(found)
base = getattr(sys, "base_prefix", sys.prefix)
sys.stdout.write("\\n" + json.dumps({
    "executable": sys.executable,
    "version": "%d.%d.%d" % tuple(sys.version_info[:3]),
    "prefix": sys.prefix,
    "base_prefix": base,
    "path": [os.path.abspath(each) for each in sys.path if each],
    "sites": call("getsitepackages"),
    "user_base": (call("getuserbase") or [""])[0] if getattr(site, "ENABLE_USER_SITE", None) else "",
}) + "\\n")
"""


@dataclasses.dataclass
class Interpreter:
    """One Python, as it described itself."""

    executable: str
    version: str
    prefix: str
    base_prefix: str
    path: List[str]  # sys.path without the empty entry
    sites: List[str]  # folders that hold its packages
    user_base: str  # empty when packages of the user are switched off
    stamps: Dict[str, int] = dataclasses.field(default_factory=dict)  # what the answer depends on -> mtime_ns

    @property
    def is_virtual(self) -> bool:
        return self.prefix != self.base_prefix

    @property
    def sees_base(self) -> bool:
        """Can it import the packages of the interpreter that it was made from?"""
        return any(path.startswith(self.base_prefix + "/") and "site-packages" in path for path in self.path)

    @property
    def folders(self) -> List[str]:
        """Everything that must be readable for it to work, outermost folders only."""
        given = [self.prefix, self.base_prefix, os.path.dirname(self.executable), *self.path]
        given.append(os.path.dirname(os.path.dirname(os.path.realpath(self.executable))))
        if self.user_base and os.path.isdir(self.user_base):
            given.append(self.user_base)
        kept: List[str] = []
        for path in sorted({os.path.abspath(each) for each in given}):
            if os.path.exists(path) and not any(path.startswith(outer + "/") for outer in kept):
                kept.append(path)
        return kept


def examine_python(python: str, cache: str) -> Interpreter:
    """Ask an interpreter about itself, or recall its answer. `RequestError` when it is not a Python."""
    environment = "|".join(os.environ.get(name, "") for name in ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE"))
    name = hashlib.sha256(("%s|%s" % (python, environment)).encode("utf-8")).hexdigest()[:32]
    kept = os.path.join(cache, "pythons", name + ".json")
    found = _recall(kept)
    if found is None:
        found = _ask(python)
        found.stamps = _stamps(python, found)
        _keep(kept, found)
    return found


def _ask(python: str) -> Interpreter:
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd="/", timeout=60, check=False,
        )  # fmt: skip
    except OSError as error:
        raise RequestError("cannot start %s: %s; name another with --python" % (python, error.strerror)) from None
    except subprocess.TimeoutExpired:
        raise PlaceError("%s did not answer within 60 s" % python) from None
    if done.returncode < 0:
        # Somebody or the lack of memory ended it: that says nothing about the interpreter.
        raise PlaceError("%s was ended by signal %d while it told about itself" % (python, -done.returncode))
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        return Interpreter(**json.loads(lines[-1]))
    except (IndexError, ValueError, TypeError):
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no answer"]
        raise RequestError(
            "%s is not a working Python (%s); name another with --python" % (python, words[-1])
        ) from None


def _stamps(python: str, found: Interpreter) -> Dict[str, int]:
    depends = [python, os.path.realpath(python), os.path.join(found.prefix, "pyvenv.cfg"), *found.path, *found.sites]
    return {path: _mtime_ns(path) for path in depends}


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


def is_unchanged(stamps: Dict[str, int]) -> bool:
    """Has nothing been installed, removed or upgraded since the stamps were taken?"""
    return all(_mtime_ns(path) == stamp for path, stamp in stamps.items())


def _recall(path: str) -> Optional[Interpreter]:
    try:
        with open(path, encoding="utf-8") as file:
            found = Interpreter(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None
    return found if is_unchanged(found.stamps) else None


def _keep(path: str, found: Interpreter) -> None:
    """Best effort: without a cache the next stint asks again."""
    aside = "%s.%d.tmp" % (path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(found), file)
        os.replace(aside, path)
    except OSError:
        pass
