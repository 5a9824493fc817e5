"""What a script uploads is noted for the runner, when somebody wants to know."""

from __future__ import annotations

import json

SCRIPT = """
    import json
    os.makedirs("out/sub")
    for name in ("out/a", "out/sub/b"):
        with open(name, "w") as f: f.write(name)
    notes = os.environ.get("OUTLAST_UPLOADS", "")
    seen = []
    def noted():
        seen.append(os.stat(notes).st_ino if notes and os.path.exists(notes) else None)
    file.copy_parallel("out", root + "/all"); noted()
    file.copy_parallel("out", root + "/all"); noted()
    file.copy("out/a", root + "/one.ckpt")
    file.write(root + "/said.txt", "hello")
    file.copy_parallel(root + "/all", "back")
    file.exists(root + "/all")
    file.make_dirs(root + "/empty")
    print(json.dumps(seen))
"""


def test_every_upload_is_noted_and_nothing_else_is(mapped, tmp_path):
    notes = tmp_path / "checkpoint" / "uploads.json"
    first, second = json.loads(mapped.play(SCRIPT, OUTLAST_UPLOADS=str(notes)))
    assert json.loads(notes.read_text()) == {
        "obs://lab/work/all": 2, "obs://lab/work/one.ckpt": 1, "obs://lab/work/said.txt": 1,
    }  # fmt: skip
    assert first != second  # the same upload again is one more save
    assert [path.name for path in notes.parent.iterdir()] == ["uploads.json"]


def test_without_anybody_who_asks_nothing_is_noted(mapped, tmp_path):
    assert json.loads(mapped.play(SCRIPT)) == [None, None]


def test_notes_that_cannot_be_written_do_not_stop_an_upload(mapped, tmp_path):
    (tmp_path / "file").touch()
    mapped.play(SCRIPT, OUTLAST_UPLOADS=str(tmp_path / "file" / "uploads.json"))
    assert (mapped.bucket / "work" / "one.ckpt").read_text() == "out/a"
