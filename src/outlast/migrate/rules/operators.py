"""Operators that the vendor's list calls unsupported. Often that means untested or slow, so it is said, not judged."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script

_UNSUPPORTED = frozenset(
    f"torch.{name}"
    for name in """
    nn.MaxPool1d nn.MaxPool3d nn.MaxUnpool3d nn.AvgPool3d nn.AdaptiveMaxPool1d nn.AdaptiveMaxPool2d nn.ReflectionPad3d
    nn.ReplicationPad3d nn.RReLU nn.AdaptiveLogSoftmaxWithLoss nn.RNN nn.RNNBase nn.RNNCell nn.TransformerDecoder
    nn.TransformerEncoderLayer nn.TransformerDecoderLayer nn.MultiLabelMarginLoss nn.CosineEmbeddingLoss
    nn.functional.avg_pool3d nn.functional.max_unpool3d nn.functional.adaptive_max_pool1d
    nn.functional.adaptive_max_pool2d nn.functional.gumbel_softmax nn.functional.embedding_bag nn.functional.pdist
    nn.functional.multilabel_soft_margin_loss nn.functional.triplet_margin_loss
    nn.functional.triplet_margin_with_distance_loss nn.utils.rnn.pack_padded_sequence
    nn.utils.rnn.pad_packed_sequence nn.utils.rnn.pack_sequence nn.utils.rnn.unpack_sequence
    nn.utils.rnn.unpad_sequence nn.utils.clip_grad_norm sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor
    sparse_bsc_tensor from_dlpack utils.dlpack.from_dlpack utils.dlpack.to_dlpack quantize_per_tensor
    quantize_per_channel heaviside scatter_reduce poisson nanquantile std_mean unique_consecutive var_mean
    func.jvp func.vjp func.vmap func.jacrev func.jacfwd func.hessian func.functionalize export.export export.save
    export.load fft.fftfreq fft.rfftfreq fft.fftshift fft.ifftshift fft.ihfft2 fft.ihfftn linalg.ldl_factor
    distributed.optim.DistributedOptimizer distributed.tensor.parallel.parallelize_module
    """.split()
)


class Operators(Rule):
    name: ClassVar[str] = "operators"
    summary: ClassVar[str] = "Operators that the vendor's list calls unsupported are listed"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call,)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target != "npu":
            return
        found = script.resolve(node.func)
        if found in _UNSUPPORTED:
            script.report(
                node, Kind.DIFFERS, f"{found} is on the vendor's list of unsupported operators",
                "it may run on the processor instead; measure, or use another operator",
            )  # fmt: skip
