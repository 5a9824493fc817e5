"""What the routes of accounts take: checked before anything is done."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from outlast.server.accounts.people import NAME_PATTERN, Role

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]
NameInPath = Annotated[str, Path(pattern=NAME_PATTERN, max_length=64)]
Password = Annotated[str, Field(max_length=1024)]
Label = Annotated[str, Field(max_length=64, pattern=r"^[^\x00-\x1f\x7f]*$")]
Count = Annotated[int, Field(ge=0, lt=2**31)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SignIn(_Body):
    name: Annotated[str, Field(max_length=64)]
    password: Password


class NewPassword(_Body):
    old: Annotated[Password, Field(description="the one until now")]
    new: Annotated[Password, Field(description="at least 8 characters")]


class NewToken(_Body):
    kind: Annotated[
        Literal["token", "access"], Field(description="access: a pair that signs requests, for clients of ModelArts")
    ] = "token"
    name: Annotated[Label, Field(description="what it is for, like laptop")] = ""
    expires_s: Annotated[
        float | None, Field(gt=0, le=10 * 366 * 86400, allow_inf_nan=False, description="how long it lasts")
    ] = None
    user: Annotated[Name | None, Field(description="whose token; only admins make them for others")] = None


class NewUser(_Body):
    name: Name
    role: Role = Role.MEMBER
    password: Annotated[Password | None, Field(description="without one, the answer carries a one-time link")] = None
    restore: Annotated[bool, Field(description="bring back a removed account, and with it its runs")] = False


class UserChange(_Body):
    role: Role | None = None
    password: Password | None = None


class GroupBody(_Body):
    max_stints: Annotated[Count | None, Field(description="stints at the same time")] = None
    max_accelerators: Annotated[Count | None, Field(description="GPU and NPU cards at the same time")] = None
    max_stored_bytes: Annotated[int | None, Field(ge=0, lt=2**62, description="checkpoints and outputs")] = None
    queue: Name | None = None


class QueueBody(_Body):
    weight: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False, description="its share when all are busy")]
