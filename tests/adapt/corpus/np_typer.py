import numpy as np
import typer

app = typer.Typer()


@app.command()
def train(epochs: int = 3, data_dir: str = typer.Option("data", help="folder")):
    rows = np.loadtxt(f"{data_dir}/points.csv", delimiter=",")
    w = np.zeros(rows.shape[1] - 1)
    for epoch in range(epochs):
        w += 0.1 * rows[:, :-1].mean(axis=0)
        print("epoch", epoch, w.round(6).tolist())
    np.save("w.npy", w)


if __name__ == "__main__":
    app()
