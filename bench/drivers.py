# SPDX-License-Identifier: Apache-2.0
"""Which driver a program runs on: the machine's own, se_cy's emulated one, or the one whose calls return at once."""

CHOICES = ("cuda", "emulator", "null")


def use(name):
    """Make it this process's driver, before anything has loaded one.

    Parameters
    ----------
    name : {"cuda", "emulator", "null"}
    """
    if name == "emulator":
        import se_cy

        se_cy.use_emulator()
    elif name == "null":
        import null_driver

        null_driver.use()


def add_option(parser):
    """Give an argument parser the option that chooses one."""
    parser.add_argument("--driver", choices=CHOICES, default="cuda", help="the machine's own unless chosen")
