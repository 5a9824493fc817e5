"""Run a command and write what it cost into a file: launch.py REPORT COMMAND…

A small process of its own, because the kernel counts the memory of whoever starts a command as the command's.
"""

import json
import os
import sys
import time

report, *command = sys.argv[1:]
began = time.perf_counter()
pid = os.posix_spawn(command[0], command, os.environ)
with open(report + ".pid", "w") as file:
    file.write(str(pid))
_, status, usage = os.wait4(pid, 0)
wall_s = time.perf_counter() - began
with open(report, "w") as file:
    json.dump([wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024], file)
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
sys.exit(code)
