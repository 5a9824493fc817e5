"""`outlast run job.pai.json` and `outlast run job.yaml`: an OpenPAI job becomes a request and a plan."""

from __future__ import annotations

import posixpath
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import SpecError
from outlast.inside.contracts.openpai.containers import has_image
from outlast.inside.contracts.openpai.contract import CODE
from outlast.inside.contracts.openpai.job import Job
from outlast.inside.namenodes import name_nodes
from outlast.inside.stores import is_remote
from outlast.model.quantities import format_size
from outlast.model.request import RunRequest
from outlast.model.spec import NAME_PATTERN, Input
from outlast.openpai.globs import match_files
from outlast.openpai.jobv1 import read_v1
from outlast.openpai.jobv1 import to_job as job_of_v1
from outlast.openpai.names import generated_name, rewrite, substitute
from outlast.openpai.protocolv2 import Runnable, read_v2
from outlast.openpai.protocolv2 import to_job as job_of_v2
from outlast.openpai.vscode import PROPOSED_INCLUDE, find_workspace, read_settings
from outlast.operations.environments import with_pinned_image
from outlast.operations.said import Sayings
from outlast.operations.target import Target
from outlast.settings import Settings
from outlast.store.maps import load_maps

if TYPE_CHECKING:
    from outlast.operations.resolve import Resolved

#: A larger codeDir ends every task of a YARN cluster.
CODE_LIMIT_BYTES = 200_000_000
_FS_URI = "PAI_DEFAULT_FS_URI"
_DEFAULT_FS_URI = "hdfs://127.0.0.1:9000"
_USER = re.compile(r"[\w.-]+")
#: Characters that a pattern of the pack would not take literally.
_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


@dataclass(frozen=True)
class JobRequest:
    """A request to which the job file has said its part."""

    request: RunRequest
    target: Target
    job: Job
    secrets: dict[str, str]
    code: Input | None  # the code, when it lies at an address
    notices: tuple[str, ...]

    def complete(self, resolved: Resolved) -> Resolved:
        """What was resolved, as a run of the job: inputs and packages where its instances find them."""
        name = self.job.code_name
        inputs = [_moved(given, name) for given in resolved.inputs]
        requirements = resolved.requirements
        return replace(
            resolved,
            contract="openpai",
            job=self.job.to_json(),
            secret_values=self.secrets,
            inputs=(*inputs, *([self.code] if self.code else ())),
            requirements=requirements and posixpath.join(CODE, requirements),
            notices=(*self.notices, *resolved.notices),
        )


@dataclass(frozen=True)
class _Read:
    """A job file, read; what its code is remains to be seen."""

    job: Job
    secrets: dict[str, str]
    notices: tuple[str, ...]
    workspace: Path
    files: tuple[str, ...] | None  # exactly these are the code; None: whatever a pack of the folder takes
    code: Input | None = None


def request_from_job(request: RunRequest, settings: Settings, target: Target) -> JobRequest:
    """Read the job and say in its name what the request leaves open. `SpecError` names the field at fault."""
    if request.args or request.params:
        raise SpecError(
            f"{target.script} is a job file: its commands have their own arguments",
            hint="change the command in the file, or pass variables with --env",
        )
    path = target.folder / target.script
    user = request.user or settings.user
    if not _USER.fullmatch(user):
        raise SpecError(f"--user {user!r}: not a user name", hint="use letters, digits, '.', '_' and '-'")
    is_v2 = path.suffix in (".yaml", ".yml")
    read = _read_v2(path, user) if is_v2 else _read_v1(path, user, _said_fs_uri(request) or _mapped_fs_uri(settings))
    if not read.job.task_count:
        raise SpecError(f"{target.script} has no task to run", hint="give a task role a taskNumber of at least 1")
    job = with_pinned_image(read.job, Sayings(request, target.toml), settings)
    job, engines = _with_engines(job, request)
    resources, capped = _resources(job, request, settings)
    notices = [*read.notices, *engines, *capped]
    asked = replace(
        request,
        **resources,
        retries=0 if request.retries is None else request.retries,  # the job has a policy of its own
        checkpoint=_place(request.checkpoint, job),
        output=_output(request.output, job),
        sandbox="off" if any(role.engine for role in job.roles) else request.sandbox,
        **_pack(read, request, path),
    )
    script = path.relative_to(read.workspace).as_posix()
    target = Target(read.workspace, script, target.toml, _run_name(job))
    return JobRequest(asked, target, job, read.secrets, read.code, tuple(notices))


# ---- reading


@dataclass(frozen=True)
class JobFile:
    """A job file on its own, before anybody asked for a run of it."""

    path: Path
    folder: Path  # the workspace: its code
    job: Job
    files: tuple[str, ...] | None

    def modules(self) -> list[str]:
        """Its Python files."""
        return match_files(self.folder, PROPOSED_INCLUDE) if self.files is None else list(self.files)


def read_job(path: Path, user: str) -> JobFile:
    """Read a job file under the name that stands in it. Nothing is generated."""
    if not path.is_file():
        raise SpecError(f"no such job file: {path}", hint="give a file like new_job.pai.json or job.yaml")
    if path.suffix in (".yaml", ".yml"):
        read = _read_v2(path, user)
    else:
        read = _read_v1(path, user, _DEFAULT_FS_URI, generate=False)
    return JobFile(path, read.workspace, read.job, read.files)


def _read_v1(path: Path, user: str, said_fs_uri: str | None, *, generate: bool = True) -> _Read:
    workspace = find_workspace(path)
    ways = read_settings(workspace)
    body = read_v1(_text(path), path.name)
    is_generated = generate and bool(ways.generate_name)
    name = generated_name(body["jobName"]) if is_generated else body["jobName"]
    body = rewrite(body, name, user)
    fs_uri = said_fs_uri or _DEFAULT_FS_URI
    job = job_of_v1(body, user, fs_uri)
    notices = [f"the job is named {name}"] if is_generated else []
    if "killAllOnCompletedTaskNumber" in body:
        notices.append("killAllOnCompletedTaskNumber is obsolete and has no effect; use minSucceededTaskCount")
    if not job.code_dir:
        notices.append("the job has no codeDir: its instances start in an empty folder")
        return _Read(job, {}, tuple(notices), workspace, ())
    if body["codeDir"].startswith(("hdfs://", "webhdfs://", "obs://", "s3://")) or ways.upload is False:
        if "://" not in body["codeDir"] and said_fs_uri is None:
            raise SpecError(
                f"{path.name}: codeDir {body['codeDir']} lies in the cluster's file system, which is not known here",
                hint=f"name it with --env {_FS_URI}=hdfs://HOST:50070, let a folder play it with outlast store map, or "
                "let the workspace's files be the code with pai.job.upload.enabled in .vscode/settings.json",
            )
        place = job.code_dir if "://" in job.code_dir else f"{fs_uri}/{job.code_dir.lstrip('/')}"
        source = re.sub(r"^webhdfs://", "hdfs://", place)
        code = Input(name="codedir", source=source, path=CODE)
        return _Read(job._replace(code_from=CODE), {}, tuple(notices), workspace, (), code)
    include = ways.include if ways.upload else ways.include or PROPOSED_INCLUDE
    files = tuple(match_files(workspace, include, ways.exclude))
    if not files:
        raise SpecError(
            f"no file of {workspace} matches {', '.join(include)}, so codeDir would be empty",
            hint="change pai.job.upload.include in .vscode/settings.json",
        )
    notices.append(_upload_notice(workspace, files, job.code_name, include))
    return _Read(job._replace(code_from=CODE), {}, tuple(notices), workspace, files)


def _upload_notice(workspace: Path, files: tuple[str, ...], name: str, include: tuple[str, ...]) -> str:
    size_bytes = sum((workspace / file).stat().st_size for file in files)
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    words = f"the code is {count} of {workspace} ({', '.join(include)}), found at {name}/"
    if size_bytes > CODE_LIMIT_BYTES:
        words += f"; {format_size(size_bytes)} is more than a cluster accepts ({CODE_LIMIT_BYTES:,} bytes)"
    return words


def _read_v2(path: Path, user: str) -> _Read:
    body = read_v2(_text(path), path.name)
    runnable: Runnable = job_of_v2(body, user)
    job = runnable.job._replace(code_from=CODE)
    storages = [
        str(each.get("name")) for each in body.get("extras", {}).get("storages") or () if isinstance(each, dict)
    ]
    notices = list(runnable.notices)
    if storages:
        notices.append(f"the storages {', '.join(storages)} are not mounted here; bring data with --data")
    return _Read(job, dict(runnable.secrets), tuple(notices), path.parent, None)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path} is not text in UTF-8") from None


def _said_fs_uri(request: RunRequest) -> str | None:
    given = [text.partition("=")[2] for text in request.env if text.startswith(_FS_URI + "=")]
    if given and not is_remote(given[-1]):
        raise SpecError(f"--env {_FS_URI}={given[-1]}: not an address", hint="write it like hdfs://127.0.0.1:50070")
    return given[-1].rstrip("/") if given else None


def _mapped_fs_uri(settings: Settings) -> str | None:
    """The name node that a folder plays, when there is only one: that is the file system which the job means."""
    nodes = name_nodes(load_maps(settings.home))
    return nodes[0].address if len(nodes) == 1 else None


# ---- what the job says for the request


def _run_name(job: Job) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", job.name).strip("-._")[:63]
    return plain if NAME_PATTERN.fullmatch(plain) else "job"


def _place(given: str | None, job: Job) -> str | None:
    """`--checkpoint '$PAI_JOB_NAME/ckpt'` means the folder that `codeDir` becomes, whatever the job is called."""
    return given and substitute(given, job.name, job.user, job.fs_uri)


def _output(given: str | tuple[str, ...] | None, job: Job) -> tuple[str, ...] | None:
    texts = (given,) if isinstance(given, str) else given
    return texts and tuple(substitute(text, job.name, job.user, job.fs_uri) for text in texts)


def _pack(read: _Read, request: RunRequest, path: Path) -> dict[str, Any]:
    """Which files travel. A job file stays behind: it may hold secrets."""
    if read.files is None:
        own = "/" + _SPECIAL.sub(r"\\\1", path.name)
        return {"exclude": (*request.exclude, own)}
    wanted = [*read.files, *([request.requirements] if request.requirements and read.files else ())]
    exact = tuple("/" + _SPECIAL.sub(r"\\\1", file) for file in wanted)
    return {"include": (*exact, *request.include), "exclude": ("*",)}


def _moved(given: Input, code_name: str) -> Input:
    """An input as the code sees it, which lies one folder down when it has a name."""
    if not code_name or posixpath.isabs(given.path):
        return given
    return replace(given, path=posixpath.normpath(posixpath.join(code_name, given.path)))


def _with_engines(job: Job, request: RunRequest) -> tuple[Job, list[str]]:
    """The job with, for every role, the engine that has its image; and where each role runs."""
    engines = [found for name in ("podman", "docker") if (found := shutil.which(name))]
    by_image: dict[str, str] = {}
    for image in {role.image for role in job.roles}:
        if request.sandbox != "on":
            by_image[image] = next((engine for engine in engines if has_image(engine, image)), "")
    if not all(by_image.get(role.image) for role in job.roles):
        # One stint is either sandboxed or not; a sandbox has no engine in it.
        by_image = {}
    notices = []
    for image, names in _by_image(job).items():
        engine = by_image.get(image, "")
        if engine:
            notices.append(f"role {names} runs in the image {image} ({Path(engine).name})")
        else:
            why = "--sandbox on" if request.sandbox == "on" else "no podman or docker here has it"
            notices.append(f"role {names} runs on this machine itself, not in the image {image}: {why}")
    roles = [role._replace(engine=by_image.get(role.image, "")) for role in job.roles]
    return job._replace(roles=roles), notices


def _by_image(job: Job) -> dict[str, str]:
    found: dict[str, str] = {}
    for role in job.roles:
        found[role.image] = ", ".join(filter(None, (found.get(role.image), role.name)))
    return found


def _resources(job: Job, request: RunRequest, settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """Cores and cards for all instances together, but no more than this machine has: here they share them."""
    from outlast.platforms.local.machine import Machine

    wanted = {
        "cpus": max(1, sum(role.cpu * role.instances for role in job.roles)),
        "gpus": sum(role.gpu * role.instances for role in job.roles),
    }
    found: dict[str, Any] = {}
    notices: list[str] = []
    is_local = (request.platform or settings.platform) == "local"
    remembered = Path(settings.home) / "local" / "machine.json"
    have = Machine.look(remembered, remember=False).capacity if is_local else None
    for name, count in wanted.items():
        said = getattr(request, name)
        most = count if have is None else getattr(have, name)
        found[name] = said if said is not None else min(count, most)
        if said is None and count > most:
            notices.append(f"the job asks for {count} {name}; this machine has {most}, which its instances share")
    return found, notices
