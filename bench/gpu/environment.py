# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions that a result is of."""

import importlib.metadata
import platform
import time


def _version_of(*packages):
    for package in packages:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return None


def environment(device):
    """What the numbers depend on, by name.

    Parameters
    ----------
    device : se_cy.Device

    Returns
    -------
    dict
    """
    import se_cy

    driver = se_cy.driver_info()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "device": device.name,
        "driver": f"CUDA {driver.version[0]}.{driver.version[1]}, {driver.library}",
        "python": platform.python_version(),
        "platform": platform.platform(),
        "se_cy": _version_of("se_cy"),
        "cuda-bindings": _version_of("cuda-bindings"),
        "cuda-core": _version_of("cuda-core"),
        "cupy": _version_of("cupy-cuda13x", "cupy-cuda12x", "cupy"),
    }
