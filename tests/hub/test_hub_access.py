"""Who may do what in the hub: every route as nobody, as a stranger, as a reader, as a viewer, with bad tokens."""

import httpx
import pytest

MEDIA = {"Content-Type": "application/vnd.git-lfs+json"}
OID = "a" * 64

#: method, path after the repository's, body; those of the second list change something.
READING = [
    ("GET", "/info/refs?service=git-upload-pack", None),
    ("POST", "/git-upload-pack", b"0000"),
    ("POST", "/info/lfs/objects/batch", {"operation": "download", "objects": []}),
    ("GET", f"/info/lfs/objects/{OID}/5", None),
    ("GET", "/info/lfs/locks", None),
]
CHANGING = [
    ("GET", "/info/refs?service=git-receive-pack", None),
    ("POST", "/git-receive-pack", b"0000"),
    ("POST", "/info/lfs/objects/batch", {"operation": "upload", "objects": []}),
    ("PUT", f"/info/lfs/objects/{OID}/5", b"12345"),
    ("POST", "/info/lfs/verify", {"oid": OID, "size": 5}),
    ("POST", "/info/lfs/locks", {"path": "a.bin"}),
    ("POST", "/info/lfs/locks/verify", {}),
    ("POST", "/info/lfs/locks/0123/unlock", {}),
]


def _ask(hub_lab, user, path, method, what, body):
    if isinstance(body, bytes):
        words = {"content": body, "headers": {"Content-Type": f"application/x-{what[1:]}-request"}}
    else:
        words = {"json": body, "headers": MEDIA} if body is not None else {}
    return hub_lab.call(user, method, f"/{path}.git{what}", **words)


def _rest(hub_lab):
    document = hub_lab.call("root", "GET", "/api/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            if "repositories" in facts.get("tags", ()):
                yield method.upper(), path


def _call_rest(hub_lab, user, method, path, repository, run="1116-no-such-aaa"):
    owner, name = repository.split("/")
    bodies = {
        "/api/v1/repositories": {"name": "x", "kind": "model"},
        "/api/v1/runs/{run}/publish": {"repository": repository},
        "/api/v1/repositories/{owner}/{name}/rename": {"to": "cas/other"},
        "/api/v1/repositories/{owner}/{name}/fork": {"to": "cas/other"},
    }
    body = bodies.get(path, {}) if method in ("POST", "PATCH") else None
    address = path.replace("{owner}", owner).replace("{name}", name).replace("{run}", run)
    return hub_lab.call(user, method, address, params={"path": "a.txt"}, **({"json": body} if body is not None else {}))


def test_nobody_gets_only_the_question_who_they_are(hub_lab):
    secret, public = hub_lab.make("ann"), hub_lab.make("ann", visibility="public")
    for path in (secret, public, "ann/there-is-none", "nobody/x"):
        for method, what, body in READING + CHANGING:
            answer = _ask(hub_lab, None, path, method, what, body)
            assert answer.status_code == 401, (method, what)
            assert "?." not in answer.text
            assert answer.headers["www-authenticate"].startswith("Basic realm=")
    count = 0
    for method, path in _rest(hub_lab):
        assert _call_rest(hub_lab, None, method, path, secret).status_code == 401, (method, path)
        count += 1
    assert count >= 8


def test_a_private_repository_does_not_exist_for_others(hub_lab):
    secret, none = hub_lab.make("ann"), "ann/there-is-none"
    for method, what, body in READING + CHANGING:
        hidden, missing = (_ask(hub_lab, "cas", path, method, what, body) for path in (secret, none))
        assert hidden.status_code == missing.status_code == 404, (method, what)
        assert hidden.text.replace(secret, none) == missing.text
    for method, path in _rest(hub_lab):
        if "{name}" in path:
            hidden, missing = (_call_rest(hub_lab, "cas", method, path, each) for each in (secret, none))
            assert hidden.status_code == missing.status_code == 404, (method, path)
            assert hidden.text.replace(secret, none) == missing.text
    # Repositories of other tests may fill the first page.
    listing = f"/api/v1/repositories?search={secret.rpartition('/')[2]}"
    assert secret not in hub_lab.call("cas", "GET", listing).text
    assert secret in hub_lab.call("root", "GET", listing).text


def test_a_public_one_is_read_by_all_and_changed_by_its_owner(hub_lab):
    public = hub_lab.make("ann", visibility="public")
    for user in ("cas", "vic"):
        for method, what, body in READING:
            assert _ask(hub_lab, user, public, method, what, body).status_code in (200, 404), (user, method, what)
        for method, what, body in CHANGING:
            assert _ask(hub_lab, user, public, method, what, body).status_code == 403, (user, method, what)
        for method in ("PATCH", "DELETE"):
            assert hub_lab.call(user, method, f"/api/v1/repositories/{public}", json={}).status_code == 403
    assert hub_lab.call("ann", "GET", f"/api/v1/repositories/{public}").json()["visibility"] == "public"


def test_members_of_a_group_share_what_it_owns(hub_lab, work):
    path = hub_lab.make("ann", "dataset", owner="vision")
    work.begin("ben", path, files={"a.txt": "1"})
    work.push()
    assert (work.clone("vic", path, "seen") / "a.txt").exists()
    work.commit({"a.txt": "2"}, "seen")
    assert "403" in work.refused("push", "origin", "main", cwd="seen")
    assert hub_lab.call("cas", "GET", f"/api/v1/repositories/{path}").status_code == 404


@pytest.mark.parametrize("owner", ["ben", "vision", "nobody-there", "tiny"])
def test_nobody_makes_repositories_of_others(hub_lab, owner):
    body = {"name": "x", "kind": "model", "owner": owner}
    made = hub_lab.call("cas", "POST", "/api/v1/repositories", json=body)
    assert (made.status_code, made.json()["code"]) == (403, "not_allowed")
    assert hub_lab.call("vic", "POST", "/api/v1/repositories", json={"name": "x", "kind": "model"}).status_code == 403


def test_wrong_and_expired_tokens_and_passwords_are_refused_in_the_terminal(hub_lab, work):
    path = hub_lab.make("ann")
    base = f"127.0.0.1:{hub_lab.port}/{path}.git"
    for token in ("outlast_wrong", hub_lab.tokens["late"], "", "correct-horse-battery"):
        said = work.refused("ls-remote", f"http://ann:{token}@{base}")
        assert "Authentication failed" in said or "could not read Password" in said
    assert "not found" in work.refused("ls-remote", hub_lab.address("cas", path))
    said = work.refused("ls-remote", f"http://{base}")
    assert "could not read Username" in said or "terminal prompts disabled" in said


def test_the_words_of_a_refusal_reach_the_terminal(hub_lab, work):
    path = hub_lab.make("ann", visibility="public")
    work.begin("cas", path, files={"a.txt": "1"})
    assert "belongs to ann" in work.refused("push", "origin", "main", cwd="repo")


def test_a_token_that_is_no_base64_is_refused(hub_lab):
    for header in ("Basic", "Basic !!!", "Basic //79", "Digest x", "Basic YQ=="):
        for what in ("info/refs?service=git-upload-pack", "info/lfs/locks"):
            answer = httpx.get(f"{hub_lab.url}/ann/x.git/{what}", headers={"Authorization": header}, trust_env=False)
            assert answer.status_code == 401, header


def test_pages_of_other_sites_cannot_speak_lfs(hub_lab):
    path = hub_lab.make("ann")
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = hub_lab.call(
            "ann", "POST", f"/{path}.git/info/lfs/locks", content=b'{"path": "a"}', headers={"Content-Type": kind}
        )
        assert answer.status_code == 400
    assert hub_lab.call("ann", "GET", f"/{path}.git/info/lfs/locks").json() == {"locks": []}


def test_repositories_are_listed_by_pages_and_words(hub_lab):
    made = sorted(
        hub_lab.make("cas", kind, tags=["pages"], visibility="public") for kind in ("model", "dataset", "project")
    )
    seen, cursor = [], ""
    while cursor is not None:
        page = hub_lab.call("ben", "GET", f"/api/v1/repositories?search=pages&limit=2&cursor={cursor}").json()
        seen += [each["path"] for each in page["items"]]
        cursor = page["next"]
    assert seen == made
    models = hub_lab.call("ben", "GET", "/api/v1/repositories?kind=model&owner=cas&search=pages").json()["items"]
    assert [each["kind"] for each in models] == ["model"]
    assert models[0]["clone_url"] == f"{hub_lab.url}/{models[0]['path']}.git"


def test_words_of_a_repository_change_and_its_end_is_final(hub_lab, work):
    path = hub_lab.make("ann", description="one")
    work.begin("ann", path, files={"a.txt": "1"})
    work.push()
    address = f"/api/v1/repositories/{path}"
    changed = hub_lab.call(
        "ann", "PATCH", address, json={"description": "two", "tags": ["vision"], "licence": "mit"}
    ).json()
    assert (changed["description"], changed["tags"], changed["visibility"]) == ("two", ["vision"], "private")
    shown = hub_lab.call("ann", "GET", address).json()
    commits = hub_lab.call("ann", "GET", f"{address}/commits").json()
    assert shown["commit"] == commits["items"][0]["id"] == shown["branches"]["main"]
    assert hub_lab.call("ann", "GET", f"{address}/file?path=a.txt").text == "1"
    assert hub_lab.call("ann", "DELETE", address).json() == {"removed": path}
    assert hub_lab.call("ann", "GET", address).status_code == 404
    again = {"name": path.split("/")[1], "kind": "model"}
    assert hub_lab.call("ann", "POST", "/api/v1/repositories", json=again).status_code == 201
    assert hub_lab.call("ann", "POST", "/api/v1/repositories", json=again).status_code == 409
