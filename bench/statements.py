# SPDX-License-Identifier: Apache-2.0
"""One line of Python, run many times by a loop that costs as little as a loop in Python can."""

from itertools import repeat


def repeated(statement, count, names):
    """A function that runs a statement `count` times.

    The loop's names are local variables, as in a caller's inner loop, and not looked up in a module.

    Parameters
    ----------
    statement : str
    count : int
    names : dict
        What the statement's names stand for.
    """
    source = (f"def run({', '.join(f'{name}={name}' for name in [*names, 'repeat'])}):\n"
              f"    for _ in repeat(None, {count}):\n"
              f"        {statement}\n")
    scope = names | {"repeat": repeat}
    exec(source, scope)
    return scope["run"]
