"""Every page of the console: its address, and the function that builds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from outlast.server.console.compare import compare_page
from outlast.server.console.hub.editing import edit_page
from outlast.server.console.hub.files import repository_page
from outlast.server.console.hub.history import commit_page, history_page
from outlast.server.console.hub.list import hub_page
from outlast.server.console.hub.settings import repository_settings_page
from outlast.server.console.hub.uses import uses_page
from outlast.server.console.newrun.page import new_run_page
from outlast.server.console.platforms import platforms_page
from outlast.server.console.run.page import run_page, run_view_page
from outlast.server.console.runs import runs_page
from outlast.server.console.settings.page import settings_page
from outlast.server.console.stores import stores_page
from outlast.server.console.sweep import sweep_page
from outlast.server.console.trainings.evaluation import evaluation_page
from outlast.server.console.trainings.form import new_training_page
from outlast.server.console.trainings.listed import trainings_page
from outlast.server.console.trainings.one import training_page

PAGES: list[tuple[str, Callable[..., Awaitable[Response | None]]]] = [
    ("/", runs_page),
    ("/runs/{run}", run_page),
    ("/runs/{run}/{view}", run_view_page),
    ("/new", new_run_page),
    ("/compare", compare_page),
    ("/sweeps/{sweep}", sweep_page),
    ("/stores", stores_page),
    ("/platforms", platforms_page),
    ("/settings", settings_page),
    ("/hub", hub_page),
    ("/hub/{owner}/{name}", repository_page),
    ("/hub/{owner}/{name}/edit", edit_page),
    ("/hub/{owner}/{name}/history", history_page),
    ("/hub/{owner}/{name}/commit/{commit}", commit_page),
    ("/hub/{owner}/{name}/runs", uses_page),
    ("/hub/{owner}/{name}/settings", repository_settings_page),
    ("/hub/{owner}/{name}/trainings", trainings_page),
    ("/hub/{owner}/{name}/trainings/new", new_training_page),
    ("/hub/{owner}/{name}/trainings/{training}", training_page),
    ("/hub/{owner}/{name}/trainings/{training}/evaluation", evaluation_page),
]
