"""Repositories as pages need them: commits with their lines, previews, pictures, files changed without a clone."""

import concurrent.futures
import hashlib
import io
import subprocess
import tarfile

import pytest

from outlast.model.spec import CodePack, Input

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
LARGE = b"0123456789abcdef" * 20_000  # 320 KB


def commit(lab, user, path, expect=201, **body):
    answer = lab.call(user, "POST", f"/api/v1/repositories/{path}/commits", json=body)
    assert answer.status_code == expect, answer.text
    return answer.json()


def text(path, words):
    return {"path": path, "text": words}


def see(lab, user, repository, what, expect=200, **query):
    answer = lab.call(user, "GET", f"/api/v1/repositories/{repository}/{what}", params=query)
    assert answer.status_code == expect, answer.text
    return answer


def upload(lab, user, files, links=()):
    """What a browser sends: a tar of files, by parts."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    data = packed.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    begun = lab.call(
        user, "POST", "/api/v1/uploads", json={"sha256": sha256, "size_bytes": len(data), "kind": "folder"}
    )
    assert begun.status_code == 200, begun.text
    lab.call(user, "PUT", f"/api/v1/uploads/{sha256}/parts/1", content=data)
    assert lab.call(user, "POST", f"/api/v1/uploads/{sha256}/complete", json={}).status_code == 200
    return sha256


def test_the_first_file_of_an_empty_repository_is_written_without_a_clone(hub_lab, work):
    path = hub_lab.make("ann", "project")
    made = commit(hub_lab, "ann", path, files=[text("README.md", "# hello\n")], message="Begin")
    assert made["branch"] == "main"
    assert (work.clone("ann", path, "here") / "README.md").read_text() == "# hello\n"
    log = see(hub_lab, "ann", path, "commits").json()["items"]
    assert [(each["author"], each["message"]) for each in log] == [("ann", "Begin")]


def test_a_commit_shows_its_lines(hub_lab, work):
    path = hub_lab.make("ann")
    work.begin("ann", path, files={"a.txt": "one\ntwo\n", "old name.txt": "x\n" * 9, "raw.bin": b"\0\1\2", "gone": "1"})
    work.git("mv", "old name.txt", "näme.txt", cwd="repo")
    work.git("rm", "--quiet", "gone", cwd="repo")
    work.commit({"a.txt": "one\nTWO\nthree\n", "raw.bin": b"\0\1\3"}, message="second\n\nwith words")
    work.push()
    seen = see(hub_lab, "ann", path, "commits/main").json()
    files = {each["path"]: each for each in seen["files"]}
    assert seen["message"] == "second\n\nwith words"
    assert len(seen["parents"]) == 1 and seen["left_off"] == 0
    assert (files["a.txt"]["added"], files["a.txt"]["removed"]) == (2, 1)
    assert files["a.txt"]["lines"][1:] == [" one", "-two", "+TWO", "+three"]
    assert (files["näme.txt"]["status"], files["näme.txt"]["old_path"]) == ("renamed", "old name.txt")
    assert (files["raw.bin"]["kind"], files["gone"]["status"]) == ("binary", "removed")
    first = see(hub_lab, "ann", path, f"commits/{seen['parents'][0]}").json()
    assert first["parents"] == [] and {each["status"] for each in first["files"]} == {"added"}


def test_a_text_that_looks_like_a_patch_stays_in_its_file(hub_lab):
    path = hub_lab.make("ann")
    trap = "diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n"
    commit(hub_lab, "ann", path, files=[text("a.md", trap), text("b.md", "plain\n")])
    files = see(hub_lab, "ann", path, "commits/main").json()["files"]
    assert [(each["path"], each["kind"], each["added"]) for each in files] == [("a.md", "text", 3), ("b.md", "text", 1)]


def test_very_many_changes_are_named_and_not_shown(hub_lab, work):
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path, files={f"{number:04}.txt": "line\n" * 100 for number in range(305)})
    work.push()
    seen = see(hub_lab, "ann", path, "commits/main").json()
    assert (len(seen["files"]), seen["left_off"]) == (300, 5)
    shown = [each for each in seen["files"] if each["kind"] == "text"]
    assert sum(len(each["lines"]) for each in shown) <= 20_000
    assert {each["kind"] for each in seen["files"]} == {"text", "large"}


def test_history_has_pages(hub_lab):
    path = hub_lab.make("ann")
    for number in range(5):
        commit(hub_lab, "ann", path, files=[text("a.txt", str(number))], message=f"step {number}")
    said = [each["message"] for each in see(hub_lab, "ann", path, "commits", limit=2, skip=2).json()["items"]]
    assert said == ["step 2", "step 1"]


def test_previews_say_what_a_file_is(hub_lab, work):
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path, files={"a.json": '{"b": 1}', "t.csv": "x,y\n1,2\n", "p.png": PNG, "dos.txt": "a\r\nb\r\n"})
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"w.bin": LARGE})
    work.push()
    seen = {
        name: see(hub_lab, "ann", path, "preview", path=name).json() for name in ("a.json", "t.csv", "p.png", "w.bin")
    }
    assert [each["kind"] for each in seen.values()] == ["json", "table", "picture", "text"]
    assert seen["a.json"]["source"] == '{"b": 1}' and seen["a.json"]["editable"]
    assert (seen["w.bin"]["lfs"], seen["w.bin"]["cut"], seen["w.bin"]["editable"]) == (True, True, False)
    assert seen["w.bin"]["size_bytes"] == len(LARGE)
    assert not see(hub_lab, "ann", path, "preview", path="dos.txt").json()["editable"]
    see(hub_lab, "ann", path, "preview", 404, path="none.txt")


def test_only_pictures_are_served_as_pictures(hub_lab):
    path = hub_lab.make("ann", "dataset")
    sha256 = upload(hub_lab, "ann", {"a.png": PNG, "page.png": b"<script>alert(1)</script>", "b.svg": b"<svg/>"})
    commit(hub_lab, "ann", path, upload=sha256)
    good = see(hub_lab, "ann", path, "picture", path="a.png")
    assert (good.headers["content-type"], good.content) == ("image/png", PNG)
    assert "sandbox" in good.headers["content-security-policy"]
    for name in ("page.png", "b.svg"):
        see(hub_lab, "ann", path, "picture", 400, path=name)


def test_large_files_go_to_lfs_by_themselves_and_git_knows_it(hub_lab, work):
    path = hub_lab.make("ann", "model")
    sha256 = upload(hub_lab, "ann", {"small.txt": b"1\n", "dir/big [1].bin": LARGE})
    made = commit(hub_lab, "ann", path, upload=sha256, folder="weights", message="Weights")
    assert made["lfs"] == ["weights/dir/big [1].bin"]
    clone = work.clone("ann", path, "here")
    assert (clone / "weights/dir/big [1].bin").read_bytes() == LARGE
    assert work.git("status", "--porcelain", cwd="here").strip() == ""
    seen = see(hub_lab, "ann", path, "commits/main").json()["files"]
    change = next(each for each in seen if each["path"].endswith("bin"))
    assert (change["kind"], change["size_bytes"], change["old_size_bytes"]) == ("lfs", len(LARGE), None)
    # what .gitattributes give to LFS goes there, however small it is
    commit(hub_lab, "ann", path, files=[text(".gitattributes", "*.pt filter=lfs diff=lfs merge=lfs -text\n")])
    again = upload(hub_lab, "ann", {"tiny.pt": b"12345"})
    assert commit(hub_lab, "ann", path, upload=again)["lfs"] == ["tiny.pt"]
    assert (work.clone("ann", path, "there") / "tiny.pt").read_bytes() == b"12345"


def test_a_project_takes_no_large_file_and_says_why(hub_lab):
    path = hub_lab.make("ann", "project")
    sha256 = upload(hub_lab, "ann", {"train.py": b"1\n", "weights.bin": LARGE})
    said = commit(hub_lab, "ann", path, 400, upload=sha256)
    assert "weights.bin" in said["message"] and "code only" in said["message"] and "dataset" in said["hint"]
    assert see(hub_lab, "ann", path, "commits", 404).json()["message"] == "the repository is empty"


def test_a_pointer_that_lies_is_refused(hub_lab):
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 5\n"
    for kind in ("model", "project"):
        said = commit(hub_lab, "ann", hub_lab.make("ann", kind), 400, files=[text("a.bin", pointer)])
        assert "LFS" in said["message"]


@pytest.mark.parametrize(
    "name",
    ["", "/a", "a//b", "../a", "a/../b", "./a", ".git/config", "x/.GIT/hooks/a", ".git./x", "git~1/config",
     ".gitmodules", "a\\b", "a\nb", "a\u200db", ".git::$INDEX_ALLOCATION/x", "a/", "x" * 1025, ".g\u200cit/config"],
)  # fmt: skip
def test_names_that_could_do_harm_in_a_clone_are_refused(hub_lab, name):
    path = hub_lab.make("ann")
    answer = hub_lab.call("ann", "POST", f"/api/v1/repositories/{path}/commits", json={"files": [text(name, "1")]})
    assert answer.status_code in (400, 422), answer.text
    assert see(hub_lab, "ann", path, "commits", 404)


def test_links_of_an_upload_never_lead_out(hub_lab):
    path = hub_lab.make("ann")
    sha256 = upload(hub_lab, "ann", {"a.txt": b"1"}, links=[("b.txt", "a.txt")])
    assert "link" in commit(hub_lab, "ann", path, 400, upload=sha256)["message"]


def test_a_file_never_takes_the_place_of_a_folder(hub_lab):
    path = hub_lab.make("ann")
    commit(hub_lab, "ann", path, files=[text("a/b.txt", "1"), text("c", "1")])
    assert "folder" in commit(hub_lab, "ann", path, 400, files=[text("a", "1")])["message"]
    assert "file" in commit(hub_lab, "ann", path, 400, files=[text("c/d", "1")])["message"]
    commit(hub_lab, "ann", path, files=[text("a", "1")], remove=["a"])
    items = see(hub_lab, "ann", path, "items").json()["items"]
    assert [(each["path"], each["kind"]) for each in items] == [("a", "file"), ("c", "file")]


def test_files_and_folders_are_removed_and_nothing_is_no_commit(hub_lab):
    path = hub_lab.make("ann")
    commit(hub_lab, "ann", path, files=[text("a/b.txt", "1"), text("a/c.txt", "2"), text("ab.txt", "3")])
    commit(hub_lab, "ann", path, remove=["a"])
    assert [each["path"] for each in see(hub_lab, "ann", path, "items").json()["items"]] == ["ab.txt"]
    commit(hub_lab, "ann", path, 404, remove=["a"])
    for body in ({}, {"files": [text("ab.txt", "3")]}):
        commit(hub_lab, "ann", path, 400, **body)
    assert len(see(hub_lab, "ann", path, "commits").json()["items"]) == 2


def test_an_edit_of_what_moved_on_is_refused(hub_lab):
    path = hub_lab.make("ann")
    first = commit(hub_lab, "ann", path, files=[text("a.txt", "1")])["commit"]
    commit(hub_lab, "ann", path, files=[text("a.txt", "2")], parent=first)
    said = commit(hub_lab, "ann", path, 409, files=[text("a.txt", "3")], parent=first)
    assert said["code"] == "conflict" and "moved on" in said["message"]
    commit(hub_lab, "ann", path, 404, files=[text("a.txt", "3")], branch="none")


def test_a_script_that_can_be_started_still_can_after_an_edit(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"run.sh": "#!/bin/sh\n"})
    (work.folder / "repo" / "run.sh").chmod(0o755)
    work.git("commit", "--quiet", "-am", "startable", cwd="repo")
    work.push()
    commit(hub_lab, "ann", path, files=[text("run.sh", "#!/bin/sh\ntrue\n")])
    assert (work.clone("ann", path, "here") / "run.sh").stat().st_mode & 0o100


def test_of_commits_at_the_same_time_none_is_lost(hub_lab, work):
    path = hub_lab.make("ann")
    commit(hub_lab, "ann", path, files=[text("start", "1")])

    def write(number):
        body = {"files": [text(f"{number}.txt", str(number))]}
        while True:
            answer = hub_lab.call("ann", "POST", f"/api/v1/repositories/{path}/commits", json=body)
            if answer.status_code != 409:
                return answer.status_code

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert set(pool.map(write, range(12))) == {201}
    items = see(hub_lab, "ann", path, "items").json()["items"]
    assert {each["path"] for each in items} == {"start", *(f"{number}.txt" for number in range(12))}
    assert len(see(hub_lab, "ann", path, "commits").json()["items"]) == 13
    folder = hub_lab.hub.folder(hub_lab.hub.find_own(_root(), *path.split("/"))) / "repository.git"
    subprocess.run(["git", "-C", str(folder), "fsck", "--strict"], check=True, capture_output=True)


def _root():
    from outlast.model.visitor import Visitor

    return Visitor("root", sees_all=True)


def test_a_group_without_room_takes_no_upload(hub_lab):
    path = hub_lab.make("tim", "model")
    sha256 = upload(hub_lab, "tim", {"a.txt": b"1" * 60_000})
    commit(hub_lab, "tim", path, upload=sha256)
    files = [text(f"{number}.txt", "x" * 30_000) for number in range(4)]
    assert commit(hub_lab, "tim", path, 429, files=files)["code"] == "quota_exceeded"


def test_only_owners_commit_and_uploads_of_others_cannot_be_taken(hub_lab):
    secret, public = hub_lab.make("ann"), hub_lab.make("ann", visibility="public")
    body = {"files": [text("a.txt", "1")]}
    for user, path, status in (("cas", secret, 404), ("cas", public, 403), ("vic", public, 403), (None, public, 401)):
        commit(hub_lab, user, path, status, **body)
    theirs = upload(hub_lab, "cas", {"a.txt": b"private of cas"})
    commit(hub_lab, "ann", public, 404, upload=theirs)
    commit(hub_lab, "root", public, **body)


def test_code_from_a_project_is_pinned_and_the_runs_are_listed(hub_lab):
    project, data = hub_lab.make("ann", "project", visibility="public"), hub_lab.make("ann", "dataset")
    pinned = commit(hub_lab, "ann", project, files=[text("train.py", "print('epoch 1')\n")])["commit"]
    commit(hub_lab, "ann", data, files=[text("a.csv", "1,2\n")])
    body = {"project": f"{project}@main", "target": "train.py", "data": [f"d=dataset:{data}"]}
    plan = hub_lab.call("ann", "POST", "/api/v1/runs/plan", json=body)
    assert plan.status_code == 200, plan.text
    assert plan.json()["spec"]["code"]["asset"] == f"project:{project}@{pinned}"
    spec = plan.json()["spec"]
    words = {"code": CodePack(**spec["code"]), "inputs": tuple(Input(**each) for each in spec["inputs"])}
    run = hub_lab.add_run("ann", {}, **words)
    for path in (project, data):
        listed = see(hub_lab, "ann", path, "runs").json()["runs"]
        assert [each["id"] for each in listed] == [run]
        assert f"project:{project}@{pinned}" in listed[0]["assets"]
    # cas may see the project, and neither the run nor the data
    assert see(hub_lab, "cas", project, "runs").json()["runs"] == []
    see(hub_lab, "cas", data, "runs", 404)
    hidden = hub_lab.call("cas", "POST", "/api/v1/runs/plan", json={"project": data, "target": "train.py"})
    assert hidden.status_code == 400 and "no such project" in hidden.json()["message"]


@pytest.mark.parametrize("project", ["x", "ann/../x", "ann/none", "/etc", "ann/x/y", "ann/x@../..", "a b/c"])
def test_a_project_that_is_none_is_refused_in_words(hub_lab, project):
    answer = hub_lab.call("cas", "POST", "/api/v1/runs/plan", json={"project": project, "target": "train.py"})
    assert answer.status_code == 400 and "project" in answer.json()["message"], answer.text


def test_a_target_never_leaves_the_project(hub_lab):
    project = hub_lab.make("ann", "project")
    commit(hub_lab, "ann", project, files=[text("train.py", "1\n")])
    for target in ("../../../../../etc/passwd", "/etc/passwd"):
        answer = hub_lab.call("ann", "POST", "/api/v1/runs/plan", json={"project": project, "target": target})
        assert answer.status_code == 400, answer.text
