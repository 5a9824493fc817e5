"""The script as a child process: its own session, its output pumped at full speed, ended in polite steps."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
from typing import Callable, Dict, List, Optional

from . import processes

#: A large pipe lets a chatty script run ahead of us; 1 MiB is the most an ordinary user may ask for.
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


class Child:
    """One started script. Start it from a thread that lives as long as it does: the kernel ends it with that thread."""

    def __init__(
        self,
        argv: List[str],
        cwd: str,
        env: Dict[str, str],
        on_output: Callable[[bytes], None],
        sandboxed: bool,
        cpu_list: List[int],
        memory_bytes: Optional[int],
    ) -> None:
        self._sandboxed = sandboxed
        self._on_output = on_output
        self._script_pid: Optional[int] = None
        read_end, write_end = os.pipe()
        try:
            fcntl.fcntl(read_end, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            pass  # the default of 64 KiB works too, only slower
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                preexec_fn=processes.preexec(cpu_list, memory_bytes),  # noqa: PLW1509 - takes no lock
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        self._read_end = read_end
        self._pump = threading.Thread(target=self._pump_output, name="outlast-output", daemon=True)
        self._pump.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def pids(self) -> List[int]:
        """Every living process of the script, the sandbox's own included."""
        return [self.pid, *processes.descendants(self.pid)]

    def poll(self) -> Optional[int]:
        """Exit code once the script has ended (negative: the signal), else None."""
        code = self._process.poll()
        # bubblewrap reports a signal of its content the way a shell does.
        if code is not None and self._sandboxed and 128 < code < 128 + 65:
            return 128 - code
        return code

    def wait(self, timeout_s: float) -> Optional[int]:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        return self.poll()

    def terminate(self) -> bool:
        """SIGTERM to the script alone: its data loaders must not die before it has saved."""
        pid = self.script_pid()
        if pid is None:
            return False
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            return False
        return True

    def script_pid(self) -> Optional[int]:
        """The script's own process, behind the sandbox when there is one."""
        if not self._sandboxed:
            return self.pid
        if self._script_pid is None:
            from .sandbox import script_pid

            self._script_pid = script_pid(self.pid)
        return self._script_pid

    def kill(self) -> None:
        """End everything the script started, now."""
        processes.kill_tree(self.pid)
        self._process.wait()

    def finish_output(self, timeout_s: float = 5.0) -> None:
        """Wait for the last output. A daemon that the script left behind may hold the pipe: then we stop listening."""
        self._pump.join(timeout_s)

    def _pump_output(self) -> None:
        try:
            while True:
                chunk = os.read(self._read_end, _PIPE_BYTES)
                if not chunk:
                    return
                self._on_output(chunk)
        finally:
            os.close(self._read_end)
