"""Parts of settings that have names of their own in the script."""

from __future__ import annotations

from programs import Program


def test_parts_of_settings_may_have_names_of_their_own(tmp_path):
    """What a part is asked for by name is no place itself, whatever builds something of it."""
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            import json
            import os
            from rows import create_dataset
            def main():
                config = json.loads(open("settings/config.json").read())
                data = config["data"]
                summary = config["summary"]
                rows = create_dataset(data, is_train=True)
                print(rows.first, data["size"])
                folder = os.path.join(summary["folder"], f"size-{data['size']}")
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, "w.txt"), "w") as file:
                    file.write(rows.first)
            main()
        """,
        rows="""
            import os
            class Rows:
                def __init__(self, settings):
                    self.first = open(os.path.join(settings["root"], "x.csv")).readline().strip()
            def create_dataset(settings, is_train):
                return Rows(settings)
        """,
    )
    (code / "settings").mkdir()
    settings = '{"data": {"root": "rows", "size": 3}, "summary": {"folder": "runs"}}'
    (code / "settings" / "config.json").write_text(settings)
    for folder, text in ((code / "rows", "old"), (tmp_path / "data", "new")):
        folder.mkdir()
        (folder / "x.csv").write_text(text)
    before = program.run()
    done = program.adapt()
    assert program.run().lines == before.lines == ["old 3"]
    out = tmp_path / "out"
    given = program.run("--data_url", str(tmp_path / "data"), "--train_url", str(out))
    assert given.lines == ["new 3"] and (out / "size-3" / "w.txt").read_text() == "new", given.error
    assert not [each.message for each in done.findings if "stays as it is" in each.message]
