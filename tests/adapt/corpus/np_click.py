import click
import numpy as np


@click.command()
@click.option("--epochs", default=3, show_default=True)
@click.option("--data", default="data")
def main(epochs, data):
    """Train."""
    rows = np.loadtxt(f"{data}/points.csv", delimiter=",")
    w = np.zeros(rows.shape[1] - 1)
    for epoch in range(epochs):
        w += 0.1 * rows[:, :-1].mean(axis=0)
        click.echo(f"epoch {epoch} {w.round(6).tolist()}")
    np.save("w.npy", w)


if __name__ == "__main__":
    main()
