"""What is found in one file before anything of it is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.arguments.commands import find_command, find_flags
from outlast.adapt.arguments.dataclass_options import with_dataclasses
from outlast.adapt.arguments.parsers import find_argparse
from outlast.adapt.arguments.setup import Setup
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Needs, Role
from outlast.adapt.placing.alike import add_alike
from outlast.adapt.placing.beside_code import take_folder
from outlast.adapt.placing.caches import take_caches
from outlast.adapt.placing.chosen_models import add_from_tables
from outlast.adapt.placing.cut_texts import tell_cuts
from outlast.adapt.placing.delivered import Delivered, find_delivered
from outlast.adapt.placing.downloads import download_sites
from outlast.adapt.placing.fetched import Fetch, find_fetches
from outlast.adapt.placing.fetched_files import find_asked, find_filled, take_for_data
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.folders import Guard, find_guards, tell_moves
from outlast.adapt.placing.gathered import take_gathered
from outlast.adapt.placing.optional_weights import leave_optional
from outlast.adapt.placing.paths import Paths, find_paths
from outlast.adapt.placing.pretrained import Pretrained
from outlast.adapt.placing.sinks import Sink, find_sinks
from outlast.adapt.placing.sites import Site
from outlast.adapt.placing.takers import Takers, add_handed
from outlast.adapt.placing.unpacked import leave_unpacked
from outlast.adapt.placing.unpacking import Unpacking, find_unpacking
from outlast.migrate.tree import tail


@dataclass(frozen=True)
class Sight:
    """Everything that the change of one file rests on."""

    draft: Draft
    native: Setup | None  # how it reads arguments
    copies: bool  # with MoXing, from addresses
    flow: Flow
    sinks: list[Sink]
    paths: Paths
    guards: list[Guard]
    delivered: list[Delivered]  # read before it is saved
    downloads: list[cst.CSTNode]
    fetches: list[Fetch]
    pretrained: Pretrained
    fetched: list[cst.Call]  # weights that a library fetches
    has_weights: bool  # of its own to start from: the contract's are those
    takes_weights: bool  # by an option of the contract's name
    asked: list[cst.If]  # questions whether data is there, behind which it is fetched
    unpacking: list[Unpacking]  # archives that are fetched in every start
    beside: list[Site] = field(default_factory=list)  # what lies with its weights in the contract's place
    named: set[str] = field(default_factory=set)  # options for weights whose old values names are made of

    @property
    def left_out(self) -> list[cst.CSTNode]:
        """Statements behind which the network is asked for nothing that the contract's data has."""
        return [
            *self.asked,
            *self.paths.behind,
            *(statement for each in self.unpacking for statement in each.statements),
        ]

    @property
    def read(self) -> set[int]:
        """Expressions on the way from a place to a call that reads what is there."""
        uses = [use for sink in self.sinks if sink.role is Role.DATA for use in self.flow.ways(sink)]
        nodes = [node for use in uses for node in (use.other, use.whole, use.put, *(hop.whole for hop in use.hops))]
        return {id(node) for node in nodes if node is not None}

    def places(self) -> list[cst.CSTNode]:
        """Where values of the contract will be read."""
        found = [*self.paths.nodes(), *self.downloads, *self.fetched, *(guard.node for guard in self.guards)]
        found += [each.statements[0] for each in self.unpacking]
        return found + [each.call for each in self.fetches] + [each.use.sink.path for each in self.delivered]


def look(
    draft: Draft, needs: Needs, takers: Takers | None = None, told: Mapping[str, tuple[Role, bool]] | None = None
) -> Sight:
    """Look at one file. `takers`: functions of other files that take places; `told`: what options are for there."""
    own = find_argparse(draft) or find_flags(draft) or find_command(draft)
    native = with_dataclasses(draft, own)
    flow = (
        Flow(draft, native.holders, native.parameters, native.objects) if native else Flow(draft, frozenset(), {}, {})
    )
    copies = any("moxing" in each.names.roots for each in (draft, *draft.others))
    seen = add_handed(draft, find_sinks(draft), takers) if takers else find_sinks(draft)
    judged = take_for_data(draft, flow, seen)
    sinks = take_caches(draft, judged, flow, tells=True)
    options = native.options if native else {}
    paths = Paths() if copies else find_paths(draft, sinks, flow, options, needs.passed, told or {})
    take_folder(draft, flow, paths, needs.options[Role.DATA])
    add_alike(draft, paths)
    take_gathered(draft, paths)
    add_from_tables(draft, flow, [] if copies else sinks, paths)
    unpacking = [] if copies else find_unpacking(draft, paths)
    leave_unpacked(draft, paths, [statement for each in unpacking for statement in each.statements])
    tell_moves(draft, paths)
    tell_cuts(draft, paths)
    guards = find_guards(draft, sinks, flow, paths)
    delivered = [] if copies else find_delivered(draft, sinks, flow, paths, options)
    downloads = download_sites(draft, paths.fed)
    # The name of a file that is fetched is spoken of there.
    fetched = (node for each in downloads if isinstance(each, cst.Call) for node in draft.below(each))
    paths.known |= {id(node) for node in fetched if isinstance(node, cst.SimpleString)}
    fetches = [] if copies else find_fetches(draft, paths)
    pretrained = Pretrained(draft)
    leave_optional(draft, paths, options, pretrained)
    takes_weights = needs.options[Role.WEIGHTS] in draft.words
    has_weights = paths.has(Role.WEIGHTS) or takes_weights
    return Sight(
        draft,
        native,
        copies,
        flow,
        sinks,
        paths,
        guards,
        delivered,
        downloads,
        fetches,
        pretrained,
        list(pretrained.sites),
        has_weights,
        takes_weights,
        [*find_asked(draft, seen, judged), *find_filled(draft, flow, sinks, paths), *paths.asked],
        unpacking,
    )


def look_again(sight: Sight, sights: Iterable[Sight], written: Collection[str]) -> None:
    """Where it is known by now what other files write: what is read before that must have been brought.

    `written`: results of other files; those that are read later need not be brought.
    """
    draft, known = sight.draft, {id(each.use.sink.path) for each in sight.delivered}
    names = {name for other in sights if other is not sight for name in _writers(other)}
    writers = [call for call in draft.calls() if tail(call.func) in names]
    options = sight.native.options if sight.native else {}
    found = find_delivered(draft, sight.sinks, sight.flow, sight.paths, options, writers)
    still = {id(each.use.sink.path) for each in found}
    sight.delivered[:] = [
        each
        for each in sight.delivered
        if id(each.use.sink.path) in still or sight.flow.full(each.use).removeprefix("./") not in written
    ]
    sight.delivered.extend(each for each in found if id(each.use.sink.path) not in known)


def _writers(sight: Sight) -> set[str]:
    """Functions and classes of a file in which something is written, or that use these."""
    draft, found = sight.draft, set[str]()
    at: list[cst.CSTNode] = [use.sink.call for use, _ in sight.paths.written]
    while at:
        node = at.pop()
        around = (each for each in draft.above(node) if isinstance(each, cst.FunctionDef | cst.ClassDef))
        fresh = {each.name.value for each in around} - found
        found |= fresh
        at += [call for call in draft.calls() if tail(call.func) in fresh]
    return found
