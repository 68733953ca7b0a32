# SPDX-License-Identifier: Apache-2.0
"""What a launch from Cython without the GIL costs beside the same loop in C.

    python bench/launch_from_cython.py --driver null

Each round is a million launches by each way, in turn with the C loop, on a driver that returns at once. On a GPU take
`--count 200`: more than the launch queue holds would measure the device.
"""

import argparse
import statistics
from pathlib import Path

import arguments
import drivers
import kernels
from compiled import cython_extension
from gpu.c_loop import CLoop

WAYS = "launch", "launch_raw", "launch_many"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="launches in a burst")
    parser.add_argument("--rounds", type=int, default=101, help="alternations with the C loop for each way")
    drivers.add_option(parser)
    options = parser.parse_args()
    drivers.use(options.driver)
    import se_cy

    device = se_cy.Device(0)
    ptx = kernels.ptx(5) if options.driver == "null" else None
    if ptx is None:
        import importlib.resources

        ptx = importlib.resources.files("se_cy.demo").joinpath("saxpy.ptx").read_bytes()
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("p5" if options.driver == "null" else "saxpy").add_ptx(ptx))
    stream = device.create_stream(non_blocking=True)
    buffers = arguments.buffers(device)
    pointers = arguments.pointers(buffers)
    extension = cython_extension(Path(__file__).with_name("outside_launch") / "outside_launch.pyx")
    loops = extension.Loops(kernel.bind(1, arguments.LENGTH, stream=stream), arguments.A, *pointers.values(),
                            arguments.LENGTH)
    in_c = CLoop(kernel.handle, pointers, options.count).on(stream.handle)
    print(f"{options.rounds} alternations of bursts of {options.count:,}; ns of one launch, medians")
    for way in WAYS:
        burst = getattr(loops, way)
        pairs = []
        for _ in range(options.rounds):
            pairs.append((burst(options.count), in_c()))
            device.synchronize()
        ours, c_loop = (statistics.median(times) for times in zip(*pairs))
        more = statistics.median(ours - c for ours, c in pairs)
        print(f"{way:12} {ours:8.2f}   C loop {c_loop:8.2f}   more, median of pairs {more:6.2f}")
    loops.close()


if __name__ == "__main__":
    main()
