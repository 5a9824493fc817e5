"""The last lines, and the digest that recognises a failure."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from outlast.inside.tail import KEEP_BYTES, Tail


def tail_of(text: str | bytes, cut: int = 7) -> Tail:
    data = text.encode() if isinstance(text, str) else text
    tail = Tail()
    for at in range(0, len(data), cut):
        tail.feed(data[at : at + cut])
    return tail


def trace(tmp: str = "/work/a/stint-1", message: str = "boom 12", line: int = 7) -> str:
    return textwrap.dedent(f"""\
        epoch 3 loss 0.5
        Traceback (most recent call last):
          File "{tmp}/train.py", line {line}, in <module>
            main()
          File "{tmp}/model.py", line 3, in main
            raise ValueError(x)
        ValueError: {message}
        """)


def test_error_lines_are_the_last_traceback():
    lines = tail_of(
        "noise\n" * 100 + trace("/old") + "During handling of the above exception\n\n" + trace()
    ).error_lines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: boom 12"
    assert len(lines) == 6


def test_error_lines_without_traceback_are_the_last_ones_without_colours_or_empty_lines():
    lines = tail_of("".join(f"\x1b[31mline {n}\x1b[0m\n\n" for n in range(100))).error_lines()
    assert lines == [f"line {n}" for n in range(60, 100)]


def test_of_a_progress_bar_only_the_last_state_is_shown():
    assert tail_of("\r 10%\r 50%\r100%\n").error_lines() == ["100%"]


def test_a_traceback_long_ago_is_not_the_error():
    lines = tail_of(trace() + "".join(f"fine {n}\n" for n in range(60))).error_lines()
    assert lines[-1] == "fine 59" and not any("Traceback" in line for line in lines)


def test_prefix_of_a_rank_is_removed():
    lines = tail_of("".join(f"[rank0]: {line}\n" for line in trace().splitlines())).error_lines()
    assert lines[-1] == "ValueError: boom 12"


def test_binary_output_and_no_output_are_fine():
    assert tail_of(bytes(range(256)) * 50).error_lines()
    assert Tail().error_lines() == [] and len(Tail().fingerprint()) == 16


def test_memory_is_bounded():
    tail = Tail()
    for _ in range(100):
        tail.feed(b"x" * 50_000)
        tail.feed(b"y" * 1_000_000)
    assert len(tail._kept) <= 2 * KEEP_BYTES
    assert len(tail.error_lines()[0]) <= 500


def test_same_place_in_another_folder_with_other_numbers_is_the_same_failure():
    one = trace("/home/u/work/stint-0001", "step 120 of /tmp/tmpab12cd34/x.bin at 0x7f00 failed, loss 1.5e-3")
    two = trace("/home/v/stint-0002/code", "step 980 of /tmp/tmpzz99yy88/x.bin at 0x7fff failed, loss nan0")
    two = two.replace("nan0", "22.25")
    assert tail_of(one).fingerprint() == tail_of(two).fingerprint()
    assert tail_of("2026-11-15 10:00:00,1 ERROR out of memory\n").fingerprint() == (
        tail_of("2026-11-16 11:30:10,7 ERROR out of memory\n").fingerprint()
    )


def test_other_places_and_other_errors_are_other_failures():
    texts = [
        trace(),
        trace(message="bang"),
        trace(line=8),
        trace().replace("ValueError", "KeyError"),
        "Killed\n",
        "done\n",
    ]
    assert len({tail_of(text).fingerprint() for text in texts}) == len(texts)


def test_progress_before_the_failure_does_not_change_it():
    assert tail_of("epoch 1\n" + trace()).fingerprint() == tail_of("epoch 99\n" * 30 + trace()).fingerprint()


def test_a_real_failing_script_gives_the_same_fingerprint_twice(tmp_path):
    prints = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.py").write_text("import os\nprint('pid', os.getpid())\nopen(f'/nowhere/{os.getpid()}')\n")
        done = subprocess.run([sys.executable, str(folder / "train.py")], capture_output=True)
        prints.append(tail_of(done.stdout + done.stderr).fingerprint())
    assert prints[0] == prints[1]
