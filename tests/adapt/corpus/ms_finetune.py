import mindspore as ms
from mindspore import nn, Model
from mindspore.dataset import ImageFolderDataset

epochs = 5
data = ImageFolderDataset("canidae/train").batch(16)
net = nn.SequentialCell(nn.Flatten(), nn.Dense(784, 2))
params = ms.load_checkpoint("pretrained/resnet50.ckpt")
ms.load_param_into_net(net, params)
opt = nn.Momentum(net.trainable_params(), 0.001, 0.9)
model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True), opt)
model.train(epochs, data)
ms.save_checkpoint(net, "best.ckpt")
