"""A script and the modules of its folder as one program: the same folders, and one training, wherever its loop is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import libcst as cst

from outlast.adapt.arguments.environment import EnvironmentSetup
from outlast.adapt.arguments.setup import Value
from outlast.adapt.connecting import Connecting
from outlast.adapt.copied import copied_options
from outlast.adapt.draft import Draft
from outlast.adapt.early import is_read_early
from outlast.adapt.edits import Meeting
from outlast.adapt.made_fields import Field, find_fields, of_file
from outlast.adapt.named_after import keep_names
from outlast.adapt.needs import Needs, Role, variable
from outlast.adapt.placing.caches import CACHES, take_caches
from outlast.adapt.placing.downloads import report_downloads, stop_downloads
from outlast.adapt.placing.fetched import leave_out
from outlast.adapt.placing.fetched_files import tell_asked
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sinks import find_sinks
from outlast.adapt.placing.sites import Site
from outlast.adapt.placing.takers import Taker, Takers, add_handed, find_roots, find_takers, inherited
from outlast.adapt.placing.unpacking import leave_packed
from outlast.adapt.placing.wiring import relax
from outlast.adapt.reading import Program
from outlast.adapt.resume import Plan
from outlast.adapt.resuming.before import Before
from outlast.adapt.resuming.dealt import deal
from outlast.adapt.resuming.drawing import Draw, all_draws, find_draws, own_choices
from outlast.adapt.resuming.emptied import say_emptied
from outlast.adapt.resuming.listing import say_cut, say_listings
from outlast.adapt.resuming.seeds import keep_choices
from outlast.adapt.resuming.stamped import Stamped, keep_stamped
from outlast.adapt.resuming.unordered import Unordered, find_unordered, put_in_order, say_hashes
from outlast.adapt.rooted import root_texts
from outlast.adapt.script import Around, Script
from outlast.adapt.sharing import settle, told_options
from outlast.adapt.sight import Sight, look
from outlast.adapt.training import Training, find_training
from outlast.adapt.weights import share_weights
from outlast.migrate.engine import EditError, Kind
from outlast.migrate.tree import dotted

_DECLARES = re.compile(r"parse_(?:known_)?args|add_argument|add_option|\bDEFINE_|\b(?:click|typer|fire|tap|tyro)\b")


class ModuleError(Exception):
    """A module cannot be changed safely; the program is adapted without it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Adapting:
    """One adaptation of a program."""

    def __init__(self, program: Program, needs: Needs) -> None:
        self.entry, self.modules, self.needs = program.entry, program.modules, needs
        self._is_shared, self._roots = program.is_shared, program.roots
        #: the modules as they are to be
        self.texts: dict[str, str] = {}
        self.lacks: list[str] = []
        self.kind = ""
        self._unordered: list[Unordered] = []
        self._fields: list[Field] = []
        self._copied = copied_options([self.entry, *self.modules.values()])

    def adapt(self) -> str:
        """Make every edit; the text of the script."""
        training = find_training(self.entry, self.modules)
        plan = training.plan
        draws = self._draws(training)
        if not self.needs.options:
            if plan is not None:
                early = self._first_import() if any(draw.is_early for draw in draws) else None
                keep_choices(self.entry, draws, None, "", early)
                for each in training.plans().values():
                    each.apply("")
            for draft in (self.entry, *self.modules.values()):
                put_in_order(self._unordered, draft)
                keep_stamped(_stamped(training), draft, "")
                deal(draft, _dealt(training, draft))
            self.texts = {path: _result(path, each) for path, each in self.modules.items()}
            return self.entry.result()
        sights, entry = self._look()
        settle([*sights.values(), entry], entry, self._copied, self._fields)
        root_texts([entry, *sights.values()])
        share_weights([entry, *sights.values()])
        keep_names([entry, *sights.values()], self.needs)
        around = self._change_modules(sights, entry, training, draws)
        script = Script(entry, self.needs, None if training.path else plan, around)
        script.change()
        put_in_order(self._unordered, self.entry)
        deal(self.entry, _dealt(training, self.entry))
        self.lacks, self.kind = script.lacks, script.kind
        return self.entry.result()

    def _draws(self, training: Training) -> list[Draw]:
        """What is drawn before the training; of several that stand for one another, outside of all."""
        modules = list(self.modules.values())
        drafts = [self.entry, *modules]
        found: list[list[Draw]] = []
        own: dict[int, list[Draw]] = {}
        for path, plan in training.plans().items():
            draft, trainings = self.modules.get(path, self.entry), [plan.at, *plan.also]
            own[id(draft)] = find_draws(self.entry, modules, draft, trainings)
            found.append(own[id(draft)])
            choices = [*all_draws(self.entry, modules, draft, trainings)]
            choices += own_choices(self.entry, modules, draft, trainings)
            listings = say_listings(choices)
            known = {id(each.node) for each in self._unordered}
            before = Before(drafts, draft, trainings)
            unordered = find_unordered(drafts, before)
            self._unordered += [each for each in unordered if id(each.node) not in known]
            if draft is self.modules.get(training.path, self.entry):
                say_hashes(drafts, before)
                say_emptied(drafts, before, [log for _, state in plan.states for log in state.logs])
                say_cut(drafts, before, listings)
        every = {id(draw.call): draw for draws in found for draw in draws}
        return [
            draw for draw in every.values()
            if draw in own.get(id(draw.draft), ()) or all(draw in draws for draws in found)
        ]  # fmt: skip

    def _look(self) -> tuple[dict[str, Sight], Sight]:
        """Every file, those that parse arguments last: what their options are for is seen in the others."""
        takers = _takers(self.modules.values(), self.entry)
        self._fields = find_fields([self.entry, *self.modules.values()], takers) if self.modules else []
        if self._fields:
            takers = _takers(self.modules.values(), self.entry, self._fields)
        files = {**self.modules, "": self.entry}
        found: dict[str, Sight] = {}
        for path, draft in sorted(files.items(), key=lambda item: _declares(item[1])):
            before = len(draft.findings)
            found[path] = look(draft, self.needs, takers, told_options(found.values(), self._copied))
            if path:
                # What stays as it is in a module may be none of the script's business.
                new = draft.findings[before:]
                draft.findings[before:] = [each for each in new if each.kind is Kind.HAND or each.rule == CACHES]
        return {path: found[path] for path in self.modules}, found[""]

    def _change_modules(
        self, sights: Mapping[str, Sight], entry: Sight, training: Training, draws: Sequence[Draw]
    ) -> Around:
        roles: set[Role] = set()
        folders: list[str] = []
        # Where the script is imported, too, the options must be taken before: they are there only once.
        is_early = self._is_shared or any(draw.is_early for draw in draws)
        named = {id(each.draft) for each in _stamped(training) if each.is_early}
        for path, sight in sights.items():
            others = [entry, *(other for at, other in sights.items() if at != path)]
            plan = training.plans().get(path)
            folders += _change(sight, self.needs, plan, _sites(others))
            put_in_order(self._unordered, sight.draft)
            deal(sight.draft, _dealt(training, sight.draft))
            value = f'os.environ.get("{variable(self.needs.options[Role.OUTPUT])}")'
            keep_stamped(_stamped(training), sight.draft, "" if sight.copies else value)
            self.texts[path] = _result(path, sight.draft)
            used = [role for role in self.needs.options if self._count(role, self.texts[path], sight.draft.text)]
            roles.update(used)
            is_asked = bool(used) and is_read_early(sight, list(self.modules.values()), entry)
            is_early = is_early or is_asked or id(sight.draft) in named
        taken = (
            role
            for role, name in self.needs.options.items()
            if any(variable(name) in each.text for each in self.modules.values())
        )
        early = self._first_import() if is_early else None
        return Around(frozenset(roles), frozenset(taken), early, _sites(sights.values()), folders, draws)

    def _count(self, role: Role, text: str, before: str) -> int:
        name = variable(self.needs.options[role])
        return text.count(name) - before.count(name)

    def _first_import(self) -> cst.CSTNode | None:
        """The first import of a module of the program at the top of the script."""
        roots = self._roots
        for statement in self.entry.module.body:
            for node in (statement, *self.entry.below(statement)):
                if isinstance(node, cst.Import):
                    names = [dotted(each.name) for each in node.names]
                elif isinstance(node, cst.ImportFrom):
                    names = [dotted(node.module)] if node.module is not None else list(roots)
                else:
                    continue
                if (
                    any(name.partition(".")[0] in roots for name in names)
                    and self.entry.scope(node) is self.entry.module
                ):
                    return statement
        return None


def _stamped(training: Training) -> list[Stamped]:
    return [each for plan in training.plans().values() for each in plan.stamped]


def _dealt(training: Training, draft: Draft) -> list[cst.Call]:
    """Calls of a file that make iterators from which the rounds of another file draw."""
    states = [state for plan in training.plans().values() for values, state in plan.states if values.draft is not draft]
    return list(dict.fromkeys(call for state in states for call in state.dealt_by(draft)))


def _declares(draft: Draft) -> int:
    """How certain it is that a file declares options, and not only asks another one for them."""
    return 2 if _DECLARES.search(draft.text) else int("parse" in draft.text)


def _takers(drafts: Iterable[Draft], entry: Draft, fields: Sequence[Field] = ()) -> Takers:
    """Functions of modules that take places; also those that only hand them on to others, or have another name."""
    flows = [(draft, Flow(draft, frozenset(), {})) for draft in drafts]
    looked = [(draft, take_caches(draft, find_sinks(draft), flow), flow) for draft, flow in flows]
    found: dict[str, tuple[Taker, ...]] = {}
    for _ in range(2):
        every = [
            each for draft, sinks, flow in looked
            for each in find_takers(draft, [*add_handed(draft, sinks, found), *of_file(fields, draft)], flow)
        ]  # fmt: skip
        every += [each for draft, _, _ in looked for each in find_roots(draft, every)]
        found = {
            name: tuple(each for each in every if each.function == name) for name in {each.function for each in every}
        }
        for alias, name in (pair for draft in (entry, *entry.others) for pair in (*draft.renamed(), *inherited(draft))):
            found.setdefault(alias, found.get(name, ()))
    return found


def _sites(sights: Iterable[Sight]) -> dict[Role, list[Site]]:
    """Literals and defaults of options that lie in the contract's folders."""
    found: dict[Role, list[Site]] = {role: [] for role in Role}
    for sight in sights:
        for role, sites in sight.paths.sites.items():
            found[role] += sites
        for role, names in sight.paths.options.items():
            options = sight.native.options if sight.native is not None else {}
            texts = [(options[name].default, is_folder) for name, is_folder in names.items() if name in options]
            found[role] += [Site(cst.SimpleString('""'), text, is_folder) for text, is_folder in texts if text]
    return found


def _change(sight: Sight, needs: Needs, resume: Plan | None, elsewhere: Mapping[Role, Sequence[Site]]) -> list[str]:
    """Change a module; folders that it expects below the output folder."""
    draft = sight.draft
    setup = EnvironmentSetup(draft, inner=sight.native)
    values = {role: Value(setup, name) for role, name in needs.options.items()}
    _let_out(sight, setup, needs)
    connecting = Connecting(sight, needs, elsewhere)
    lines = connecting.connect(setup, values)
    if sight.fetched:
        lines += sight.pretrained.bring(values[Role.WEIGHTS], needs.options[Role.WEIGHTS])
    if lines:
        setup.follow(lines)
    stop_downloads(draft, sight.downloads, values[Role.DATA], needs.options[Role.DATA])
    leave_packed(draft, sight.unpacking, values[Role.DATA], needs.options[Role.DATA])
    leave_out(draft, sight.fetches, values, needs.options)
    tell_asked(draft, sight.asked, needs.options[Role.DATA])
    stopped = [*sight.downloads, *sight.fetched, *(each.call for each in sight.fetches), *sight.left_out]
    report_downloads(draft, stopped, has_network=needs.has_network)
    if resume is not None:
        resume.apply(values[Role.OUTPUT].at(resume.at))
    if draft.is_touched:
        draft.need_import("os")
    return connecting.folders


def _let_out(sight: Sight, setup: EnvironmentSetup, needs: Needs) -> None:
    """A place that a parser of a module insists on need not be given with the contract's, which stands for it."""
    for role, name in needs.options.items():
        options = sight.paths.options.get(role, {})
        is_whole = role is Role.WEIGHTS or (len(options) == 1 and any(options.values()))
        for own in options if is_whole else ():
            if own in setup.options and setup.options[own].is_required:
                relax(sight.draft, setup, setup.options[own], name)


def _result(path: str, draft: Draft) -> str:
    try:
        return draft.result()
    except (Meeting, EditError, cst.ParserSyntaxError):
        raise ModuleError(path) from None
