"""What the container runs: a few lines of bash, and Python's own urllib, that fetch the boot file and start it.

Nothing else is taken for granted: images have bash, because OpenPAI itself needs it, and some Python from 3.7 on.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from shlex import quote

#: The name of the protocol secret that holds the parcel.
SECRET = "outlast"
_BOOT, _VARIABLES = "boot.py", "variables.json"
_PAUSES_S = "2 10 30 60"

_HEAD = "import base64,hashlib,json,os,ssl,sys,urllib.request as r"
_ASK = "ask=lambda url,**k:r.urlopen(r.Request(url,**k),timeout=300,context={context}).read()"
_CONTEXTS = {True: "None", False: "ssl._create_unverified_context()"}
#: Where the parcel comes from: a protocol secret on stdin, or a private file of HDFS.
_FROM_STDIN = "parcel=json.loads(base64.b64decode(sys.stdin.read()))"
_FROM_FILE = 'parcel=json.loads(ask(sys.argv[2]).decode("utf-8"))'
_UNPACK = (
    'boot=ask(parcel["boot"])',
    'hashlib.sha256(boot).hexdigest()==sys.argv[1] or sys.exit("the boot file is not the one that was sent")',
    f'open("{_BOOT}","wb").write(boot)',
    f'os.write(os.open("{_VARIABLES}",os.O_CREAT|os.O_WRONLY|os.O_TRUNC,0o600),'
    'json.dumps(parcel["variables"]).encode("utf-8"))',
)
#: A file of HDFS is removed by the address that reads it, with another verb.
_REMOVE = 'ask(sys.argv[2].replace("op=OPEN","op=DELETE",1),method="DELETE")'


def parcel(boot_url: str, variables: Mapping[str, str]) -> bytes:
    """Everything that the container has to be given, as one document; it holds the keys of the stores."""
    return json.dumps({"boot": boot_url, "variables": dict(variables)}, sort_keys=True).encode()


def as_secret(body: bytes) -> str:
    """A parcel that can stand in a command between single quotes, whatever it holds."""
    return base64.b64encode(body).decode()


def commands_k8s(sha256: str, verify: bool = True) -> tuple[str, ...]:
    """The parcel is a protocol secret, filled in within the container."""
    code = _code(verify, _FROM_STDIN, *_UNPACK)
    return _commands(f"printf %s '<% $secrets.{SECRET} %>' | \"$PYTHON\" -c {quote(code)} {sha256}")


def commands_yarn(sha256: str, parcel_url: str, verify: bool = True, *, is_shared: bool = False) -> tuple[str, ...]:
    """The parcel is a file in HDFS, removed as soon as it and the boot file are here; a shared one is left there."""
    code = _code(verify, _FROM_FILE, *_UNPACK, *(() if is_shared else (_REMOVE,)))
    return _commands(f'"$PYTHON" -c {quote(code)} {sha256} {quote(parcel_url)}')


def _code(verify: bool, *lines: str) -> str:
    return "; ".join((_HEAD, _ASK.format(context=_CONTEXTS[verify]), *lines))


def _commands(fetch: str) -> tuple[str, ...]:
    """Right after newlines and after `&&`, which is how different releases join them, and with `set -eu`."""
    found = 'PYTHON=$(command -v python3 || command -v python) || { echo "this image has no python" >&2; exit 127; }'
    patiently = f"for PAUSE in {_PAUSES_S} 0; do {fetch} && break; [ $PAUSE != 0 ] || exit 1; sleep $PAUSE; done"
    return (found, 'cd "$(mktemp -d)"', patiently, f'"$PYTHON" {_BOOT} {_VARIABLES}')
