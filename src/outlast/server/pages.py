"""Pages without a script: complete in themselves, in English and Chinese, in light and dark, on any screen."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --quiet: light-dark(#555, #aaa); --strong: light-dark(#0b57d0, #8ab4f8) }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 2rem 1rem; max-width: 26rem }
body.wide { max-width: 60rem }
h1 { font-size: 1.4rem; margin: 0 0 1rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem }
label { display: block; margin: 1rem 0 .25rem }
input, button { font: inherit; width: 100%; padding: .6rem .7rem; border: 1px solid var(--line); border-radius: .4rem }
button { margin-top: 1.5rem; background: #0b57d0; color: #fff; border-color: transparent; cursor: pointer }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px }
.error { color: light-dark(#b3261e, #f2b8b5) } .quiet { color: var(--quiet) } a { color: var(--strong) }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .3rem .5rem .3rem 0 }
tr { border-bottom: 1px solid var(--line) }
"""  # noqa: E501 - lines of a style sheet
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
#: Only this very style and forms to ourselves: nothing that got into a page could run or leave.
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_CHINESE = {
    "Sign in": "登录",
    "Sign out": "退出登录",
    "Name": "用户名",
    "Password": "密码",
    "Welcome": "欢迎",
    "Make the first account": "创建第一个账户",
    "Choose a password": "设置密码",
    "At least 8 characters": "至少 8 个字符",
    "It will be an admin.": "该账户将成为管理员。",
    "Signed in as": "当前用户：",
    "The REST API": "REST API 说明",
    "No account is needed on this machine until the first one is made.": "在创建第一个账户之前，本机访问无需登录。",
    "this link was used already or has run out": "该链接已使用或已过期",
    "name or password is wrong": "用户名或密码错误",
    "too many wrong sign-ins": "登录失败次数过多",
    "this form is too old; send it again": "表单已失效，请重新提交",
}


def wants_chinese(request: Request) -> bool:
    """Whether the browser's first language is Chinese."""
    return request.headers.get("accept-language", "").strip().lower().startswith("zh")


def say(request: Request, text: str) -> str:
    """`text` in the browser's language, ready for HTML."""
    return escape(_CHINESE.get(text, text) if wants_chinese(request) else text)


def page(request: Request, title: str, body: str, *, status: int = 200, wide: bool = False) -> HTMLResponse:
    """A whole page around `body`, which is HTML already."""
    language = "zh-CN" if wants_chinese(request) else "en"
    text = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{say(request, title)} · Outlast'
        f"</title><style>{_STYLE}</style></head><body{' class=wide' if wide else ''}><main>"
        f"<h1>{say(request, title)}</h1>{body}</main></body></html>"
    )
    return HTMLResponse(text, status, {"Content-Security-Policy": _POLICY})
