# SPDX-License-Identifier: Apache-2.0
"""Loads and unloads a small module again and again, and watches the memory of the host and the device.

    python bench/soak.py CYCLES [--driver emulator] [--ways own trimmed cleared] [--seconds SECONDS]

The cycles go through the ways in turn. Exits with 1 if memory grew over the last half, or the cycles did not all fit
into the seconds.
"""

import argparse
import gc
import os
import platform
import sys
import time
from importlib.resources import files

import drivers

SAMPLES = 20
BLOCK = 32

# The smallest block that Python's allocator gives is 16 bytes, and malloc's 32: half of one a cycle is no leak of one.
HOST_BYTES_PER_CYCLE = 8
# What the driver takes from the device at once: less is no growth that it can show.
DEVICE_BYTES = 2 << 20


class Cycles:
    """One small module with saxpy, loaded, launched and unloaded by each of the ways that se_cy has."""

    def __init__(self, device):
        import se_cy

        self.KernelLoaderSpec, self.device = se_cy.KernelLoaderSpec, device
        self.ptx = files("se_cy.demo").joinpath("saxpy.ptx").read_bytes()
        self.code = se_cy.Code(self.ptx)
        self.stream = device.create_stream(non_blocking=True)
        self.buffers = [device.allocate(BLOCK, "float32") for _ in range(3)]

    def launch(self, kernel):
        kernel[1, BLOCK, self.stream](2.0, *self.buffers, BLOCK)

    def own(self):
        """A module of the caller's own, over code that lives on."""
        module = self.device.load(self.code, shared=False)
        self.launch(module["saxpy"])
        module.unload()

    def trimmed(self):
        """A shared module over code that is new each time, which the cache lets go because nobody holds its kernel."""
        code = self.ptx + b"\n"
        self.launch(self.device.create_kernel(self.KernelLoaderSpec("saxpy").add_ptx(code)))
        self.device.modules.trim()

    def cleared(self):
        """A shared module that is unloaded although its kernel is held."""
        kernel = self.device.create_kernel(self.KernelLoaderSpec("saxpy").add_ptx(self.code))
        self.launch(kernel)
        self.device.clear()


WAYS = ("own", "trimmed", "cleared")


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(device, cycles, count, seconds):
    """Run the cycles in turn; memory at the start and after each twentieth, as (cycles done, host, device free)."""
    samples = []
    start = time.perf_counter()
    done = 0
    print(f"{'cycles':>10} {'s':>7} {'host RSS':>14} {'device free':>18}")
    for i in range(SAMPLES + 1):
        upto = count * i // SAMPLES
        while done < upto:
            cycles[done % len(cycles)]()
            done += 1
            if not done % 100 and time.perf_counter() - start > seconds:
                upto = done
        gc.collect()
        samples.append((done, resident(), device.memory_info().free))
        print(f"{done:10,} {time.perf_counter() - start:7.1f} {samples[-1][1]:14,} {samples[-1][2]:18,}", flush=True)
        if upto < count * i // SAMPLES:
            break
    return samples


def verdict(samples):
    """What grew over the last half, in words, and whether that is flat."""
    last = samples[-1]
    middle = next(sample for sample in samples if sample[0] >= last[0] / 2)
    cycles = max(last[0] - middle[0], 1)
    host, device = last[1] - middle[1], middle[2] - last[2]
    is_flat = host < HOST_BYTES_PER_CYCLE * cycles and device < DEVICE_BYTES
    return (f"{'flat' if is_flat else 'GREW'}: over the last {cycles:,} cycles host {host:+,} bytes "
            f"({host / cycles:+.3f} a cycle), device {device:+,} bytes ({device / cycles:+.3f} a cycle)"), is_flat


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cycles", type=int)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    drivers.add_option(parser)
    options = parser.parse_args()
    drivers.use(options.driver)
    import se_cy

    device = se_cy.Device(0)
    print(f"{time.strftime('%Y-%m-%d')}, {device.name}, se_cy {se_cy.__version__}, Python {platform.python_version()}, "
          f"{platform.platform()}")
    print(f"{options.cycles:,} cycles of load, launch, unload; in turn: {', '.join(options.ways)}\n")
    modules = Cycles(device)
    samples = soak(device, [getattr(modules, way) for way in options.ways], options.cycles, options.seconds)
    stats = device.modules.stats()
    words, is_flat = verdict(samples)
    print(f"\n{stats.loads:,} loads, {stats.unloads:,} unloads")
    print(words)
    is_whole = samples[-1][0] == options.cycles
    if not is_whole:
        print(f"stopped after {options.seconds:.0f} s: {samples[-1][0]:,} of {options.cycles:,} cycles")
    return 0 if is_flat and is_whole and stats.loads == stats.unloads == options.cycles else 1


if __name__ == "__main__":
    sys.exit(main())
