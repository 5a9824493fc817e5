"""`xihe`: each stint is one training instance of a private project, without network, for 24 hours at most.

A container sees its project, its inputs and an output folder that is packed only when the instance has completed. So
a stint takes along what it needs of the store as a model repository, and what it left is unpacked here afterwards.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from outlast.errors import NotFoundError, SpecError, Unavailable
from outlast.platforms.base import Field, Hosts, Job, JobState, Launch, Offer, Plan, Platform, Standing
from outlast.platforms.boot import boot_file
from outlast.platforms.xihe import wire
from outlast.platforms.xihe.homecoming import Homecoming
from outlast.platforms.xihe.inputs import named_inputs, read_root
from outlast.platforms.xihe.repository import Remote
from outlast.platforms.xihe.rest import Refused, XiheRest
from outlast.platforms.xihe.snapshot import project_files, state_files

if TYPE_CHECKING:
    from outlast.model.spec import RunSpec
    from outlast.platforms.accounts import Account
    from outlast.settings import Settings
    from outlast.store.assets import Asset

#: An instance changes its state every few seconds at most; Xihe itself looks at it every ten.
PACE_S = 5.0
_LOG_TAIL_CHARS = 64 << 10
_STANDINGS: dict[str, Literal["full", "down", "signed-out"]] = {
    "refused": "signed-out", "full": "full", "quota": "full", "down": "down",
}  # fmt: skip


class Xihe(Platform, Hosts):
    """One account on Xihe, or on a hub that speaks its routes. Safe to use from several threads."""

    name = "xihe"
    limit_s = wire.LIMIT_S - wire.MARGIN_S
    fields = (
        Field("endpoint", "Address of the API", help="of Xihe, or of a server that runs `outlast serve`"),
        Field("git_endpoint", "Address for git", required=False, help="only when it is another one"),
        Field("user", "User name"),
        Field("token", "Token", secret=True, help="from the account settings; shown once when it is made"),
        Field("git_token", "Token for git", required=False, secret=True, help="only when it is another one"),
        Field("version", "Engine version", wire.COMPUTES[0].version, help="as the form of Xihe lists it"),
        Field("flavor", "Flavor", required=False, help="only for a version that outlast does not know"),
        Field("type", "Engine type", required=False, help="only for a version that outlast does not know"),
    )

    def __init__(
        self,
        rest: XiheRest,
        remote: Remote,
        user: str,
        compute: wire.Compute,
        home: Path,
        cache: Path,
        *,
        pace_s: float = PACE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`home` is the folder of the account: its store lies there, and what is known of jobs that are over."""
        self.store = (home / "store").absolute().as_uri()
        self._rest = rest
        self._remote = remote
        self._user = user
        self._compute = compute
        self._cache = cache
        self._pace_s = pace_s
        self._clock = clock
        self._homecoming = Homecoming(rest, home, pace_s, clock)
        self._lock = threading.Lock()
        self._projects: dict[str, str] = {}  # run → id of its project
        self._listed: dict[str, tuple[float, list[wire.Instance]]] = {}  # run → when, its instances

    @classmethod
    def from_account(cls, account: Account, settings: Settings) -> Xihe:
        home = settings.home / "platforms" / account.name
        rest = XiheRest(account["endpoint"], account["token"], account.name)
        git_token = account["git_token"] or account["token"]
        remote = Remote(account["git_endpoint"] or account["endpoint"], account["user"], git_token, home)
        compute = wire.find_compute(account["version"], account["flavor"], account["type"])
        return cls(rest, remote, account["user"], compute, home, settings.home / "cache")

    # ---- what it is

    def sees(self, address: str) -> bool:
        """Nothing but its own store: the containers have no network."""
        return (address + "/").startswith(self.store + "/")

    def standing(self) -> Standing:
        try:
            projects = self._rest.projects(self._user)
            own = [project for project, name in projects.items() if wire.is_ours(name)]
            going = [each for project in own for each in self._rest.instances(project) if not each.is_over]
            owner = self._rest.whose_token()
        except Unavailable as error:
            return Standing(_STANDINGS[error.why], str(error))
        if owner and owner.casefold() != self._user.casefold():
            # Projects of others can be listed too: it would be noticed only when the first stint is sent.
            words = f"the token belongs to {owner!r}, not to {self._user!r}; give its name with --set user={owner}"
            return Standing("signed-out", words)
        computes = dict.fromkeys((self._compute, *wire.COMPUTES))
        offers = [Offer(each.version, each.hardware, wire.LIMIT_S, is_free=True) for each in computes]
        detail = f"signed in as {self._user}; outlast has {len(going)} instance{'s' * (len(going) != 1)} under way"
        waiting = sum(wire.job_of(each).state is JobState.QUEUED for each in going)
        return Standing("ready", detail, tuple(offers), f"{waiting} of them wait" if waiting else "")

    def check(self, spec: RunSpec) -> None:
        wanted, there = spec.resources, wire.MACHINES.get(self._compute.flavor)
        if wanted.nodes > 1:
            raise SpecError(
                f"--nodes {wanted.nodes}: xihe gives one machine, without network, to each stint",
                hint="choose another platform with --on, or leave --nodes out",
            )
        if there is not None:
            asked = (("cpus", wanted.cpus), ("gpus", wanted.gpus), ("npus", wanted.npus))
            for kind, count in asked:
                if count > getattr(there, kind):
                    raise SpecError(
                        f"--{kind} {count} is more than xihe gives with {self._compute.version}: {there.words}",
                        hint="sign in once more, with another version: outlast login xihe --profile NAME",
                    )
        if spec.maps:
            raise SpecError(
                f"{next(iter(spec.maps))} is played by a folder of this machine, which xihe cannot see",
                hint="give the data itself: --data NAME=PATH",
            )

    def plan(self, launch: Launch) -> Plan:
        project, state = wire.project_name(launch.order.run), wire.state_name(launch.order.run)
        name = wire.instance_name(launch.job_name)
        command = ("POST", f"{self._rest.endpoint}/v1/train/project/{project}/training", f"name={name}")
        pushed = f"its state and what starts it go to {state} and {project}, private repositories of {self._user}"
        return Plan(command, (pushed, *_notices(launch)))

    # ---- the verbs

    def submit(self, launch: Launch) -> None:
        """Bring the state of the run to Xihe and make the instance; with a large checkpoint that takes its time."""
        run, name = launch.order.run, wire.instance_name(launch.job_name)
        words = f"stint {launch.order.stint} of {run}"
        project = self._rest.make_repository("project", self._user, wire.project_name(run), run)
        there = self._rest.instances(project)
        if any(each.name == name for each in there):
            return
        self._end_others(project, there)
        store, inputs = self._homecoming.store(), named_inputs(launch.spec, self._remote)
        state = wire.Wanted(wire.STATE_KEY, "model", self._user, wire.state_name(run))
        self._rest.make_repository("model", self._user, state.name, run)
        self._remote.push(self._user, state.name, state_files(store, launch, inputs.values()), words, lfs=True)
        boot = boot_file(self._cache)
        arguments = {each.key: given for each, given in inputs.items()}
        files = project_files(boot, store, launch, arguments)
        self._remote.push(self._user, wire.project_name(run), files, words, lfs=False)
        for each in wire.outdated(there, name):
            self._rest.remove(project, each.id)
        self._rest.create(project, wire.training_body(name, boot.name, self._compute, [state, *inputs], words))
        self._look_again(run)

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        return {name: self._look(name) for name in names}

    def logs(self, name: str) -> str:
        try:
            found = self._find(name)
            return self._homecoming.log_of(*found)[-_LOG_TAIL_CHARS:] if found is not None else ""
        except Unavailable as error:
            return f"{error}\n"

    def cancel(self, name: str) -> None:
        """End an instance; its output is lost, since Xihe packs that of completed ones only."""
        self._look_again(wire.run_of(name))
        found = self._find(name)
        if found is not None and not found[1].is_over:
            self._rest.terminate(found[0], found[1].id)
            self._look_again(wire.run_of(name))

    def forget(self, run: str) -> None:
        """Remove the run's repositories with all their instances, and what is noted of them here."""
        project = self._project(run)
        if project is not None:
            for each in self._rest.instances(project):
                if not each.is_over:
                    self._rest.terminate(project, each.id)
            self._rest.remove_repository("project", self._user, wire.project_name(run))
        self._rest.remove_repository("model", self._user, wire.state_name(run))
        self._homecoming.forget(run)
        self._look_again(run)
        self._projects.pop(run, None)

    # ---- the repositories of others, and those that were there before

    def find_commit(self, asset: Asset) -> str | None:
        kind, owner, name = read_root(asset)
        if self._rest.repository_id(kind, owner, name) is None:
            return None
        found = self._remote.commit(owner, name, asset.revision)
        if not found:
            what = f"has no revision {asset.revision!r}" if asset.revision else "is empty"
            raise NotFoundError(f"{owner}/{name} at {self._remote.endpoint} {what}")
        return found

    def fetch_commit(self, asset: Asset, commit: str, folder: Path) -> None:
        _, owner, name = read_root(asset)
        self._remote.fetch(owner, name, commit, folder)

    def fetch_objects(self, asset: Asset, commit: str, folder: Path) -> None:
        self._remote.fetch_objects(folder, commit, asset.path)

    def _look(self, name: str) -> Job:
        brought = self._homecoming.known(name)
        if brought is not None:
            return brought
        found = self._find(name)
        if found is None:
            return Job(JobState.ABSENT)
        job = wire.job_of(found[1])
        return self._homecoming.bring(name, *found, job) if job.state is JobState.ENDED else job

    def _end_others(self, project: str, there: Iterable[wire.Instance]) -> None:
        """A project has one instance at a time, and any other than the wanted one belongs to a stint that is over."""
        going = [each for each in there if not each.is_over]
        for each in going:
            self._rest.terminate(project, each.id)
        if going:
            raise Unavailable(f"xihe is still ending {going[0].name}", why="full", retry_after_s=3 * self._pace_s)

    # ---- what the lists say

    def _find(self, name: str) -> tuple[str, wire.Instance] | None:
        """The project and the instance of a job, as of the last look; None when there is none."""
        run, wanted = wire.run_of(name), wire.instance_name(name)
        project = self._project(run)
        if project is None:
            return None
        with self._lock:
            known = self._listed.get(run)
        if known is None or self._clock() - known[0] >= self._pace_s:
            known = self._clock(), self._instances(run, project)
            with self._lock:
                self._listed[run] = known
        found = next((each for each in known[1] if each.name == wanted), None)
        return (project, found) if found is not None else None

    def _instances(self, run: str, project: str) -> list[wire.Instance]:
        try:
            return self._rest.instances(project)
        except Refused as error:
            if not error.is_absent:
                raise
            self._projects.pop(run, None)  # removed meanwhile; another of the same name has another id
            return []

    def _project(self, run: str) -> str | None:
        if run not in self._projects:
            found = self._rest.repository_id("project", self._user, wire.project_name(run))
            if found is None:
                return None
            self._projects[run] = found
        return self._projects[run]

    def _look_again(self, run: str) -> None:
        with self._lock:
            self._listed.pop(run, None)


def _notices(launch: Launch) -> Iterable[str]:
    spec = launch.spec
    yield "log, checkpoints and results of a stint on xihe come home when its instance has completed"
    yield "an instance that xihe has to end, after 24 hours or because it is stopped, loses what it did since it began"
    if spec.secrets:
        yield f"{', '.join(spec.secrets)} go to xihe in a private repository of yours"
    targets = [each.name for each in spec.outputs if each.target]
    if targets:
        yield f"{', '.join(targets)} cannot be written to its target from xihe; bring it with: outlast fetch"
