"""Requests that nobody would write by hand: schemathesis over the routes of runs and stores, as a member."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

OURS = (
    r"^/api/v1/(runs|overview|sweeps|compare|chart|chart\.svg|uploads|stores|platforms|environments|doctor|clean|reindex|imports)"
    r"(/|$)"
)
FEW = settings(
    max_examples=8, deadline=None, database=None, phases=[Phase.explicit, Phase.generate], derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]


def test_no_request_breaks_the_routes_of_runs_and_stores(api):
    headers = {"Authorization": f"Bearer {api.tokens['ben']}"}
    url = f"http://127.0.0.1:{api.port}/api/v1/openapi.json"
    schema = schemathesis.openapi.from_url(url).include(path_regex=OURS)
    labels, statuses = [], set()
    for each in schema.get_all_operations():
        operation = each.ok()

        @FEW
        @given(case=operation.as_strategy())
        def attempt(case):
            response = case.call(headers=headers)
            statuses.add(response.status_code)
            case.validate_response(response, checks=CHECKS)

        attempt()
        labels.append(operation.label)
    assert len(labels) >= 55 and {200, 403, 404} <= statuses
