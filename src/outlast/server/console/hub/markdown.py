"""A README as a page. Pure, and safe by how it is made: whatever is no Markdown comes out as text.

Raw HTML is shown as it was typed, links lead to pages or to other sites and run nothing, and pictures come from the
repository alone: nobody learns who reads a README.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from outlast.server.console.html import Html, tag

_FRONT = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
#: Browsers make a host of whatever follows `http:`; an address that does not name one plainly leads nowhere.
_OUTSIDE = re.compile(r"(https?://[^/\\]|mailto:)", re.IGNORECASE)
#: The page has its own first heading.
_DEEPER = 1

#: Address of a file of the repository as a page, and as a picture.
AddressOf = Callable[[str], str]


def render(text: str, folder: str, page: AddressOf, picture: AddressOf) -> Html:
    """HTML of a Markdown file in `folder`; facts for machines at its beginning are left out."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"])
    rules = _Rules(folder, page, picture)
    for name in ("image", "link_open", "heading_open", "heading_close"):
        parser.renderer.rules[name] = getattr(rules, name)  # type: ignore[attr-defined]
    return Html(parser.render(_FRONT.sub("", text, count=1)))


class _Rules:
    """How some parts are written, for one file."""

    def __init__(self, folder: str, page: AddressOf, picture: AddressOf) -> None:
        self._folder = folder
        self._page = page
        self._picture = picture
        self._anchors: dict[str, int] = {}
        self._renderer = RendererHTML()

    def image(self, tokens: Sequence[Token], index: int, *rest: Any) -> str:
        """A picture of the repository; one of another site is only named."""
        token = tokens[index]
        address, words = str(token.attrs.get("src", "")), token.content
        path = self._inside(address)
        if path is None:
            return tag("span", words or address, class_="o-quiet", title=address)
        return tag("img", src=self._picture(path), alt=words or path, loading="lazy").removesuffix("</img>")

    def link_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[index]
        address = str(token.attrs.get("href", ""))
        path = self._inside(address)
        if address.startswith("#"):
            token.attrs["href"] = f"#readme-{unquote(address[1:]).lower()}"
        elif path is not None:
            token.attrs["href"] = self._page(path)
        elif _OUTSIDE.match(address):
            token.attrs.update(target="_blank", rel="noopener noreferrer nofollow")
        else:
            del token.attrs["href"]
        return self._renderer.renderToken(tokens, index, options, env)

    def heading_open(self, tokens: Sequence[Token], index: int, *rest: Any) -> str:
        name = re.sub(r"[^\w\- ]", "", tokens[index + 1].content.lower()).replace(" ", "-")
        count = self._anchors[name] = self._anchors.get(name, -1) + 1
        anchor = f"readme-{name}" + (f"-{count}" if count else "")
        return tag(_deeper(tokens[index].tag), id=anchor).partition("</")[0]

    def heading_close(self, tokens: Sequence[Token], index: int, *rest: Any) -> str:
        return f"</{_deeper(tokens[index].tag)}>\n"

    def _inside(self, address: str) -> str | None:
        """The path of a file of the repository that a relative address means; None for every other."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        if parts.scheme or parts.netloc or not parts.path:
            return None
        base = "" if parts.path.startswith("/") else self._folder
        path = posixpath.normpath(posixpath.join(base, unquote(parts.path).lstrip("/")))
        return None if path in ("", ".") or path.split("/")[0] == ".." or "\0" in path else path


def _deeper(name: str) -> str:
    return f"h{min(6, int(name[1]) + _DEEPER)}"
