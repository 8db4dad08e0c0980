"""Lets `python -m kvlab` run the command line."""

import sys

from .entry import run

sys.exit(run())
