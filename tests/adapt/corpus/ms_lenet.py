import os
import argparse
from mindspore import context, Model, nn
import mindspore.dataset as ds
from mindspore.train.callback import ModelCheckpoint, CheckpointConfig, LossMonitor

parser = argparse.ArgumentParser(description='MindSpore LeNet Example')
parser.add_argument('--device_target', type=str, default="CPU", choices=['Ascend', 'GPU', 'CPU'])
args = parser.parse_args()
context.set_context(mode=context.GRAPH_MODE, device_target=args.device_target)
train_set = ds.MnistDataset(os.path.join("./datasets/MNIST_Data", "train")).batch(32)
net = nn.SequentialCell(nn.Flatten(), nn.Dense(784, 10))
net_opt = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
config_ck = CheckpointConfig(save_checkpoint_steps=1875, keep_checkpoint_max=10)
ckpoint = ModelCheckpoint(prefix="lenet", directory="./ckpt", config=config_ck)
model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), net_opt, metrics={"acc"})
model.train(10, train_set, callbacks=[ckpoint, LossMonitor(0.01, 1875)], dataset_sink_mode=False)
