"""How a store is reached: its endpoint, and whose keys open it.

An access never becomes part of an address, a spec or a log. Inside a stint it arrives in the runner's environment as a
secret does; outside it comes from a profile (`outlast login`) or from the variables that each system's own tools read.
"""

from __future__ import annotations

import json
from typing import Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import RequestError

V4, V2, OBS = "v4", "v2", "obs"


class Access(NamedTuple):
    """One way to reach stores of one kind."""

    kind: str  # s3, obs, hdfs
    endpoint: str = ""  # https://host[:port]; for hdfs http://host:port of the name node
    region: str = ""
    key: str = ""  # the id of the access key
    secret: str = ""
    token: str = ""  # of temporary keys; hdfs: a delegation token, in place of the user's name
    signature: str = ""  # v4, v2 or obs; empty: v4 for s3, obs for obs
    path_style: Optional[bool] = None  # bucket in the path; None: decided by the endpoint
    ca_file: str = ""  # certificates to trust instead of the system's
    verify: bool = True  # check the server's certificate
    user: str = ""  # hdfs: the name to act as
    conditional: Optional[bool] = None  # the store refuses to overwrite when asked; None: found out by trying

    def __repr__(self) -> str:
        return "Access(%s, %s, key=%s)" % (self.kind, self.endpoint or "no endpoint", self.key or "none")

    def to_json(self) -> str:
        return json.dumps(self._asdict(), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Access:
        """Read one back; fields of a newer version are ignored."""
        try:
            body = json.loads(text)
            return cls(**{name: body[name] for name in cls._fields if name in body})
        except (ValueError, TypeError):
            raise RequestError("an access record cannot be read; log in again") from None

    @property
    def anonymous(self) -> bool:
        return not self.key

    @property
    def secrets(self) -> Tuple[str, ...]:
        """What must never be shown."""
        return tuple(value for value in (self.secret, self.token) if value)


#: kind -> field -> variables that hold it, the first that is set wins. The names are those of the AWS tools, of the
#: OBS SDK, and of ModelArts containers.
VARIABLES: Dict[str, Dict[str, Sequence[str]]] = {
    "s3": {
        "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "S3_ENDPOINT"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
        "key": ("AWS_ACCESS_KEY_ID",),
        "secret": ("AWS_SECRET_ACCESS_KEY",),
        "token": ("AWS_SESSION_TOKEN",),
        "ca_file": ("AWS_CA_BUNDLE",),
    },
    "obs": {
        "endpoint": ("OBS_ENDPOINT", "OBS_SERVER", "S3_ENDPOINT"),
        "region": ("OBS_REGION", "S3_REGION"),
        "key": ("OBS_ACCESS_KEY_ID", "ACCESS_KEY_ID"),
        "secret": ("OBS_SECRET_ACCESS_KEY", "SECRET_ACCESS_KEY"),
        "token": ("OBS_SECURITY_TOKEN", "SECURITY_TOKEN"),
        "ca_file": ("OBS_CA_BUNDLE",),
    },
    "hdfs": {"user": ("HADOOP_USER_NAME",)},
}


def from_environ(kind: str, environ: Mapping[str, str]) -> Optional[Access]:
    """The access that the environment describes, or None when it holds no key of that kind."""
    found: Dict[str, str] = {}
    for field, names in VARIABLES[kind].items():
        value = next((environ[name] for name in names if environ.get(name)), "")
        if value:
            found[field] = value
    if kind == "hdfs":
        return Access(kind, user=found["user"]) if "user" in found else None
    if "key" not in found or "secret" not in found:
        return None
    if "endpoint" in found and "://" not in found["endpoint"]:
        found["endpoint"] = "https://" + found["endpoint"]
    return Access(kind, **found)  # type: ignore[arg-type]
