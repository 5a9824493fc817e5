"""Everything about accounts behind one name, and the steps that touch several of its parts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import sqlalchemy as sa

from outlast.keeper.home import Home
from outlast.keeper.wake import restart_keeper
from outlast.server.accounts.attempts import Attempts
from outlast.server.accounts.audit import Audit
from outlast.server.accounts.groups import Groups, Queues, shares
from outlast.server.accounts.keys import LINK_S, SESSION_S, Keys
from outlast.server.accounts.passwords import check_password
from outlast.server.accounts.people import Actor, Role, User, check_name, is_name
from outlast.server.accounts.users import Users
from outlast.server.database import Database
from outlast.server.refusals import Conflict, NotSignedIn
from outlast.server.schema import facts
from outlast.settings import Settings, write_setting


class Accounts:
    """Users, keys, groups, queues, attempts and the audit log of one database."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.users = Users(database, clock)
        self.keys = Keys(database, clock)
        self.groups = Groups(database)
        self.queues = Queues(database)
        self.attempts = Attempts(database, clock)
        self.audit = Audit(database, clock)

    def sign_in(self, name: str, password: str, address: str, lasts_s: float = SESSION_S) -> tuple[str, Actor]:
        """The key of a new session, and who it belongs to.

        `NotSignedIn` does not say whether name or password was wrong; `TooManyAttempts` after too many of them.
        """
        name = name if is_name(name) else "?"  # what cannot be a name is nobody's, but costs an attempt as well
        self.attempts.begin(name, address)
        user = self.users.check_password(name, password)
        if user is None:
            self.audit.add(name, "sign-in.refused", address)
            raise NotSignedIn("name or password is wrong", hint="an admin can make a new link: outlast user link NAME")
        self.attempts.succeeded(name, address)
        return self._open_session(user, address, lasts_s)

    def enter(self, code: str, name: str, password: str, address: str) -> tuple[str, Actor]:
        """Use up a one-time link: set the password of its user, or make the first admin called `name`."""
        key = self.keys.find("link", code)
        if key is not None:  # a mistake in the form must not cost the link
            check_password(password)
            check_name(key.user or name, "user")
            key = self.keys.take(code)  # of two who hurry, one gets it
        if key is None:
            raise NotSignedIn("this link was used already or has run out", hint="ask an admin for a new one")
        if key.user is not None:
            user = self.users.change(key.user, password=password)
        elif self.users.exist():
            raise Conflict("there are accounts already", hint="sign in, or ask an admin for a link")
        else:
            user = self.users.add(name, Role.ADMIN, password)
        self.audit.add(user.name, "link.used", user.name, address=address)
        return self._open_session(user, address)

    def make_link(self, user: str | None) -> str:
        """A one-time code by which `user` chooses a password; without a user, by which the first admin is made.

        Only the newest of the latter works.
        """
        if user is None:
            self.keys.forget_first_links()
        return self.keys.create("link", None if user is None else self.users.get(user).id, lasts_s=LINK_S)[0]

    def find(self, kind: str, text: str) -> Actor | None:
        """The one whom a token or a session lets in."""
        key = self.keys.find("token" if kind == "token" else "session", text)
        return self.users.actor(key.user_id, kind) if key is not None and key.user_id is not None else None

    def fact(self, name: str) -> str | None:
        """A fact about the server that all its processes and the terminal share."""
        with self._database.read() as connection:
            return connection.execute(sa.select(facts.c.value).where(facts.c.name == name)).scalar()

    def note(self, name: str, value: str) -> None:
        with self._database.write() as connection:
            if not connection.execute(sa.update(facts).where(facts.c.name == name).values(value=value)).rowcount:
                connection.execute(sa.insert(facts).values(name=name, value=value))

    def share_out(self, settings: Settings) -> bool:
        """Bring the home's setting `user_weights` up to date with the queues; True when it changed.

        Weights of users in no queue stay as somebody has set them. A keeper that is there starts anew with the new
        weights; the runs it looks after do not notice.
        """
        before = json.loads(self.fact("shares") or "{}")
        after = dict(shares(self.queues.list(), self.groups.list()))
        if before == after:
            return False
        now = Settings.load(os.environ, home=settings.home).user_weights  # a server's own settings may be days old
        kept = {user: weight for user, weight in now.items() if user not in before}
        text = ",".join(f"{user}={weight:g}" for user, weight in (kept | after).items())
        home = Home(settings.home)
        write_setting(home.path, "user_weights", text)
        self.note("shares", json.dumps(after))
        restart_keeper(home)
        return True

    def _open_session(self, user: User, address: str, lasts_s: float = SESSION_S) -> tuple[str, Actor]:
        text, _ = self.keys.create("session", user.id, lasts_s=lasts_s)
        actor = self.users.actor(user.id, "session")
        if actor is None:
            raise NotSignedIn("this account was removed", hint="ask an admin")
        self.audit.add(user.name, "sign-in", address)
        return text, actor
