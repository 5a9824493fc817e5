import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=1000)
parser.add_argument("--data", default="./data/train.pt")
args = parser.parse_args()


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    samples = torch.load(args.data)
    loader = torch.utils.data.DataLoader(samples, batch_size=8, shuffle=True)
    model = nn.LSTM(8, 8).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.max_steps)
    state = torch.zeros(1, 8, 8).to(device)
    step, best = 0, None
    while step < args.max_steps:
        for batch in loader:
            out, _ = model(batch.to(device))
            loss = out.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            if step >= args.max_steps:
                break
        state = out.detach()[:1]
        best = loss.item() if best is None else min(best, loss.item())
        print("step", step, "loss", loss.item())
    torch.save(model.state_dict(), "out/model.pt")


main()
