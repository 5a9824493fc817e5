# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202, ANN204, B905, N802
"""`hccl` between processes of one machine: copy to the host, let gloo do it, copy back."""

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import ProcessGroup, _create_work_from_future
from torch.futures import Future


def _done(result):
    future = Future()
    future.set_result(result)
    return _create_work_from_future(future)


class StandinGroup(ProcessGroup):
    def __init__(self, store, rank, size, timeout):
        super().__init__(rank, size)
        self._gloo = dist.ProcessGroupGloo(store, rank, size, timeout)

    def getBackendName(self):
        return "hccl"

    def _through_host(self, verb, tensors, options):
        host = [tensor.cpu() for tensor in tensors]
        verb(host, options).wait()
        for tensor, result in zip(tensors, host):
            tensor.copy_(result)
        return _done(tensors)

    def allreduce(self, tensors, options):
        return self._through_host(self._gloo.allreduce, tensors, options)

    def broadcast(self, tensors, options):
        return self._through_host(self._gloo.broadcast, tensors, options)

    def reduce(self, tensors, options):
        return self._through_host(self._gloo.reduce, tensors, options)

    def barrier(self, options=None):
        self._gloo.barrier().wait()
        return _done(None)

    def allgather(self, outputs, inputs, options):
        host = [[tensor.cpu() for tensor in each] for each in outputs]
        self._gloo.allgather(host, [tensor.cpu() for tensor in inputs]).wait()
        for each, results in zip(outputs, host):
            for tensor, result in zip(each, results):
                tensor.copy_(result)
        return _done(outputs)


def install():
    def make(store, rank, size, timeout):
        return StandinGroup(store, rank, size, timeout)

    dist.Backend.register_backend("hccl", make, devices=["npu", "cpu"])
    torch.distributed.is_hccl_available = lambda: True
