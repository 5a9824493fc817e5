"""Which address is answered by which handler, in both generations."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from outlast.errors import OutlastError
from outlast.openpai.names import framework_name
from outlast.server.auth import find_actor
from outlast.server.gateways.openpai import changes, clusters, jobs, logs, people, tasks, tokens
from outlast.server.gateways.openpai.asked import Asked, Handler, route
from outlast.server.gateways.openpai.book import JobBook
from outlast.server.gateways.openpai.refusing import refuse
from outlast.server.state import ServerState

PREFIX = "/rest-server"


def add(app: FastAPI) -> None:
    """Let the application answer all of it."""
    app.mount(PREFIX, _sub_app(_routes(app)))
    app.mount("/api/v2", _sub_app(_v2(app, "")))
    app.router.routes.append(Route("/healthz", _healthy, methods=["GET"], include_in_schema=False))
    for page in ("/job-detail.html", "/view.html"):
        app.router.routes.append(Route(page, _job_page, methods=["GET"], include_in_schema=False))


def _sub_app(routes: list[BaseRoute]) -> Starlette:
    handlers = {404: _no_api, 405: _no_api, 408: _no_body, 413: _no_body}
    return Starlette(routes=routes, exception_handlers=handlers)


async def _no_api(request: Request, _error: Exception) -> Response:
    return refuse(404, "NoApiError", f"API {request.method} {request.url.path} is not found.")


async def _no_body(_request: Request, error: Exception) -> Response:
    """It is too large, or does not come."""
    assert isinstance(error, HTTPException)
    return refuse(error.status_code, "InvalidParametersError", str(error.detail))


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("Pylon ready.")


async def _job_page(request: Request) -> Response:
    """The portal's page of a job is the page of its run; who may not see it is led to the front door."""
    user, name = (request.query_params.get(each, "") for each in ("username", "jobName"))
    state: ServerState = request.app.state.outlast
    try:
        is_seen = (await find_actor(request)).may_see(user)
    except OutlastError:
        is_seen = False
    row = await run_in_threadpool(JobBook(state.database).find, framework_name(user, name)) if is_seen else None
    return RedirectResponse("/" if row is None else f"/runs/{row.run}", 303)


def _routes(app: FastAPI) -> list[BaseRoute]:
    log = route(app, "/logs/{ticket}/{job}/{role}/{index}/{file}", "GET", logs.read, public=True)
    return [log, *_v1(app, "/api/v1"), *_v2(app, "/api/v2")]


_OF_USER = "/user/{user}/jobs"
_JOBS_V1: dict[str, Handler] = {
    "GET ": jobs.list_v1,
    "POST ": jobs.submit_v1,
    "GET /{job}": jobs.show_v1,
    "PUT /{job}": jobs.submit_v1,
    "DELETE /{job}": jobs.delete,
    "PUT /{job}/executionType": jobs.execute,
    "GET /{job}/config": jobs.config,
    "GET /{job}/ssh": jobs.ssh,
}


def _v1(app: FastAPI, prefix: str) -> list[BaseRoute]:
    found = _shared(app, prefix, "yarn")
    found += _table(app, prefix, {
        "POST /token": tokens.sign_in,
        "GET /token": tokens.list_tokens,
        "POST /token/application": tokens.create_application_token,
        "DELETE /token/{token}": tokens.revoke_token,
        "GET /user": people.users,
        "PUT /user": changes.put_user,
        "DELETE /user": changes.delete_user_v1,
        "GET /user/{user}": people.user,
        "PUT /user/{user}/virtualClusters": changes.set_clusters_v1,
    })  # fmt: skip
    for place in ("/jobs", _OF_USER):
        found += _table(app, prefix + place, _JOBS_V1)
    return found


def _v2(app: FastAPI, prefix: str) -> list[BaseRoute]:
    task = "/{job}/attempts/{attempt}/taskRoles/{role}/taskIndex/{index}/attempts"
    found = _shared(app, prefix, "k8s")
    found += _table(app, prefix, {
        "GET /tokens": tokens.list_tokens,
        "POST /tokens/application": tokens.create_application_token,
        "GET /tokens/check": tokens.check_token,
        "DELETE /tokens/{token}": tokens.revoke_token,
        "GET /groups": people.groups,
        "GET /groups/{group}": people.group,
        "GET /storages": clusters.storages,
        "GET /storages/{name}": clusters.storage,
    })  # fmt: skip
    for place in ("/users", "/user"):
        found += _table(app, prefix + place, {
            "GET ": people.users,
            "POST ": changes.create_user,
            "PUT ": changes.update_user,
            "PUT /me": changes.update_self,
            "GET /{user}": people.user,
            "DELETE /{user}": changes.delete_user,
            "PUT /{user}/password": changes.set_password,
            "PUT /{user}/admin": changes.set_admin,
            "PUT /{user}/virtualcluster": changes.set_clusters,
            "PUT /{user}/grouplist": changes.set_groups,
            "PUT /{user}/group": changes.add_group,
            "DELETE /{user}/group": changes.drop_group,
            "PUT /{user}/email": changes.refuse_email,
            "PUT /{user}/extension": changes.refuse_extension,
        })  # fmt: skip
    found += _table(app, prefix + "/jobs", {
        "GET ": jobs.list_v2,
        "POST ": jobs.submit_v2,
        "GET /{job}": jobs.show_v2,
        "GET /{job}/attempts/{attempt}": jobs.show_v2,
        "PUT /{job}/executionType": jobs.execute,
        "GET /{job}/config": jobs.config,
        "GET /{job}/ssh": jobs.ssh,
        "GET /{job}/events": jobs.events,
        "PUT /{job}/tag": jobs.add_tag,
        "DELETE /{job}/tag": jobs.remove_tag,
        f"GET {task}": tasks.history,
        f"GET {task}/{{try}}/logs": tasks.logs,
    })  # fmt: skip
    # The last YARN clusters had the first generation's jobs here too.
    return [*found, *_table(app, prefix + _OF_USER, _JOBS_V1)]


def _shared(app: FastAPI, prefix: str, launcher: str) -> list[BaseRoute]:
    def info(_asked: Asked) -> Response:
        return clusters.info(launcher)

    found = _table(app, prefix, {
        "POST /authn/basic/login": tokens.sign_in,
        "DELETE /authn/basic/logout": tokens.sign_out,
        "GET /authn/info": tokens.way_in,
        "GET /virtual-clusters": clusters.virtual_clusters,
        "GET /virtual-clusters/{vc}": clusters.virtual_cluster,
    })  # fmt: skip
    places = (prefix or "/", f"{prefix}/", f"{prefix}/info")
    return [*found, *(route(app, place, way, info, public=True) for place in places for way in _ANY)]


#: What the API is, it tells by whichever method it is asked.
_ANY = ("GET", "POST", "PUT", "DELETE")
#: Whoever is about to sign in cannot have done so.
_PUBLIC = ("/token", "/authn/basic/login", "/authn/info")


def _table(app: FastAPI, prefix: str, table: dict[str, Handler]) -> list[BaseRoute]:
    found: list[BaseRoute] = []
    for name, handler in table.items():
        method, _, path = name.partition(" ")
        is_public = path in _PUBLIC and not (path == "/token" and method != "POST")
        found.append(route(app, prefix + path, method, handler, public=is_public))
    return found
