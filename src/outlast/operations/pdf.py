"""HTML as PDF, by the browser that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from outlast.errors import PlatformError, UsageError
from outlast.operations.chart import write_file

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
_PATIENCE_S = 120.0
#: In containers there is no second user to be, and /dev/shm is tiny. The page holds no script and loads nothing.
_FLAGS = (
    "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
    "--no-pdf-header-footer",
)  # fmt: skip


def find_browser() -> str:
    """A browser that prints. `UsageError` with the way to get one when there is none."""
    for name in _BROWSERS:
        path = shutil.which(name)
        if path:
            return path
    raise UsageError(
        "a PDF needs chromium, which is not installed here",
        hint="install it (apt install chromium), or write an .html and print that from any browser",
    )


def print_pdf(browser: str, page: str, target: Path) -> Path:
    """Print a page to a file. The browser gets a profile of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="outlast-report-", ignore_cleanup_errors=True) as folder:
        source, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8", errors="replace")
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [browser, *_FLAGS, *sandbox, f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        try:
            done = subprocess.run(
                [*command, source.as_uri()], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _failed(browser, str(error)) from None
        if not made.is_file():
            raise _failed(browser, done.stderr.strip().rsplit("\n", 1)[-1] or f"exit code {done.returncode}")
        return write_file(target, made.read_bytes())


def _failed(browser: str, why: str) -> PlatformError:
    return PlatformError(
        f"{browser} did not print the report: {why[:300]}", hint="write an .html and print that from any browser"
    )
