# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, PTH103
"""Compile the stand-in device with the torch of the interpreter that runs this: build.py SOURCE FOLDER."""

import os
import sys


def main(source, folder):
    from torch.utils.cpp_extension import load

    os.makedirs(folder, exist_ok=True)
    os.environ.setdefault("MAX_JOBS", "2")
    flags = ["-O0", "-g0", "-w"]
    load("outlast_standin", [source], build_directory=folder, extra_cflags=flags, is_python_module=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
