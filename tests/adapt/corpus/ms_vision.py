import mindspore as ms
from mindvision.dataset import Mnist
from mindvision.classification.models import lenet
from mindvision.engine.callback import LossMonitor
from mindspore.train import Model

download_train = Mnist(path="./mnist", split="train", batch_size=32, shuffle=True, resize=32, download=True)
dataset_train = download_train.run()
network = lenet(num_classes=10, pretrained=False)
net_loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
net_opt = ms.nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
model = Model(network, loss_fn=net_loss, optimizer=net_opt, metrics={'acc'})
model.train(10, dataset_train, callbacks=[LossMonitor(0.01, 1875)])
ms.save_checkpoint(network, "lenet.ckpt")
