"""``python -m selfdiag`` and the command ``selfdiag``: as little as possible before Ctrl-C is understood."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from selfdiag.cli.main import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
