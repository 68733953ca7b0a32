# SPDX-License-Identifier: Apache-2.0
"""The logger of the package, `se_cy`; fetched where something is said, as importing `logging` takes milliseconds."""

from functools import cache


@cache
def logger():
    """Return the logger `se_cy`, silent unless the program sets up logging."""
    import logging

    package = logging.getLogger("se_cy")
    package.addHandler(logging.NullHandler())
    return package
