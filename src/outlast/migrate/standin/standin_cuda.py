# mypy: ignore-errors
# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204, N801
"""The script as it is, with CUDA played by the processor: the numbers that the migrated script must repeat."""


def install(torch):
    """Called right behind the first import of torch."""
    import standin_mapping

    mode = standin_mapping.install("cuda")
    standin_mapping.fill(torch.cuda)
    if torch.distributed.is_available():
        standin_mapping.plain_collectives(torch.distributed, "cuda", "nccl")

    class autocast(torch.autocast):
        """Accepted, without effect: the same holds on the other side."""

        def __init__(self, device_type="cuda", *args, **kwargs):
            super().__init__("cpu", enabled=False)

    class GradScaler(torch.amp.GradScaler):
        def __init__(self, device="cpu", *args, **kwargs):
            super().__init__("cpu", **kwargs)

    torch.autocast = torch.amp.autocast = torch.cuda.amp.autocast = autocast
    torch.amp.GradScaler = torch.cuda.amp.GradScaler = GradScaler
    torch.nn.DataParallel.__init__ = _one_card
    return mode


def _one_card(self, module, *args, **kwargs):
    import torch

    torch.nn.Module.__init__(self)
    self.module, self.device_ids = module, []
