"""The table of jobs: names, numbers, owners, one free job; and how an older database gets it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from outlast.server import schema
from outlast.server.accounts.people import Actor, Role
from outlast.server.database import Database
from outlast.server.gateways.modelarts.access import use_once
from outlast.server.gateways.modelarts.book import JobBook, NewJob
from outlast.server.gateways.modelarts.refusing import Refusal
from outlast.server.gateways.modelarts.signing import WINDOW_S, Refused

ANN = Actor(1, "ann", Role.MEMBER, sees=frozenset({"ann"}))
BEN = Actor(2, "ben", Role.MEMBER, sees=frozenset({"ben"}))


@pytest.fixture
def database(tmp_path):
    made = Database(f"sqlite:///{tmp_path / 'server.db'}")
    yield made
    made.close()


def new(name, run, *, generation="v2", owner="ann", is_free=False, after=None):
    return NewJob(generation, name, owner, run, is_free, "", {"kind": "job"}, ("a notice",), after)


def never(_):
    return False


def test_names_belong_to_one_owner_and_one_generation(database):
    book = JobBook(database)
    row = book.add(new("a", "run-1"), never)
    assert book.find(ANN, row.id) == row and row.body == {"kind": "job"} and row.notices == ("a notice",)
    for generation, code in (("v2", "2751"), ("v1", "0103")):
        book.add(new("b", f"b-{generation}", generation=generation), never)
        with pytest.raises(Refusal) as refused:
            book.add(new("b", f"again-{generation}", generation=generation), never)
        assert refused.value.code == code
    book.add(new("a", "run-2", owner="ben"), never)
    assert [each.name for each in book.all(BEN, "v2")] == ["a"]
    with pytest.raises(Refusal):
        book.find(BEN, row.id)


def test_versions_are_counted_and_numbers_never_come_back(database):
    book = JobBook(database)
    first = book.add(new("a", "run-1", generation="v1"), never)
    second = book.add(new("a", "run-2", generation="v1", after=first), never)
    third = book.add(new("a", "run-3", generation="v1", after=first), never)
    assert [row.version_name for row in book.versions(ANN, first.job)] == ["V0003", "V0002", "V0001"]
    assert second.job == third.job == first.number
    book.remove(third)
    again = book.add(new("a", "run-4", generation="v1", after=second), never)
    assert again.number > third.number and again.version == 3
    book.describe(first, "words")
    assert {row.description for row in book.versions(ANN, first.job)} == {"words"}


def test_there_is_one_free_job_of_a_user_at_a_time(database):
    book = JobBook(database)
    going = {"run-1"}
    book.add(new("a", "run-1", is_free=True), never)
    with pytest.raises(Refusal) as refused:
        book.add(new("b", "run-2", is_free=True, generation="v1"), lambda row: row.run_id in going)
    assert refused.value.code == "2833" and not book.all(ANN, "v1")
    book.add(new("c", "run-3"), lambda row: True)
    book.add(new("d", "run-4", is_free=True, owner="ben"), lambda row: row.run_id in going)
    going.clear()
    book.add(new("b", "run-5", is_free=True), lambda row: row.run_id in going)


def test_a_signature_is_used_once_and_forgotten_when_its_time_is_over(database):
    use_once(database, "a" * 64, 1000.0)
    with pytest.raises(Refused):
        use_once(database, "a" * 64, 1001.0)
    use_once(database, "b" * 64, 1001.0)
    later = 1000.0 + 2 * WINDOW_S + 1
    use_once(database, "c" * 64, later)
    with database.read() as connection:
        kept = connection.execute(sa.select(schema.modelarts_signatures.c.signature)).scalars().all()
    assert sorted(kept) == ["b" * 64, "c" * 64]


def test_a_database_without_this_door_gets_it(tmp_path):
    url = f"sqlite:///{tmp_path / 'server.db'}"
    database = Database(url)
    mine = (schema.modelarts_jobs, schema.modelarts_signatures)
    with database.write() as connection:
        schema.metadata.drop_all(connection, tables=mine)
        older = sa.update(schema.facts).where(schema.facts.c.name == "schema_version").values(value="2")
        connection.execute(older)
    database.close()
    database = Database(url)
    JobBook(database).add(new("a", "run-1"), never)
    database.close()
