"""Who is let in: the machine's own user, tokens, sessions; and what no other site can do."""

from __future__ import annotations

import html
import re

import pytest
from server_lab import PASSWORD

from outlast.server.accounts import attempts

ME = "/api/v1/me"
CODES = {401: "not_signed_in", 403: "not_allowed", 404: "not_found"}


def code_of(response):
    body = response.json()
    assert body["ok"] is False and set(body) == {"ok", "code", "message", "hint"}
    return response.status_code, body["code"]


def form_of(client, path):
    page = client.get(path)
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))


def test_without_users_this_machine_is_admin(empty_lab):
    with empty_lab.client() as client:
        assert client.get(ME).json() | {"name": "x"} == {"name": "x", "role": "admin", "groups": [], "via": "local"}
        assert client.put("/api/v1/queues/lab", json={"weight": 1}).status_code == 200
        assert client.post("/api/v1/users", json={"name": "bob"}).status_code == 403  # the first must be an admin
        assert client.post("/api/v1/tokens", json={}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 401),  # a page that renamed itself to 127.0.0.1
        ({"X-Forwarded-For": "9.9.9.9"}, 401),  # somebody behind a proxy on this machine
        ({"Forwarded": "for=9.9.9.9"}, 401),
        ({"Authorization": "Bearer outlast_wrong"}, 401),
        ({"Authorization": "Basic YTpi"}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Cookie": "outlast_session=stale"}, 200),  # of an earlier home
    ],
)
def test_the_machines_own_user_is_nobody_else(shared_empty_lab, headers, status):
    with shared_empty_lab.client() as client:
        response = client.put("/api/v1/queues/lab", json={"weight": 1}, headers=headers)
        assert response.status_code == status
        if status != 200:
            assert code_of(response) == (status, CODES[status])


def test_the_first_account_ends_the_free_entry_at_once(empty_lab):
    with empty_lab.client() as client:
        assert client.get(ME).status_code == 200
        made = client.post("/api/v1/users", json={"name": "ann", "role": "admin", "password": PASSWORD})
        assert made.status_code == 201 and "password" not in str(made.json()).replace("has_password", "")
        assert code_of(client.get(ME)) == (401, "not_signed_in")


def test_the_first_link_leads_in_through_the_page(empty_lab):
    code = empty_lab.accounts.make_link(None)
    with empty_lab.client() as client:
        form = form_of(client, f"/welcome?code={code}") | {"name": "ann", "password": "short"}
        assert client.post("/welcome", data=form).status_code == 400
        form["password"] = PASSWORD
        entered = client.post("/welcome", data=form)
        assert entered.status_code == 303 and entered.headers["location"] == "/"
        assert client.get(ME).json()["role"] == "admin"
        assert client.get(f"/welcome?code={code}").status_code == 410
        assert client.post("/welcome", data=form).status_code == 410


def test_a_token_is_shown_once_and_ends_when_it_is_revoked(lab):
    with lab.client("mia") as client:
        made = client.post("/api/v1/tokens", json={"name": "laptop"}).json()
        assert made["token"].startswith("outlast_")
        listed = client.get("/api/v1/tokens").text
        assert made["id"] in listed and made["token"] not in listed
        headers = {"Authorization": f"Bearer {made['token']}"}
        assert client.get(ME, headers=headers).json()["name"] == "mia"
        with lab.client("max") as other:
            assert code_of(other.delete(f"/api/v1/tokens/{made['id']}")) == (404, "not_found")
        assert client.delete(f"/api/v1/tokens/{made['id']}").status_code == 200
        refused = client.get(ME, headers=headers)
        assert code_of(refused) == (401, "not_signed_in") and "Bearer" in refused.headers["www-authenticate"]


def test_a_session_changes_things_only_with_its_csrf_value(lab):
    with lab.client() as client:
        signed = client.post("/api/v1/sign-in", json={"name": "mia", "password": PASSWORD})
        cookie = signed.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie and "secure" not in cookie
        assert client.get(ME).json()["csrf"] == signed.json()["csrf"]
        assert code_of(client.post("/api/v1/tokens", json={})) == (403, "not_allowed")
        wrong = client.post("/api/v1/tokens", json={}, headers={"X-CSRF-Token": "é".encode()})
        assert code_of(wrong) == (403, "not_allowed")
        headers = {"X-CSRF-Token": signed.json()["csrf"]}
        assert client.post("/api/v1/tokens", json={}, headers=headers).status_code == 201
        session = client.cookies["outlast_session"]
        assert client.post("/api/v1/sign-out", headers=headers).status_code == 200
        assert client.get(ME, headers={"Cookie": f"outlast_session={session}"}).status_code == 401


def test_sign_in_says_neither_which_was_wrong_nor_takes_orders_from_other_sites(lab):
    with lab.client() as client:
        answers = [
            client.post("/api/v1/sign-in", json={"name": name, "password": "wrong password"}).json()
            for name in ("ada", "nobody-at-all", "no name\x00")
        ]
        assert answers[0] == answers[1] == answers[2]
        body = {"name": "ada", "password": PASSWORD}
        refused = client.post("/api/v1/sign-in", json=body, headers={"Origin": "https://evil.example"})
        assert code_of(refused) == (403, "not_allowed")


def test_guessing_over_http_is_told_to_wait(lab, monkeypatch):
    monkeypatch.setattr(attempts, "_FIRST_WAIT_S", 600.0)  # longer than a busy machine takes for six passwords
    with lab.client() as client:
        for _ in range(5):
            assert client.post("/api/v1/sign-in", json={"name": "max", "password": "guess"}).status_code == 401
        refused = client.post("/api/v1/sign-in", json={"name": "max", "password": "guess"})
        assert code_of(refused) == (429, "too_many_attempts") and int(refused.headers["retry-after"]) >= 1
    lab.accounts.attempts.succeeded("max", "127.0.0.1")


def test_the_sign_in_page_works_without_scripts_and_leads_only_home(lab):
    with lab.client() as client:
        assert client.get("/").headers["location"] == "/sign-in"
        form = form_of(client, "/sign-in?next=//evil.example")
        form |= {"name": "mia", "password": PASSWORD}
        assert client.post("/sign-in", data=form | {"tie": "x"}).status_code == 403
        assert client.post("/sign-in", data=form | {"password": "wrong <b>"}).status_code == 401
        entered = client.post("/sign-in", data=form)
        assert entered.status_code == 303 and entered.headers["location"] == "/"
        page = client.get("/", headers={"Accept-Language": "zh-CN"}).text
        assert "当前用户" in page and "mia" in page
        csrf = form_of(client, "/")["csrf"]
        assert client.post("/sign-out", data={"csrf": "x"}).status_code == 403
        assert client.post("/sign-out", data={"csrf": csrf}).headers["location"] == "/sign-in"
        assert client.get(ME).status_code == 401


def test_what_the_pages_refuse_is_said_in_chinese_too(empty_lab):
    code = empty_lab.accounts.make_link(None)
    with empty_lab.client() as client:
        client.headers["Accept-Language"] = "zh-CN"
        form = form_of(client, f"/welcome?code={code}") | {"name": "bad name!", "password": "short"}
        assert "密码长度应为 8 到 1024 个字符" in client.post("/welcome", data=form).text
        assert "“bad name!”不能用作用户名" in client.post("/welcome", data=form | {"password": PASSWORD}).text
        form = form_of(client, "/sign-in") | {"name": "ann", "password": "wrong"}
        pages = [client.post("/sign-in", data=form).text for _ in range(6)]
        assert "管理员可以生成新的链接" in pages[0] and "后重试" in pages[-1]


def test_the_language_is_chosen_where_one_signs_in_and_the_way_is_kept(empty_lab):
    code = empty_lab.accounts.make_link(None)
    with empty_lab.client() as client:
        for path in ("/sign-in", "/sign-in?next=%2Fruns%2Fx%3Fa%3Db", f"/welcome?code={code}"):
            english = client.get(path).text
            chosen = client.get(language_link(english, "zh"))
            assert chosen.status_code == 303 and chosen.headers["location"] == path
            chinese = client.get(path).text
            assert 'lang="zh-CN"' in chinese and "密码" in chinese
            client.get(language_link(chinese, "en"))
            assert client.get(path).text == english
        refused = client.post("/sign-in", data=form_of(client, "/sign-in") | {"name": "a", "password": "wrong"}).text
        assert client.get(language_link(refused, "zh")).headers["location"] == "/sign-in"
        kept = client.cookies["outlast_language"]
        away = client.get("/sign-in/language?to=fr&next=//evil.example")
        assert away.headers["location"] == "/" and client.cookies["outlast_language"] == kept == "zh"


def language_link(page, code):
    return html.unescape(re.search(rf'href="([^"]*)" lang="{code}"', page)[1])


def test_a_link_that_was_used_leads_to_the_sign_in(lab):
    with lab.client() as client:
        assert 'href="/sign-in"' in client.get("/welcome?code=used").text


def test_names_from_outside_are_escaped(lab):
    with lab.client() as client:
        form = form_of(client, "/sign-in") | {"name": '"><script>x</script>', "password": "wrong", "next": '"><b>'}
        page = client.post("/sign-in", data=form).text
        assert "<script>" not in page and '"><b>' not in page


@pytest.mark.parametrize("user", ["mia", "vic"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/users", {"name": "eve"}), ("PATCH", "/users/mia", {"role": "admin"}), ("DELETE", "/users/max", None),
        ("POST", "/users/ada/link", None), ("PUT", "/groups/vision", {}), ("DELETE", "/groups/vision", None),
        ("PUT", "/groups/vision/members/zoe", None), ("DELETE", "/groups/vision/members/max", None),
        ("PUT", "/queues/lab", {"weight": 9}), ("DELETE", "/queues/lab", None), ("GET", "/audit", None),
        ("GET", "/tokens?everybody=true", None), ("POST", "/tokens", {"user": "ada"}),
    ],
)  # fmt: skip
def test_only_admins_administer(lab, user, method, path, body):
    with lab.client(user) as client:
        assert code_of(client.request(method, f"/api/v1{path}", json=body)) == (403, "not_allowed")


def test_members_see_their_groups_only(lab):
    def names(user, path):
        with lab.client(user) as client:
            return [item["name"] for item in client.get(f"/api/v1/{path}").json()["items"]]

    assert names("mia", "users") == names("vic", "users") == ["max", "mia", "vic"]
    assert names("zoe", "users") == ["zoe"] and names("zoe", "groups") == []
    assert names("vic", "groups") == ["vision"] and set(names("ada", "users")) >= {"ada", "zoe", "mia"}


def test_an_admin_manages_everything_and_leaves_a_trace(lab):
    with lab.client("ada") as client:
        made = client.post("/api/v1/users", json={"name": "tmp", "role": "viewer"}).json()
        assert made["link"].startswith("/welcome?code=")
        assert code_of(client.post("/api/v1/users", json={"name": "tmp"})) == (409, "conflict")
        assert client.put("/api/v1/queues/lab", json={"weight": 2}).json()["weight"] == 2
        body = {"max_stints": 2, "max_accelerators": 4, "max_stored_bytes": 10**12, "queue": "lab"}
        assert client.put("/api/v1/groups/speech", json=body).json()["max_stints"] == 2
        assert client.put("/api/v1/groups/speech/members/tmp").json()["members"] == ["tmp"]
        assert client.patch("/api/v1/users/tmp", json={"role": "member"}).json()["role"] == "member"
        assert code_of(client.delete("/api/v1/queues/lab")) == (409, "conflict")
        assert client.delete("/api/v1/users/tmp").json()["active"] is False
        assert client.delete("/api/v1/groups/speech").status_code == 200
        assert client.delete("/api/v1/queues/lab").status_code == 200
        assert code_of(client.delete("/api/v1/users/ada")) == (400, "usage")
        page = client.get("/api/v1/audit?limit=4").json()
        assert [entry["action"] for entry in page["items"]][:2] == ["queue.remove", "group.remove"]
        older = client.get(f"/api/v1/audit?limit=4&before={page['next']}").json()["items"]
        assert older[0]["id"] < page["items"][-1]["id"] and page["items"][0]["actor"] == "ada"
        assert made["link"].partition("=")[2] not in client.get("/api/v1/audit?limit=1000").text


def test_a_password_is_changed_only_with_the_old_one(lab):
    with lab.client("mia") as client:
        refused = client.post("/api/v1/me/password", json={"old": "wrong", "new": "a new password"})
        assert code_of(refused) == (403, "not_allowed")
        assert client.post("/api/v1/me/password", json={"old": PASSWORD, "new": PASSWORD}).status_code == 200
