"""Platforms: what each offers, how busy it is, who waits, and how the server's machine is doing."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.model.quantities import format_duration, format_size
from outlast.server.accounts.people import Role
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls, part
from outlast.server.console.newrun.plan import show_facts
from outlast.server.console.parts import Table, panel, style_sheet, text
from outlast.server.console.platform_accounts import accounts_part
from outlast.server.console.shell import frame, link
from outlast.server.console.words import say

_WAITING = ("queued",)
_BUSY = ("running",)
_ROWS = 50
_OK = {True: "good", False: "missing", None: "not needed"}


async def platforms_page(request: Request) -> None:
    actor = await actor_of(request)
    is_asked = "check" in request.query_params
    offered = await calls().get("/platforms", check=is_asked)
    waiting = (await calls().get("/runs", state=list(_WAITING), limit=_ROWS))["runs"]
    running = (await calls().get("/runs", state=list(_BUSY), limit=_ROWS))["runs"]
    with frame("Platforms", "/platforms", actor), ui.element("div").classes("o-stack"):
        style_sheet()
        with ui.element("div").classes("o-grid"):
            for platform in offered["platforms"]:
                _card(platform, offered["usual"], running, waiting)
        link("/platforms?check", say("Ask every platform how it is"))
        if actor.role is Role.ADMIN:
            await accounts_part(offered["platforms"])
        _queue(waiting)
        await _environments()
        if actor.role is Role.ADMIN:
            await _doctor()


def _card(
    platform: dict[str, Any], usual: str, running: list[dict[str, Any]], waiting: list[dict[str, Any]]
) -> None:  # fmt: skip
    name = platform["name"]
    with panel(name):
        if name == usual:
            text(say("used when a run names none"), "o-quiet", "p")
        machine = platform["machine"]
        facts = {say("Running"): str(_count(running, name)), say("Waiting"): str(_count(waiting, name))}
        if machine is not None:
            facts |= {
                say("Processor cores"): str(machine["cpus"]), say("Memory"): format_size(machine["memory_bytes"]),
                "GPU": str(machine["gpus"]), "NPU": str(machine["npus"]),
            }  # fmt: skip
        show_facts(facts | _standing(platform))
        for offer in platform["offers"]:
            text(f"{offer['name']}: {offer['words']}" + (f" ({say('free')})" if offer["is_free"] else ""), "", "p")


def _standing(platform: dict[str, Any]) -> dict[str, str]:
    """What is known of a platform that one signs in to; what says nothing is left out."""
    if platform["machine"] is not None:
        return {}
    used = format_duration(platform["used_s"]) if platform["used_s"] else ""
    if platform["allowed_s"] is not None:
        used = say(
            "{used} of {allowed}", used=used or format_duration(0.0), allowed=format_duration(platform["allowed_s"])
        )
    told = {
        say("Kind"): platform["kind"],
        say("State"): say(platform["state"]),
        say("Limit of a stint"): format_duration(platform["limit_s"]) if platform["limit_s"] else "",
        say("Used"): used,
        say("Queue"): platform["queue"],
        say("Asked again in"): format_duration(platform["retry_s"]) if platform["retry_s"] else "",
        say("Store"): platform["store"],
        say("Says"): platform["detail"],
    }
    return {name: value for name, value in told.items() if value}


def _count(runs: list[dict[str, Any]], platform: str) -> int:
    return sum(run["platform"] == platform for run in runs)


def _queue(waiting: list[dict[str, Any]]) -> None:
    with panel(say("Queue"), say("Runs that wait for a machine, and what for.")):
        if not waiting:
            text(say("Nobody waits."), "o-empty", "p")
            return
        table = Table([say("Name"), say("Whose"), say("Platform"), say("Why"), say("Run")], say("Queue"))
        for run in waiting:
            with table.row(run["name"], run["user"], run["platform"], run["message"]):
                link(f"/runs/{part(run['id'])}", run["id"])


async def _environments() -> None:
    found = (await calls().get("/environments"))["environments"]
    with panel(say("Environments"), say("Named sets of packages that a run can start from.")):
        columns = [say("Name"), say("Framework"), "Python", say("Device"), say("From"), say("Usable here")]
        table = Table(columns, say("Environments"))
        for each in found:
            framework = f"{each['framework']} {each['version']}".strip()
            origin = say("this server") if each["platform"] == "you" else each["platform"]
            table.add(each["name"], framework, each["python"], each["device"], origin, say(each["here"]))


async def _doctor() -> None:
    found = (await calls().get("/doctor"))["findings"]
    with panel(say("The server's machine")):
        table = Table([say("What"), say("State"), say("Found"), say("Advice")], say("The server's machine"))
        for each in found:
            table.add(each["name"], say(_OK[each["ok"]]), each["value"], each["advice"])
