"""One user's jobs on a cluster, by name, whichever generation it is: create once, find, list, stop."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from outlast.errors import Unavailable
from outlast.platforms.openpai.rest import PAUSES_S, TRIES, Refusal, Rest
from outlast.platforms.openpai.wire import K8S, Wanted, framework, job_v1, job_v2, run_of, yaml_text

Document = Mapping[str, Any]

#: One list answers for so many jobs; those that are older are asked about one by one.
_LIST_LIMIT = 1000


class Jobs:
    """Names are bare, without the user's. `Unavailable` when the cluster cannot be asked."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    @property
    def is_k8s(self) -> bool:
        return self._rest.cluster.generation == K8S

    def create(self, wanted: Wanted) -> None:
        """Submit a job, once: a request whose answer got lost is looked for by name before it is made again."""
        for left in range(TRIES - 1, -1, -1):
            try:
                self._post(wanted)
                return
            except Refusal as refusal:
                if refusal.code == "ConflictJobError":
                    return  # an earlier try took effect
                raise refusal.unavailable(f"the job {wanted.name}") from None
            except Unavailable as error:
                if error.why != "down":
                    raise
                if self.find(wanted.name) is not None:
                    return
                if not left:
                    raise
            self._rest.pause(PAUSES_S[0])

    def _post(self, wanted: Wanted) -> None:
        if self.is_k8s:
            text = yaml_text(job_v2(wanted))
            self._rest.call("POST", "v2/jobs", tries=1, content=text, headers={"Content-Type": "text/yaml"})
        else:
            self._rest.call("POST", f"v1/user/{self._rest.user}/jobs", tries=1, json=job_v1(wanted))

    def find(self, name: str) -> Document | None:
        """A job whole, or None when the cluster knows none of that name."""
        found = self._unless_gone("GET", self._path(name))
        return found if isinstance(found, Mapping) else None

    def list(self, names: Collection[str]) -> dict[str, Document]:
        """What one call tells of these jobs, and of others; one that is missing may still be there."""
        if not self.is_k8s:
            entries = self._answer("GET", "v1/jobs", params={"username": self._rest.user})
        else:
            query = {"username": self._rest.user, "limit": str(_LIST_LIMIT), "order": "submissionTime,DESC"}
            runs = {run_of(name) for name in names}
            if len(runs) == 1:
                query["keyword"] = runs.pop()
            entries = self._answer("GET", "v2/jobs", params=query)
        own = f"{self._rest.user}~"
        return {
            str(each["name"]).removeprefix(own): each
            for each in (entries if isinstance(entries, list) else ())
            if each.get("name") and each.get("username", self._rest.user) == self._rest.user
        }

    def stop(self, name: str) -> None:
        """End a job. One that has ended, or is not there, is left alone."""
        self._unless_gone("PUT", f"{self._path(name)}/executionType", json={"value": "STOP"})

    def delete(self, run: str) -> None:
        """Forget the jobs of a run; the Kubernetes generation keeps every job for ever."""
        if self.is_k8s:
            return
        for name in self.list(()):
            if run_of(name) == run:
                self._unless_gone("DELETE", self._path(name))

    def waiting(self, virtual_cluster: str) -> int | None:
        """How many jobs of all users wait there; None when the cluster does not count them."""
        if not self.is_k8s:
            return None
        query = {"vc": virtual_cluster, "state": "WAITING", "limit": "1", "withTotalCount": "true"}
        told = self._answer("GET", "v2/jobs", params=query)
        return int(told["totalCount"]) if isinstance(told, Mapping) and "totalCount" in told else None

    def _path(self, name: str) -> str:
        user = self._rest.user
        return f"v2/jobs/{framework(user, name)}" if self.is_k8s else f"v1/user/{user}/jobs/{name}"

    def _answer(self, method: str, path: str, **options: Any) -> Any:
        try:
            return self._rest.call(method, path, **options)
        except Refusal as refusal:
            raise refusal.unavailable(f"{method} {path}") from None

    def _unless_gone(self, method: str, path: str, **options: Any) -> Any:
        """The answer, or None when there is no such job."""
        try:
            return self._rest.call(method, path, **options)
        except Refusal as refusal:
            if refusal.status == 404:
                return None
            raise refusal.unavailable(f"{method} {path}") from None
