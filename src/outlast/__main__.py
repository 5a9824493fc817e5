"""`python -m outlast`: the command, where its own script is not on the path."""

from outlast.cli.entry import main

if __name__ == "__main__":
    raise SystemExit(main())
