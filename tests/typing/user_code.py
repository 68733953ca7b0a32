# SPDX-License-Identifier: Apache-2.0
"""Programs of users, for `mypy --strict`. A line with a comment `wrong:` is an error of that code, and no other is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import se_cy
from se_cy import emulator
from se_cy.typing import Dimensions, SupportsCudaStream


class ForeignStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 2


class ObjectCode:
    code = b".version 8.0"


def find_kernel(path: Path, ptx: bytes) -> se_cy.Kernel:
    code = se_cy.Code.from_file(path)
    kind: str = code.kind
    targets: tuple[str, ...] = code.targets
    spec = se_cy.KernelLoaderSpec("saxpy").add_cubin(code).add_ptx(ptx, (9, 0)).add_ptx(ObjectCode(), "sm_90a")
    device = se_cy.Device()
    device.preload(spec, spec.named("other"))
    module = device.load(ptx, shared=False, options={"max_registers": 32, "line_info": True})
    names: tuple[str, ...] = tuple(module) + module.kernels
    print(kind, targets, names, "saxpy" in module, len(module), spec.explain("sm_90"), spec.select((9, 0)).nbytes)
    return device.create_kernel(spec) if module.is_shared else module["saxpy"]


def launch_it(kernel: se_cy.Kernel, grid: Dimensions, stream: SupportsCudaStream) -> float:
    device: se_cy.Device = kernel.device
    x = device.to_device(np.ones(16, np.float32))
    out = device.allocate((16,), np.float32, stream=device.create_stream(non_blocking=True, priority=-1))
    kernel[grid, 16](2.0, x, out, out, 16)
    kernel[np.int64(1), (16, 1)](1)
    kernel[1, 16, stream, 1024]()
    kernel[1, 16, ForeignStream()]()
    kernel.launch(grid, (16, 1, 1), 2.0, x, out, None, 16, stream=ForeignStream(), shared_bytes=64)
    bound: se_cy.BoundKernel = kernel.bind([1, 2], 16, stream=1, shared_bytes=0, hold_gil=True)
    block: tuple[int, int, int] = bound.block
    registers: int = kernel.attributes.registers
    kinds = {parameter.kind for parameter in kernel.parameters}
    with device.create_stream() as own, kernel.module.pin(), out as memory:
        own.synchronize()
        memory.copy_from_host(np.zeros(16, np.float32))
    print(block, registers, kinds, device.memory_info().free, device.modules.stats().hits, device.attributes.warp_size)
    total: float = x.to_host().sum()
    return total


@contextmanager
def failing_launches() -> Iterator[None]:
    se_cy.use_emulator(devices=["9.0", (8, 0)])
    emulator.fail("cuLaunchKernel", nth=1, status=701)
    try:
        with emulator.record() as recording, emulator.block("cuLaunchKernel") as block, emulator.progress():
            yield
            block.wait_until_reached()
        print(recording.functions, recording[0].has_gil, emulator.live()["modules"] + emulator.live("streams"))
    except se_cy.CudaError as error:
        print(error.status, error.call, error.hint)
    finally:
        emulator.clear_failures()


def wrong_uses(device: se_cy.Device, kernel: se_cy.Kernel, memory: se_cy.DeviceMemory) -> None:
    se_cy.Device("0")  # wrong: arg-type
    se_cy.Code(3)  # wrong: arg-type
    se_cy.Code(b"", kind="elf")  # wrong: arg-type
    se_cy.KernelLoaderSpec()  # wrong: call-arg
    se_cy.KernelLoaderSpec("k").add_cubin("text")  # wrong: arg-type
    device.create_kernel("saxpy")  # wrong: arg-type
    device.allocate(16)  # wrong: call-arg
    device.create_stream(True)  # wrong: call-arg misc
    device.to_device(memory)  # wrong: arg-type
    device.ordinal = 1  # wrong: misc
    kernel.bind(1)  # wrong: call-arg
    kernel.bind("1", 1)  # wrong: arg-type
    kernel.bind(1.5, 1)  # wrong: arg-type
    kernel.bind(1, 1, stream="default")  # wrong: arg-type
    kernel[1]  # wrong: index
    kernel[1, 1, 2.0]  # wrong: index
    kernel[1, 1](1, n=2)  # wrong: call-arg
    kernel()  # wrong: operator
    memory.to_host([1])  # wrong: arg-type
    memory.nbytes = 3  # wrong: misc
    emulator.fail(b"cuInit")  # wrong: arg-type

    class Mine(se_cy.Kernel):  # wrong: misc
        pass
