"""The index's tables and how an older index becomes a current one."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

SCHEMA_VERSION = 4

metadata = sa.MetaData()

meta = sa.Table("meta", metadata, sa.Column("schema_version", sa.Integer, nullable=False))

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("user", sa.String(128), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("platform", sa.String(64), nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("updated_at", sa.String(32), nullable=False),
    sa.Column("store", sa.Text, nullable=False),
    sa.Column("view_json", sa.Text, nullable=False),
    # Since version 2: whether this home's keeper looks after the run.
    sa.Column("open", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("runs_by_name", "name"),
    sa.Index("runs_by_open", "open"),
    # Since version 3: everything that a list is chosen by, so that a look through all runs does not pass their views.
    sa.Index("runs_listed", "created_at", "id", "name", "state", "open"),
    # Since version 4: whose keeper looks after it, where several homes share the index; and what changed of late.
    sa.Column("home", sa.String(32), nullable=False, server_default=""),
    sa.Index("runs_by_update", "updated_at"),
)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("run_id", sa.String(80), primary_key=True),
    sa.Column("holder", sa.String(64), nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)

#: Since version 4, on PostgreSQL: grows after each change, so that readers know when to read again.
changes = sa.Sequence("run_changes", metadata=metadata)

# Since version 3: what runs are found by. Made from `view_json`, so that `reindex` makes it anew with the rows.
run_values = sa.Table(
    "run_values",
    metadata,
    sa.Column("run_id", sa.String(80), primary_key=True),
    sa.Column("kind", sa.String(8), primary_key=True),  # param, last, best or link
    sa.Column("name", sa.String(255), primary_key=True),
    sa.Column("number", sa.Float),  # null for what is no number
    sa.Column("text", sa.Text, nullable=False),
    sa.Index("run_values_by_name", "name", "kind", "number", "run_id"),
)


def _say_which_runs_are_open(connection: sa.Connection) -> None:
    """1 → 2: the keeper finds its runs by a column instead of reading every row's state."""
    false = "false" if connection.dialect.name == "postgresql" else "0"
    connection.execute(sa.text(f"ALTER TABLE runs ADD COLUMN open BOOLEAN NOT NULL DEFAULT {false}"))
    connection.execute(sa.update(runs).where(runs.c.state.in_(["queued", "running"])).values(open=True))
    for index in runs.indexes:
        index.create(connection, checkfirst=True)


def _say_what_runs_are_found_by(connection: sa.Connection) -> None:
    """2 → 3: metrics come from the rows; the parameters of older runs come with the next `outlast reindex`."""
    from outlast.keeper.search import read_view, value_rows

    run_values.create(connection, checkfirst=True)
    for index in runs.indexes:
        index.create(connection, checkfirst=True)
    for run, text in connection.execute(sa.select(runs.c.id, runs.c.view_json)).all():
        found = value_rows(run, read_view(text))
        if found:
            connection.execute(sa.insert(run_values), found)


def _say_whose_runs_they_are(connection: sa.Connection) -> None:
    """3 → 4: several homes may share one index; the rows of one that has it for itself need no name."""
    connection.execute(sa.text("ALTER TABLE runs ADD COLUMN home VARCHAR(32) NOT NULL DEFAULT ''"))
    for index in runs.indexes:
        index.create(connection, checkfirst=True)
    if connection.dialect.supports_sequences:
        changes.create(connection, checkfirst=True)


#: UPGRADES[n] makes version n + 1 into n + 2. All needed steps run in one transaction.
UPGRADES: list[Callable[[sa.Connection], None]] = [
    _say_which_runs_are_open, _say_what_runs_are_found_by, _say_whose_runs_they_are,
]  # fmt: skip


def version_of(connection: sa.Connection) -> int | None:
    """The version of the tables that are there, or None when there are none."""
    if not sa.inspect(connection).has_table("meta"):
        return None
    return connection.execute(sa.select(meta.c.schema_version)).scalar()


def bring_up_to_date(connection: sa.Connection) -> int:
    """Create or upgrade the tables within the connection's transaction; returns the version found before.

    A version newer than ours is left alone: the caller compares.
    """
    found = version_of(connection)
    if found is None:
        metadata.create_all(connection)
        connection.execute(sa.insert(meta).values(schema_version=SCHEMA_VERSION))
        return SCHEMA_VERSION
    for upgrade in UPGRADES[found - 1 :]:
        upgrade(connection)
    if found < SCHEMA_VERSION:
        connection.execute(sa.update(meta).values(schema_version=SCHEMA_VERSION))
    return found
