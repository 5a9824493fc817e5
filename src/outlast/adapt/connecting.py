"""Tying the places of one file to the values of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outlast.adapt.arguments.setup import Setup, Value
from outlast.adapt.needs import Needs, Role
from outlast.adapt.placing.commands import tell_commands
from outlast.adapt.placing.company import Company, company_of
from outlast.adapt.placing.configs import set_entries
from outlast.adapt.placing.delivered import look_elsewhere, still_read
from outlast.adapt.placing.folders import hold_back
from outlast.adapt.placing.implied import tell_folders
from outlast.adapt.placing.others import replace_others
from outlast.adapt.placing.places import Places, make_below, make_folders, names_file, needed_folders, replace_places
from outlast.adapt.placing.sites import HUB, Site
from outlast.adapt.placing.spoken_names import names_model
from outlast.adapt.placing.unmade import make_unmade
from outlast.adapt.placing.wiring import wire_options
from outlast.adapt.sight import Sight
from outlast.migrate.engine import Kind


class Connecting:
    """One file. `elsewhere`: sites of the program's other files, which share the contract's folders with these."""

    def __init__(self, sight: Sight, needs: Needs, elsewhere: Mapping[Role, Sequence[Site]] | None = None) -> None:
        self._sight, self._needs, self._elsewhere = sight, needs, elsewhere or {}
        self._draft, self._paths = sight.draft, sight.paths
        #: folders below the contract's that somebody must make
        self.folders: list[str] = []

    def connect(self, setup: Setup, values: Mapping[Role, Value]) -> list[str]:
        """Change every place; lines that are to run as soon as the values are known."""
        lines: list[str] = []
        kept: set[str] = set()
        for role, value in values.items():
            name = self._needs.options[role]
            company = company_of(role, self._paths, setup.options, self._elsewhere.get(role, ()))
            self._replace(role, value, name, company)
            if self._paths.options.get(role) and not setup.is_read(name):
                if role is Role.OUTPUT:
                    kept = still_read(self._sight.delivered, self._paths, setup.options, name)
                lines += wire_options(
                    self._draft, setup, role, name, value, self._paths.options[role], company.written,
                    kept if role is Role.OUTPUT else (), self._paths.stems, self._sight.named,
                )  # fmt: skip
            if role is Role.OUTPUT and not setup.is_read(name):
                lines += make_below(self._draft, setup, self._paths, value.first)
                lines += make_unmade(self._draft, setup, self._paths, value.first)
                self.folders += [""] if names_file(self._paths) else []
            if role is Role.OUTPUT:
                lines += tell_folders(self._draft, self._paths.implied, value, name)
            beside = company.written if company.has_unknown else ()
            replace_others(self._draft, role, self._paths.others.get(role, ()), value, name, beside)
            set_entries(self._draft, role, self._paths, value, name, beside)
        self._hold_back(values)
        if Role.OUTPUT in values:
            tell_commands(self._draft, self._paths, self._needs.options[Role.OUTPUT])
        # Weights that are an input already are no place for others.
        is_free = not self._sight.has_weights and not self._sight.fetched
        brought = {role: value for role, value in values.items() if role is not Role.WEIGHTS or is_free}
        look_elsewhere(
            self._draft, self._sight.delivered, self._paths, brought, self._needs.options, setup.options, kept
        )  # fmt: skip
        return lines

    def make(self, folders: Sequence[str], value: str) -> list[str]:
        """Lines that make those folders."""
        return make_folders(self._draft, folders, value)

    def _replace(self, role: Role, value: Value, name: str, company: Company) -> None:
        places = Places(
            role, self._paths.sites.get(role, []), self._paths.wraps.get(role, []),
            [*self._elsewhere.get(role, ()), *company.told, *(self._sight.beside if role is Role.WEIGHTS else ())],
            company.has_unknown,
        )  # fmt: skip
        self._tell_beside(places, name)
        if places.sites and not replace_places(self._draft, places, value, name):
            places = Places(role, [], places.wraps)
        wraps = list({wrap.key: wrap for wrap in places.wraps}.values())
        is_model = role is Role.WEIGHTS and not places.every and all(names_model(wrap.use) for wrap in wraps)
        is_model = is_model and len({self._draft.source(wrap.node) for wrap in wraps}) == 1
        for wrap in wraps:
            (wrap.stand_for if is_model else wrap.put)(self._draft, value, name)
        if role is Role.OUTPUT:
            self.folders += needed_folders(self._draft, self._paths, places, value)

    def _tell_beside(self, places: Places, name: str) -> None:
        """Several weights, of the script's own and of those that torch has fetched, lie in one folder."""
        texts = {site.text for site in places.every if not site.is_asked}
        is_shared = places.role is Role.WEIGHTS and len(texts) > 1 and bool(places.sites)
        if is_shared and not places.unrelated() and not places.tops():
            files = sorted(
                {
                    site.text.rpartition("\\")[2] if site.is_opaque else site.text[places.cut(site) :].lstrip("/")
                    for site in places.sites
                    if not site.is_asked
                }
            )
            hub = " and, for torch, the folder checkpoints" if HUB in self._sight.beside else ""
            said = f"--{name} must be a folder: it holds {', '.join(files)}{hub}"
            self._draft.say(Kind.DIFFERS, "paths", places.sites[0].literal, said)

    def _hold_back(self, values: Mapping[Role, Value]) -> None:
        guards = self._sight.guards
        if Role.OUTPUT in values:
            hold_back(self._draft, guards, values[Role.OUTPUT], self._needs.options[Role.OUTPUT])
        elif guards:
            said = f"{guards[0].what}, and it will exist"
            self._draft.say(
                Kind.HAND, "folders", guards[0].node, said, "let it go on where the folder is there already"
            )
