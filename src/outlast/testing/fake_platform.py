"""A platform without machines: jobs are entries in a dictionary, and the test plays the runner.

platform = FakePlatform()
keeper = Keeper(settings, create_platform=lambda name: platform)
keeper.turn()
stint = platform.start(store)          # the newest job gets a machine and claims its stint
stint.checkpoint(epoch=1)
stint.end("hand-over")
keeper.turn()                          # the next stint is ordered and submitted
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from outlast.inside import layout
from outlast.inside.records import Beat, Claim, End, Manifest, now_text
from outlast.inside.stores.base import Store
from outlast.model.spec import RunSpec
from outlast.platforms.base import Job, JobState, Launch, Plan, Platform


class FakePlatform(Platform):
    """Remembers what it was asked. `submits` counts launches that really started something, per job name."""

    name = "fake"

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.launches: dict[str, Launch] = {}
        self.submits: dict[str, int] = {}
        self.cancelled: list[str] = []
        #: Called with the verb before it happens and with `verb + " done"` after it; may raise.
        self.on_call: Callable[[str], None] = lambda verb: None

    def check(self, spec: RunSpec) -> None:
        self.on_call("check")

    def plan(self, launch: Launch) -> Plan:
        return Plan(("fake", launch.job_name))

    def submit(self, launch: Launch) -> None:
        self.on_call("submit")
        if launch.job_name not in self.jobs:
            self.jobs[launch.job_name] = Job(JobState.QUEUED)
            self.launches[launch.job_name] = launch
            self.submits[launch.job_name] = self.submits.get(launch.job_name, 0) + 1
        self.on_call("submit done")

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        self.on_call("poll")
        return {name: self.jobs.get(name, Job(JobState.ABSENT)) for name in names}

    def logs(self, name: str) -> str:
        return ""

    def cancel(self, name: str) -> None:
        self.on_call("cancel")
        if name in self.jobs:
            self.cancelled.append(name)
            self.jobs[name] = Job(JobState.ENDED, exit_code=-9)
        self.on_call("cancel done")

    def start(self, store: Store, name: str | None = None) -> FakeStint:
        """Give a queued job (by default the newest) a machine, and let its runner claim the stint."""
        name = name if name is not None else list(self.jobs)[-1]
        assert self.jobs[name].state is JobState.QUEUED, f"{name} is {self.jobs[name].state}"
        self.jobs[name] = Job(JobState.RUNNING)
        return FakeStint(self, store, self.launches[name])

    def lose(self, name: str, *, preempted: bool = False) -> None:
        """Let a job end without a word."""
        self.jobs[name] = Job(JobState.ENDED, exit_code=-9, preempted=preempted)


class FakeStint:
    """The runner's side of one stint, played by a test: claims at once, then does what it is told."""

    def __init__(self, platform: FakePlatform, store: Store, launch: Launch) -> None:
        self.platform = platform
        self.store = store
        self.launch = launch
        self.run, self.number = launch.order.run, launch.order.stint
        self.committed = 0
        self._beats = 0
        self._parent = launch.order.resume_from
        claim = Claim(token=launch.order.token, host="fake", pid=1, claimed_at=now_text())
        self.is_ours = store.put_if_absent(layout.claim_key(self.run, self.number), claim.to_bytes())

    def beat(self, phase: str = "running", **fields: Any) -> None:
        """Write the next heartbeat."""
        self._beats += 1
        beat = Beat(count=self._beats, phase=phase, last_checkpoint=self._parent, at=now_text(), **fields)
        self.store.put(layout.beat_key(self.run, self.number), beat.to_bytes())

    def checkpoint(self, files: dict[str, bytes] | None = None, **progress: Any) -> str:
        """Commit a checkpoint with these files (path → bytes) and return its id."""
        self.committed += 1
        files = {"ckpt/model": b"%d %d" % (self.number, self.committed)} if files is None else files
        name = layout.checkpoint_id(self.number, self.committed)
        manifest = Manifest(
            run=self.run,
            stint=self.number,
            number=self.committed,
            files=self._keep(files),
            parent=self._parent,
            progress=dict(progress),
            created_at=now_text(),
        )
        self.store.put_if_absent(layout.checkpoint_key(self.run, name), manifest.to_bytes())
        self._parent = name
        return name

    def outputs(self, files: dict[str, bytes]) -> None:
        """Commit the final outputs."""
        manifest = Manifest(run=self.run, stint=self.number, number=0, files=self._keep(files), created_at=now_text())
        self.store.put_if_absent(layout.outputs_key(self.run), manifest.to_bytes())

    def log(self, segment: int, data: bytes) -> None:
        self.store.put(layout.log_key(self.run, self.number, segment), data)

    def end(self, reason: str, *, leave: bool = True, **fields: Any) -> bool:
        """Record how the stint ended and, unless told otherwise, let the job end too."""
        end = End(reason=reason, checkpoints=self.committed, last_checkpoint=self._parent, at=now_text(), **fields)
        written = self.store.put_if_absent(layout.end_key(self.run, self.number), end.to_bytes())
        if leave:
            self.platform.jobs[self.launch.job_name] = Job(JobState.ENDED, exit_code=0)
        return written

    def _keep(self, files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
        kept = {}
        for path, data in files.items():
            digest = hashlib.sha256(data).hexdigest()
            self.store.put(layout.blob_key(digest), data)
            kept[path] = {"sha256": digest, "size": len(data), "mode": 0o644}
        return kept
