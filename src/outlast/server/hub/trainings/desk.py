"""The verbs on trainings of projects, for one user: what the routes and the pages share.

Trainings concern whoever the project belongs to. Others who may see a public project are told so; for those who may
not see a private one it does not exist.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from outlast.errors import NotFoundError, OutlastError
from outlast.hub.hub import NotYours
from outlast.hub.repository import Repository
from outlast.model.ids import new_run_id
from outlast.model.visitor import Visitor
from outlast.operations.runs import remove_run, stop_run
from outlast.server.accounts.people import Actor
from outlast.server.holding import Holding
from outlast.server.hub.trainings.book import Training, TrainingBook, next_name
from outlast.server.hub.trainings.computes import grant
from outlast.server.hub.trainings.envelope import NOT_EXISTS, Refusal
from outlast.server.hub.trainings.inputs import pin, refuse_lfs
from outlast.server.hub.trainings.progress import Seen, see
from outlast.server.hub.trainings.starting import start_training
from outlast.server.hub.trainings.wishes import Wish, read_wish
from outlast.server.hub.visits import HubState, visitor_of
from outlast.server.refusals import NotAllowed, QuotaExceeded
from outlast.server.state import ServerState

#: Errors that say that nothing was, and nothing will be: they leave no record.
_NO_RECORD = (NotAllowed, QuotaExceeded)


@dataclass(frozen=True)
class Desk:
    """One user at the trainings of this server."""

    actor: Actor
    state: ServerState
    holding: Holding
    shared: HubState

    @property
    def visitor(self) -> Visitor:
        return visitor_of(self.actor)

    def project(self, pid: str, *, to_change: bool = False) -> Repository:
        """The project of an id, which stays the same as long as the repository exists."""
        found = next((each for each in self.shared.hub.list(self.visitor) if each.id == pid), None)
        if found is None or found.kind != "project":
            raise Refusal(NOT_EXISTS, f"no project {pid[:40]!r}", status=404)
        return self._own(found, to_change)

    def project_at(self, owner: str, name: str, *, to_change: bool = False) -> Repository:
        """The same by its name."""
        found = self.shared.hub.find(self.visitor, owner, name)
        if found.kind != "project":
            raise NotFoundError(f"{found.path} is a {found.kind}, and only projects are trained")
        return self._own(found, to_change)

    def _own(self, found: Repository, to_change: bool) -> Repository:
        allowed = found.may_change(self.visitor) if to_change else self.visitor.is_owner(found.owner, found.group)
        if not allowed:
            raise NotYours(f"trainings of {found.path} concern {found.owner} alone", hint="train a project of your own")
        return found

    def create(self, project: Repository, body: object) -> Training:
        """Start a training. What is wrong with the request is refused; what keeps it from starting is recorded."""
        return self._start(project, read_wish(body))

    def again(self, project: Repository, id: str) -> Training:
        """Start a training once more, with the newest code, under a new name."""
        body = self.book(project).find(id).body
        return self._start(project, read_wish({**body, "name": next_name(body["name"], int(time.time()))}))

    def _start(self, project: Repository, wish: Wish) -> Training:
        hub, settings = self.shared.hub, self.holding.settings_of(self.actor)
        pinned = pin(hub, self.visitor, project, wish)
        book, run = self.book(project), new_run_id()
        made = book.add(wish, self.actor.name, run, pinned.commit, lambda each: self.look(each).is_done)
        self.state.accounts.audit.add(self.actor.name, "training.create", project.path, training=made.id)
        try:
            refuse_lfs(hub.bare(project), pinned.commit)
            granted = grant(settings, wish.compute)
            started = start_training(
                self.state, self.holding, hub, self.actor, project, wish, pinned, granted, run
            )  # fmt: skip
        except _NO_RECORD:
            book.remove(made.id)
            raise
        except OutlastError as error:
            return book.change(made, error=str(error))
        except BaseException:
            book.remove(made.id)
            raise
        return book.change(made, run=started, notices=granted.notices)

    def list(self, project: Repository) -> list[Seen]:
        """Newest first."""
        return [self.look(each) for each in self.book(project).all()]

    def get(self, project: Repository, id: str) -> Seen:
        return self.look(self.book(project).find(id))

    def terminate(self, project: Repository, id: str) -> Seen:
        """Ask a training to stop; one that is over stays as it is."""
        seen = self.get(project, id)
        if not seen.is_done and seen.found is not None:
            stop_run(self.holding.settings, seen.training.run)
            self.state.accounts.audit.add(self.actor.name, "run.stop", seen.training.run)
            seen = self.look(seen.training)
        return seen

    def delete(self, project: Repository, id: str) -> None:
        """Delete a training and its run. One that goes on is stopped first."""
        training = self.book(project).find(id)
        try:
            if not training.error:
                remove_run(self.holding.settings, training.run, force=True)
                self.state.accounts.audit.add(self.actor.name, "run.remove", training.run)
        except NotFoundError:
            pass  # removed by another door; the record goes now
        self.book(project).remove(id)

    def last_config(self, project: Repository) -> dict[str, Any]:
        return self.book(project).last_config()

    def book(self, project: Repository) -> TrainingBook:
        return TrainingBook(self.shared.hub.folder(project))

    def look(self, training: Training) -> Seen:
        return see(self.holding.settings, training)
