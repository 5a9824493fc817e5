"""One script, one contract: what it lacks, and the change that gives it that."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.arguments.commands import find_command, find_flags, parsing_import, reads_command_line
from outlast.adapt.arguments.dataclass_options import DataclassSetup, with_dataclasses
from outlast.adapt.arguments.parsers import ArgparseSetup, argparse_options, find_argparse
from outlast.adapt.arguments.setup import CreatedSetup, Option, Setup, Value
from outlast.adapt.draft import Draft
from outlast.adapt.edits import Meeting
from outlast.adapt.needs import HELP, Needs, Role
from outlast.adapt.placing.alike import add_alike
from outlast.adapt.placing.downloads import download_sites, report_downloads, stop_downloads
from outlast.adapt.placing.fetched import find_fetches, leave_out
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.folders import Guard, find_guards, hold_back
from outlast.adapt.placing.implied import tell_folders
from outlast.adapt.placing.leftovers import Leftovers
from outlast.adapt.placing.others import replace_others
from outlast.adapt.placing.paths import Paths, find_paths
from outlast.adapt.placing.places import Places, make_below, make_folders, needed_folders, replace_places
from outlast.adapt.placing.pretrained import Pretrained
from outlast.adapt.placing.sinks import find_sinks
from outlast.adapt.placing.wiring import relax, wire_options
from outlast.adapt.resume import plan_resume
from outlast.adapt.resuming.seeds import keep_choices
from outlast.migrate.engine import EditError, Finding, Kind
from outlast.migrate.tree import inner, tail

_SPAWN = frozenset({"spawn", "set_start_method", "get_context"})


@dataclass(frozen=True)
class Adapted:
    """A script after its adaptation. `text` is the original where nothing was to change."""

    text: str
    findings: tuple[Finding, ...] = ()
    lacks: tuple[str, ...] = ()  # options of the contract that the script did not have
    setup: str = ""  # how it reads its arguments now

    @property
    def is_complete(self) -> bool:
        """Nothing is left for a person."""
        return not any(finding.kind in (Kind.HAND, Kind.UNPARSED) for finding in self.findings)


def adapt_text(text: str, needs: Needs, beside: frozenset[str] = frozenset()) -> Adapted:
    """Adapt one script. What does not parse, or would not after the change, comes back as it was, with the reason.

    `beside`: names of modules in the script's folder.
    """
    if text.startswith("\ufeff"):  # places are counted without it
        done = adapt_text(text[1:], needs, beside)
        return replace(done, text="\ufeff" + done.text)
    try:
        draft = Draft(text, beside)
    except (cst.ParserSyntaxError, RecursionError) as error:
        why = error.message.splitlines()[0] if isinstance(error, cst.ParserSyntaxError) else "nested too deeply"
        line = error.raw_line if isinstance(error, cst.ParserSyntaxError) else 1
        return Adapted(
            text, (Finding(Kind.UNPARSED, "parse", max(line, 1), 1, f"left alone: {why}", "make it valid Python 3"),)
        )
    if not draft.module.body:
        return Adapted(text, (Finding(Kind.HAND, "parse", 1, 1, "the file is empty"),))
    adapting = _Adapting(draft, needs)
    try:
        adapting.adapt()
        changed = draft.result()
    except Meeting as met:
        return _unchanged(
            text, draft.line_at(met.at), "two changes meet on this line", "divide it, then adapt it again"
        )
    except (EditError, cst.ParserSyntaxError) as error:
        line = min(error.raw_line, text.count("\n") + 1) if isinstance(error, cst.ParserSyntaxError) else 1
        return _unchanged(text, line, "with the change it would not be valid Python", "please report this script")
    findings = tuple(sorted(draft.findings, key=lambda finding: (finding.line, finding.rule)))
    return Adapted(changed, findings, tuple(adapting.lacks), adapting.kind)


def _unchanged(text: str, line: int, why: str, advice: str) -> Adapted:
    return Adapted(text, (Finding(Kind.HAND, "parse", line, 1, f"cannot be changed safely: {why}", advice),))


class _Adapting:
    """The steps of one adaptation, which share what was found."""

    def __init__(self, draft: Draft, needs: Needs) -> None:
        self.draft, self.needs = draft, needs
        self.lacks: list[str] = []
        self.kind = ""
        self._saves_results = False

    def adapt(self) -> None:
        resume = plan_resume(self.draft)
        self._saves_results = resume is not None and resume.saves_results
        if not self.needs.options:
            if resume is not None:
                keep_choices(self.draft, resume.at, None, "")
                resume.apply("")
            return
        if self.needs.needs_entry and "moxing" not in self.draft.names.roots:
            said = "under this contract paths are addresses: the job starts an entry script that copies"
            self.draft.say(Kind.DIFFERS, "entry", self.draft.first, said, "write it with: --entry")
        own = find_argparse(self.draft) or find_flags(self.draft) or find_command(self.draft)
        native = with_dataclasses(self.draft, own)
        flow = Flow(self.draft, native.holders if native else frozenset(), native.parameters if native else {})
        copies = "moxing" in self.draft.names.roots
        sinks = find_sinks(self.draft)
        paths = (
            Paths()
            if copies
            else find_paths(self.draft, sinks, flow, native.options if native else {}, self.needs.passed)
        )
        add_alike(self.draft, paths)
        guards = find_guards(self.draft, sinks, flow, paths)
        if copies:
            self.draft.say(
                Kind.KEPT, "paths", self.draft.first, "copies its files with MoXing itself: paths stay as they are"
            )
        downloads = download_sites(self.draft, paths.fed)
        fetches = [] if copies else find_fetches(self.draft, paths)
        pretrained = Pretrained(self.draft)
        # Where the script has weights of its own to start from, the contract's are those.
        is_taken = paths.has(Role.WEIGHTS) or self.needs.options[Role.WEIGHTS] in self.draft.words
        fetched = [] if is_taken else pretrained.sites
        places = [*paths.nodes(), *downloads, *fetched, *(guard.node for guard in guards)]
        places += [each.call for each in fetches]
        setup = self._setup(native, [*places, *([resume.at, *resume.also] if resume else [])])
        if setup is None:
            if resume is not None:
                resume.apply("")  # a stint knows the place
            return
        self.kind = setup.kind
        aliased = self._alias(setup, paths)
        values = self._declare(setup, paths, aliased, takes_weights=bool(fetched))
        self._connect(setup, paths, values, guards)
        if fetched and Role.WEIGHTS in values:
            lines = pretrained.bring(values[Role.WEIGHTS], self.needs.options[Role.WEIGHTS])
            if lines:
                setup.follow(lines)
        if Role.DATA in values:
            stop_downloads(self.draft, downloads, values[Role.DATA], self.needs.options[Role.DATA])
        leave_out(self.draft, fetches, values, self.needs.options)
        left = Leftovers(self.draft, paths, setup.options or dict(argparse_options(self.draft)))
        if not copies:
            left.tell()
        for role in (Role.DATA, Role.OUTPUT):
            is_done = self._saves_results if role is Role.OUTPUT else bool(downloads)
            name = self.needs.options[role]
            if role in values and not (paths.has(role) or is_done or copies or name in setup.options):
                left.tell_unused(role, name)
        stopped = [*downloads, *fetched, *(each.call for each in fetches if each.role in values)]
        report_downloads(self.draft, stopped, has_network=self.needs.has_network)
        if resume is not None:
            # With MoXing the output is an address; only a stint knows a folder then.
            output = None if copies else values.get(Role.OUTPUT)
            keep_choices(self.draft, resume.at, setup, output.first if output else "")
            resume.apply(output.at(resume.at) if output else "")

    def _setup(self, native: Setup | None, places: list[cst.CSTNode]) -> Setup | None:
        """The script's own set-up where its values reach every place that needs them, else one at the top."""
        if isinstance(native, ArgparseSetup) and native.parser.startswith("contract"):
            return native  # it stands at the top already
        # Behind a subcommand only its own parser reads, and which one that is the platform does not know.
        has_commands = native is not None and native.kind == "argparse" and "add_subparsers" in self.draft.words
        # Arguments that are handed on all together meet a function that does not know the new ones.
        hands_on = any(
            arg.star == "**" and isinstance(arg.value, cst.Call) and tail(arg.value.func) == "vars"
            for call in self.draft.calls() for arg in call.args
        )  # fmt: skip
        can_grow = not has_commands and not hands_on and not isinstance(native, DataclassSetup)
        if native is not None and can_grow and all(native.reaches(place) for place in places):
            return native
        early = parsing_import(self.draft) if native is None else None
        takes = native is not None or early is not None or reads_command_line(self.draft)
        if takes and _SPAWN & self.draft.words and "multiprocessing" in self.draft.text:
            self.draft.say(
                Kind.HAND, "arguments", self.draft.first,
                "processes are started anew, and the arguments are not where the paths are",
                "read the paths from the script's own arguments, in the function that parses them",
            )  # fmt: skip
            return None
        return CreatedSetup(self.draft, inner=native, takes=takes, before=early)

    def _alias(self, setup: Setup, paths: Paths) -> set[Role]:
        """A folder that the script insists on need not be given with the contract's, or gets its name as well."""
        found = set()
        for role, name in self.needs.options.items():
            options = paths.options.get(role, {})
            insisted = [own for own in options if setup.options[own].is_required]
            # The contract's option names a folder, one for weights also a file; one of several is found by its name.
            is_whole = role is Role.WEIGHTS or (len(options) == 1 and any(options.values()))
            if name in setup.options or not insisted or not is_whole:
                continue
            option = setup.options[insisted[0]]
            if relax(self.draft, setup, option, name):
                continue
            where = option.call or self.draft.first
            if setup.kind == "created" or not setup.alias(option, name):
                said = f"{option.shown} is required, and --{name} cannot stand for it"
                advice = f"pass it yourself: outlast run … -- {option.shown}=PATH"
                self.draft.say(Kind.HAND, "options", where, said, advice)
                del paths.options[role][insisted[0]]
                continue
            self.draft.say(Kind.CHANGED, "arguments", where, f"--{name} is a second name of {option.shown}")
            self.lacks.append(name)
            found.add(role)
        return found

    def _declare(
        self, setup: Setup, paths: Paths, aliased: set[Role], *, takes_weights: bool
    ) -> dict[Role, Value]:  # fmt: skip
        """Add what is missing; the expressions by which each role's value is read."""
        wanted = [
            role for role in self.needs.options
            if role not in aliased and (role is not Role.WEIGHTS or takes_weights or paths.has(role))
        ]  # fmt: skip
        names = [(self.needs.options[role], HELP[role]) for role in wanted]
        names += [(name, "passed by the platform") for name in self.needs.extra]
        known = setup.options or dict(argparse_options(self.draft))
        missing = [(name, words) for name, words in names if name not in known]
        own = [(name, words) for name, words in names if name in known]
        for name, _ in own:
            self._spell(setup, known[name], name)
        if isinstance(setup, CreatedSetup):
            setup.declare_beside(missing, own)
        elif missing:
            setup.declare(missing)
        if missing:
            self.lacks += [name for name, _ in missing]
            options = ", ".join(f"--{name}" for name, _ in missing)
            how = "a parser at the top" if setup.kind == "created" else setup.kind
            self.draft.say(Kind.CHANGED, "arguments", self.draft.first, f"accepts {options} ({how})")
        named = {role: self.needs.options[role] for role in wanted if self._is_signal(setup, role, paths)}
        return {
            role: Value(setup, setup.options[name].name if name in setup.options else name)
            for role, name in named.items()
        }

    def _spell(self, setup: Setup, option: Option, name: str) -> None:
        """An option of the contract that the script spells in another way: `--data-url`."""
        words = {inner(flag) for flag in option.flags}
        if words and f"--{name}" not in words and not option.is_positional and setup.alias(option, name):
            said = f"--{name} is a second name of {', '.join(sorted(words))}"
            self.draft.say(Kind.CHANGED, "arguments", option.call or self.draft.first, said)
            self.lacks.append(name)

    def _is_signal(self, setup: Setup, role: Role, paths: Paths) -> bool:
        """Whether the option has a value only when the platform gives one; else nothing may depend on it."""
        option = setup.options.get(self.needs.options[role])
        if option is None or setup.kind == "created" or not (option.is_set or option.is_required):
            return True
        for site in paths.sites.get(role, ()):
            said = f"{site.text!r} stays: --{option.name} has a value of its own without the platform"
            self.draft.say(Kind.DIFFERS, "paths", site.literal, said, "let it be None unless it is given")
        return False

    def _connect(self, setup: Setup, paths: Paths, values: dict[Role, Value], guards: list[Guard]) -> None:
        lines: list[str] = []
        for role, value in values.items():
            name = self.needs.options[role]
            places = Places(role, paths.sites.get(role, []), paths.wraps.get(role, []))
            if places.sites and not replace_places(self.draft, places, value, name):
                places = Places(role, [], places.wraps)
            for wrap in {wrap.key: wrap for wrap in places.wraps}.values():
                wrap.put(self.draft, value, name)
            if role is Role.OUTPUT:
                lines += make_folders(self.draft, needed_folders(self.draft, paths, places), value.first)
            if paths.options.get(role) and not setup.is_read(name):
                lines += wire_options(self.draft, setup, role, name, value, paths.options[role])
                if role is Role.OUTPUT:
                    lines += make_below(self.draft, setup, paths, value.first)
            if role is Role.OUTPUT:
                tell_folders(self.draft, paths.implied, value, name)
            replace_others(self.draft, role, paths.others.get(role, ()), value, name)
        if Role.OUTPUT in values:
            hold_back(self.draft, guards, values[Role.OUTPUT], self.needs.options[Role.OUTPUT])
        elif guards:
            said = f"{guards[0].what}, and it will exist"
            self.draft.say(Kind.HAND, "folders", guards[0].node, said, "let it go on where the folder is there already")
        if lines:
            setup.follow(lines)
