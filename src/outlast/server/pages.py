"""Pages without a script: complete in themselves, in English and Chinese, in light and dark, on any screen."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse

#: Says in which language pages are shown; the console sets both.
LANGUAGE_COOKIE = "outlast_language"
#: Those there are, each by its own name.
LANGUAGES = {"en": "English", "zh": "中文"}
#: Says whether they are light or dark; without it the system decides.
LOOK_COOKIE = "outlast_look"
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3355dd"/>'
    '<path d="M7 21h6v-5h6v-5h6" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" '
    'stroke-linejoin="round"/></svg>'
)
_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#e2e5ea, #30353d); --quiet: light-dark(#59616d, #a3abb7);
  --strong: light-dark(#3355dd, #8ea6ff); --page: light-dark(#f7f8fa, #14161a); --panel: light-dark(#fff, #20242a);
  --text: light-dark(#1b1f26, #e7e9ed) }
:root.light { color-scheme: light } :root.dark { color-scheme: dark }
* { box-sizing: border-box }
body { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans CJK SC", "PingFang SC",
  "Microsoft YaHei", sans-serif; margin: 0; padding: 10vh 1rem 2rem; color: var(--text); background: var(--page) }
main { max-width: 23rem; margin: 0 auto; padding: 1.75rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--panel) }
.wide { padding-top: 2rem } .wide main { max-width: 62rem }
.brand { font-weight: 650; display: flex; align-items: center; gap: .5rem; margin: 0 0 1.25rem }
.brand svg { width: 22px; height: 22px; display: block }
h1 { font-size: 20px; font-weight: 600; margin: 0 0 .75rem } h2 { font-size: 15px; margin: 2rem 0 .5rem }
h3 { font-size: 14px } p { margin: .5rem 0 }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500 }
input, button { font: inherit; width: 100%; padding: .5rem .7rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--panel); color: inherit }
button { margin-top: 1.5rem; background: #3355dd; color: #fff; border-color: transparent; font-weight: 500;
  cursor: pointer }
:focus-visible { outline: 2px solid var(--strong); outline-offset: 2px }
.error { color: light-dark(#c0282d, #ff8f8a) } .quiet { color: var(--quiet) } a { color: var(--strong) }
code { font: 12.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } tr { border-bottom: 1px solid var(--line) }
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0 }
"""
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
    "an admin can make a new link: outlast user link NAME": "管理员可以生成新的链接：outlast user link NAME",
    "a password has 8 to 1024 characters": "密码长度应为 8 到 1024 个字符",
    "choose another one": "请换一个",
    "'{value}' cannot be the name of a user": "“{value}”不能用作用户名",
    "up to 64 letters, digits, dots, dashes and underscores; the first and the last a letter or digit": (
        "最多 64 个字母、数字、点、短横线和下划线，首尾须为字母或数字"
    ),
    "try again in {value}": "请在 {value} 后重试",
    "no such address": "没有这个地址",
    "the console is starting anew": "控制台正在重新启动",
    "load the page again in a few seconds": "请几秒后重新加载页面",
    "Not found": "未找到",
    "Not possible": "无法完成",
    "Back to the runs": "返回训练列表",
}
#: Sentences with a value in them, as patterns of the value.
_PATTERNS = [
    (re.compile(re.escape(english).replace(re.escape("{value}"), "(.+)")), chinese)
    for english, chinese in _CHINESE.items()
    if "{value}" in english
]


def wants_chinese(request: Request) -> bool:
    """Whether the reader chose Chinese, or else the browser's first language is Chinese."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    if chosen in LANGUAGES:
        return chosen == "zh"
    return request.headers.get("accept-language", "").strip().lower().startswith("zh")


def say(request: Request, text: str) -> str:
    """`text` in the browser's language, ready for HTML."""
    return escape(_in_chinese(text) if wants_chinese(request) else text)


def _in_chinese(text: str) -> str:
    for pattern, chinese in _PATTERNS:
        if found := pattern.fullmatch(text):
            return chinese.format(value=found[1])
    return _CHINESE.get(text, text)


def wants_page(request: Request) -> bool:
    """Whether a browser opens an address that is meant for people; programs get JSON there too."""
    is_read = request.method in ("GET", "HEAD") and not request.url.path.startswith("/api/")
    return is_read and "text/html" in request.headers.get("accept", "")


def refused_page(request: Request, status: int, message: str, hint: str = "") -> HTMLResponse:
    """What a browser is shown in place of a page that it cannot have."""
    title = "Not found" if status == 404 else "Not possible"
    body = told(request, message, hint) + f'<p><a href="/">{say(request, "Back to the runs")}</a></p>'
    return page(request, title, body, status=status)


def told(request: Request, message: str, hint: str = "") -> str:
    """What went wrong, and below it what can be done, as HTML."""
    more = f'<p class="quiet">{say(request, hint)}</p>' if hint else ""
    return f'<p class="error" role="alert">{say(request, message)}</p>{more}'


def page(request: Request, title: str, body: str, *, status: int = 200, wide: bool = False) -> HTMLResponse:
    """A whole page around `body`, which is HTML already."""
    language = "zh-CN" if wants_chinese(request) else "en"
    look = request.cookies.get(LOOK_COOKIE)
    chosen = f' class="{look}"' if look in ("light", "dark") else ""
    text = (
        f'<!doctype html><html lang="{language}"{chosen}><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{say(request, title)} · Outlast'
        f"</title><style>{_STYLE}</style></head><body{' class=wide' if wide else ''}><main>"
        f'<p class="brand"><span aria-hidden="true">{ICON}</span>Outlast</p><h1>{say(request, title)}</h1>{body}</main>'
        "</body></html>"
    )
    # Without a referrer of its own, a browser calls the origin of a form "null", which no site may be.
    headers = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
    return HTMLResponse(text, status, headers)
