"""The background work of a server: looks for what happened, and delivers messages. One of all processes does it."""

from __future__ import annotations

import dataclasses
import logging
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

from outlast.keeper.home import Home
from outlast.keeper.opening import index_of
from outlast.server.accounts.book import Accounts
from outlast.server.auth import is_loopback
from outlast.server.database import Database
from outlast.server.notices.channels import Channel, Channels
from outlast.server.notices.deliveries import Deliveries, Delivery
from outlast.server.notices.mailing import Mailbox
from outlast.server.notices.outcome import Undelivered
from outlast.server.notices.sending import Sender
from outlast.server.notices.texts import compose
from outlast.server.notices.watching import PATIENCE_S, Watcher
from outlast.server.rounds import Rounds
from outlast.settings import Settings

log = logging.getLogger("outlast.server")

#: A process that died leaves the work to another one after so long.
LEASE_S = 20.0
_TIDY_S = 600.0
#: Messages on their way at once: a service that does not answer must not hold up the others.
_ABREAST = 8


class Courier(Rounds):
    """One round: take the lease, look, send what is due. `start` makes rounds in a thread until `stop`."""

    what = "notifications"

    def __init__(self, settings: Settings, database: Database, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__()
        self._settings = settings
        self._accounts = Accounts(database)
        self.channels = Channels(database)
        self.deliveries = Deliveries(database)
        self.watcher = Watcher(
            lambda: index_of(settings, Home(settings.home)), self._accounts, self.deliveries, patience_s=patience_s
        )
        self._holder = secrets.token_hex(8)
        self._leased_until = self._tidied_at = float("-inf")

    def stop(self) -> None:
        super().stop()
        if self._leased_until > float("-inf"):
            self.deliveries.release_lease(self._holder)

    def round(self) -> int:
        """How many messages were tried; 0 as well when another process does the work."""
        channels = {channel.id: channel for channel in self.channels.in_use()}
        if not channels or not self._has_lease():
            return 0
        self.watcher.look(list(channels.values()))
        due = self.deliveries.claim_due(list(channels))
        if due:
            sender = sender_of(self._settings)
            with ThreadPoolExecutor(min(_ABREAST, len(due))) as pool:
                list(pool.map(lambda each: self._deliver(sender, channels[each.channel], each), due))
        if time.monotonic() - self._tidied_at >= _TIDY_S:
            self._tidied_at = time.monotonic()
            self.deliveries.tidy()
        return len(due)

    def _has_lease(self) -> bool:
        """Renewed long before it ends, and not at every round: each time is a write."""
        now = time.monotonic()
        if now < self._leased_until - LEASE_S / 2:
            return True
        held = self.deliveries.take_lease(self._holder, LEASE_S)
        self._leased_until = now + LEASE_S if held else float("-inf")
        return held

    def _deliver(self, sender: Sender, channel: Channel, delivery: Delivery) -> None:
        if self._stopping.is_set():
            return  # it stays due
        link = link_of(self._accounts, delivery.happened.run)
        message = compose(delivery.happened, channel.language, link, delivery.id)
        departing = lambda: self.deliveries.depart(delivery)  # noqa: E731 - the one line says it
        try:
            if sender.send(channel.kind, channel.target, channel.secret, message, departing):
                self.deliveries.sent(delivery)
        except Undelivered as error:
            again = self.deliveries.failed(delivery, error.message, retry=error.retryable, unsure=error.unsure)
            what = "will be tried again" if again else "is given up"
            log.warning("%s channel %s: %s; the message %s", channel.kind, channel.id, error.message, what)


def sender_of(settings: Settings) -> Sender:
    """A sender with what an admin allows now: a server's own settings may be days old."""
    now = Settings.load(os.environ, home=settings.home)
    settings = dataclasses.replace(settings, smtp=now.smtp, notice_private=now.notice_private)
    return Sender(Mailbox(settings), allow_private=settings.notice_private)


def link_of(accounts: Accounts, run: str) -> str:
    """Where a run can be looked at; empty when the server's address means nothing elsewhere."""
    address = accounts.fact("address") or ""
    host = address.partition("://")[2].rpartition(":")[0]
    return f"{address}/runs/{run}" if host and not is_loopback(host) else ""
