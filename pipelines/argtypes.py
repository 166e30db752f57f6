# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types of command-line arguments for argparse, whose errors give the valid values and the refused text. archive.py runs in a
virtual environment, so this module needs only Python's standard library."""
import argparse
import math


def number_in(least=-math.inf, most=math.inf, kind=int):
    """Returns the type of a command-line argument that is a number in this range; NaN is never valid."""
    limits = f" from {least} to {most}" if most < math.inf else f" of at least {least}" if least > -math.inf else ""

    def parse(text):
        try:
            number = kind(text)
        except ValueError:
            number, text = math.nan, f'"{text}"'
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"needs a {'whole ' if kind is int else ''}number{limits}, not {text}")
        return number
    return parse


def length(text):
    """Parses a positive length in mm."""
    try:
        number = float(text)
    except ValueError:
        number, text = math.nan, f'"{text}"'
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"needs a length in mm above 0 and below 1000000, not {text}")
    return number


def board_size(text):
    """Parses COLUMNSxROWS, with at least 2 of each."""
    try:
        columns, rows = map(int, text.lower().split("x"))
    except ValueError:
        columns = rows = 0
    if min(columns, rows) < 2:
        raise argparse.ArgumentTypeError(f'needs COLUMNSxROWS with at least 2 of each, such as 9x6, not "{text}"')
    return columns, rows
