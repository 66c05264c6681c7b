"""`python -m toolkit` is the `toolkit` command."""

import sys

from toolkit.errors import MissingExtraError, need


def run() -> None:
    """The entry point of the `toolkit` command; without the extra `cli` it says what to install."""
    try:
        need("typer", "the command line (typer)")
    except MissingExtraError as error:
        sys.stderr.write(f"toolkit: {error}\n")
        raise SystemExit(2) from None
    from toolkit.cli import main

    raise SystemExit(main())


if __name__ == "__main__":
    run()
