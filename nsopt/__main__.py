"""``python -m nsopt``: the command line."""

from nsopt.cli import app

app()
