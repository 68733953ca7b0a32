# SPDX-License-Identifier: Apache-2.0
"""What it costs to find a kernel whose code is loaded: 1,000 look-ups on the null driver, so asv's us are ns each."""

import kernels
import null_driver
from statements import repeated

LOOK_UPS = 1000


class WarmLookup:
    params = [
        [1_000, 1_000_000, 64_000_000],
        ["se_cy", "se_cy_new_spec", "se_cy_dropped_kernel",
         "cuda_core_get_kernel", "cuda_core_from_ptx", "dict_of_bytes"],
    ]
    param_names = ["code_bytes", "implementation"]
    number = 1
    repeat = (3, 50, 5.0)
    warmup_time = 0
    timeout = 300

    def setup(self, code_bytes, implementation):
        null_driver.use()
        statement, names = getattr(self, implementation)(kernels.ptx(5, code_bytes))
        self.run = repeated(statement, LOOK_UPS, names)
        exec(statement, names)

    def time_look_up(self, code_bytes, implementation):
        self.run()

    def se_cy(self, ptx):
        import se_cy

        create_kernel = se_cy.Device(0).create_kernel
        spec = se_cy.KernelLoaderSpec("p5").add_ptx(ptx)
        return "create_kernel(spec)", {"create_kernel": create_kernel, "spec": spec, "kept": create_kernel(spec)}

    def se_cy_new_spec(self, ptx):
        import se_cy

        create_kernel = se_cy.Device(0).create_kernel
        code = se_cy.Code(ptx)
        names = {"create_kernel": create_kernel, "KernelLoaderSpec": se_cy.KernelLoaderSpec, "code": code}
        kept = create_kernel(se_cy.KernelLoaderSpec("p5").add_ptx(code))
        return 'create_kernel(KernelLoaderSpec("p5").add_ptx(code))', names | {"kept": kept}

    def se_cy_dropped_kernel(self, ptx):
        # Nobody keeps the kernel, so each look-up makes the object anew.
        statement, names = self.se_cy(ptx)
        del names["kept"]
        return statement, names

    def cuda_core_get_kernel(self, ptx):
        return 'module.get_kernel("p5")', {"module": _object_code().from_ptx(ptx)}

    def cuda_core_from_ptx(self, ptx):
        return 'ObjectCode.from_ptx(ptx).get_kernel("p5")', {"ObjectCode": _object_code(), "ptx": ptx}

    def dict_of_bytes(self, ptx):
        # A caller's own copy of the code, as after reading a file again: equal, and another object.
        return "modules[ptx]", {"modules": {ptx: None}, "ptx": bytes(bytearray(ptx))}


def _object_code():
    try:
        from cuda.core import Device, ObjectCode
    except ImportError:
        raise NotImplementedError("cuda.core is not installed") from None
    Device(0).set_current()
    return ObjectCode
