"""Where the paths of one role lie: what of each gives way to the contract's folder, and which folders that one needs.

A path keeps its old value as the default at its own spot (`args.data_url or "./data"`), so that the script without
the new options does what it did.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.arguments.setup import Setup, Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.apart import by_name, is_way, name_below, tell_last_names
from outlast.adapt.placing.common_folder import base_of, named, names_of, shared, told
from outlast.adapt.placing.executed import set_again
from outlast.adapt.placing.made_elsewhere import is_made_by_function
from outlast.adapt.placing.on_the_way import make_on_the_way
from outlast.adapt.placing.others import is_cut
from outlast.adapt.placing.parts import stem_of
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site, declaring, enclosed, is_always_filled, length_of
from outlast.adapt.placing.sources import Literal, Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.placing.tails import Tails
from outlast.adapt.placing.travelling import look_first
from outlast.adapt.placing.words import Wrap
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, opening, tail

#: where a path is filled in when the script runs
_OPEN = re.compile(r"\0|%[-0-9.]*[a-zA-Z(]|\{")


@dataclass(frozen=True)
class Places:
    """The sites of one role. `wraps` lie below the contract's folder with all of their own.

    `elsewhere`: sites of other files, which lie in the same folder.
    """

    role: Role
    sites: Sequence[Site]
    wraps: Sequence[Wrap] = ()
    elsewhere: Sequence[Site] = ()
    is_beside: bool = False  # beside folders of whose values nothing is seen

    @property
    def every(self) -> list[Site]:
        # A list in a folder of its own shows which folder the others are told from.
        return [site for site in (*self.sites, *self.elsewhere) if not site.may_stay or "/" in site.text[2:]]

    def unrelated(self) -> str:
        """Places that no folder holds together; empty where there is one."""
        absolute = [site for site in self.every if site.is_absolute]
        is_mixed = len(absolute) < len(self.every) and self.role is not Role.OUTPUT
        if absolute and (is_mixed or len(shared([site.folders for site in absolute])) < 2):
            return ", ".join(sorted({site.text for site in self.every}))
        return ""

    def opaque(self, site: Site) -> str:
        """The name of a place of Windows below the contract's folder; empty where it is the one folder itself."""
        return name_below(site, self.every)

    def tops(self) -> list[str]:
        """The folders that the contract's must hold, where they have nothing in common, or begin at different ones."""
        every = [site for site in self.every if not site.may_stay]
        rests = [(site.text[self.cut(site) :].lstrip("/"), site.is_folder) for site in every]
        if any(self.cut(site) > len(base_of(site.text).rstrip("/")) for site in every):
            # A folder that is only looked at, and all that is read in one below it: `os.walk("rows")`, `"rows/a/x"`.
            below = [rest for rest, _ in rests if rest]
            named = {rest.split("/")[0] for rest in below}
            is_around = len(below) < len(rests) and all("/" in rest for rest in below)
            return sorted(named) if is_around and len(named) == 1 else []
        found = sorted({rest.split("/")[0] for rest, is_folder in rests if rest and ("/" in rest or is_folder)})
        # One of several models, or beside what is looked for where it was, too.
        is_beside = (self.role is Role.WEIGHTS and bool(self.wraps)) or len(every) < len(self.every)
        return found if len(found) > 1 or is_beside or not self._has_one_base() else []

    def _has_one_base(self) -> bool:
        """Whether all that are not absolute are told from one folder: `../data/x` and `data/y` are not."""
        return len({named(base_of(each.text)) for each in self.every if not each.is_absolute}) <= 1

    def cut(self, site: Site) -> int:
        """How many characters of a site's text give way."""
        if site.is_absolute:
            common = shared([each.folders for each in self.every if each.is_absolute])
            return length_of(site.text, len(common))
        base = base_of(site.text)
        near = [each for each in self.every if not each.is_absolute]
        # What is joined as a whole keeps its folders; a path that shares them must do so, too.
        is_apart = any("/" in wrap.text or self.role is Role.WEIGHTS for wrap in self.wraps)
        common = shared([names_of(each) for each in near]) if self._has_one_base() and not is_apart else []
        return len(base) + length_of(site.text[len(base) :], len(common)) if common else len(base.rstrip("/"))


def replace_places(draft: Draft, places: Places, value: Value, name: str) -> bool:
    """Put the option in place of each literal of a role; False where they do not lie below it as they lay before."""
    role, sites = places.role, places.sites
    is_filled = any(site.is_formatted or _filled_in(draft, site.literal) is not None for site in sites)
    texts = {site.text for site in places.every}
    stems = {site.text for site in places.every if not (site.is_asked and stem_of(site.text, texts))}
    if role is Role.WEIGHTS and len(stems) == 1 and not is_filled and not places.wraps:
        for site in sites:
            given, source, part = value.at(site.literal), draft.source(site.literal), stem_of(site.text, stems)
            new = f'{given} + "{site.text[len(part) :]}" if {given} else {source}' if part else f"{given} or {source}"
            if site.text.endswith("/"):  # a name may follow right behind it
                draft.need_import("os")
                new = f'os.path.join({new}, "")'
            advice = "" if site.is_asked else declaring(name, is_folder=site.is_folder)
            _change(draft, site.literal, enclosed(draft, site.literal, new), name, advice)
        return True
    loose = [site for site in sites if site.may_stay]
    for site in loose:
        look_first(draft, site, value.at(site.literal), name)
    sites = [site for site in sites if not site.may_stay]
    places = replace(places, elsewhere=[*places.elsewhere, *loose])
    opaque = [site for site in sites if site.is_opaque]
    for site in opaque:
        _change(draft, site.literal, _of_elsewhere(draft, site, value.at(site.literal), places.opaque(site)), name)
    tell_last_names(draft, opaque, places.every, role, name)
    sites = [site for site in sites if not site.is_opaque]
    if places.is_beside:
        found = [site for site in sites if site.is_folder and not site.is_open and not site.is_here]
        for site in found:
            given, source = value.at(site.literal), draft.source(site.literal)
            is_near = role is Role.DATA and not base_of(site.text).startswith(("..", "~")) and not site.is_absolute
            is_whole = _is_choice(draft, site.literal)
            if is_near and not is_whole:
                look_first(draft, site, given, name)
                continue
            tails = Tails(draft, role, [""] * 2, is_whole=is_whole)
            new = enclosed(draft, site.literal, f"{tails.of(given, source)} if {given} else {source}")
            draft.say(Kind.CHANGED, "paths", site.literal, f"{source} is looked for {tails.said} in --{name}")
            draft.replace(site.literal, new)
        sites = [site for site in sites if site not in found]
    places = replace(places, sites=sites)
    if not sites:
        return True
    unrelated = places.unrelated()
    if unrelated:
        apart = by_name(sites) if role is not Role.OUTPUT or not any(map(is_way, sites)) else None
        if apart is not None:
            _put_apart(draft, places, apart, value, name)
            return False
        advice = "put them below one folder, or make the others options of their own"
        draft.say(Kind.HAND, "paths", sites[0].literal, f"the {role} lies in unrelated places: {unrelated}", advice)
        return False
    tops = places.tops() if role is not Role.OUTPUT else []
    if tops:
        held = f"the {'folder' if len(tops) == 1 else 'folders'} {', '.join(tops)}"
        draft.say(Kind.DIFFERS, "paths", sites[0].literal, f"--{name} must hold {held}")
    elif role is Role.DATA and (folder := told([(site, places.cut(site)) for site in places.every])):
        draft.say(Kind.DIFFERS, "paths", sites[0].literal, f"--{name} stands for {folder}, not for a folder above it")
    is_one = len(places.every) == 1 and role is Role.DATA and sites[0].is_folder
    for site in sites:
        new = _expression(draft, site, places.cut(site), value.at(site.literal))
        if is_one and is_always_filled(draft, site.literal):
            new = enclosed(draft, site.literal, f"{value.at(site.literal)} or {draft.source(site.literal)}")
        filled = _filled_in(draft, site.literal)
        if filled is not None and new.startswith("os."):
            # Only the file's name is filled in: a folder that the platform chose may hold a % or a brace.
            draft.insert(draft.span(filled)[1], ")")
            _change(draft, site.literal, new.removesuffix(")"), name)
        else:
            _change(draft, site.literal, new, name)
        if new.startswith("os."):
            draft.need_import("os")
        elif filled is None:
            set_again(draft, site.literal, value)
    return True


def _is_choice(draft: Draft, literal: cst.CSTNode) -> bool:
    """Whether a condition chooses the one folder that an option holds: `if args.kind == "a": args.root = "rows"`."""
    line = draft.parent(literal)
    is_set = isinstance(line, cst.Assign) and isinstance(line.targets[0].target, cst.Attribute)
    return is_set and any(
        isinstance(each, cst.If) and "__name__" not in draft.source(each.test) for each in draft.above(literal)
    )


def _put_apart(draft: Draft, places: Places, apart: dict[int, str], value: Value, name: str) -> None:
    for site in places.sites:
        _change(draft, site.literal, _below(draft, site, apart[id(site)], value.at(site.literal)), name)
    draft.need_import("os")
    if places.role is not Role.OUTPUT:
        tops = sorted({below.split("/")[0] for below in apart.values()})
        said = f"what lay in several places is looked for by its last name: --{name} must hold {', '.join(tops)}"
        draft.say(Kind.DIFFERS, "paths", places.sites[0].literal, said)


def _change(draft: Draft, literal: Literal, new: str, name: str, advice: str = "") -> None:
    draft.say(Kind.CHANGED, "paths", literal, f"{draft.source(literal)} can be replaced by --{name}", advice)
    draft.replace(literal, new)


def _of_elsewhere(draft: Draft, site: Site, value: str, last: str) -> str:
    """The option itself, or what has the last name of the path there."""
    source = draft.source(site.literal)
    if not last:
        return enclosed(draft, site.literal, f"{value} or {source}")
    draft.need_import("os")
    return enclosed(draft, site.literal, f'os.path.join({value}, "{last}") if {value} else {source}')


def _below(draft: Draft, site: Site, below: str, value: str) -> str:
    """What has that name in the option's folder."""
    given = f'os.path.join({value}, "{below}") if {value} else '
    if not site.is_open:
        return enclosed(draft, site.literal, given + draft.source(site.literal))
    root, rest = _divided(draft, site, length_of(site.text, len(site.folders)))
    return f"os.path.join({given}{root}, {rest})"


def _divided(draft: Draft, site: Site, cut: int) -> tuple[str, str]:
    """A literal as two; the old spelling is kept byte for byte."""
    source, start = draft.source(site.literal), opening(site.literal)
    quote = source[start - 1]
    return f"{quote}{site.text[:cut]}{quote}", source[:start] + source[start + cut :].lstrip("/")


def _expression(draft: Draft, site: Site, cut: int, value: str) -> str:
    """`value or "root"`, joined with the rest of the path."""
    if not site.text and not site.is_formatted and not site.is_here:
        return f"os.path.join({value} or {draft.source(site.literal)}, {draft.source(site.literal)})"  # a name follows
    if (len(site.text) == cut and not site.is_formatted) or site.is_here:
        return enclosed(draft, site.literal, f"{value} or {draft.source(site.literal)}")
    root, rest = _divided(draft, site, cut)
    return f"os.path.join({value} or {root}, {rest})"


def _filled_in(draft: Draft, literal: Literal) -> cst.CSTNode | None:
    """The expression that fills in a literal: `"…%d" % n`, `"…{}".format(n)`."""
    parent = draft.parent(literal)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Modulo) and parent.left is literal:
        return parent
    call = draft.parent(parent) if isinstance(parent, cst.Attribute) and parent.attr.value == "format" else None
    return call if isinstance(call, cst.Call) and call.func is parent else None


# ---- folders


def needed_folders(draft: Draft, paths: Paths, places: Places, value: Value) -> list[str]:
    """Folders below the contract's that the script writes to and does not make; those of no name are made on the way.

    "" is the contract's folder itself.
    """
    made = {_plain(each) for each in paths.made}
    cuts = {id(site.literal): len(site.text) if site.is_opaque else places.cut(site) for site in places.sites}
    # What a path of Windows is there has its last name, and no other one.
    roots = {id(site.literal): places.opaque(site) for site in places.sites if site.is_opaque and site.is_folder}
    others = {id(use.other) for use in paths.others.get(Role.OUTPUT, ())}
    found: set[str] = set()
    for use, full in paths.written:
        if use.literal is not None and id(use.literal) in cuts:
            root, needed = roots.get(id(use.literal), ""), _needed(draft, use, full, cuts[id(use.literal)], made, value)
            found |= {posixpath.join(root, each) if each else root for each in needed}
        elif use.other is not None and not use.option and (use.after.startswith("/") or is_cut(draft, use.other)):
            # A folder that does not give way here has been set by somebody, who may have made it.
            found |= _needed(draft, use, full, len(UNKNOWN), made, value) - (set() if id(use.other) in others else {""})
        elif use.literal is None and id(use.other) in others and not use.is_folder:
            found.add("")  # a file that lies in the contract's folder by its last name
    for wrap in places.wraps:
        found |= _needed(draft, wrap.use, wrap.text, 0, made, value) if wrap.use.role is Role.OUTPUT else {""}
    # Of what is put together for code of another file only that one knows what it writes.
    here = {id(use.other) for use, _ in paths.written}
    if any(isinstance(use.other, cst.Call) and id(use.other) not in here for use in paths.others.get(Role.OUTPUT, ())):
        found.add("")
    seen = {id(use.literal) for use, _ in paths.written}
    files = {site.text for site in places.sites if id(site.literal) in seen and not site.is_folder}
    for site in places.sites:
        # A folder that is handed on to code of another file is there at home. What files begin with is none, though it
        # might be where they are read: `"out/net_" + str(epoch)`.
        is_folder = site.is_folder and site.text not in files
        whole = site.text.rstrip("/") if is_folder else site.text.rpartition("/")[0]
        rest = whole[cuts[id(site.literal)] :].strip("/")
        is_made = any((each + "/").startswith(_plain(whole) + "/") for each in made)
        if id(site.literal) not in seen and not is_made and not _OPEN.search(rest):
            found.add(roots.get(id(site.literal), "") or rest)
    return _lowest(found)


def names_file(paths: Paths) -> bool:
    """Whether a file that is written lies in the contract's folder by its last name: `--save model.pt`."""
    files = {own for own, is_folder in paths.options.get(Role.OUTPUT, {}).items() if not is_folder}
    return any(use.option in files and not use.after and not use.sink.is_folder for use, _ in paths.written)


def make_folders(draft: Draft, folders: Sequence[str], value: str) -> list[str]:
    """Lines that make folders below the contract's, or that one itself: a platform has made it, a user may have not."""
    if folders:
        draft.need_import("os")
    paths = (f'os.path.join({value}, "{folder}")' if folder else value for folder in _lowest(set(folders)))
    made = [f"    os.makedirs({path}, exist_ok=True)" for path in paths]
    return [f"if {value}:", *made] if made else []


def _lowest(folders: set[str]) -> list[str]:
    """Folders that are not made together with one below them; "" is the contract's own."""
    return sorted(
        each for each in folders if not any(other.startswith(each + "/" if each else "") for other in folders - {each})
    )


def make_below(draft: Draft, setup: Setup, paths: Paths, value: str) -> list[str]:
    """Lines that make folders that the script's own options name below the contract's, unless it does so itself."""
    options = paths.options.get(Role.OUTPUT, {})
    # A word that must stay what it is lies below the contract's folder, where it was one beside the script.
    words = {
        id(wrap.use.sink): wrap.use for wrap in paths.wraps.get(Role.OUTPUT, ())
        if wrap.use.option and wrap.use.after.startswith("/")
    }  # fmt: skip
    written = [*(use for use, _ in paths.written), *words.values()]
    made = {(use.option, use.after, _makes_one(use)) for use in written if use.option and use.sink.makes}
    found: set[tuple[str, ...]] = set()
    for use in written:
        is_word, is_one = id(use.sink) in words, _makes_one(use)
        if not (is_word or options.get(use.option)) or (use.sink.is_folder and not is_one) or not use.after:
            continue
        below = use.after.rpartition("/")[0]
        target = setup.own_value(use.option)
        is_made = any(
            own == use.option and (after == below or (after.startswith(below + "/") and not (is_one and one)))
            for own, after, one in made
        )  # fmt: skip
        if UNKNOWN in below or is_made:
            continue
        parts = [*([value] if is_word else []), target, *([f'"{below.strip("/")}"'] if below.strip("/") else [])]
        folder = f"os.path.join({', '.join(parts)})" if len(parts) > 1 else target
        asked = setup.options[use.option].asked(target, is_set=True)
        line = f"os.makedirs({folder}, exist_ok=True)"
        found.add((f"if {asked}:", f"    {line}") if asked else (line,))
    if found:
        draft.need_import("os")
    return [f"if {value}:", *(f"    {line}" for lines in sorted(found) for line in lines)] if found else []


def _makes_one(use: Use) -> bool:
    """Whether a folder is made without those that it lies in."""
    return use.sink.makes and tail(use.sink.call.func) == "mkdir" and argument(use.sink.call, "parents") is None


def _needed(draft: Draft, use: Use, full: str, cut: int, made: set[str], value: Value) -> set[str]:
    makes_one = _makes_one(use)
    if use.sink.is_folder and not makes_one and not use.sink.expects:
        return set()
    folder = full.rstrip("/") if use.sink.expects and not use.after else full.rpartition("/")[0]
    if any(_plain(folder) == each or (each.startswith(_plain(folder) + "/") and not makes_one) for each in made):
        return set()
    rest = folder[cut:].strip("/")
    static = rest.partition(UNKNOWN)[0]
    if _OPEN.search(rest) and (_makes_parent(draft, use) or is_made_by_function(draft, use)):
        return set()
    if _OPEN.search(rest):
        static = _OPEN.split(rest)[0].rpartition("/")[0]
        make_on_the_way(draft, use, value)
    return {static}


def _makes_parent(draft: Draft, use: Use) -> bool:
    """`os.makedirs(os.path.dirname(path))`, with the very path that is written to."""
    spelled = f"os.path.dirname({draft.source(use.sink.path)})"
    return any(
        tail(call.func) == "makedirs" and bool(call.args) and draft.source(call.args[0].value) == spelled
        for call in draft.calls(draft.scope(use.sink.call))
    )


def _plain(text: str) -> str:
    return text[len(base_of(text)) :].rstrip("/") if base_of(text) in ("./", "") else text.rstrip("/")
