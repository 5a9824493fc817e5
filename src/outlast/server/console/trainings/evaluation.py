"""The report of a training: what each run of its grid came to, and what its curves say."""

from __future__ import annotations

from nicegui import app as console
from nicegui import ui
from starlette.requests import Request

from outlast.errors import NotFoundError
from outlast.hub.repository import Repository
from outlast.server.aim.process import has_aim
from outlast.server.console import formats
from outlast.server.console.access import actor_of
from outlast.server.console.aside import aside
from outlast.server.console.html import Html, table
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import open_repository
from outlast.server.console.parts import button, copyable, panel, text, told
from outlast.server.console.shell import link
from outlast.server.console.trainings.aiming import aim_link
from outlast.server.console.trainings.desks import address, desk_now, desk_of, head
from outlast.server.console.words import say
from outlast.server.hub.trainings.judging import Part, Report, make_report
from outlast.server.hub.trainings.links import sealed_path
from outlast.server.hub.trainings.progress import Seen
from outlast.track.evaluation.curve import Spot


async def evaluation_page(request: Request, owner: str, name: str, training: str) -> None:
    """The evaluation that was asked for last."""
    desk = desk_of(await actor_of(request))
    project = await aside(lambda: desk.project_at(owner, name))
    seen = await aside(lambda: desk.get(project, training))
    if not seen.training.evaluation:
        raise NotFoundError("this training was not evaluated yet", hint=f"see {address(project, training)}")
    with repository_frame(await open_repository(request, owner, name), "trainings"):
        head(project, say("Evaluation"), (address(project, training), seen.training.name))
        with ui.element("div").classes("o-stack"), told():
            report = await aside(lambda: make_report(desk.holding.settings, seen))
            await aside(has_aim)
            _show(project, seen, report)


def _show(project: Repository, seen: Seen, report: Report) -> None:
    for notice in report.notices:
        text(notice, "o-note", "div")
    if len(report.parts) > 1:
        with panel(say("All of them")):
            ui.html(_overview(report), sanitize=False)
    for number, part in enumerate(report.parts, 1):
        with panel(_title(part, number)):
            _part(part)
    with ui.element("div").classes("o-row"):
        link(f"/runs/{seen.training.run}/curves", say("Curves"), "o-button")
    if report.kind == "custom":
        _aim(project, seen)


def _part(part: Part) -> None:
    rows = [
        [name, formats.quantity(one.first.value), _spot(one.best), _spot(one.last)]
        for name, one in part.evaluation.metrics.items()
    ]
    heads = [say("Metric"), "#" + say("first value"), "#" + say("best"), "#" + say("last")]
    ui.html(table(say("Metrics"), heads, rows), sanitize=False)
    for finding in part.evaluation.findings:
        text(f"{finding.sentence}. {finding.advice}".rstrip(". ") + ".", "o-note", "div")


def _overview(report: Report) -> Html:
    """One row for each, by the metric that tells most."""
    main = next((part.evaluation.main for part in report.parts if part.evaluation.main), "") or ""
    rows = []
    for number, part in enumerate(report.parts, 1):
        one = part.evaluation.metrics.get(main)
        rows.append([_title(part, number), _spot(one.best) if one else "", _spot(one.last) if one else ""])
    return table(say("All of them"), [say("Run"), f"#{main} · {say('best')}", f"#{main} · {say('last')}"], rows)


def _title(part: Part, number: int) -> str:
    return ", ".join(f"{say(name)} {value}" for name, value in part.label.items()) or say("Run {number}", number=number)


def _spot(spot: Spot) -> str:
    return f"{formats.quantity(spot.value)} ({spot.where})"


def _aim(project: Repository, seen: Seen) -> None:
    """Aim's own page where this server can show it; its repository for whoever has Aim."""

    async def download() -> None:
        await desk_now()
        ui.download.from_url(await aside(lambda: sealed_path(console.state.outlast.settings.home, seen, "aim")))

    with panel(say("Aim"), say("What the script wrote to its Aim repository is shown by Aim itself:")):
        aim_link(project, seen)
        copyable(f"outlast aim {seen.training.run}", say("Command line"))
        button(say("Download the Aim repository"), download)
