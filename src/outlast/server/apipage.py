"""The page about the REST API, made from its OpenAPI document alone: nothing comes from another host."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from outlast.server.pages import page

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def api_page(request: Request) -> Response:
    document: dict[str, Any] = request.app.openapi()
    parts = [_INTRODUCTION]
    for title, routes in _by_tag(document).items():
        parts.append(f"<h2>{escape(title)}</h2><table>")
        parts += [_row(document, method, path, route) for method, path, route in routes]
        parts.append("</table>")
    return page(request, "The REST API", "".join(parts), wide=True)


_INTRODUCTION = (
    "<p>Send a token with each request: <code>Authorization: Bearer outlast_…</code>. "
    "<code>outlast token create</code> makes one. Errors always look like "
    "<code>{&quot;ok&quot;: false, &quot;code&quot;, &quot;message&quot;, &quot;hint&quot;}</code>. "
    'For programs: <a href="/api/v1/openapi.json">the OpenAPI document</a>.</p>'
)


def _by_tag(document: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    found: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in document.get("paths", {}).items():
        for method, route in methods.items():
            tag = (route.get("tags") or ["other"])[0]
            found.setdefault(tag, []).append((method.upper(), path, route))
    return found


def _row(document: dict[str, Any], method: str, path: str, route: dict[str, Any]) -> str:
    about = str(route.get("description") or route.get("summary") or "")
    asked = [_parameter(each) for each in route.get("parameters", [])]
    asked += [_parameter({"name": name, **each}) for name, each in _body(document, route).items()]
    details = f"<br><span class=quiet>{' · '.join(asked)}</span>" if asked else ""
    where = f"<th><code>{method}</code></th><td><code>{escape(path)}</code></td>"
    return f"<tr>{where}<td>{escape(about)}{details}</td></tr>"


def _parameter(parameter: dict[str, Any]) -> str:
    mark = "" if parameter.get("required") else "?"
    return f"<code>{escape(parameter['name'])}{mark}</code> {escape(parameter.get('description', ''))}".strip()


def _body(document: dict[str, Any], route: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Field → what it is, of the JSON that a route takes."""
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = str(content.get("$ref", "")).rpartition("/")[2]
    schema = document.get("components", {}).get("schemas", {}).get(name, content)
    required = schema.get("required", [])
    return {field: {**each, "required": field in required} for field, each in schema.get("properties", {}).items()}
