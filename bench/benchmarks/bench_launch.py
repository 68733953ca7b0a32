# SPDX-License-Identifier: Apache-2.0
"""What one launch costs above the driver: 1,000 launches on a driver that returns at once, so asv's us are ns each."""

import arguments
import baseline
import kernels
import null_driver
import peers
from statements import repeated

LAUNCHES = 1000


class _Launch:
    params = [["se_cy_bound", "se_cy_subscript", "empty_vectorcall", "driver_vectorcall", "cuda_core", "cuda_bindings"]]
    param_names = ["implementation"]
    number = 1

    def setup(self, implementation):
        null_driver.use()
        import se_cy

        device = se_cy.Device(0)
        self.name = f"p{self.count}"
        self.ptx = kernels.ptx(self.count)
        self.kernel = device.create_kernel(se_cy.KernelLoaderSpec(self.name).add_ptx(self.ptx))
        self.stream = device.create_stream(non_blocking=True)
        self.buffers = arguments.buffers(device)
        self.text = arguments.text(self.count)
        statement, names = getattr(self, implementation)()
        self.run = repeated(statement, LAUNCHES, {"n": arguments.LENGTH} | self.buffers | names)
        self.run()

    def time_launch(self, implementation):
        self.run()

    def se_cy_bound(self):
        return f"bound({self.text})", {"bound": self.kernel.bind(1, arguments.LENGTH, stream=self.stream)}

    def se_cy_subscript(self):
        names = {"kernel": self.kernel, "stream": self.stream}
        return f"kernel[1, {arguments.LENGTH}, stream]({self.text})", names

    def empty_vectorcall(self):
        return f"empty({self.text})", {"empty": baseline.vectorcall().Empty()}

    def driver_vectorcall(self):
        driver_call = baseline.vectorcall().DriverCall(
            baseline.cydriver_launch(), self.kernel.handle, self.stream.handle, self.buffers["x"].handle)
        return f"driver_call({self.text})", {"driver_call": driver_call}

    def cuda_core(self):
        try:
            return peers.cuda_core(self.ptx, self.name, self.count, arguments.pointers(self.buffers))
        except ImportError as error:
            raise NotImplementedError(error) from None

    def cuda_bindings(self):
        return peers.cuda_bindings(
            self.kernel.handle, self.stream.handle, self.count, arguments.pointers(self.buffers))


class LaunchNoArguments(_Launch):
    count = 0


class LaunchOneArgument(_Launch):
    count = 1


class LaunchFiveArguments(_Launch):
    count = 5


class LaunchSixteenArguments(_Launch):
    count = 16
