"""Everything before the script starts: code, environment, inputs, the last checkpoint, the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Dict, List, NamedTuple, Tuple

from . import environment, pinning, promised, sandbox, staging
from .blobs import Blobs
from .checkpoints import Checkpoints, Restored
from .contracts.base import Rendered
from .delivery import kept_back
from .errors import PlaceError
from .meeting import meeting_variables
from .namenodes import show_hosts
from .place import without_secrets
from .processes import thread_environment
from .stint import Stint

#: The zip (or the source folder) that this module was imported from: the script imports `outlast` from there too.
BUNDLE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Prepared(NamedTuple):
    """A script that is ready to start."""

    argv: List[str]
    env: Dict[str, str]
    restored: Restored
    sandboxed: bool


def prepare(stint: Stint, socket_path: str, flag_path: str) -> Prepared:
    """Bring everything into place. `RequestError` and `PlaceError` say who can mend what failed."""
    stint.enter("fetching")
    code = stint.spec["code"]
    inputs = promised.staged_inputs(stint.spec)
    stint.code_dir = staging.code_dir_for(stint.path("tree"), inputs)
    staging.fetch_code(Blobs(stint.store), code["sha256"], code["size_bytes"], stint.place.cache, _code_folder(stint))
    os.makedirs(stint.code_dir, exist_ok=True)
    inputs = _bring(stint, inputs)
    stint.enter("environment")
    ready = _environment(stint)
    stint.enter("staging")
    staged = staging.stage_inputs(inputs, stint.code_dir, stint.place.sandbox)
    for notice in (*stint.place.notices, *staged.notices, *_kept_back(stint)):
        stint.say(notice)
    stint.enter("restoring")
    restored = _restore(stint)
    stint.meeting = stint.meet()
    rendered = promised.render_for(stint, ready.python, stint.place.bundle or BUNDLE)
    for notice in rendered.notices:
        stint.say(notice)
    maps = promised.played_maps(stint.spec, stint.place.work)
    played = promised.played_folders(stint.spec, maps)
    writable = promised.lay_out(rendered, played)
    rendered.env.update(promised.moxing_variables(stint.spec, maps, stint.accesses))
    env = _script_env(stint, rendered, restored, socket_path, flag_path)
    env.update(ready.env)
    argv = rendered.argv
    if stint.place.sandbox:
        argv = _sandboxed(stint, rendered, staged, env, writable, [*ready.folders, *played.readonly])
    return Prepared(argv, env, restored, stint.place.sandbox)


def _kept_back(stint: Stint) -> List[str]:
    names = kept_back(stint.spec) if stint.place.is_borrowed else []
    words = "output %s stays with the run: its folder is on another machine; get it with: outlast fetch %s"
    return [words % (name, stint.run) for name in names]


def _bring(stint: Stint, inputs: List[staging.Input]) -> List[staging.Input]:
    """Fetch the inputs that have an address, for which alone the mover is imported."""
    if not any(map(staging.is_remote, inputs)):
        return inputs
    from .inputs import Around, bring_inputs

    def note(sentence: str) -> None:
        stint.notice = sentence

    maps = stint.spec.get("maps", {})
    return bring_inputs(inputs, Around(stint.place.cache, stint.accesses, stint.say, note, stint.stopping, maps))


def _environment(stint: Stint) -> environment.Environment:
    requirements = stint.spec.get("requirements")
    return pinning.prepare(
        stint.spec.get("environment"),
        os.path.join(stint.code_dir, requirements) if requirements else None,
        stint.place.python or find_python(stint.spec["python"]),
        stint.place.cache,
        lambda argv, env, writable, readonly: _run_tool(stint, argv, env, writable, readonly),
        stint.say,
    )


def find_python(wanted: str) -> str:
    """The interpreter the spec names, as a path that exists here."""
    found = wanted if os.path.isabs(wanted) and os.path.exists(wanted) else shutil.which(wanted)
    if found is None:
        raise PlaceError("there is no %s on this machine; name an interpreter that is: --python python3" % wanted)
    return found


def _run_tool(
    stint: Stint, argv: List[str], env: Dict[str, str], writable: List[str], readonly: List[str]
) -> Tuple[int, str]:
    """Run pip or uv in the sandbox: building a stranger's package runs a stranger's code."""
    full_env = dict(_base_env())
    full_env.update(env)
    if stint.place.sandbox:
        argv = sandbox.bwrap_command(
            stint.place,
            argv,
            code_dir=stint.code_dir,
            writable=[_home(stint), *writable],
            readonly=[stint.code_dir, *readonly],
            binds=[],
            network=True,
        )
        full_env["HOME"] = _home(stint)
    done = subprocess.run(
        argv, env=full_env, cwd=stint.code_dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _restore(stint: Stint) -> Restored:
    """Put the ordered checkpoint back, or the newest older one that verifies, and say so."""
    if stint.order.resume_from is None:
        return Restored(None, None, [], 0)
    checkpoints = Checkpoints(stint.store, stint.run)
    restored = checkpoints.restore(list(checkpoints.line(stint.order.resume_from)), stint.code_dir)
    for name, why in restored.skipped:
        stint.say("checkpoint %s is damaged (%s); trying the one before" % (name, why))
    if restored.checkpoint is None:
        stint.say("no earlier checkpoint could be restored; starting from the beginning")
    else:
        stint.say("restored checkpoint %s" % restored.checkpoint)
    return restored


def _base_env() -> Dict[str, str]:
    """Our own environment without what is private to the runner."""
    return {name: value for name, value in without_secrets(os.environ).items() if not name.startswith("OUTLAST_")}


def _script_env(
    stint: Stint, rendered: Rendered, restored: Restored, socket_path: str, flag_path: str
) -> Dict[str, str]:
    bundle = stint.place.bundle or BUNDLE
    env = _base_env()
    # Else a set of texts has another order in each process: `list(set(words))` would give the words other numbers than
    # the stint before had trained with.
    env.setdefault("PYTHONHASHSEED", "0")
    env.update(thread_environment(stint.place.cpus))
    if stint.place.gpus or stint.spec["resources"].get("gpus") == 0:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(stint.place.gpus)
    if stint.place.npus:
        env["ASCEND_RT_VISIBLE_DEVICES"] = ",".join(stint.place.npus)
    env.update(meeting_variables(stint.meeting, stint.place.node))
    env.update(rendered.env)
    env.update(stint.spec.get("env", {}))
    env.update(stint.place.secret_values(os.environ))
    paths = [*rendered.python_path, bundle, env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    env["PYTHONUNBUFFERED"] = "1"
    progress: Dict[str, Any] = restored.manifest.progress if restored.manifest else {}
    output = stint.output_place
    env.update(
        OUTLAST_RUN=stint.run,
        OUTLAST_STINT=str(stint.number),
        OUTLAST_SOCKET=socket_path,
        OUTLAST_FLAG=flag_path,
        OUTLAST_CHECKPOINT=os.path.join(stint.code_dir, stint.checkpoint_place),
        OUTLAST_OUTPUT=os.path.join(stint.code_dir, output) if output else stint.code_dir,
        OUTLAST_RESTORED=restored.checkpoint or "",
        OUTLAST_PROGRESS=json.dumps(progress),
        OUTLAST_PARAMS=json.dumps(stint.spec.get("params", {})),
    )
    deadline = stint.deadline_on_clock()
    if deadline is not None:
        env["OUTLAST_DEADLINE"] = repr(deadline)
    return env


def _code_folder(stint: Stint) -> str:
    """Where the code pack belongs; a job keeps it aside, because each of its instances gets a copy."""
    if not stint.spec.get("job"):
        return stint.code_dir
    from .contracts.openpai.contract import code_folder

    return code_folder(stint.spec, stint.code_dir)


def _sandboxed(
    stint: Stint,
    rendered: Rendered,
    staged: staging.Staged,
    env: Dict[str, str],
    writable: List[str],
    readonly: List[str],
) -> List[str]:
    home = _home(stint)
    env["HOME"] = home
    return sandbox.bwrap_command(
        stint.place,
        rendered.argv,
        code_dir=rendered.cwd,
        writable=[stint.path("tree"), stint.folder("desk"), home, *writable],
        readonly=[stint.place.bundle or BUNDLE, *readonly],
        binds=[*staged.binds, *show_hosts(stint.spec, stint.place.work)],
        writable_binds=[*staged.writable_binds, *rendered.binds],
        network=stint.place.network and rendered.network,
    )


def _home(stint: Stint) -> str:
    """The script's own home folder. Packages the user installed for himself stay visible through the user base."""
    os.makedirs(stint.place.home, exist_ok=True)
    return stint.place.home
