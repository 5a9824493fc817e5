"""The script that is started: what it lacks of a contract, and the change that gives it that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.arguments.commands import parsing_import, reads_command_line
from outlast.adapt.arguments.dataclass_options import DataclassSetup
from outlast.adapt.arguments.parsers import ArgparseSetup, argparse_options
from outlast.adapt.arguments.setup import CreatedSetup, Option, Setup, Value, hand_over
from outlast.adapt.arguments.wholes import is_taken_whole
from outlast.adapt.connecting import Connecting
from outlast.adapt.needs import HELP, Needs, Role
from outlast.adapt.placing.copying import tell_copying
from outlast.adapt.placing.delivered import still_read
from outlast.adapt.placing.downloads import report_downloads, stop_downloads
from outlast.adapt.placing.fetched import leave_out
from outlast.adapt.placing.fetched_files import tell_asked
from outlast.adapt.placing.leftovers import Leftovers
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.pretrained import starts_processes
from outlast.adapt.placing.sites import Site
from outlast.adapt.placing.unpacking import leave_packed
from outlast.adapt.placing.wiring import relax
from outlast.adapt.resume import Plan
from outlast.adapt.resuming.drawing import Draw
from outlast.adapt.resuming.seeds import keep_choices
from outlast.adapt.resuming.state import RULE
from outlast.adapt.sight import Sight
from outlast.adapt.whole import calls_of, roots_of, words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, tail


@dataclass(frozen=True)
class Around:
    """What the modules of a program have, and what they need of the script that is started."""

    roles: frozenset[Role] = frozenset()  # that they read
    taken: frozenset[Role] = frozenset()  # that they read since an earlier adaptation
    early: cst.CSTNode | None = None  # the import before which the values must be there
    sites: Mapping[Role, Sequence[Site]] = field(default_factory=dict)
    folders: Sequence[str] = ()  # that they expect below the output folder
    draws: Sequence[Draw] = ()  # numbers that the program draws before its training, without a seed


class Script:
    """The steps of one adaptation, which share what was found."""

    def __init__(self, sight: Sight, needs: Needs, resume: Plan | None, around: Around | None = None) -> None:
        self.sight, self.draft, self.needs = sight, sight.draft, needs
        self.lacks: list[str] = []
        self.kind = ""
        self._resume, self._around = resume, around or Around()

    def change(self) -> None:
        sight, paths, resume = self.sight, self.sight.paths, self._resume
        if self.needs.needs_entry and not sight.copies:
            said = "under this contract paths are addresses: the job starts an entry script that copies"
            self.draft.say(Kind.DIFFERS, "entry", self.draft.first, said, "write it with: --entry")
        if sight.copies:
            tell_copying(self.draft)
        setup = self._setup(sight.native, [*sight.places(), *([resume.at, *resume.also] if resume else [])])
        self.kind = setup.kind
        aliased = self._alias(setup, paths)
        values = self._declare(setup, paths, aliased)
        connecting = Connecting(sight, self.needs, self._around.sites)
        lines = connecting.connect(setup, values)
        if Role.OUTPUT in values:
            folders = sorted({*connecting.folders, *self._around.folders})
            setup.prepare(connecting.make(folders, values[Role.OUTPUT].first))
        if lines:
            setup.follow(lines)
        self._bring(setup, values)
        self._tell(setup, values)
        # With MoXing the output is an address; only a stint knows a folder then.
        output = None if sight.copies else values.get(Role.OUTPUT)
        self._keep_choices(setup, output)
        if resume is not None:
            resume.apply(output.at(resume.at) if output else "")
            self._tell_stint(resume, output)

    def _tell_stint(self, resume: Plan, output: Value | None) -> None:
        """Where the contract's option for results cannot tell the platform from a start by hand."""
        name = self.needs.options.get(Role.OUTPUT)
        goes_on = any(each.rule == RULE and each.message.startswith("goes on") for each in self.draft.findings)
        if name is not None and output is None and goes_on and not self.sight.copies:
            said = f"it goes on only in a stint, which names a folder: --{name} has a value of its own anywhere else"
            self.draft.say(Kind.DIFFERS, RULE, resume.at, said, f"let the default of --{name} be None")

    def _keep_choices(self, setup: Setup, output: Value | None) -> None:
        draws = self._around.draws
        is_early = isinstance(setup, CreatedSetup) and any(draw.is_early for draw in draws)
        before = setup.before if is_early and isinstance(setup, CreatedSetup) else None
        keep_choices(self.draft, draws, setup, output.first if output else "", before)

    def _bring(self, setup: Setup, values: dict[Role, Value]) -> None:
        """What the script would fetch comes from the contract's inputs."""
        sight, options = self.sight, self.needs.options
        if sight.fetched and Role.WEIGHTS in values:
            lines = sight.pretrained.bring(values[Role.WEIGHTS], options[Role.WEIGHTS])
            if lines:
                setup.follow(lines)
        if Role.DATA in values:
            stop_downloads(self.draft, sight.downloads, values[Role.DATA], options[Role.DATA])
            leave_packed(self.draft, sight.unpacking, values[Role.DATA], options[Role.DATA])
        leave_out(self.draft, sight.fetches, values, options)

    def _tell(self, setup: Setup, values: dict[Role, Value]) -> None:
        """Name what is left."""
        sight, paths = self.sight, self.sight.paths
        left = Leftovers(self.draft, paths, setup.options or dict(argparse_options(self.draft)), sight.read)
        if not sight.copies:
            left.tell()
        saves_results = self._resume is not None and self._resume.saves_results
        elsewhere = self._around.roles | self._around.taken
        for role in (Role.DATA, Role.OUTPUT):
            is_done = saves_results if role is Role.OUTPUT else bool(sight.downloads)
            is_done = is_done or any(each.role is role for each in sight.delivered)
            name = self.needs.options[role]
            is_copied = sight.copies and any(name in each.words for each in (self.draft, *self.draft.others))
            is_used = paths.has(role) or is_done or is_copied or name in setup.options or role in elsewhere
            if role in values and not is_used:
                has_checkpoint = role is Role.OUTPUT and self._resume is not None and not sight.copies
                left.tell_unused(role, name, has_checkpoint=has_checkpoint)
        fetches = [each.call for each in sight.fetches if each.role in values]
        tell_asked(self.draft, sight.asked if Role.DATA in values else [], self.needs.options[Role.DATA])
        stopped = [*sight.downloads, *sight.fetched, *fetches, *(sight.left_out if Role.DATA in values else [])]
        wired = paths.options.get(Role.DATA, {}) if Role.DATA in values else {}
        report_downloads(self.draft, stopped, has_network=self.needs.has_network, wired=wired)

    def _setup(self, native: Setup | None, places: list[cst.CSTNode]) -> Setup:
        """The script's own set-up where its values reach every place that needs them, else one at the top."""
        if isinstance(native, ArgparseSetup) and native.parser.startswith("contract"):
            return native  # it stands at the top already
        before = self._around.early
        # Behind a subcommand only its own parser reads, and which one that is the platform does not know.
        has_commands = native is not None and native.kind == "argparse" and "add_subparsers" in self.draft.words
        # Arguments that are handed on all together meet what does not know the new ones.
        names = [*(self.needs.options[role] for role in self._wanted()), *self.needs.extra]
        is_growing = native is not None and any(name not in native.options for name in names)
        hands_on = is_growing and native is not None and is_taken_whole(self.draft, native)
        can_grow = not has_commands and not hands_on and not isinstance(native, DataclassSetup)
        if native is not None and can_grow and before is None and all(native.reaches(place) for place in places):
            return native
        early = parsing_import(self.draft) if native is None else None
        early = min((each for each in (early, before) if each is not None), key=self.draft.start, default=None)
        takes = native is not None or early is not None or reads_command_line(self.draft)
        if early is not None and self.draft.start(early) >= self.draft.start(self.draft.first):
            early = None  # the parser at the top, which other lines there read, comes before that import as it is
        # A process that is started anew finds the options taken from its command line.
        is_inherited = takes and starts_processes(self.draft)
        handed = [self.needs.options[role] for role in self.needs.options if role in self._around.roles]
        return CreatedSetup(
            self.draft, inner=native, takes=takes, before=early, handed=handed, is_inherited=is_inherited
        )  # fmt: skip

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
            # Nothing else tells where a file lies that is looked for in that folder.
            if role is Role.OUTPUT and insisted[0] in still_read(self.sight.delivered, paths, setup.options, name):
                continue
            if relax(self.draft, setup, option, name):
                continue
            where = option.call or self.draft.first
            if setup.kind == "created" or not setup.alias(option, name):
                said = f"{option.shown} is required, and --{name} cannot stand for it"
                advice = f"pass it yourself: outlast run … -- {option.shown}=PATH"
                self.draft.say(Kind.HAND, "options", where, said, advice)
                if not setup.parameters:  # a parameter is set in its function, whatever was passed
                    del paths.options[role][insisted[0]]
                continue
            self.draft.say(Kind.CHANGED, "arguments", where, f"--{name} is a second name of {option.shown}")
            self.lacks.append(name)
            found.add(role)
        return found

    def _declare(self, setup: Setup, paths: Paths, aliased: set[Role]) -> dict[Role, Value]:
        """Add what is missing; the expressions by which each role's value is read."""
        wanted = [role for role in self._wanted() if role not in aliased]
        names = [(self.needs.options[role], HELP[role]) for role in wanted]
        names += [(name, "passed by the platform") for name in self.needs.extra]
        known = setup.options or dict(argparse_options(self.draft))
        # A parser of another file may have an option by words that are not written there: `"--" + key` of its settings.
        read = self._read_by_program() - set(known)
        missing = [(name, words) for name, words in names if name not in known and name not in read]
        own = [(name, words) for name, words in names if name in known or (name in read and not self.sight.copies)]
        for name, _ in own:
            if name in known:
                self._spell(setup, known[name], name)
        if not self.sight.copies and self._is_moved(paths):
            setup.anchored = frozenset(self.needs.options.values())
        if isinstance(setup, CreatedSetup):
            if missing or own:
                setup.declare_beside(missing, own)
        elif missing:
            setup.declare(missing)
            setup.anchor([name for name, _ in missing])
        if missing:
            self.lacks += [name for name, _ in missing]
            options = ", ".join(f"--{name}" for name, _ in missing)
            how = "a parser at the top" if setup.kind == "created" else setup.kind
            self.draft.say(Kind.CHANGED, "arguments", self.draft.first, f"accepts {options} ({how})")
        self._hand_over(setup)
        named = {role: self.needs.options[role] for role in wanted if self._is_signal(setup, role, paths)}
        if self.sight.copies:
            named = {role: name for role, name in named.items() if name not in read}
        return {
            role: Value(setup, setup.options[name].name if name in setup.options else name)
            for role, name in named.items()
        }

    def _is_moved(self, paths: Paths) -> bool:
        """Whether a relative path means something else later: behind `os.chdir`, or behind a root of the script's."""
        behind = (
            arg.value for name, call in calls_of(self.draft) if name == "os.path.join" for arg in call.args[1:]
        )  # fmt: skip
        places = {name for names in paths.options.values() for name in names}
        is_joined = any(isinstance(node, cst.Attribute | cst.Name) and tail(node) in places for node in behind)
        # Hydra goes to a folder of its own in some versions, before the function that it calls.
        return is_joined or paths.is_behind or "chdir" in words_of(self.draft) or "hydra" in roots_of(self.draft)

    def _read_by_program(self) -> set[str]:
        """Options of the contract that other files declare, or read of settings which they parse: `config.data_url`."""
        native = self.sight.native
        if native is not None and not (isinstance(native, ArgparseSetup) and native.parser.startswith("contract")):
            return set()
        parsers = [each for each in self.draft.others if {"parse_args", "parse_known_args"} & each.words]
        read = {name for each in self.draft.others for _, name in each.names.attributes} if parsers else set()
        read |= {name for each in parsers for name, _ in argparse_options(each)}
        return {name for name in self.needs.options.values() if name in read}

    def _wanted(self) -> list[Role]:
        """The options of the contract that the script is to have: that for weights only where it takes any."""
        paths = self.sight.paths
        brings = any(each.role is Role.WEIGHTS for each in self.sight.delivered) and not self.sight.has_weights
        takes_weights = brings or bool(self.sight.fetched) or Role.WEIGHTS in self._around.roles
        takes_weights = takes_weights or paths.has(Role.WEIGHTS)
        return [role for role in self.needs.options if role is not Role.WEIGHTS or takes_weights]

    def _hand_over(self, setup: Setup) -> None:
        """Leave the values where modules find them; a parser at the top does so itself."""
        names = [name for role, name in self.needs.options.items() if role in self._around.roles]
        if names and not isinstance(setup, CreatedSetup):
            self.draft.need_import("os")
            setup.follow(hand_over([(name, setup.value(name)) for name in names]))

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
