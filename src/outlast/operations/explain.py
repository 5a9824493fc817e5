"""`outlast explain`: what a script will see, rendered by the same contract that a stint renders.

Starts nothing, writes nothing, asks no store: an input at an address is believed to be there.
"""

from __future__ import annotations

import json
import os
import posixpath
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import UsageError
from outlast.inside import sandbox
from outlast.inside.contracts.base import Rendered
from outlast.inside.meeting import meeting_variables
from outlast.inside.namenodes import needed
from outlast.inside.processes import thread_environment
from outlast.inside.promised import moxing_variables, staged_inputs
from outlast.inside.records import Meeting, Order
from outlast.model.quantities import format_duration, format_size
from outlast.model.request import RunRequest
from outlast.model.spec import CodePack, RunSpec
from outlast.operations.contracts import MOXING, foreseen, rendered
from outlast.operations.explained import MASKED, RUN, Explanation, Helper, Part, Place, Variable, variables
from outlast.operations.resolve import Resolved, resolve
from outlast.operations.served import served
from outlast.operations.servers import require_servers
from outlast.platforms.base import Launch
from outlast.platforms.bundle import inside_folder
from outlast.platforms.registry import create
from outlast.settings import Settings
from outlast.store.pack import plan_pack

if TYPE_CHECKING:
    from outlast.store.pack import PackPlan


@served("submitting")
def explain(request: RunRequest, settings: Settings) -> Explanation:
    """What the scripts of a request will see. `UsageError` as `outlast run` would raise it."""
    resolved = resolve(request, settings)
    pack = plan_pack(
        resolved.folder, resolved.include, resolved.exclude, resolved.leave_out, resolved.allow_secret_files
    )
    code = CodePack(sha256="", size_bytes=pack.size_bytes, files=len(pack.files))
    return _Explaining(resolved, pack, resolved.to_spec(RUN, "", code), settings).explanation()


class _Explaining:
    """One resolved request and its first stint, imagined."""

    def __init__(self, resolved: Resolved, pack: PackPlan, spec: RunSpec, settings: Settings) -> None:
        self.resolved = resolved
        self.pack = pack
        self.spec = spec
        self.body: dict[str, Any] = spec.to_json()
        self.home = settings.home.resolve()
        self.settings = settings
        self.sandboxed = spec.sandbox != "off" and sandbox.usable(sandbox.find_bwrap())[0]
        self.rendered: Rendered = rendered(spec, self.home, sandboxed=self.sandboxed)
        self.work = self.home / "work" / RUN

    def explanation(self) -> Explanation:
        parts = self._parts()
        return Explanation(
            name=self.spec.name,
            contract=self.spec.contract,
            parts=parts,
            places=_merged(self._places()),
            helpers=tuple(self._helpers()),
            inherited=_inherited(parts),
            network=self._network(),
            sandboxed=self.sandboxed,
            refused=tuple(foreseen(self.spec, self.home, self.resolved.folder / self.resolved.script)),
            notices=self._notices(),
        )

    # ---- processes

    def _parts(self) -> tuple[Part, ...]:
        shared = self._variables()
        if self.spec.job is not None:
            from outlast.operations.explain_job import role_parts

            return role_parts(self.body, self.rendered.cwd, shared)
        packages = (f"{self.spec.requirements} is installed first, and the python of that environment is used",)
        command, facts = shlex.join(self.rendered.argv), packages if self.spec.requirements else ()
        return (Part(self.spec.script, command, self.rendered.cwd, tuple(shared.values()), facts),)

    def _variables(self) -> dict[str, Variable]:
        """In the order in which a stint sets them: the last one wins."""
        private = sorted({*self.spec.secrets, *self.resolved.secret_values})
        found = variables(self._of_machine(), "outlast")
        found |= variables({**self.rendered.env, **moxing_variables(self.body, self._buckets(), {})}, "contract")
        found |= variables(self.spec.env, "you")
        found |= {name: Variable(name, MASKED, "you, secret") for name in private}
        return found | variables(self._of_outlast(), "outlast")

    def _of_machine(self) -> dict[str, str]:
        """What depends on the machine's share that a stint gets. Cards are counted here and chosen when it starts."""
        need = self.spec.resources
        found = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"), **thread_environment(need.cpus)}
        for name, count in (("CUDA_VISIBLE_DEVICES", need.gpus), ("ASCEND_RT_VISIBLE_DEVICES", need.npus)):
            if count or name.startswith("CUDA"):
                found[name] = ",".join(map(str, range(count)))
        if need.nodes > 1:
            there = meeting_variables(Meeting(0, ["127.0.0.1"] * need.nodes), 0)
            found |= there | {"MASTER_PORT": "(a port that is free then)"}
        return found

    def _of_outlast(self) -> dict[str, str]:
        here, desk = self.rendered.cwd, self.work / "0001" / "desk"
        inherited = self.spec.env.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        paths = [*self.rendered.python_path, self._bundle(), inherited]
        found = {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONUNBUFFERED": "1",
            "OUTLAST_RUN": RUN,
            "OUTLAST_STINT": "1",
            "OUTLAST_SOCKET": str(desk / "socket"),
            "OUTLAST_FLAG": str(desk / "flag"),
            "OUTLAST_CHECKPOINT": posixpath.join(here, self.spec.checkpoint),
            "OUTLAST_OUTPUT": posixpath.join(here, self.spec.output) if self.spec.output else here,
            "OUTLAST_RESTORED": "",
            "OUTLAST_PROGRESS": "{}",
            "OUTLAST_PARAMS": json.dumps(self.spec.params),
        }
        if self.spec.limit_s is not None:
            found["OUTLAST_DEADLINE"] = f"(the clock in {format_duration(self.spec.limit_s)})"
        if self.sandboxed:
            found |= {"HOME": str(self.work / "shared" / "home"), "TMPDIR": "/tmp"}
        return found

    # ---- what lies where

    def _places(self) -> Iterator[Place]:
        yield self._code()
        for given in staged_inputs(self.body):
            how = "a copy of its own" if given.get("writable") else "read-only"
            yield Place(self._path(str(given["path"])), f"{given['name']}: {given['source']}, {how}")
        yield Place(self._path(self.spec.checkpoint), "checkpoints: empty at first, then what the stint before saved")
        if self.spec.output and self.spec.output != self.spec.checkpoint:
            yield Place(self._path(self.spec.output), "results, for outlast fetch")
        for output in self.spec.outputs:
            yield Place(self._path(output.path), f"{output.name}: brought to {output.target}")
        for source, target in self.rendered.binds:
            yield Place(target, f"a private folder of each stint ({source})")
        for path in () if self.spec.job else self.rendered.files:
            yield Place(path, "written by the contract")
        if self.sandboxed:
            yield Place("/tmp", "private to each stint")
        if self.spec.log_folder:
            yield Place(self.spec.log_folder, "the log, once more")

    def _code(self) -> Place:
        count = "1 file" if len(self.pack.files) == 1 else f"{len(self.pack.files)} files"
        words = f"the code: {count}, {format_size(self.pack.size_bytes)}, of {self.resolved.folder}"
        if self.spec.job is not None:
            from outlast.operations.explain_job import code_words

            return Place(self.rendered.cwd, code_words(self.body, words))
        return Place(self.rendered.cwd, words)

    def _path(self, relative: str) -> str:
        return posixpath.normpath(posixpath.join(self.rendered.cwd, relative))

    # ---- what it can use

    def _helpers(self) -> Iterator[Helper]:
        yield Helper("import outlast", f"from {self._bundle()}")
        if self.spec.contract in MOXING:
            yield Helper("import moxing", "outlast's own, ahead of any installed package of that name")
            for address, folder in self._buckets().items():
                yield Helper(address, f"for moxing, played by {folder}")
        for node in needed(self.body):
            yield Helper(node.url, f"WebHDFS over {node.folder}, which plays {node.address}")
        if self.spec.job is not None:
            yield Helper("python, python3", self.spec.python)

    def _buckets(self) -> dict[str, str]:
        """Bucket → the folder that plays it; a single file is given one by each stint."""
        own = self.work / "0001" / "buckets"
        return {
            root: str(own / root.partition("://")[2]) if Path(path).is_file() else path
            for root, path in self.spec.maps.items()
        }

    def _bundle(self) -> str:
        return str(inside_folder(self.home / "cache", create=False))

    def _network(self) -> str:
        if self.rendered.network:
            return "allowed"
        if not self.sandboxed:
            return "allowed: without the sandbox nothing can forbid it"
        return "none, by the contract xihe" if self.spec.contract == "xihe" else "none, by --no-network"

    # ---- what to look at twice

    def _notices(self) -> tuple[str, ...]:
        order = Order(run=RUN, stint=1, token="", platform=self.spec.platforms[0], limit_s=self.spec.limit_s)
        plan = create(self.spec.platforms[0], self.settings).plan(Launch(self.spec, order))
        found = [*self.resolved.notices, *self.pack.notices, *plan.notices, *self.rendered.notices]
        try:
            require_servers(self.body, self.home)
        except UsageError as error:  # what the script would see is worth knowing all the same
            found.append(str(error))
        return tuple(dict.fromkeys(found))


def _merged(places: Iterable[Place]) -> tuple[Place, ...]:
    """Each path once, with everything that is said of it."""
    found: dict[str, Place] = {}
    for place in places:
        known = found.get(place.path)
        found[place.path] = place if known is None else Place(place.path, f"{known.what}; {place.what}")
    return tuple(found.values())


def _inherited(parts: Sequence[Part]) -> tuple[str, ...]:
    from outlast.platforms.local.launch import stint_environment

    shown = {variable.name for part in parts for variable in part.variables}
    return tuple(sorted(name for name in stint_environment(os.environ, {}) if name not in shown))
