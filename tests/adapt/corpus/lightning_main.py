import lightning as L
import torch
from torchvision import datasets, transforms

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(784, 10)
    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.layer(batch[0].flatten(1)), batch[1])
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

data = datasets.MNIST("MNIST", download=True, transform=transforms.ToTensor())
trainer = L.Trainer(max_epochs=3, default_root_dir="lightning_out")
trainer.fit(Lit(), torch.utils.data.DataLoader(data))
