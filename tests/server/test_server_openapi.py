"""Requests that nobody would write by hand: schemathesis over the routes of accounts."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from outlast.server.accounts.people import Role

OURS = r"^/api/v1/(health|me|sign-in|sign-out|tokens|users|groups|queues|audit)(/|$)"
FEW = settings(
    max_examples=6, deadline=None, database=None, phases=[Phase.explicit, Phase.generate], derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def test_no_request_breaks_the_routes_of_accounts(empty_lab):
    empty_lab.accounts.users.add("ada", Role.ADMIN)
    headers = {"Authorization": f"Bearer {empty_lab.token('ada')}"}
    schema = schemathesis.openapi.from_url(f"{empty_lab.url}/api/v1/openapi.json").include(path_regex=OURS)
    labels, statuses = [], set()
    for each in schema.get_all_operations():
        operation = each.ok()

        @FEW
        @given(case=operation.as_strategy())
        def attempt(case):
            response = case.call(headers=headers)
            statuses.add(response.status_code)
            case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

        attempt()
        labels.append(operation.label)
    assert len(labels) >= 20 and {200, 201, 404} <= statuses
