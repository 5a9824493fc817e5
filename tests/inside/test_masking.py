"""No secret gets through, wherever the chunks are cut."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.inside.masking import Masker


def run(secrets: list[bytes], *chunks: bytes) -> bytes:
    masker = Masker(secrets)
    return b"".join(masker.feed(chunk) for chunk in chunks) + masker.finish()


def test_secret_is_masked_in_one_chunk_and_over_every_cut():
    text = b"token=hunter22 and again hunter22!\n"
    expected = b"token=*** and again ***!\n"
    assert run([b"hunter22"], text) == expected
    for cut in range(len(text)):
        assert run([b"hunter22"], text[:cut], text[cut:]) == expected
    assert run([b"hunter22"], *(text[i : i + 1] for i in range(len(text)))) == expected


def test_short_values_are_left_alone():
    assert run([b"1", b"abc", b""], b"1 abc 1\n") == b"1 abc 1\n"


def test_overlapping_secrets_leave_nothing_of_either():
    assert run([b"abcdef", b"defghi"], b"xabcdefghiy") == b"x***y"
    for cut in range(1, 11):
        masked = run([b"abcdef", b"defghi"], b"xabcdefghiy"[:cut], b"xabcdefghiy"[cut:])
        assert masked.replace(b"*", b"") == b"xy"


def test_lines_of_a_secret_with_several_lines_are_masked():
    key = b"-----BEGIN KEY-----\nMIIEvAIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n"
    masked = run([key], b"key is " + key.replace(b"\n", b"\r\n"))
    assert b"MIIE" not in masked and b"kqhk" not in masked


def test_only_what_may_begin_a_secret_is_held_back():
    masker = Masker([b"hunter22"])
    assert masker.feed(b"epoch 1\n") == b"epoch 1\n" and not masker.holds
    assert masker.feed(b"so h") == b"so " and masker.holds
    assert masker.release() == b"h" and not masker.holds
    assert masker.feed(b"ello") == b"ello"


def test_rest_of_a_secret_after_a_pause_is_masked():
    masker = Masker([b"hunter22"])
    out = masker.feed(b"a hun") + masker.release() + masker.feed(b"ter22 b\n") + masker.finish()
    assert out == b"a hun*** b\n"


def test_a_long_beginning_of_a_secret_never_comes_out():
    masker = Masker([b"hunter22"])
    assert masker.feed(b"a hunter2") == b"a "
    assert masker.release() == b""
    assert masker.finish() == b"***"


@settings(max_examples=400, deadline=None)
@given(
    secrets=st.lists(st.text("ab", min_size=4, max_size=7), min_size=1, max_size=3),
    text=st.text("abc", max_size=60),
    cuts=st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=8),
)
def test_no_secret_survives_and_everything_else_does(secrets, text, cuts):
    data = text.encode()
    hidden = [secret.encode() for secret in secrets]
    covered = [False] * len(data)
    for secret in hidden:
        at = data.find(secret)
        while at >= 0:
            covered[at : at + len(secret)] = [True] * len(secret)
            at = data.find(secret, at + 1)
    masker = Masker(hidden)
    out, last = b"", 0
    for cut, pause in sorted(cuts):
        out += masker.feed(data[last : max(last, cut)])
        last = max(last, min(cut, len(data)))
        if pause:
            out += masker.release()
    out += masker.feed(data[last:])
    end = masker.finish()
    assert not any(secret in out + end for secret in hidden)
    if not any(pause for _, pause in cuts) and end != b"***":
        left = bytes(byte for byte, is_secret in zip(data, covered, strict=True) if not is_secret)
        assert (out + end).replace(b"*", b"") == left
