# SPDX-License-Identifier: Apache-2.0
"""Which devices the emulated driver has, which driver it is, and what kernels take of a device."""
import operator
import re

from se_cy.emulator.library import library

_CAPABILITY = re.compile(r"(?:sm_)?(\d{1,2})\.?(\d)", re.ASCII)
_MOST_DEVICES = 64


def parse_devices(devices):
    """Turn what `use_emulator` is given into the emulated driver's own description.

    Parameters
    ----------
    devices : int, sequence or None
        How many devices of compute capability 9.0; or the capability of each, as "9.0", "sm_90" or (9, 0). None is 1.

    Returns
    -------
    str
        Such as "9.0,8.0".

    Raises
    ------
    ValueError
        `devices` names no device, or something that is no compute capability.
    TypeError
        `devices` is neither a number nor a sequence.
    """
    if devices is None:
        devices = 1
    if isinstance(devices, (str, bytes)):
        raise TypeError(f"devices is a number or a sequence such as ['9.0', '8.0'], not {devices!r}")
    if isinstance(devices, bool) or not (hasattr(devices, "__index__") or hasattr(devices, "__iter__")):
        raise TypeError(f"devices is a number or a sequence, not {devices!r} of type {type(devices).__name__}")
    if hasattr(devices, "__iter__"):
        capabilities = [_parse_capability(device) for device in devices]
    else:
        capabilities = ["9.0"] * min(operator.index(devices), _MOST_DEVICES + 1)
    if not 1 <= len(capabilities) <= _MOST_DEVICES:
        raise ValueError(f"1 to {_MOST_DEVICES} emulated devices are possible, not {devices!r}")
    return ",".join(capabilities)


def _parse_capability(device):
    if isinstance(device, str):
        match = _CAPABILITY.fullmatch(device)
        parts = match.groups() if match else ()
    elif isinstance(device, tuple) and not any(isinstance(part, bool) for part in device):
        parts = tuple(operator.index(part) for part in device if hasattr(part, "__index__"))
        parts = parts if len(parts) == len(device) else ()
    else:
        raise TypeError(f"devices has {device!r} in it, which is no compute capability: "
                        "write each as '9.0', 'sm_90' or (9, 0)")
    if len(parts) != 2 or not (0 < int(parts[0]) < 100 and 0 <= int(parts[1]) < 10):
        raise ValueError(f"{device!r} is no compute capability: write it as '9.0', 'sm_90' or (9, 0)")
    return f"{int(parts[0])}.{int(parts[1])}"


def configure(description):
    """Choose the devices, before anything initialises the driver.

    Parameters
    ----------
    description : str
        What `parse_devices` returned; a name may follow each capability: "9.0:first,8.0".

    Raises
    ------
    RuntimeError
        The driver is initialised with other devices, or the description can't be read.
    """
    if not description.isprintable() or library().se_cy_emulator_configure(description.encode()) != 0:
        raise RuntimeError(f"the emulated driver can't have the devices {description!r}: it is in use with others, "
                           "or the description is wrong")


def set_driver_version(version):
    """Choose the CUDA version that the driver implements, before anything initialises it.

    `cuDriverGetVersion` answers it, `cuGetProcAddress` finds only what that version had, and PTX of a newer ISA is
    refused. Call it right after `use_emulator`.

    Parameters
    ----------
    version : tuple of int
        Such as (12, 4); (11, 3) to (13, 0).

    Raises
    ------
    RuntimeError
        The driver has another version and has been called already.
    ValueError
        There is no such version of CUDA, or it is not known here.
    TypeError
        `version` is no tuple of two integers.
    """
    if not isinstance(version, tuple) or len(version) != 2 or not all(hasattr(part, "__index__") for part in version):
        raise TypeError(f"version is a tuple of two integers such as (12, 4), not {version!r}")
    major, minor = (operator.index(part) for part in version)
    is_number = 0 <= major < 100 and 0 <= minor < 10
    answer = library().se_cy_emulator_set_driver_version(major * 1000 + minor * 10) if is_number else -1
    if answer == -1:
        raise ValueError(f"the emulated driver can't be one of CUDA {major}.{minor}")
    if answer:
        raise RuntimeError("the emulated driver is in use already: choose its version before the first driver call")


def claim_registers(kernel_name, count):
    """Let kernels of a name use so many registers a thread, whatever their code needs.

    A block that would need more than the 65,536 registers of a multiprocessor is refused with LAUNCH_OUT_OF_RESOURCES.

    Parameters
    ----------
    kernel_name : str
    count : int
        1 to 255; 0 takes the claim back.
    """
    count = operator.index(count)
    if not kernel_name or "\0" in kernel_name:
        raise ValueError(f"{kernel_name!r} is no name of a kernel")
    if not 0 <= count <= 255 or library().se_cy_emulator_claim_registers(kernel_name.encode(), count):
        raise ValueError(f"a kernel uses 1 to 255 registers a thread, not {count}")
