"""A run folder as people see it: the short form for lists, the long form for one run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from outlast import relay
from outlast.inside import layout
from outlast.inside.errors import InsideError, NotFound
from outlast.inside.records import Beat, Control, Manifest
from outlast.keeper.observe import Ages, RunFolder, run_seen
from outlast.model.first_view import first_platform, first_view
from outlast.model.hearsay import Hearsay
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import CheckpointView, RunView, StintView
from outlast.platforms.base import Job, JobState, job_name
from outlast.settings import Settings

#: How many stints back the newest epoch, rate and metrics are looked for.
_BACK = 3
_WAITING = (StintState.QUEUED, StintState.SUBMITTED)
_VIEW_FIELDS = frozenset(field.name for field in dataclasses.fields(RunView))


def policy_of(settings: Settings, spec: Mapping[str, Any], control: Control) -> relay.Policy:
    """How patient a run is: the spec's wishes within the home's settings."""
    return relay.Policy(
        max_stints=spec.get("max_stints"),
        script_retries=spec.get("script_retries", 1),
        no_progress_limit=settings.no_progress_limit,
        silence_limit_s=settings.silence_limit_s,
        launch_silence_s=settings.launch_silence_s,
        backoff_s=settings.backoff_s,
        stop_patience_s=float(spec.get("grace_s", settings.grace_s)) + 10.0,
    )


def view_from_json(body: Mapping[str, Any]) -> RunView:
    """A short view back from `RunView.to_json`; fields of other versions are left out."""
    known = {name: value for name, value in body.items() if name in _VIEW_FIELDS}
    known["state"] = RunState(body["state"])
    return RunView(**known)


def decide_from_folder(folder: RunFolder, settings: Settings) -> relay.Decision:
    """What the folder alone says: without its platform, an open stint counts as queued or running."""
    jobs = {}
    for number in folder.orders:
        state = JobState.RUNNING if number in folder.claims else JobState.QUEUED
        jobs[job_name(folder.run, number)] = Job(JobState.ENDED if number in folder.ends else state)
    return relay.decide(run_seen(folder, jobs, Ages(), policy_of(settings, folder.spec, folder.control)))


def short_view(
    folder: RunFolder, decision: relay.Decision, *, detail: str = "", notice: str = "",
    useful_fraction: float | None = None,
) -> RunView:  # fmt: skip
    """The line that `ps` shows, from what was read already."""
    last = folder.last
    beat = folder.beat(last) if last else None
    message = decision.message
    if detail and (decision.stint_state in _WAITING or _is_unheard(folder, decision)):
        message = f"{message}: {detail}"
    return dataclasses.replace(
        first_view(folder.spec),
        state=decision.state,
        message=message,
        platform=folder.orders[last].platform if last else first_platform(folder.spec),
        stints=last,
        last_checkpoint=folder.checkpoints[-1] if folder.checkpoints else None,
        notice=notice or (beat.notice if beat is not None and last not in folder.ends else ""),
        updated_at=_updated_at(folder, beat),
        useful_fraction=useful_fraction,
        used_s=_used_s(folder),
        **_progress(folder, decision.state),
    )


def _is_unheard(folder: RunFolder, decision: relay.Decision) -> bool:
    """Whether a stint has a machine, and its runner has not come up yet."""
    return decision.stint_state is StintState.PREPARING and folder.last not in folder.claims


def full_view(folder: RunFolder, settings: Settings, known: RunView | None = None) -> RunView:
    """Everything about a run, from its folder; `known` (the index's row) adds what only the keeper knows."""
    from outlast.track.ledger import read_facts, run_ledger

    decision = decide_from_folder(folder, settings)
    ledger = run_ledger(read_facts(folder.store, folder.run))
    still = known is not None and known.stints == folder.last and not decision.state.is_final
    notice = known.notice if known is not None and still else ""
    view = short_view(folder, decision, notice=notice, useful_fraction=ledger.useful_fraction)
    # The folder alone does not tell what stands against the platforms.
    if known is not None and still and known.message.startswith((view.message, relay.WAITS)):
        view = dataclasses.replace(view, message=known.message)
    return dataclasses.replace(
        view,
        stint_list=stint_views(folder, ledger.stints),
        checkpoints=tuple(filter(None, (_checkpoint(folder, name) for name in folder.checkpoints))),
        ledger=dict(ledger.total),
        spec=dict(folder.spec),
        outputs=_outputs(folder),
    )


def useful_fraction(folder: RunFolder) -> float | None:
    """The part of the machine time that the result comes from; reads every end and manifest of the run.

    None as well when one of them cannot be read: a number for people must not keep a run from going on.
    """
    from outlast.track.ledger import read_facts, run_ledger

    try:
        return run_ledger(read_facts(folder.store, folder.run)).useful_fraction
    except InsideError:
        return None


def stint_views(folder: RunFolder, ledgers: Sequence[Mapping[str, float]] = ()) -> tuple[StintView, ...]:
    """Every stint in order, with its row of the ledger when that was computed."""
    rows = dict(zip(sorted(folder.orders), ledgers, strict=False))
    return tuple(_stint(folder, number, rows.get(number, {})) for number in sorted(folder.orders))


def _updated_at(folder: RunFolder, beat: Beat | None) -> str:
    times: list[str] = [folder.spec["created_at"], folder.control.at]
    if folder.last:
        times.append(folder.orders[folder.last].created_at)
        times.append(beat.at if beat else "")
        times.append(folder.ends[folder.last].at if folder.last in folder.ends else "")
    return max(times)


def _progress(folder: RunFolder, state: RunState) -> dict[str, Any]:
    """Epoch, rate, metrics …: of the newest stint that knows each; a stint that just began knows none."""
    found: dict[str, Any] = {}
    metrics: dict[str, float] = {}
    best: dict[str, float] | None = None  # each stint carries on what its checkpoint knew: the newest knows all
    for number in range(folder.last, max(0, folder.last - _BACK), -1):
        for source in (folder.ends.get(number), folder.beat(number)):
            if source is None:
                continue
            for name in ("epoch", "epochs", "step", "steps", "rate", "eta_s"):
                value = getattr(source, name, None)
                if value is not None:
                    found.setdefault(name, value)
            if isinstance(source, Beat) and source.rate_of:
                found.setdefault("rate_of", source.rate_of)
            if isinstance(source, Beat) and source.device and number == folder.last:
                found.setdefault("device", source.device)
            metrics = {**source.metrics, **metrics}
            best = best or source.best
    if state.is_final:
        found.pop("eta_s", None)
    return {**found, "metrics": metrics, "best": best or {}}


def _used_s(folder: RunFolder) -> dict[str, dict[str, float]]:
    """Machine time by platform and by the day (UTC) of the order, running stints included."""
    used: dict[str, dict[str, float]] = {}
    for number, order in folder.orders.items():
        end, day = folder.ends.get(number), order.created_at[:10]
        beat = folder.beat(number) if (end is None or not end.phases) and number in folder.claims else None
        seconds = sum(end.phases.values()) if end is not None and end.phases else beat.elapsed_s if beat else 0.0
        if seconds:
            days = used.setdefault(order.platform, {})
            days[day] = round(days.get(day, 0.0) + seconds, 1)
    return used


def _stint(folder: RunFolder, number: int, ledger: Mapping[str, float]) -> StintView:
    order, end, beat = folder.orders[number], folder.ends.get(number), folder.beat(number)
    seen = relay.StintSeen(
        number,
        job=relay.Job.QUEUED,
        claimed=number in folder.claims,
        phase=beat.phase if beat else "",
    )
    committed, heard = folder.checkpoints_of(number), _hearsay(folder, number)
    return StintView(
        number=number,
        state=StintState.ENDED if end else relay.stint_state(seen),
        platform=order.platform,
        why=order.why,
        reason=EndReason(end.reason) if end else None,
        message=end.message if end else "",
        exit_code=end.exit_code if end else None,
        resumed_from=order.resume_from,
        last_checkpoint=committed[-1] if committed else None,
        created_at=order.created_at,
        ended_at=end.at if end else "",
        phase="" if end or beat is None else beat.phase,
        elapsed_s=sum(end.phases.values()) if end and end.phases else beat.elapsed_s if beat else None,
        time_left_s=None if end or beat is None else beat.time_left_s,
        limit_s=order.limit_s,
        epoch=end.epoch if end else beat.epoch if beat else None,
        step=end.step if end else beat.step if beat else None,
        detail=heard.newest if end is None and number not in folder.claims else "",
        events=tuple(each.line for each in heard.events),
        ledger=dict(ledger),
    )


def _hearsay(folder: RunFolder, number: int) -> Hearsay:
    """What the platform said of a stint that could not be heard; nothing of those that told themselves."""
    end = folder.ends.get(number)
    if end is not None and end.by == "runner":
        return Hearsay()
    try:
        return Hearsay.from_bytes(folder.store.get(layout.platform_key(folder.run, number)))
    except (InsideError, ValueError):
        return Hearsay()


def _checkpoint(folder: RunFolder, name: str) -> CheckpointView | None:
    """None for a manifest that gc removed just now or that cannot be read."""
    try:
        manifest = Manifest.from_bytes(folder.store.get(layout.checkpoint_key(folder.run, name)))
    except InsideError:
        return None
    return CheckpointView(
        id=name,
        stint=manifest.stint,
        created_at=manifest.created_at,
        size_bytes=sum(int(file["size"]) for file in manifest.files.values()),
        files=len(manifest.files),
        progress=manifest.progress,
        metrics=manifest.metrics,
        parent=manifest.parent,
    )


def _outputs(folder: RunFolder) -> dict[str, dict[str, Any]] | None:
    try:
        return Manifest.from_bytes(folder.store.get(layout.outputs_key(folder.run))).files
    except NotFound:
        return None
