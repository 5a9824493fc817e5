"""What to try when a script failed: well-known last words, and the sentence that helps."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Packages whose import name is not their package name; everything else is suggested as imported.
_PACKAGES = {
    "bs4": "beautifulsoup4", "cv2": "opencv-python-headless", "dateutil": "python-dateutil", "PIL": "pillow",
    "sklearn": "scikit-learn", "skimage": "scikit-image", "yaml": "pyyaml",
}  # fmt: skip

_MEMORY = (
    "the machine probably ran out of memory: use a smaller batch, fewer loader workers, or ask for more with --memory"
)

_NETWORK = "the script could not reach the network: fetch what it downloads beforehand and pass it with --data PATH"
_NO_NETWORK = (
    "under --contract xihe there is no network: declare the data as an input: --data NAME=SRC, which the script finds "
    "in the option --NAME"
)

# Order matters within one line: the first pattern that matches speaks.
_FIXES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), fix)
    for pattern, fix in (
        (
            r"No module named '?([\w]+)",
            "add {package} to a requirements file and name it with --requirements FILE",
        ),
        (
            r"(?:CUDA|NPU|HIP)[\w ]* out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED",
            "the accelerator's memory is full: use a smaller batch, or accumulate gradients over several",
        ),
        (
            r"deserialize object on a CUDA device",
            "the checkpoint was saved on a GPU: load it with torch.load(..., map_location='cpu')",
        ),
        (
            r"No CUDA GPUs are available|not compiled with CUDA|no NVIDIA driver|CUDA[\w ]* not available"
            r"|no CUDA-capable device",
            "the script wants a GPU that this stint does not have: ask for one with --gpus 1, or let it use the CPU",
        ),
        (
            r"DataLoader worker .*(?:Bus error|out of shared memory)|insufficient shared memory",
            "shared memory is full: start the data loader with num_workers=0",
        ),
        (r"\bMemoryError\b|Cannot allocate memory|can't allocate memory|std::bad_alloc", _MEMORY),
        (
            r"No space left on device|Disk quota exceeded",
            "the disk is full: free some space, or keep fewer checkpoints (outlast gc)",
        ),
        (
            r"(?:Read-only file system|PermissionError|Permission denied)[^'\"]*(?:['\"]([^'\"]+)['\"])?",
            "the script may write only below its own folder: have it write there and name the place with --output PATH",
        ),
        (
            r"(?:FileNotFoundError|No such file or directory)[^'\"]*(?:['\"]([^'\"]+)['\"])?",
            "if {path} is data, pass it with --data PATH, so that the script finds it at the path it uses",
        ),
        (
            r"Missing key\(s\) in state_dict|size mismatch for|Error\(s\) in loading state_dict",
            "the checkpoint does not fit the model: was the code or a parameter changed since it was saved?",
        ),
        (
            r"(?i:\bloss\b[^,;]*\bnan\b)|contains? nan\b|Input contains NaN",
            "the loss is not a number any more: lower the learning rate, clip gradients, or resume from an older "
            "checkpoint (outlast resume --from STINT)",
        ),
        (
            r"Address already in use",
            "another process uses that port: choose a free one (MASTER_PORT=0 lets torchrun choose)",
        ),
        (
            r"Name or service not known|Temporary failure in name resolution|Network is unreachable"
            r"|Max retries exceeded|URLError",
            _NETWORK,
        ),
        (
            r"error: unrecognized arguments",
            "the script does not know these arguments: its own ones go after '--', parameters with --param NAME=VALUE",
        ),
        (
            r"error: the following arguments are required",
            "the script wants these arguments: give them after '--'",
        ),
        (
            r"\b(?:SyntaxError|IndentationError)\b",
            "this Python cannot read the script: try it by hand, or name another interpreter with --python",
        ),
    )
)

_EXITS = {
    9: _MEMORY,
    11: "the script crashed in native code (segmentation fault): check that its compiled packages fit this machine",
    4: "the processor does not know an instruction: the packages were built for another one",
}


def suggest_fix(tail: Sequence[str], exit_code: int | None = None, contract: str = "plain") -> str:
    """One sentence on what may help, or an empty string. The last line that is recognised decides."""
    for line in reversed(tail):
        for pattern, fix in _FIXES:
            match = pattern.search(line)
            if match is not None:
                return _NO_NETWORK if fix is _NETWORK and contract == "xihe" else _fill(fix, match)
    if exit_code is None:
        return ""
    # A shell reports a signal as 128 + its number, Popen as its negative.
    return _EXITS.get(exit_code - 128 if exit_code > 128 else -exit_code, "")


def _fill(fix: str, match: re.Match[str]) -> str:
    found = match.group(1) if match.re.groups else None
    return fix.format(package=_PACKAGES.get(found or "", found), path=f"'{found}'" if found else "the file")
