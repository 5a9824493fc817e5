"""Scripts adapted by tests: each time it is checked that the result compiles and that a second time changes nothing."""

from __future__ import annotations

import textwrap

from outlast.adapt import CONTRACTS, adapt_text


def adapt(text, contract="modelarts"):
    done = adapt_text(textwrap.dedent(text), CONTRACTS[contract])
    compile(done.text, "script.py", "exec")
    assert adapt_text(done.text, CONTRACTS[contract]).text == done.text, "a second time must change nothing"
    return done


def adapt_plainly(text):
    """Without a contract: only what goes on after a stop."""
    return adapt(text, "plain")


def said(done, kind):
    return " / ".join(f"{finding.message} {finding.advice}" for finding in done.findings if finding.kind is kind)
