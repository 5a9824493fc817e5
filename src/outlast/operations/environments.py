"""Named environments: what other platforms offer, what users add, and the one that a run is pinned to."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import NotFoundError, SpecError
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.inside.contracts.openpai.job import Job
    from outlast.model.spec import PinnedEnvironment
    from outlast.operations.said import Said, Sayings
    from outlast.store.private import PrivateFile

YOURS = "you"
_PYTHON = re.compile(r"3\.(\d{1,2})")
_OLDEST_PYTHON = 7
_PATIENCE_S = 10.0
_IMAGE = re.compile(r"[\w][\w.:/@-]*")
#: package -> the framework that people call it
_FRAMEWORKS = {
    "torch": "PyTorch", "tensorflow": "TensorFlow", "mindspore": "MindSpore", "mindspore-gpu": "MindSpore",
    "jax": "JAX", "paddlepaddle": "PaddlePaddle", "mxnet": "MXNet", "keras": "Keras", "scikit-learn": "Scikit-learn",
}  # fmt: skip


@dataclass(frozen=True)
class Environment:
    """What a script can count on. It has requirements, or an image, or exists only on its platform."""

    name: str
    framework: str = ""
    version: str = ""
    device: str = ""
    python: str = ""
    resources: str = ""  # what its platform gives with it
    platform: str = YOURS
    requirements: tuple[str, ...] = ()
    image: str = ""

    @property
    def here(self) -> str:
        """Whether a run on this machine can be pinned to it: `yes`, or what is missing."""
        if self.image:
            return "in OpenPAI jobs"
        if not self.requirements:
            return "image only"
        if self.python and f"{sys.version_info[0]}.{sys.version_info[1]}" != self.python:
            return "yes" if find_version(self.python) else f"needs python{self.python}"
        return "yes"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "here": self.here}


class Environments:
    """The verbs on environments."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self) -> list[Environment]:
        """Every environment: first those that were added here, then what ModelArts and Xihe offer."""
        from outlast.modelarts.engines import ENGINES

        added = [_from_file(name, body) for name, body in sorted(_file(self._settings).read()["environments"].items())]
        return [*added, *(Environment(**each._asdict()) for each in ENGINES)]

    def find(self, name: str) -> Environment:
        """The environment of that name, or the only one whose name begins so."""
        from outlast.operations.problems import guess

        known = self.list()
        exact = [each for each in known if each.name.lower() == name.lower()]
        found = exact or [each for each in known if name and each.name.lower().startswith(name.lower())]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(each.name for each in found)
            raise NotFoundError(f"{name!r} may mean {names}", hint="write more of the name")
        near = guess(name, [each.name for each in known])
        raise NotFoundError(f"no environment {name!r}{near}", hint="see all of them with: outlast environments")

    def add(
        self,
        name: str,
        *,
        requirements: str | Path | None = None,
        image: str | None = None,
        framework: str = "",
        device: str = "",
        python: str = "",
        force: bool = False,
    ) -> Environment:
        """Keep an environment under a name: the packages of a requirements file, or an image.

        The file is read now; later changes of it need another `add`. `framework` may end with a version.

            client.environments.add("torch-cpu", requirements="torch.txt", python="3.11")
        """
        from outlast.keeper.home import Home

        made = _made(name, requirements, image, framework, device, python)
        Home(self._settings.home)  # made and checked before anything is written to it
        with _file(self._settings).changing() as body:
            if name in body["environments"] and not force:
                raise SpecError(f"there is an environment {name!r} already", hint="replace it with: --force")
            body["environments"][name] = {key: value for key, value in asdict(made).items() if key != "name" and value}
        return made

    def remove(self, name: str) -> Environment:
        """Forget an environment that was added here. Runs that are pinned to it carry their own copy."""
        file = _file(self._settings)
        if name not in file.read()["environments"]:
            found = self.find(name)
            if found.platform != YOURS:
                raise SpecError(f"{found.name} is built in and stays; you can remove what was added here")
            name = found.name
        with file.changing() as body:
            return _from_file(name, body["environments"].pop(name))


def pin(
    said: Sayings, settings: Settings, python: str | None, *, is_job: bool
) -> tuple[PinnedEnvironment | None, str | None]:
    """(the environment that a run is pinned to, the interpreter that it starts from). `SpecError` if it cannot be."""
    from outlast.model.spec import PinnedEnvironment

    given = said.get("environment")
    if given is None:
        return None, python
    found = _named(given, settings)
    if found.image and not is_job:
        raise given.wrong(
            f"it is the image {found.image}, and images are only used for OpenPAI jobs so far",
            hint="pin an environment that has requirements; see: outlast environments",
        )
    if not found.image and not found.requirements:
        raise given.wrong(
            f"it exists only as an image of {found.platform}",
            hint=f"make one like it: outlast environments add NAME --requirements FILE --python {found.python}",
        )
    if found.python and said.get("python") is None and python is not None:
        python = _python_for(found, given, python, settings)
    return PinnedEnvironment(name=found.name, requirements=found.requirements, image=found.image), python


def with_pinned_image(job: Job, said: Sayings, settings: Settings) -> Job:
    """The same job with every role in the image that the run is pinned to, if it is pinned to one."""
    given = said.get("environment")
    image = _named(given, settings).image if given else ""
    return job._replace(roles=[role._replace(image=image) for role in job.roles]) if image else job


def _named(given: Said, settings: Settings) -> Environment:
    try:
        return Environments(settings).find(given.value)
    except NotFoundError as error:
        raise given.wrong(error.message, hint=error.hint) from None


def _python_for(found: Environment, given: Said, python: str, settings: Settings) -> str:
    """The active interpreter when it has the right version, else one of that version on PATH."""
    from outlast.inside.errors import InsideError
    from outlast.inside.interpreter import examine_python

    try:
        version = examine_python(python, str(settings.home / "cache")).version
    except InsideError as error:
        raise given.wrong(str(error)) from None
    if version.startswith(found.python + "."):
        return python
    other = find_version(found.python)
    if other is None:
        raise given.wrong(
            f"it needs Python {found.python}, and {python} is {version}",
            hint=f"install python{found.python}, or name an interpreter with --python",
        )
    return other


@functools.cache
def find_version(version: str) -> str | None:
    """An interpreter of that version on PATH. It is started once: a name may lead nowhere."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    try:
        done = subprocess.run([found, "-c", ""], capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return str(Path(found).absolute()) if done.returncode == 0 else None


# ---- what users add


def _made(
    name: str, requirements: str | Path | None, image: str | None, framework: str, device: str, python: str
) -> Environment:
    from outlast.model.spec import NAME_PATTERN
    from outlast.modelarts.engines import find_engine

    if not NAME_PATTERN.fullmatch(name):
        raise SpecError(
            f"{name!r} is not a name", hint="use letters, digits, '.', '_' and '-', at most 63, e.g. 'torch-cpu'"
        )
    if find_engine(name):
        raise SpecError(f"{name!r} is the name of a built-in environment", hint="choose another name")
    if (requirements is None) == (image is None):
        raise SpecError("an environment is a requirements file or an image", hint="give --requirements or --image")
    if image is not None and not _IMAGE.fullmatch(image):
        raise SpecError(f"--image {image!r}: not the name of an image", hint="write it like registry/name:tag")
    minor = _PYTHON.fullmatch(python)
    if python and (minor is None or int(minor[1]) < _OLDEST_PYTHON):
        raise SpecError(f"--python {python!r}: not a version that can be used", hint="write it like 3.11; from 3.7 on")
    words, _, version = framework.rpartition(" ")
    framework, version = (words, version) if words and version[:1].isdigit() else (framework, "")
    made = Environment(name, framework, version, device, python, image=image or "")
    if requirements is None:
        return made
    made = replace(made, requirements=_lines_of(Path(requirements).expanduser()))
    return made if framework else _with_framework(made)


def _lines_of(path: Path) -> tuple[str, ...]:
    """The requirements, those of included files in their place. They must mean the same on any machine."""
    from outlast.inside.errors import InsideError
    from outlast.inside.requirements import is_local, read_requirements
    from outlast.modelarts.job import looks_secret

    if not path.is_file():
        raise SpecError(f"no such requirements file: {path}")
    try:
        lines = read_requirements(str(path))
    except InsideError as error:
        raise SpecError(str(error)) from None
    kept = []
    for line in lines:
        where = f"{line.file} line {line.number}"
        if re.match(r"(?:-c|--constraint)\b", line.text):
            raise SpecError(f"{where} names constraints", hint="write the versions into the requirements themselves")
        if is_local([line]):
            raise SpecError(f"{where} installs from a folder or a file of this machine: {line.text}")
        if looks_secret("", line.text):
            raise SpecError(f"{where} holds a password", hint="keep it in pip's own configuration or in ~/.netrc")
        if not re.match(r"(?:-r|--requirement)\b", line.text):
            kept.append(line.text)
    if not kept:
        raise SpecError(f"{path} asks for nothing")
    return tuple(kept)


def _with_framework(made: Environment) -> Environment:
    for line in made.requirements:
        match = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;,]+))?", line)
        if match and match[1].lower() in _FRAMEWORKS:
            return replace(made, framework=_FRAMEWORKS[match[1].lower()], version=match[2] or "")
    return made


def _from_file(name: str, body: dict[str, Any]) -> Environment:
    """An entry of the file; what a later version may have added to it is left alone."""
    known = {each.name: body[each.name] for each in fields(Environment) if each.name in body}
    return Environment(**{**known, "name": name, "requirements": tuple(body.get("requirements", ()))})


def _file(settings: Settings) -> PrivateFile:
    from outlast.store.private import PrivateFile

    return PrivateFile(settings.home / "environments.json", ("environments",), "move it away and add them again")
