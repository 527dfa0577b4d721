"""`python -m rankloom`: the command line."""

from rankloom.cli.main import main

if __name__ == "__main__":
    main()
