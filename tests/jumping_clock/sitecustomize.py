"""With this folder on PYTHONPATH a Python process has a wall clock that tests can set: off by the seconds in a file."""

import datetime
import os
import time

_real_time = time.time


def shift_s():
    try:
        with open(os.environ["JUMPING_CLOCK"]) as file:  # noqa: PTH123
            return float(file.read() or 0)
    except (KeyError, OSError):
        return 0.0


class JumpingDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=shift_s())


time.time = lambda: _real_time() + shift_s()
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = JumpingDatetime
