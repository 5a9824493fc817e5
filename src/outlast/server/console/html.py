"""HTML as values: whatever is put into an element is escaped, unless it is an element itself."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: object) -> Html:
    """An element. `class_` is the attribute `class`; a `_` within a name is a `-`; None leaves an attribute out."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{said}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Elements and texts, one after the other."""
    return Html("".join(each if isinstance(each, Html) else escape(str(each)) for each in children))


def table(caption: str, heads: list[str], rows: list[list[str]], *, cards: bool = False) -> Html:
    """A table; a head that begins with `#` stands above numbers. With `cards` each row is a card on a phone."""
    kinds = ["o-number" if head.startswith("#") else None for head in heads]
    names = [head.removeprefix("#") for head in heads]
    head = [tag("th", text, scope="col", class_=kind) for text, kind in zip(names, kinds, strict=True)]
    body = [
        tag("tr", *(tag("td", cell, class_=kind, data_label=name or None)
                    for cell, kind, name in zip(row, kinds, names, strict=True)))
        for row in rows
    ]  # fmt: skip
    inner = joined(tag("caption", caption, class_="o-hidden"), tag("thead", tag("tr", *head)), tag("tbody", *body))
    return tag("div", tag("table", inner, class_="o-table o-cards" if cards else "o-table"), class_="o-scroll")


def facts(pairs: list[tuple[str, str]]) -> Html:
    """Names and what they are; those without a value are left out."""
    told = [joined(tag("dt", name), tag("dd", value)) for name, value in pairs if value]
    return tag("dl", *told, class_="o-facts")
