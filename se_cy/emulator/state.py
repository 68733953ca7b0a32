# SPDX-License-Identifier: Apache-2.0
"""What the emulated driver holds, what went wrong in it, and the way back to its start."""
from se_cy.emulator.library import library, names_of


def live(kind=None):
    """Return how many things the driver holds.

    Parameters
    ----------
    kind : str, optional
        Such as "modules"; the keys of ``live()`` are all kinds.

    Returns
    -------
    int or dict
        Without a kind, the number of each: two of these dicts can be compared.
    """
    kinds = names_of(library().se_cy_emulator_kind)
    if kind is None:
        return {name: library().se_cy_emulator_live(name.encode()) for name in kinds}
    if kind not in kinds:
        raise ValueError(f"{kind!r} is none of {', '.join(kinds)}")
    return library().se_cy_emulator_live(kind.encode())


def last_fault():
    """Return what went wrong in the last kernel or copy that faulted, or why a kernel can't run here.

    Returns
    -------
    str
        Kernel, thread, address and the nearest allocation; empty if nothing faulted.
    """
    return library().se_cy_emulator_last_fault().decode(errors="replace")


def explanation():
    """Return why this thread's last call that was refused for a handle or an address was refused.

    Returns
    -------
    str
        Where the handle or the memory was made and where it ended: function, number of the driver call, thread,
        context; empty if no call was refused for such a reason. se_cy's own exceptions have it in their message.
    """
    return library().se_cy_emulator_explanation().decode(errors="replace")


def reset():
    """Go back to the start without a new process.

    Every context is destroyed and its pending work discarded; devices lost to a fault work again; failures, blocks,
    the recording, hidden names, the seed, claims, counters of calls and explanations are forgotten. Devices, the
    driver's version and ids go on, and a forked child stays one that the driver refuses. se_cy's objects made before
    are of an earlier incarnation of their device; the devices themselves can be used at once. No other thread may be
    in a driver call but one that waits.
    """
    from se_cy.driver.status import forget_faults

    library().se_cy_emulator_reset()
    forget_faults()
