"""Classes of a program that are built on those of a library which have a state: averages of weights, containers."""

from __future__ import annotations

from programs import Program

TRAIN = """
    import torch
    import utils

    def train(model, optimizer, rows, args, model_ema=None):
        for x, y in rows:
            STEP
            if model_ema:
                model_ema.update_parameters(model)

    def main(args):
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        model_ema = None
        if args.ema:
            model_ema = utils.Average(model, 0.9)
        for epoch in range(args.epochs):
            train(model, optimizer, utils.rows(), args, model_ema)
        return model_ema
"""


def test_an_average_of_weights_that_is_built_on_the_one_of_torch_is_kept(tmp_path):
    program = Program(
        tmp_path,
        utils="""
            import torch

            def rows():
                return [(1.0, 2.0)]

            class Average(torch.optim.swa_utils.AveragedModel):
                def __init__(self, model, decay):
                    def mean(old, new, count):
                        return decay * old + (1 - decay) * new

                    super().__init__(model, "cpu", mean)
        """,
        train=TRAIN,
    )
    done = program.adapt()
    assert not done.by_hand
    assert '"model_ema": model_ema.state_dict() if model_ema is not None else None' in program.text("train.py")


def test_what_is_built_on_a_plain_class_of_a_library_is_no_module(tmp_path):
    program = Program(
        tmp_path,
        utils="""
            import collections

            def rows():
                return [(1.0, 2.0)]

            class Average(collections.UserDict):
                def __init__(self, model, decay):
                    super().__init__()

                def update_parameters(self, model):
                    pass
        """,
        train=TRAIN,
    )
    program.adapt()
    assert "model_ema.state_dict" not in program.text("train.py")
