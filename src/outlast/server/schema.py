"""The server's tables and how older ones become current ones. Unlike the index, nothing can rebuild them."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

SCHEMA_VERSION = 1

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
    sa.Column("kind", sa.String(8), nullable=False),  # token, session or link
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

#: UPGRADES[n] makes version n + 1 into n + 2. All needed steps run in one transaction.
UPGRADES: list[Callable[[sa.Connection], None]] = []


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
