"""Stores that the lab's server knows: a bucket, a folder that plays one, another HDFS, and files of its machine."""

import contextlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from outlast.client import Client
from outlast.store.profiles import Profiles
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.server import WebHdfsServer


class Shelf:
    """`bases` are the paths of the stores at the WebHDFS door, by what they are."""

    def __init__(self, pai, seaweed, cluster):
        self.pai, self.seaweed, self.cluster = pai, seaweed, cluster
        self.bucket = seaweed.bucket("hdfs")
        self.folder = pai.folder / "played"
        self.machine = pai.folder / "machine"
        self.machine.mkdir()
        Profiles(pai.settings.home).save("s3", seaweed.access, in_file=True)
        Client(home=pai.settings.home).stores.map("obs://played", self.folder)
        self.bases = {
            "bucket": f"/stores/s3/{self.bucket}",
            "folder": "/stores/obs/played",
            "cluster": f"/stores/hdfs/{cluster.authority.replace(':', '_')}",  # needs no keys
        }

    def objects(self):
        """The keys in the bucket."""
        found = self.seaweed.boto.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return {each["Key"] for each in found}

    def connections(self):
        """How many connections the lab's server has to the bucket's."""
        sockets = set()
        for each in Path(f"/proc/{self.pai.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                sockets.add(str(each.readlink()))
        far = f":{urlsplit(self.seaweed.endpoint).port:04X}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(row[2].endswith(far) and f"socket:[{row[9]}]" in sockets for row in rows)

    def uploads(self):
        """Uploads in parts that are not at their end."""
        return self.seaweed.boto.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])


@pytest.fixture(scope="session")
def shelf(pai, seaweed, tmp_path_factory):
    files = FolderFileSystem(tmp_path_factory.mktemp("cluster"))
    cluster = WebHdfsServer(lambda user, _said_by: files.as_user(user))
    cluster.start()
    yield Shelf(pai, seaweed, cluster)
    cluster.stop()
    files.close()


@pytest.fixture(params=["bucket", "folder", "cluster"])
def base(request, shelf):
    """The path of a store of each kind."""
    return shelf.bases[request.param]
