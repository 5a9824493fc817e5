"""The pages where a person comes in: sign in, follow a one-time link, sign out."""

from __future__ import annotations

import hmac
import secrets
from html import escape
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from outlast.errors import OutlastError
from outlast.server.auth import COOKIE, address_of, check_csrf, csrf_of, find_actor, is_own_site, set_session
from outlast.server.pages import LANGUAGE_COOKIE, LANGUAGES, page, say, told, wants_chinese
from outlast.server.refusals import NotAllowed, NotSignedIn
from outlast.server.state import state_of

router = APIRouter(include_in_schema=False)
#: What stands at `/` where there is no console.
front_router = APIRouter(include_in_schema=False)

#: Ties a form to the browser that got it: nobody can be signed in to another person's account unawares.
_FORM_COOKIE = "outlast_form"
_YEAR_S = 365 * 24 * 3600
_NEW_LINK = "an admin can make a new link: outlast user link NAME"


@front_router.get("/")
async def front(request: Request) -> Response:
    try:
        actor = await find_actor(request)
    except NotSignedIn:
        return RedirectResponse("/sign-in", 303)
    lines = [f"<p>{say(request, 'Signed in as')} <strong>{escape(actor.name)}</strong> ({escape(actor.role)})</p>"]
    if actor.via == "local":
        about = "No account is needed on this machine until the first one is made."
        lines.append(f'<p class="quiet">{say(request, about)}</p>')
    lines.append(f'<p><a href="/api/v1/docs">{say(request, "The REST API")}</a></p>')
    if actor.via == "session":
        hidden = _hidden("csrf", csrf_of(request.cookies[COOKIE]))
        lines.append(f'<form method="post" action="/sign-out">{hidden}{_button(request, "Sign out")}</form>')
    return page(request, "Outlast", "".join(lines))


@router.get("/sign-in/language")
async def choose_language(request: Request, to: str = "", next: str = "/sign-in") -> Response:
    """Show the pages in another language from now on: a link, since these pages run no script."""
    response = RedirectResponse(_own_path(next), 303)
    if to in LANGUAGES:
        # Readable for scripts, unlike the others: the console's own menu changes it in the browser.
        response.set_cookie(LANGUAGE_COOKIE, to, max_age=_YEAR_S, samesite="lax", secure=request.url.scheme == "https")
    return response


@router.get("/sign-in")
async def sign_in_form(request: Request, next: str = "/") -> Response:
    return _sign_in_page(request, next)


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    form = await _form(request)
    target = form.get("next", "/")
    try:
        _check_form(request, form)
        session, _ = await run_in_threadpool(
            state_of(request).accounts.sign_in, form.get("name", ""), form.get("password", ""), address_of(request)
        )
    except OutlastError as error:
        return _sign_in_page(request, target, error, form.get("name", ""))
    return _let_in(request, session, target)


@router.get("/welcome")
async def welcome_form(request: Request, code: str = "") -> Response:
    return await _welcome_page(request, code)


@router.post("/welcome")
async def welcome(request: Request) -> Response:
    form = await _form(request)
    state = state_of(request)
    try:
        _check_form(request, form)
        words = (form.get("code", ""), form.get("name", ""), form.get("password", ""), address_of(request))
        session, _ = await run_in_threadpool(state.accounts.enter, *words)
    except OutlastError as error:
        return await _welcome_page(request, form.get("code", ""), error, form.get("name", ""))
    state.recent.clear()
    return _let_in(request, session, "/")


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    session = request.cookies.get(COOKIE, "")
    check_csrf((await _form(request)).get("csrf"), session)
    state = state_of(request)
    await run_in_threadpool(state.accounts.keys.forget, "session", session)
    state.recent.clear()
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(COOKIE)
    return response


def _sign_in_page(request: Request, target: str, error: OutlastError | None = None, name: str = "") -> Response:
    fields = (
        _hidden("next", target)
        + _field(request, "name", "Name", "username", name)
        + _field(request, "password", "Password", "current-password")
    )
    return _form_page(request, "Sign in", "/sign-in", fields, error, {"next": target} if target != "/" else {})


async def _welcome_page(
    request: Request, code: str, error: OutlastError | None = None, name: str = ""
) -> Response:  # fmt: skip
    key = await run_in_threadpool(state_of(request).accounts.keys.find, "link", code)
    if key is None:
        leads_on = f'<p><a href="/sign-in">{say(request, "Sign in")}</a></p>'
        words = told(request, "this link was used already or has run out", _NEW_LINK)
        return page(request, "Welcome", words + leads_on, status=410)
    fields = _hidden("code", code)
    if key.user is None:
        fields += f"<p>{say(request, 'It will be an admin.')}</p>" + _field(request, "name", "Name", "username", name)
    else:
        fields += f"<p><strong>{escape(key.user)}</strong></p>" + _hidden("username", key.user)
    fields += _field(request, "password", "Password", "new-password")
    fields += f'<p class="quiet">{say(request, "At least 8 characters")}</p>'
    title = "Make the first account" if key.user is None else "Choose a password"
    return _form_page(request, title, "/welcome", fields, error, {"code": code})


def _form_page(
    request: Request, title: str, action: str, fields: str, error: OutlastError | None, query: dict[str, str]
) -> Response:  # fmt: skip
    """`query` is what the address of the form says, by which it is found again in another language."""
    tie = request.cookies.get(_FORM_COOKIE) or secrets.token_urlsafe(16)
    refusal = told(request, error.message, error.hint) if error is not None else ""
    fields = _hidden("tie", tie) + fields + _button(request, title)
    body = f'{refusal}<form method="post" action="{action}">{fields}</form>'
    body += _language_links(request, f"{action}?{urlencode(query)}" if query else action)
    response = page(request, title, body, status=error.http_status if error is not None else 200)
    secure = request.url.scheme == "https"
    response.set_cookie(_FORM_COOKIE, tie, max_age=3600, httponly=True, samesite="strict", secure=secure)
    return response


def _let_in(request: Request, session: str, target: str) -> Response:
    response = RedirectResponse(_own_path(target), 303)
    set_session(response, request, session)
    return response


def _own_path(target: str) -> str:
    """`target` if it is a path of ours, or else the front page."""
    # "//host" and "/\host" would lead elsewhere.
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own else "/"


def _language_links(request: Request, here: str) -> str:
    """The same page in each other language, named in that language."""
    shown = "zh" if wants_chinese(request) else "en"
    links = [
        f'<a href="{escape("/sign-in/language?" + urlencode({"to": code, "next": here}))}" lang="{code}">{name}</a>'
        for code, name in LANGUAGES.items()
        if code != shown
    ]
    return f"<p>{' '.join(links)}</p>"


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name."""
    text = (await request.body()).decode("utf-8", "replace")
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True, max_num_fields=20).items()}


def _check_form(request: Request, form: dict[str, str]) -> None:
    tie = request.cookies.get(_FORM_COOKIE, "")
    if not tie or not hmac.compare_digest(tie.encode(), form.get("tie", "").encode()) or not is_own_site(request):
        raise NotAllowed("this form is too old; send it again")


def _field(request: Request, name: str, label: str, autocomplete: str, value: str = "") -> str:
    kind = "password" if name == "password" else "text"
    return (
        f'<label for="{name}">{say(request, label)}</label><input id="{name}" name="{name}" type="{kind}" required '
        f'maxlength="1024" autocomplete="{autocomplete}" autocapitalize="none" value="{escape(value)}">'
    )


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value)}">'


def _button(request: Request, label: str) -> str:
    return f"<button>{say(request, label)}</button>"
