"""A real PostgreSQL on loopback, where Debian's package is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from servers.ports import free_ports


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL of our own; as root it runs as its own user, which is all it accepts."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user = {}
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    port = free_ports(1)[0]

    def call(name: str, *arguments: str) -> None:
        command = [str(found[-1].with_name(name)), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=150, **as_user)

    call("initdb", "-A", "trust", "--no-sync", "-U", "postgres")
    options = f"-F -p {port} -k {folder} -c listen_addresses=127.0.0.1"
    call("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        call("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def empty_postgres(postgres):
    """The same without any table, as SQLAlchemy takes it."""
    import sqlalchemy as sa

    address = postgres.replace("postgresql:", "postgresql+psycopg:")
    engine = sa.create_engine(address)
    with engine.begin() as connection:
        # What a client asked for just before it was killed is still done, and would be done to the new tables.
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid, 120000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return address
