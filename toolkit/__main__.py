"""`python -m toolkit` is the `toolkit` command."""

from toolkit.cli import run

if __name__ == "__main__":
    run()
