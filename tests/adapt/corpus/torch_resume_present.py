import argparse, os, torch
parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", default="./data")
parser.add_argument("--ckpt", default="last.pt")
args = parser.parse_args()
x = torch.load(os.path.join(args.data_dir, "train.pt"))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start_epoch = 0
if os.path.exists("last.pt"):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["opt"])
    start_epoch = state["epoch"] + 1
for epoch in range(start_epoch, 10):
    model(x).sum().backward()
    optimizer.step()
    torch.save({"epoch": epoch, "model": model.state_dict(), "opt": optimizer.state_dict()}, "last.pt")
