"""What a platform tells the runner about the place it runs in: one JSON file, readable by its owner only."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import ClassVar, Dict, List, Mapping, Optional

from .errors import PlaceError, RequestError
from .records import Record
from .stores.access import Access

#: A secret named TOKEN reaches the runner as this prefix plus TOKEN in its own environment, never in this file.
SECRET_PREFIX = "OUTLAST_SECRET_"
#: The one secret that the script does not get: the keys of the stores that the runner itself opens.
ACCESSES = "OUTLAST_ACCESSES"


@dataclasses.dataclass
class Place(Record):
    """`place.json`: where one stint works, and what of the machine belongs to it."""

    NAME: ClassVar[str] = "place.json"

    store: str  # address of the store that holds the run folder
    run: str
    stint: int
    token: str
    work: str  # the stint's own folder; exists
    shared: str  # the run's folder, shared by its stints: its private home lies here
    cache: str  # environments, code packs
    bundle: str = ""  # what the script needs on PYTHONPATH for `import outlast`; empty: what the runner came from
    sandbox: bool = False
    hide: List[str] = dataclasses.field(default_factory=list)  # folders the script must not see
    cpus: int = 1
    cpu_list: List[int] = dataclasses.field(default_factory=list)  # empty: any
    memory_bytes: Optional[int] = None
    gpus: List[str] = dataclasses.field(default_factory=list)  # values for CUDA_VISIBLE_DEVICES
    npus: List[str] = dataclasses.field(default_factory=list)  # values for ASCEND_RT_VISIBLE_DEVICES
    network: bool = True
    notices: List[str] = dataclasses.field(default_factory=list)
    secret_names: List[str] = dataclasses.field(default_factory=list)
    node: int = 0  # which node of its stint this is; node 0 is the stint, the others follow it
    nodes: int = 1
    address: str = ""  # how the other nodes reach this one; empty: found out
    python: str = ""  # on a borrowed machine its own interpreter; empty: the one that the spec names

    @property
    def is_borrowed(self) -> bool:
        """Whether paths in the spec are those of another machine."""
        return bool(self.python)

    @property
    def home(self) -> str:
        """The script's HOME: private to the run, kept from stint to stint."""
        return os.path.join(self.shared, "home")

    @classmethod
    def read(cls, path: str) -> Place:
        try:
            with open(path, "rb") as file:
                return cls.from_bytes(file.read())
        except OSError as error:
            raise PlaceError("cannot read %s: %s" % (path, error.strerror)) from None

    def write(self, path: str) -> None:
        """Write the file with mode 0600, whole or not at all."""
        aside = "%s.%d.tmp" % (path, os.getpid())
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.to_bytes())
        os.replace(aside, path)

    def secret_values(self, environ: Mapping[str, str]) -> Dict[str, str]:
        """The script's secrets by their own names, as far as the runner's environment carries them."""
        names = [name for name in self.secret_names if name != ACCESSES]
        return {name: environ[SECRET_PREFIX + name] for name in names if SECRET_PREFIX + name in environ}


def without_secrets(environ: Mapping[str, str]) -> Dict[str, str]:
    """An environment without the prefixed secrets: what the script's own environment starts from."""
    return {name: value for name, value in environ.items() if not name.startswith(SECRET_PREFIX)}


def access_for(url: str, accesses: Mapping[str, Access]) -> Optional[Access]:
    """The access among these that opens an address."""
    return next((access for root, access in accesses.items() if (url + "/").startswith(root + "/")), None)


def accesses_from(environ: Mapping[str, str]) -> Dict[str, Access]:
    """How each store is reached (see `Address.root`), as the runner's environment says."""
    return read_accesses(environ.get(SECRET_PREFIX + ACCESSES, "{}"))


def read_accesses(text: str) -> Dict[str, Access]:
    """The value of the secret `ACCESSES`: accesses by the root of the addresses that they open."""
    try:
        return {str(root): Access.from_json(json.dumps(body)) for root, body in json.loads(text).items()}
    except (ValueError, AttributeError):
        # Not the parser's words: they could quote a key.
        raise RequestError("the keys that came with this stint cannot be read") from None
