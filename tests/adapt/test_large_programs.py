"""Programs that bring a library along: what is near to the script is looked at, and the rest is named."""

from __future__ import annotations

from programs import Program

from outlast.adapt import reading


def test_modules_that_are_too_far_away_are_named_and_the_near_ones_changed(tmp_path, monkeypatch):
    (tmp_path / "rows.txt").write_text("3\n")
    program = Program(
        tmp_path / "code",
        rows="""
            from library import numbers

            def read_rows():
                return numbers(open("/srv/rows/rows.txt"))
        """,
        library="def numbers(file):\n    return [int(line) for line in file]\n" + "# more of it\n" * 30,
        train="""
            from rows import read_rows

            print(read_rows())
        """,
    )
    near = len((tmp_path / "code" / "rows.py").read_text())
    monkeypatch.setattr(reading, "_MOST", near + 10)
    done = program.adapt()
    told = [each.message for each in done.findings if "furthest away" in each.message]
    assert told == ["1 of the modules that train.py imports, those furthest away, were not looked at: library.py"]
    assert program.run("--data_url", str(tmp_path)).lines == ["[3]"]
