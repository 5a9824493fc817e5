"""The server's tables and how older ones become current ones. Unlike the index, nothing can rebuild them."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

SCHEMA_VERSION = 4

metadata = sa.MetaData()

#: Facts about the whole database: `schema_version`, and `address`, where the server was last reached.
facts = sa.Table(
    "server_facts", metadata, sa.Column("name", sa.String(64), primary_key=True), sa.Column("value", sa.Text)
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(64), nullable=False, unique=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("password", sa.Text),  # null: only tokens and links let this user in
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),  # a removed user's name stays taken
    sa.Column("created_at", sa.Float, nullable=False),
)

queues = sa.Table(
    "queues",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("weight", sa.Float, nullable=False),
)

groups = sa.Table(
    "user_groups",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(64), nullable=False, unique=True),
    sa.Column("queue", sa.String(64), sa.ForeignKey("queues.name")),
    # Null means: as many as there are.
    sa.Column("max_stints", sa.Integer),
    sa.Column("max_accelerators", sa.Integer),
    sa.Column("max_stored_bytes", sa.BigInteger),
)

members = sa.Table(
    "group_members",
    metadata,
    sa.Column("group_id", sa.Integer, sa.ForeignKey("user_groups.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
)

#: Personal tokens, sessions of browsers and one-time links: all are random keys, kept as digests only.
keys = sa.Table(
    "access_keys",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("kind", sa.String(8), nullable=False),  # token, access, session or link
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", ondelete="CASCADE")),  # null: the first admin's link
    sa.Column("name", sa.String(64), nullable=False, server_default=""),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float),
    sa.Column("used_at", sa.Float),
    sa.Index("access_keys_by_user", "user_id", "kind"),
)

#: Wrong sign-ins of late, by account and by address. In the database: several processes answer.
attempts = sa.Table(
    "sign_in_attempts",
    metadata,
    sa.Column("subject", sa.String(200), primary_key=True),
    sa.Column("wrong", sa.Integer, nullable=False),
    sa.Column("last_at", sa.Float, nullable=False),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("action", sa.String(64), nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sqlite_autoincrement=True,  # a number is never given twice, even if rows were taken out
)

#: Where somebody wants to be told of their runs. By name: without accounts there is one user, who has no row.
notice_channels = sa.Table(
    "notice_channels",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("user_name", sa.String(128), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("label", sa.String(64), nullable=False),
    sa.Column("target", sa.Text, nullable=False),  # an address that may carry a token: shown to nobody
    sa.Column("secret", sa.Text, nullable=False),  # the key of signatures; empty: unsigned
    sa.Column("events", sa.String(64), nullable=False),
    sa.Column("language", sa.String(8), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Index("notice_channels_by_user", "user_name"),
)

#: One row for each message that a channel was ever to get: the key is what keeps it from being sent twice.
notice_deliveries = sa.Table(
    "notice_deliveries",
    metadata,
    sa.Column("channel_id", sa.String(16), primary_key=True),
    sa.Column("run_id", sa.String(80), primary_key=True),
    sa.Column("event", sa.String(32), primary_key=True),  # with the stint: a resumed run may fail once more
    sa.Column("state", sa.String(8), nullable=False),  # before, due, sending, sent, failed or unsure
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("due_at", sa.Float, nullable=False),
    sa.Column("claim", sa.String(32), nullable=False),
    sa.Column("changed_at", sa.Float, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Index("notice_deliveries_by_state", "state", "due_at"),
)

#: Work that one of several server processes does for all of them.
leases = sa.Table(
    "server_leases",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("holder", sa.String(32), nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)

#: Training jobs that came in at the ModelArts door: one row for each run that such a job, or version of one, became.
modelarts_jobs = sa.Table(
    "modelarts_jobs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),  # the version_id of the first generation
    sa.Column("id", sa.String(36), nullable=False, unique=True),
    sa.Column("generation", sa.String(2), nullable=False),  # v1 or v2
    sa.Column("job", sa.Integer, nullable=False),  # the job_id of the first generation; its first version's number
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("run_id", sa.String(80), nullable=False),
    sa.Column("is_free", sa.Boolean, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # what was asked for; values of secrets are not in it
    sa.Column("notices", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Index("modelarts_jobs_by_owner", "generation", "owner", "name"),
    sqlite_autoincrement=True,  # clients remember numbers: that of a deleted job must not pass to another
)

#: Signatures of requests that changed something, until their time window is over: none is taken twice.
modelarts_signatures = sa.Table(
    "modelarts_signatures",
    metadata,
    sa.Column("signature", sa.String(64), primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
)


#: Logs of jobs that are still to be brought to the place that the job named.
modelarts_logs = sa.Table(
    "modelarts_logs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),  # of the job
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("due_at", sa.Float, nullable=False),
)


def _keep_notices(connection: sa.Connection) -> None:
    """1 → 2: channels, deliveries, and who sends them."""
    metadata.create_all(connection, tables=[notice_channels, notice_deliveries, leases])


def _open_modelarts_door(connection: sa.Connection) -> None:
    """2 → 3: jobs of the ModelArts door, and the signatures that were used."""
    metadata.create_all(connection, tables=[modelarts_jobs, modelarts_signatures])


def _bring_modelarts_logs(connection: sa.Connection) -> None:
    """3 → 4: logs on their way to OBS."""
    metadata.create_all(connection, tables=[modelarts_logs])


#: UPGRADES[n] makes version n + 1 into n + 2. All needed steps run in one transaction.
UPGRADES: list[Callable[[sa.Connection], None]] = [_keep_notices, _open_modelarts_door, _bring_modelarts_logs]


def bring_up_to_date(connection: sa.Connection) -> int:
    """Create or upgrade the tables within the connection's transaction; returns the version found before.

    A version newer than ours is left alone: the caller compares.
    """
    if not sa.inspect(connection).has_table(facts.name):
        metadata.create_all(connection)
        connection.execute(sa.insert(facts).values(name="schema_version", value=str(SCHEMA_VERSION)))
        return SCHEMA_VERSION
    at = facts.c.name == "schema_version"
    found = int(connection.execute(sa.select(facts.c.value).where(at)).scalar_one())
    for upgrade in UPGRADES[found - 1 :]:
        upgrade(connection)
    if found < SCHEMA_VERSION:
        connection.execute(sa.update(facts).where(at).values(value=str(SCHEMA_VERSION)))
    return found
