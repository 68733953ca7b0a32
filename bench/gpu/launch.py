# SPDX-License-Identifier: Apache-2.0
"""What one launch costs on a GPU, beside a loop in C in the same process.

    python bench/gpu/launch.py [FOLDER]

A saxpy of five arguments is launched in bursts of 200, in turn with the C loop; the queue is drained outside the
timing. Prints a table, and writes launch.json to the folder. `--null-driver` tries the program where there is no GPU.
"""

import argparse
import importlib.resources
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import arguments
import baseline
import peers
from gpu.c_loop import CLoop
from gpu.environment import environment
from gpu.table import Table

BURST = 200  # fewer than a launch queue holds: the host never waits for the device while it is timed
BLOCK = arguments.LENGTH


def measure_all(device, table, has_gpu):
    """Every row of the table, then what its differences say."""
    import se_cy

    ptx_path = importlib.resources.files("se_cy.demo").joinpath("saxpy.ptx")
    ptx = ptx_path.read_bytes()
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("saxpy").add_ptx(ptx))
    stream = device.create_stream(non_blocking=True)
    buffers = arguments.buffers(device)
    pointers = arguments.pointers(buffers)
    text = arguments.text(5)
    c_loop = CLoop(kernel.handle, pointers, BURST)
    on_stream, on_default = c_loop.on(stream.handle), c_loop.on(0)

    def measure(title, statement, reference, **names):
        return table.measure(title, statement, {"n": arguments.LENGTH} | buffers | names, reference)

    bound = measure("se_cy bound", f"bound({text})", on_stream, bound=kernel.bind(1, BLOCK, stream=stream))
    held = measure("se_cy bound, hold_gil=True", f"bound({text})", on_stream,
                   bound=kernel.bind(1, BLOCK, stream=stream, hold_gil=True))
    measure("se_cy kernel[grid, block, stream](...)", f"kernel[1, {BLOCK}, stream]({text})", on_stream,
            kernel=kernel, stream=stream)
    on_default_stream = kernel.bind(1, BLOCK)
    measure("se_cy default stream, no context current", f"bound({text})", on_default, bound=on_default_stream)
    c_loop.make_current()
    measure("se_cy default stream, context current", f"bound({text})", on_default, bound=on_default_stream)

    empty = packed = None
    try:
        callables = baseline.vectorcall()
    except NotImplementedError as error:
        print(f"{'empty vectorcall':42} not measured: {error}")
    else:
        empty = measure("empty vectorcall, GIL released and retaken", f"empty({text})", on_stream,
                        empty=callables.Empty())
        driver_call = callables.DriverCall(baseline.cydriver_launch(), kernel.handle, stream.handle, pointers["x"])
        packed = measure("vectorcall with packed arguments", f"driver_call({text})", on_stream,
                         driver_call=driver_call)

    table.measure_peer("cuda.core launch", lambda: peers.cuda_core(ptx, "saxpy", 5, pointers), on_stream)
    table.measure_peer("cuda.bindings cuLaunchKernel",
                       lambda: peers.cuda_bindings(kernel.handle, stream.handle, 5, pointers), on_stream)
    if has_gpu:
        table.measure_peer("CuPy RawModule function", lambda: peers.cupy(ptx_path), on_stream)

    # From ratios, as each row has its own C loop beside it: what drifted between rows is in both.
    nanoseconds = table.c_loop()
    print(f"\nwhere the time goes, ns, from differences of ratios to a C loop of {nanoseconds:.0f}")
    print(f"{'all that a launch costs more than in C':42} {(bound - 1) * nanoseconds:8.0f}")
    print(f"{'the GIL, released and retaken':42} {(bound - held) * nanoseconds:8.0f}")
    if packed is not None:
        print(f"{'a call from Python, with the GIL':42} {empty * nanoseconds:8.0f}")
        print(f"{'checking and packing five arguments':42} {(bound - packed) * nanoseconds:8.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where launch.json goes")
    parser.add_argument("--rounds", type=int, default=301, help="alternations with the C loop for each row")
    parser.add_argument("--null-driver", action="store_true", help="run on the driver that does nothing")
    options = parser.parse_args()
    if options.null_driver:
        import null_driver

        null_driver.use()
    import se_cy

    device = se_cy.Device(0)
    facts = environment(device)
    for name, value in facts.items():
        print(f"{name:14} {value}")
    print(f"{options.rounds} alternations, bursts of {BURST}, garbage collector off\n")
    table = Table(device.synchronize, options.rounds, BURST)
    try:
        measure_all(device, table, has_gpu=not options.null_driver)
    finally:
        if options.folder:
            options.folder.mkdir(parents=True, exist_ok=True)
            result = {"environment": facts, "burst": BURST, "rounds": options.rounds, "rows": table.rows}
            (options.folder / "launch.json").write_text(json.dumps(result, indent=1))
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
