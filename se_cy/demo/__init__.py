# SPDX-License-Identifier: Apache-2.0
"""`se_cy demo`: one kernel through the cache and the launch path, checked and timed."""

import importlib.resources
import os
import statistics
import time

LENGTH = 1_000_000
BLOCK = 256

# Fewer launches than a launch queue holds, so that the host never waits for the device while it is timed.
BURST = 200
ROUNDS = 21


def nanoseconds_each(call, drain):
    """Median host time of one call over bursts; the queue is drained outside the timing."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(BURST):
            call()
        times.append((time.perf_counter_ns() - start) / BURST)
        drain()
    return statistics.median(times)


def run():
    """Run saxpy on the GPU if there is one, else on the emulated driver.

    Returns
    -------
    int
        Exit status: 0 if the numbers are NumPy's.
    """
    import numpy as np

    import se_cy
    from se_cy.cli import has_gpu

    if os.environ.get("SE_CY_DRIVER") == "emulator":
        where = "the emulated driver, as SE_CY_DRIVER asks"
    elif has_gpu():
        where = "the GPU"
    else:
        where = "the emulated driver, as no GPU answered"
        se_cy.use_emulator()
    device = se_cy.Device(0)
    major, minor = se_cy.driver_info().version
    print(f"se_cy demo on {where}: {device.name}, {device.arch}, CUDA {major}.{minor}")

    ptx = importlib.resources.files(__name__).joinpath("saxpy.ptx").read_bytes()
    spec = se_cy.KernelLoaderSpec("saxpy").add_ptx(ptx)
    saxpy = device.create_kernel(spec)

    random = np.random.default_rng()
    x, y = random.standard_normal((2, LENGTH), dtype=np.float32)
    x_on_device, y_on_device = device.to_device(x), device.to_device(y)
    out_on_device = device.to_device(np.full(LENGTH, np.nan, np.float32))
    grid = (LENGTH + BLOCK - 1) // BLOCK
    saxpy[grid, BLOCK](2.0, x_on_device, y_on_device, out_on_device, LENGTH)
    out = out_on_device.to_host()

    # The kernel rounds once (a fused multiply-add), NumPy in float64 exactly here, then once to float32.
    expected = (2.0 * x.astype(np.float64) + y).astype(np.float32)
    wrong = int(np.count_nonzero(out != expected))
    print(f"saxpy of {LENGTH:,} float32: {'equal to NumPy' if not wrong else f'{wrong:,} WRONG'}")

    with device.create_stream(non_blocking=True) as stream:
        bound = saxpy.bind(1, BLOCK, stream=stream)
        launch = nanoseconds_each(
            lambda: bound(2.0, x_on_device, y_on_device, out_on_device, BLOCK), stream.synchronize)
    look_up = nanoseconds_each(lambda: device.create_kernel(spec), lambda: None)
    print(f"one launch with five arguments: {launch:,.0f} ns    one warm look-up: {look_up:,.0f} ns    (host, median)")
    print(f"module cache: {device.modules.stats()}")
    return 1 if wrong else 0
