"""``python -m selfdiag`` is the command ``selfdiag``."""

from selfdiag.cli.main import main

if __name__ == "__main__":
    main()
