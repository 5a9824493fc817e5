"""Users are changed at the OpenPAI door, in both generations, and are then this server's users."""

import itertools

import httpx
import pytest
from pai_lab import PASSWORD, serving_alone

_NUMBERS = itertools.count(1)


@pytest.fixture
def eve(pai):
    """A new user of the second generation; her name."""
    name = f"eve-{next(_NUMBERS)}"
    made = pai.pai("root", "POST", "v2/users", json={"username": name, "password": PASSWORD})
    assert (made.status_code, made.json()) == (201, {"message": "User is created successfully"})
    return name


def _user(pai, name):
    return pai.pai("root", "GET", f"v2/users/{name}").json()


def _sign_in(pai, name, password):
    return pai.pai(None, "POST", "v1/token", json={"username": name, "password": password})


def _refused(answer):
    return answer.status_code, answer.json()["code"]


def test_a_user_is_made_signs_in_and_is_a_user_of_the_server(pai, eve):
    told = _sign_in(pai, eve, PASSWORD).json()
    assert told["user"] == eve and told["admin"] is False
    assert _user(pai, eve) == {
        "username": eve, "email": "", "grouplist": [], "extension": {}, "admin": False,
        "virtualCluster": ["default"], "storageConfig": [],
    }  # fmt: skip
    users = pai.call("root", "GET", "/api/v1/users").json()["items"]
    assert next(user["role"] for user in users if user["name"] == eve) == "member"
    again = pai.pai("root", "POST", "v2/user", json={"username": eve, "password": PASSWORD})
    assert _refused(again) == (409, "ConflictUserError")


@pytest.mark.parametrize(
    "body",
    [
        {}, {"username": "zed"}, {"username": "zed", "password": ""}, {"username": "zed", "password": "short"},
        {"username": "no way", "password": PASSWORD}, {"username": 3, "password": PASSWORD},
        {"username": "zed", "password": PASSWORD, "admin": "maybe"},
        {"username": "zed", "password": PASSWORD, "virtualCluster": "fast"},
        {"username": "zed", "password": PASSWORD, "virtualCluster": [1]},
    ],
)  # fmt: skip
def test_a_body_that_makes_no_sense_makes_nobody(pai, body):
    assert _refused(pai.pai("root", "POST", "v2/users", json=body)) == (400, "InvalidParametersError")
    assert _refused(pai.pai("root", "GET", "v2/users/zed")) == (404, "NoUserError")


def test_an_unknown_cluster_makes_nobody(pai):
    body = {"username": "zed", "password": PASSWORD, "virtualCluster": ["fast", "none-such"]}
    assert _refused(pai.pai("root", "POST", "v2/users", json=body)) == (400, "NoVirtualClusterError")
    assert _refused(pai.pai("root", "GET", "v2/users/zed")) == (404, "NoUserError")


def test_clusters_come_and_go_through_groups_of_their_names(pai, eve):
    path = f"v2/users/{eve}/virtualcluster"
    set_ = pai.pai("root", "PUT", path, json={"virtualCluster": ["default", "fast"]})
    assert (set_.status_code, set_.json()["message"]) == (201, "Update user virtualCluster data successfully.")
    assert (_user(pai, eve)["virtualCluster"], _user(pai, eve)["grouplist"]) == (["default", "fast"], ["fast"])
    assert pai.pai("root", "PUT", path, json={"virtualCluster": []}).status_code == 201
    assert (_user(pai, eve)["virtualCluster"], _user(pai, eve)["grouplist"]) == (["default"], [])
    old = pai.pai("root", "PUT", f"v1/user/{eve}/virtualClusters", json={"virtualClusters": "fast, default"})
    assert (old.status_code, old.json()["message"]) == (201, "update user virtual clusters successfully")
    assert _user(pai, eve)["virtualCluster"] == ["default", "fast"]
    wrong = pai.pai("root", "PUT", f"v1/user/{eve}/virtualClusters", json={"virtualClusters": "slow"})
    assert _refused(wrong) == (400, "NoVirtualClusterError") and "fast" in _user(pai, eve)["virtualCluster"]


def test_a_cluster_that_somebody_is_in_through_another_group_changes_nothing(pai, eve):
    assert pai.pai("root", "PUT", f"v2/users/{eve}/group", json={"groupname": "lab"}).status_code == 201
    assert pai.pai("root", "PUT", f"v2/users/{eve}/virtualcluster", json={"virtualCluster": ["fast"]}).is_success
    assert _user(pai, eve)["grouplist"] == ["lab"]
    # Leaving the cluster leaves every group that waits there, and none of the others.
    assert pai.pai("root", "PUT", f"v2/users/{eve}/group", json={"groupname": "none"}).is_success
    assert pai.pai("root", "PUT", f"v2/users/{eve}/virtualcluster", json={"virtualCluster": ["default"]}).is_success
    assert _user(pai, eve)["grouplist"] == ["none"]


def test_a_group_of_a_clusters_name_that_means_something_else_is_not_joined(pai, eve):
    queue = pai.call("root", "PUT", "/api/v1/queues/odd", json={"weight": 1})
    group = pai.call("root", "PUT", "/api/v1/groups/odd", json={})
    assert queue.is_success and group.is_success
    moved = pai.pai("root", "PUT", f"v2/users/{eve}/virtualcluster", json={"virtualCluster": ["odd"]})
    assert _refused(moved) == (409, "ConflictVcError") and "outlast group set odd --queue odd" in moved.text
    assert _user(pai, eve)["grouplist"] == []


def test_groups_are_set_added_and_dropped(pai, eve):
    answer = pai.pai("root", "PUT", f"v2/users/{eve}/grouplist", json={"grouplist": ["lab", "none"]})
    assert (answer.status_code, _user(pai, eve)["grouplist"]) == (201, ["lab", "none"])
    unknown = pai.pai("root", "PUT", f"v2/users/{eve}/grouplist", json={"grouplist": ["lab", "ghosts"]})
    assert _refused(unknown) == (404, "NoGroupError") and _user(pai, eve)["grouplist"] == ["lab", "none"]
    assert pai.pai("root", "DELETE", f"v2/users/{eve}/group", json={"groupname": "lab"}).status_code == 201
    assert pai.pai("root", "DELETE", f"v2/users/{eve}/group", json={"groupname": "lab"}).status_code == 201
    assert _user(pai, eve)["grouplist"] == ["none"]
    assert _refused(pai.pai("root", "PUT", f"v2/users/{eve}/group", json={"groupname": "x"})) == (404, "NoGroupError")


def test_an_admin_changes_everything_at_once_and_what_is_not_named_stays(pai, eve):
    data = {"username": eve, "password": "another good one", "virtualCluster": ["fast"], "email": "e@lab.org"}
    answer = pai.pai("root", "PUT", "v2/users", json={"data": data, "patch": True})
    assert (answer.status_code, answer.json()["message"]) == (201, f"Update user {eve} successfully")
    assert _sign_in(pai, eve, "another good one").status_code == 200
    assert _refused(_sign_in(pai, eve, PASSWORD)) == (400, "IncorrectPasswordError")
    assert pai.pai("root", "PUT", "v2/users", json={"data": {"username": eve, "admin": True}}).status_code == 201
    assert (_user(pai, eve)["admin"], _user(pai, eve)["virtualCluster"]) == (True, ["default", "fast"])
    assert _refused(pai.pai("root", "DELETE", f"v2/users/{eve}")) == (403, "RemoveAdminError")
    clusters = pai.pai("root", "PUT", f"v2/users/{eve}/virtualcluster", json={"virtualCluster": []})
    assert _refused(clusters) == (403, "ForbiddenUserError")
    assert pai.pai("root", "PUT", f"v2/users/{eve}/admin", json={"admin": False}).status_code == 201
    assert _user(pai, eve)["admin"] is False
    nobody = pai.pai("root", "PUT", "v2/users", json={"data": {"username": "nobody", "admin": True}})
    assert _refused(nobody) == (404, "NoUserError")
    assert _refused(pai.pai("root", "PUT", "v2/users", json={"username": eve})) == (400, "InvalidParametersError")


def test_the_last_admin_stays_one(pai):
    answer = pai.pai("root", "PUT", "v2/users/root/admin", json={"admin": False})
    assert _refused(answer) == (400, "InvalidParametersError") and "last admin" in answer.text
    assert _user(pai, "root")["admin"] is True


def test_a_viewer_who_is_no_admin_stays_a_viewer(pai):
    assert pai.pai("root", "PUT", "v2/users/vic/admin", json={"admin": False}).status_code == 201
    users = pai.call("root", "GET", "/api/v1/users").json()["items"]
    assert next(user["role"] for user in users if user["name"] == "vic") == "viewer"


def test_one_changes_ones_own_password_for_the_old_one_and_is_signed_out(pai, eve):
    token = {"Authorization": f"Bearer {_sign_in(pai, eve, PASSWORD).json()['token']}"}
    wrong = {"oldPassword": "a wrong one", "newPassword": "the newer one"}
    assert _refused(pai.pai(None, "PUT", f"v2/users/{eve}/password", json=wrong, headers=token)) == (
        403, "ForbiddenUserError"
    )  # fmt: skip
    other = {"oldPassword": PASSWORD, "newPassword": "the newer one"}
    assert _refused(pai.pai(None, "PUT", "v2/users/ann/password", json=other, headers=token))[0] == 403
    changed = pai.pai(None, "PUT", f"v2/users/{eve}/password", json=other, headers=token)
    assert (changed.status_code, changed.json()["message"]) == (201, "update user password successfully.")
    assert pai.pai(None, "GET", "v2/jobs", headers=token).status_code == 401
    token = {"Authorization": f"Bearer {_sign_in(pai, eve, 'the newer one').json()['token']}"}
    data = {"username": eve, "oldPassword": "the newer one", "password": "the newest one"}
    mine = pai.pai(None, "PUT", "v2/users/me", json={"data": data | {"username": "ann"}}, headers=token)
    assert _refused(mine) == (403, "ForbiddenUserError")
    mine = pai.pai(None, "PUT", "v2/users/me", json={"data": data, "patch": True}, headers=token)
    assert mine.status_code == 201 and _sign_in(pai, eve, "the newest one").status_code == 200


def test_the_first_generation_makes_changes_and_removes(pai):
    body = {"username": "old-timer", "password": PASSWORD, "admin": "false", "modify": "false"}
    made = pai.pai("root", "PUT", "v1/user", data=body)  # as a form
    assert (made.status_code, made.json()) == (201, {"message": "update successfully"})
    assert _refused(pai.pai("root", "PUT", "v1/user", json=body)) == (409, "ConflictUserError")
    assert "old-timer" in [user["username"] for user in pai.pai("root", "GET", "v1/user").json()]
    changed = body | {"password": "a second password", "admin": True, "modify": True}
    assert pai.pai("root", "PUT", "v1/user", json=changed).status_code == 201
    assert _user(pai, "old-timer")["admin"] and _sign_in(pai, "old-timer", "a second password").status_code == 200
    nobody = changed | {"username": "nobody"}
    assert _refused(pai.pai("root", "PUT", "v1/user", json=nobody)) == (404, "NoUserError")
    gone = {"username": "old-timer"}
    assert _refused(pai.pai("root", "DELETE", "v1/user", json=gone)) == (403, "RemoveAdminError")
    assert pai.pai("root", "PUT", "v2/users/old-timer/admin", json={"admin": False}).status_code == 201
    removed = pai.pai("root", "DELETE", "v1/user", json=gone)
    assert (removed.status_code, removed.json()) == (200, {"message": "remove successfully"})
    assert _refused(pai.pai("root", "DELETE", "v1/user", json=gone)) == (404, "NoUserError")
    # Runs carry the name: it does not pass to somebody else.
    assert _refused(pai.pai("root", "PUT", "v1/user", json=body)) == (409, "ConflictUserError")


def test_what_is_not_kept_is_said(pai, eve):
    for what in ("email", "extension"):
        answer = pai.pai("root", "PUT", f"v2/users/{eve}/{what}", json={what: "x"})
        assert _refused(answer) == (501, "NotImplementedError")
    assert _refused(pai.pai("ann", "PUT", f"v2/users/{eve}/email", json={})) == (403, "ForbiddenUserError")


def test_nobody_but_admins_changes_anybody(pai, eve):
    body = {
        "username": eve, "password": PASSWORD, "newPassword": PASSWORD, "admin": True, "virtualCluster": ["fast"],
        "virtualClusters": "fast", "grouplist": ["lab"], "groupname": "lab", "data": {"username": eve, "admin": True},
    }  # fmt: skip
    for user, (method, path) in itertools.product(("ann", "vic"), (
        ("POST", "v2/users"), ("PUT", "v2/users"), ("PUT", "v2/users/{}/admin"), ("PUT", "v2/users/{}/virtualcluster"),
        ("PUT", "v2/users/{}/grouplist"), ("PUT", "v2/users/{}/group"), ("DELETE", "v2/users/{}/group"),
        ("DELETE", "v2/users/{}"), ("PUT", "v1/user"), ("DELETE", "v1/user"), ("GET", "v1/user"),
        ("PUT", "v1/user/{}/virtualClusters"),
    )):  # fmt: skip
        answer = pai.pai(user, method, path.format(eve), json=body)
        assert _refused(answer) == (403, "ForbiddenUserError"), (user, method, path)
    assert (_user(pai, eve)["admin"], _user(pai, eve)["grouplist"]) == (False, [])


def test_the_first_account_is_an_admins(tmp_path):
    path = "/rest-server/api/v2/users"
    with serving_alone(tmp_path / "home") as url, httpx.Client(base_url=url, trust_env=False, timeout=150) as client:
        first = client.post(path, json={"username": "zed", "password": PASSWORD})
        assert (first.status_code, first.json()["code"]) == (403, "ForbiddenUserError")
        assert client.post(path, json={"username": "zed", "password": PASSWORD, "admin": True}).status_code == 201
        assert client.get(path).status_code == 401
