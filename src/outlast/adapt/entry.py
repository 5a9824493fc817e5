"""The entry script of a platform that does not start the training itself.

It installs what `requirements.txt` names, lists the inputs, starts the training with the arguments it was given, and,
where these are addresses, copies inputs before and results during and after it. Plain Python 3.7, for any image.
"""

from __future__ import annotations

from outlast.adapt.needs import Needs, Role

_HEAD = '''"""Starts {script} on ModelArts: installs what it needs, {work}lists its inputs, trains{after}.

Written by `outlast adapt --entry`; the boot file of the job is this file, in the folder of {script}.
"""

import os
import subprocess
import sys
{imports}
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "{script}")
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
INPUTS = {inputs}
OUTPUT = "{output}"
{constants}

def install():
    """What requirements.txt names; the platform itself reads only pip-requirements.txt."""
    if os.path.exists(REQUIREMENTS):
        subprocess.check_call([sys.executable, "-m", "pip", "install", "-r", REQUIREMENTS])


def show(name, path):
    """List an input, so that the log tells what was there."""
    names = sorted(os.listdir(path)) if os.path.isdir(path) else [os.path.basename(path)]
    print("%s: %s: %s%s" % (name, path, ", ".join(names[:20]), " ..." if len(names) > 20 else ""), flush=True)

'''

_COPYING = '''
def fetch(name, address):
    """Copy one input and return where it lies now."""
    place = os.path.join(CACHE, "inputs", name)
    if mox.file.is_directory(address):
        mox.file.copy_parallel(address, place)
        return place
    os.makedirs(place, exist_ok=True)
    mox.file.copy(address, os.path.join(place, os.path.basename(address)))
    return os.path.join(place, os.path.basename(address))


def bring(place, address, done):
    """Copy results every minute, so that a job that is ended loses little, and once more when it is done."""
    is_done = False
    while not is_done:
        is_done = done.wait(EVERY_S)
        try:
            mox.file.copy_parallel(place, address)
        except Exception as error:
            print("results not copied: %s" % error, flush=True)
            if is_done:
                raise


def prepare(words):
    """The arguments with every address replaced by a folder, and where results go."""
    given, address, place = [], "", ""
    for word in words:
        name, _, value = word.lstrip("-").partition("=")
        if name in INPUTS and "://" in value:
            value = fetch(name, value)
        elif name == OUTPUT and "://" in value:
            address, place = value, os.path.join(CACHE, "outputs", name)
            os.makedirs(place, exist_ok=True)
            if mox.file.exists(address):
                mox.file.copy_parallel(address, place)  # what an earlier job left
            value = place
        if name in INPUTS and value:
            show(name, value)
        given.append("--%s=%s" % (name, value) if value and word.startswith("--") else word)
    return given, address, place


def main():
    install()
    words, address, place = prepare(sys.argv[1:])
    done = threading.Event()
    copier = threading.Thread(target=bring, args=(place, address, done))
    if address:
        copier.start()
    code = subprocess.call([sys.executable, SCRIPT] + words, cwd=HERE)
    done.set()
    if address:
        copier.join()
    sys.exit(code)
'''

_STARTING = """
def main():
    install()
    for word in sys.argv[1:]:
        name, _, value = word.lstrip("-").partition("=")
        if name in INPUTS and os.path.exists(value):
            show(name, value)
    sys.exit(subprocess.call([sys.executable, SCRIPT] + sys.argv[1:], cwd=HERE))
"""

_END = """

if __name__ == "__main__":
    main()
"""


def entry_text(script: str, needs: Needs) -> str:
    """The entry script for a training script beside it."""
    copies = needs.needs_entry
    head = _HEAD.format(
        script=script,
        work="copies and " if copies else "",
        after=", and brings the results back" if copies else "",
        imports="import threading\n\nimport moxing as mox\n" if copies else "",
        inputs=repr((needs.options[Role.DATA], needs.options[Role.WEIGHTS])).replace("'", '"'),
        output=needs.options[Role.OUTPUT],
        constants='CACHE = os.environ.get("CACHE_HOME", "/cache")\nEVERY_S = 60\n' if copies else "",
    )
    return head + (_COPYING if copies else _STARTING) + _END
