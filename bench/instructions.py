# SPDX-License-Identifier: Apache-2.0
"""Instructions of one warm look-up, by the size of the code, and of one launch, counted by callgrind.

    python bench/instructions.py

A count does not depend on how busy the machine is. Exits with 1 if the counts of one look-up differ.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from compiled import c_extension, cython_extension

SIZES = 1_000, 1_000_000, 64_000_000

# Run once uncounted, so that everything is loaded and the interpreter has specialised the loop, and once counted.
COUNT = 100
# In each run of a statement that launches without the GIL: what is around them is shared by so many.
CYTHON_LAUNCHES = 10_000


def look_up(nbytes):
    """A statement that finds a kernel of `nbytes` of loaded code, and its names."""
    import kernels

    import se_cy

    create_kernel = se_cy.Device(0).create_kernel
    spec = se_cy.KernelLoaderSpec("p5").add_ptx(kernels.ptx(5, nbytes))
    return "create_kernel(spec)", {"create_kernel": create_kernel, "spec": spec, "kept": create_kernel(spec)}


def look_up_of_dropped_kernel(nbytes):
    """The same, where nobody keeps the kernel: each look-up makes the object anew."""
    statement, names = look_up(nbytes)
    del names["kept"]
    return statement, names


def look_up_by_new_spec(nbytes):
    """The same, with a spec that is new each time, over a `Code` that is not."""
    import kernels

    import se_cy

    create_kernel = se_cy.Device(0).create_kernel
    code = se_cy.Code(kernels.ptx(5, nbytes))
    names = {"create_kernel": create_kernel, "KernelLoaderSpec": se_cy.KernelLoaderSpec, "code": code}
    kept = create_kernel(se_cy.KernelLoaderSpec("p5").add_ptx(code))
    return 'create_kernel(KernelLoaderSpec("p5").add_ptx(code))', names | {"kept": kept}


def intern_known(nbytes):
    """A statement that finds the `Code` that keeps this very bytes object."""
    import kernels

    import se_cy

    ptx = kernels.ptx(5, nbytes)
    return "Code(ptx)", {"Code": se_cy.Code, "ptx": ptx, "kept": se_cy.Code(ptx)}


def launch(nbytes):
    """A statement that launches a kernel with five arguments."""
    import kernels

    import se_cy

    device = se_cy.Device(0)
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("p5").add_ptx(kernels.ptx(5, nbytes)))
    stream = device.create_stream(non_blocking=True)
    names = {name: device.allocate(256, "float32") for name in ("x", "y", "out")}
    return "bound(2.0, x, y, out, 256)", names | {"bound": kernel.bind(1, 128, stream=stream)}


def launch_unbound(nbytes):
    """The same with nothing hoisted: grid, block and stream are given at each launch."""
    _, names = launch(nbytes)
    names = {name: names[name] for name in ("x", "y", "out")} | {"kernel": names["bound"].kernel, "stream": _stream()}
    return "kernel[1, 128, stream](2.0, x, y, out, 256)", names


def _stream():
    import se_cy

    return se_cy.Device(0).create_stream(non_blocking=True)


def launch_from_cython(nbytes):
    """A statement that makes CYTHON_LAUNCHES launches without the GIL, from another package's Cython."""
    return _from_cython(nbytes, "launch")


def launch_many_from_cython(nbytes):
    """The same by one call of launch_many."""
    return _from_cython(nbytes, "launch_many")


def _from_cython(nbytes, way):
    import arguments
    import kernels

    import se_cy

    device = se_cy.Device(0)
    kernel = device.create_kernel(se_cy.KernelLoaderSpec("p5").add_ptx(kernels.ptx(5, nbytes)))
    buffers = arguments.buffers(device)
    loops = cython_extension(Path(__file__).with_name("outside_launch") / "outside_launch.pyx").Loops(
        kernel.bind(1, 128, stream=device.create_stream(non_blocking=True)), arguments.A,
        *arguments.pointers(buffers).values(), arguments.LENGTH)
    return f"loops.{way}({CYTHON_LAUNCHES})", {"loops": loops, "buffers": buffers}


def empty(nbytes):
    """A statement that calls what does nothing but release the GIL and take it back."""
    import baseline

    return "empty(2.0, 3, 4, 5, 256)", {"empty": baseline.vectorcall().Empty()}


LOOK_UPS = (look_up, look_up_by_new_spec, look_up_of_dropped_kernel, intern_known)
FROM_CYTHON = (launch_from_cython, launch_many_from_cython)
SCENES = {scene.__name__: scene for scene in (empty, launch, launch_unbound, *FROM_CYTHON, *LOOK_UPS)}


def run(scene, nbytes):
    """What callgrind runs, in a process of its own."""
    import null_driver
    from statements import repeated

    null_driver.use()
    statement, names = SCENES[scene](nbytes)
    loop = repeated(statement, COUNT, names)
    loop()
    # As a tail call, the counted function would be left before the loop begins.
    extension = c_extension(Path(__file__).with_name("measured.c"), "-fno-optimize-sibling-calls")
    extension.measured(loop)


def each(scene, nbytes):
    """Instructions of one run of the scene's statement, the loop around it included."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured",
         sys.executable, __file__, scene.__name__, str(nbytes)],
        capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "0"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found or found[1] == "0":
        raise RuntimeError(f"callgrind failed:\n{done.stdout}{done.stderr}")
    return int(found[1]) / COUNT


def main():
    for scene in (empty, launch, launch_unbound):
        print(f"{scene.__name__:26} {each(scene, SIZES[0]):10,.0f} instructions", flush=True)
    for scene in FROM_CYTHON:
        instructions = each(scene, SIZES[0]) / CYTHON_LAUNCHES
        print(f"{scene.__name__:26} {instructions:10,.1f} instructions, the driver's included", flush=True)
    is_equal = True
    for scene in LOOK_UPS:
        counts = [round(each(scene, nbytes)) for nbytes in SIZES]
        at_each = ", ".join(f"{count:,} at {nbytes:,}" for count, nbytes in zip(counts, SIZES))
        print(f"{scene.__name__:26} instructions by bytes of code: {at_each}", flush=True)
        is_equal &= len(set(counts)) == 1
    return 0 if is_equal else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(main())
