"""Ctrl-C in the midst of tidying up: it is told, and nothing is left half done."""

import signal
import threading

import pytest

from outlast.operations.tidying import Tidying


def test_only_the_first_ctrl_c_interrupts():
    told, tidied = [], []

    def tidy():
        signal.raise_signal(signal.SIGINT)
        tidied.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Tidying(told.append):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            tidy()
    assert tidied == [True]
    assert told == ["still tidying up: the trial's processes and its folder go first"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_first_ctrl_c_that_comes_too_late_changes_nothing():
    told = []
    with Tidying(told.append) as tidying:
        tidying.begin()
        signal.raise_signal(signal.SIGINT)
    assert told == ["tidying up", "still tidying up: the trial's processes and its folder go first"]


def test_a_thread_tidies_up_without_touching_signals():
    seen = []

    def work():
        with Tidying(seen.append) as tidying:
            tidying.begin()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["tidying up"]


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Tidying(lambda words: None):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(params=[signal.SIGHUP, signal.SIGTERM])
def number(request):
    """A signal that ends a program, also where the tests run under `nohup`, which lets them ignore it."""
    before = signal.signal(request.param, signal.SIG_DFL)
    yield request.param
    signal.signal(request.param, before)


def test_what_would_end_the_program_at_once_lets_it_tidy_up(number):
    tidied = []
    with pytest.raises(SystemExit) as ended, Tidying(lambda words: None):
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGINT)
            tidied.append(True)
    assert (tidied, ended.value.code) == ([True], 128 + number)
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_terminal_that_is_gone_does_not_stop_the_tidying():
    def tell(words):
        raise OSError(5, "Input/output error")

    with Tidying(tell) as tidying:
        tidying.begin()
        signal.raise_signal(signal.SIGINT)
