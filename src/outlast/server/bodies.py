"""What requests carry, field by field: checked on the way in and described in the schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from outlast.model.spec import NAME_PATTERN
from outlast.server.paging import MOST_ROWS, USUAL_ROWS

Text = Annotated[str, Field(max_length=4096)]
Texts = Annotated[list[Text], Field(max_length=1000)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=1 << 20)]
_NO_NUL = r"^[^\x00]+$"


class Body(BaseModel):
    """An unknown field is an error: a misspelt one would silently do nothing."""

    model_config = ConfigDict(extra="forbid")


class RunsQuery(Body):
    """Which runs, in which order, and which page of them."""

    name: Annotated[str, Field(max_length=200)] = Field("", description="a glob, like mnist-*")
    state: Annotated[list[str], Field(max_length=50)] = []
    where: Annotated[list[str], Field(max_length=50)] = Field([], description="conditions, like lr<0.1")
    sort: Annotated[str, Field(max_length=200)] = "created"
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = USUAL_ROWS
    cursor: Annotated[str, Field(max_length=500)] = ""


class OverviewQuery(Body):
    """Which runs, in which order: the words of `outlast ps`."""

    name: Annotated[str, Field(max_length=200)] = Field("", description="a glob, like mnist-*")
    state: Annotated[list[str], Field(max_length=50)] = []
    where: Annotated[list[str], Field(max_length=50)] = Field([], description="conditions, like lr<0.1")
    sort: Annotated[str, Field(max_length=200)] = "created"
    limit: Annotated[int, Field(ge=1, le=10**6)] | None = Field(None, description="only so many")
    recent: Annotated[int, Field(ge=0, le=10**6)] | None = Field(
        None, description="all open runs, and so many of those that ended"
    )


class InputBody(Body):
    """Data that was found by the one who asks: where it lies now, and where the script looks for it."""

    name: Annotated[str, Field(pattern=f"^(?:{NAME_PATTERN.pattern})$", max_length=63)]
    source: Annotated[Text, Field(pattern=_NO_NUL, description="an address, upload:SHA256, or a name of the hub")]
    path: Annotated[Text, Field(pattern=_NO_NUL, description="where the script looks, like mnist or ../data")]
    writable: bool = False


class RunBody(Body):
    """The words of `outlast run`."""

    target: Text = Field(description="the script within the code, or a folder with outlast.toml: '.'")
    code: Sha256 | None = Field(None, description="the upload that holds the code; without one, target is a path here")
    project: Annotated[str, Field(max_length=400)] | None = Field(
        None, description="the code is this project of the hub: owner/name, or owner/name@revision"
    )
    folder: Annotated[str, Field(pattern=r"^[^/\x00-\x1f]{1,200}$")] | None = Field(
        None, description="what the code folder is called; a run of '.' is named after it"
    )
    args: Texts = []
    data: Texts = Field(
        [], description="NAME=SRC; SRC is an address, a name of the hub like model:ann/lenet@v1, or upload:SHA256"
    )
    inputs: Annotated[list[InputBody], Field(max_length=1000)] | None = Field(
        None, description="found already: data and the [data] of outlast.toml are not looked at then"
    )
    checkpoint: Text | None = None
    output: Text | Texts | None = None
    limit: Text | None = None
    stints: Text | None = None
    until: Text | None = None
    params: Texts = []
    running_parameters: Text | None = None
    requirements: Text | None = None
    environment: Text | None = None
    python: Text | None = None
    env: Texts = []
    secrets: Texts = []
    cpus: Count | None = None
    memory: Text | None = None
    gpus: Count | None = None
    npus: Count | None = None
    nodes: Count | None = None
    name: Text | None = None
    platform: Text | None = None
    store: Text | None = None
    grace: Text | None = None
    retries: Count | None = None
    network: bool | None = None
    sandbox: Literal["auto", "on", "off"] | None = None
    include: Texts = []
    exclude: Texts = []
    allow_secret_files: bool | None = None
    contract: Literal["plain", "modelarts", "modelarts-v1", "xihe", "openpai"] | None = None
    drop_unknown: bool | None = None
    ma_log: bool | None = None
    of: Text | None = Field(None, description="the run whose results are evaluated")
    aim: bool | None = None


class SweepBody(RunBody):
    """The words of `outlast sweep`; several values of a parameter stand in `params`, commas between."""

    at_once: Annotated[int, Field(ge=1, le=10**6)] | None = None
    metric: Text | None = None
    early_stop: bool = False
    early_stop_after: Annotated[float, Field(gt=0, le=1e9)] = 4.0
    random: Annotated[int, Field(ge=1, le=10**6)] | None = None
    seed: Annotated[int, Field(ge=0, le=1 << 53)] | None = None


class CleanBody(Body):
    """What `outlast gc` takes."""

    keep_last: Annotated[int, Field(ge=1, le=10**6)] | None = None
    keep_best: Text | None = None
    dry_run: bool = False


class ReindexBody(Body):
    """Further stores to search."""

    stores: Texts = []


class ResumeBody(Body):
    """Where to go on; nothing means the last checkpoint."""

    from_stint: Annotated[int, Field(ge=1, le=10**6)] | None = None
    checkpoint: Text | None = None
    limit: Text | None = None


class CloneBody(Body):
    """What is different about the new run; nothing means: the same again, from the beginning."""

    checkpoint: Annotated[Text | None, Field(description="go on from this one; last: from the newest")] = None
    name: Text | None = None
    params: Annotated[Texts, Field(description="instead of parameters of the same name, like lr=0.1")] = []


class ImportBody(Body):
    """A job file of another system."""

    kind: Literal["openpai", "modelarts"]
    name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\.(json|jsonc|yaml|yml)$", description="of the file")
    ]
    text: Annotated[str, Field(max_length=1 << 20, description="what stands in it")]
    code: Annotated[Sha256 | None, Field(description="the upload with the job's code; OpenPAI needs it")] = None


class UploadBody(Body):
    """What will be sent: its digest comes first, so that it need not be sent twice."""

    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=0, le=1 << 42)]
    kind: Literal["folder", "file"] = Field("folder", description="a tar of a folder, without compression; or one file")
    name: Annotated[str, Field(max_length=255)] = Field("", description="of a file")


class PlaceBody(Body):
    """One address."""

    address: Text


class RenameBody(Body):
    """From one address to another in the same bucket or HDFS."""

    source: Text
    target: Text


class LinkBody(Body):
    """A temporary link to read an object, or to write it."""

    address: Text
    expires: Annotated[str, Field(max_length=32)] = "1h"
    put: bool = False
