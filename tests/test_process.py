# SPDX-License-Identifier: Apache-2.0
"""Fork and interpreter exit."""

import pytest
from helpers.child import check_python, run_python

OPEN = """
    import numpy as np
    import se_cy

    ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
    device = se_cy.Device(0)
    spec = se_cy.KernelLoaderSpec("k").add_ptx(ptx)
    kernel = device.create_kernel(spec)
    stream = device.create_stream()
    memory = device.to_device(np.arange(4), stream=stream)
    bound = kernel[1, 1, stream]
    bound()
    cycle = [kernel, stream, memory, bound]
    cycle.append(cycle)
"""


@pytest.mark.emulator
@pytest.mark.parametrize(
    "end, status",
    [("", 0), ("import sys; sys.exit(3)", 3), ("import os, gc; gc.collect()", 0)],
)
def test_exit_with_everything_open_is_silent(end, status):
    # B14
    child = run_python(OPEN + "\n    " + end)
    assert (child.returncode, child.stdout, child.stderr) == (status, "", "")


@pytest.mark.emulator
def test_exit_by_an_error_shows_that_error_alone():
    child = run_python(OPEN + "\n    raise KeyError('mine')")
    assert child.returncode == 1 and child.stderr.rstrip().endswith("KeyError: 'mine'")
    assert child.stderr.count("Traceback") == 1 and "ignored" not in child.stderr


@pytest.mark.emulator
def test_exit_while_daemon_threads_launch_is_silent():
    check_python(
        OPEN
        + """
    import threading, time

    def work():
        while True:
            bound()
            device.create_kernel(spec)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.2)
    """
    )


@pytest.mark.emulator
def test_no_driver_call_after_the_interpreter_began_to_end():
    output = check_python(
        """
        import atexit
        import se_cy
        from se_cy import emulator

        def look():
            before = emulator.calls("cuMemFree"), emulator.calls("cuStreamDestroy"), emulator.calls("cuCtxGetId")
            things.clear()
            after = emulator.calls("cuMemFree"), emulator.calls("cuStreamDestroy"), emulator.calls("cuCtxGetId")
            print("freed nothing" if before == after else (before, after))

        # Handlers run last in, first out: registered before se_cy's own, this one runs behind it.
        atexit.register(look)
        device = se_cy.Device(0)
        things = [device.create_stream(), device.allocate(4, "f4")]
        """
    )
    assert output == "freed nothing\n"


@pytest.mark.emulator
def test_fork_before_first_use_works_in_the_child():
    # B03 a
    check_python(
        """
        import os
        import se_cy
        pid = os.fork()
        device = se_cy.Device(0)
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(ptx))[1, 1]()
        device.synchronize()
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
        """
    )


@pytest.mark.emulator
def test_fork_after_first_use_is_an_error_before_any_driver_call():
    # B03 b and c
    check_python(
        OPEN
        + """
    import gc, os, pickle, sys
    from se_cy import emulator

    functions = ("cuLaunchKernel", "cuModuleLoadDataEx", "cuMemFree", "cuMemFreeAsync", "cuStreamDestroy",
                 "cuStreamSynchronize", "cuCtxGetId", "cuCtxGetCurrent", "cuDeviceGetName", "cuInit", "cuMemAlloc")
    before = [emulator.calls(function) for function in functions]
    pid = os.fork()
    if pid == 0:
        for use in (bound, kernel[1, 1], lambda: device.create_kernel(spec), memory.to_host, stream.synchronize,
                    stream.close, memory.close, lambda: device.allocate(1, "f4"), device.create_stream,
                    device.synchronize, device.clear, device.memory_info, lambda: kernel.attributes,
                    lambda: device.load(ptx), lambda: device.uuid, lambda: device.attributes,
                    lambda: se_cy.Device(1), se_cy.Device.current, lambda: kernel.module.kernels,
                    lambda: kernel.bind(1, 1, shared_bytes=4)):
            try:
                use()
            except se_cy.ForkError as error:
                assert "spawn" in str(error)
            else:
                print("no error", use, flush=True)
                os._exit(1)
        assert pickle.loads(pickle.dumps(spec)).select((9, 0)) is se_cy.Code(ptx)
        assert se_cy.is_available() is False and "fork" in se_cy.driver_info().error
        del cycle, kernel, stream, memory, bound
        gc.collect()
        assert [emulator.calls(function) for function in functions] == before
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    bound()
    stream.synchronize()
    """
    )


@pytest.mark.emulator
def test_first_device_fault_is_kept_and_later_errors_refer_to_it():
    # B06
    check_python(
        """
        import numpy as np
        import se_cy
        from se_cy import emulator

        ptx = '''
        .version 7.0
        .target sm_52
        .address_size 64
        .visible .entry wild() {
            .reg .b64 %rd<2>;
            .reg .b32 %r<2>;
            mov.u64 %rd1, 16;
            mov.u32 %r1, 1;
            st.global.u32 [%rd1], %r1;
            ret;
        }
        '''
        device = se_cy.Device(0)
        memories = [device.allocate(4, "f4") for _ in range(50)]
        kernel = device.create_kernel(se_cy.KernelLoaderSpec("wild").add_ptx(ptx))
        kernel[1, 1]()
        try:
            device.synchronize()
        except se_cy.CudaError as error:
            assert error.status == 700 and not isinstance(error, se_cy.ContextLostError)
            assert "earlier work" in error.hint
        else:
            raise AssertionError("no error")
        assert "wild" in emulator.last_fault()
        for use in (kernel[1, 1], lambda: device.allocate(1, "f4"), device.synchronize, device.create_stream):
            try:
                use()
            except se_cy.ContextLostError as error:
                assert "cuCtxSynchronize" in str(error) and "new process" in error.hint
            else:
                raise AssertionError(use)
        del memories, kernel
        """
    )


@pytest.mark.emulator
def test_fork_in_the_middle_of_a_load_and_fork_of_a_fork():
    check_python(
        """
        import os, threading
        import se_cy
        from se_cy import emulator

        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        spec = se_cy.KernelLoaderSpec("k").add_ptx(ptx)
        device = se_cy.Device(0)
        kernels = []
        held = emulator.block("cuModuleLoadDataEx")
        loading = threading.Thread(target=lambda: kernels.append(device.create_kernel(spec)))
        loading.start()
        held.wait_until_reached()

        def check_child():
            for use in (lambda: device.create_kernel(spec), device.synchronize, device.modules.trim,
                        lambda: device.load(ptx, shared=False), lambda: device.preload(spec)):
                try:
                    use()
                except se_cy.ForkError:
                    continue
                os._exit(2)
            assert se_cy.Code(ptx) is spec.select((9, 0)) and "k" in repr(spec)

        pid = os.fork()
        if pid == 0:
            check_child()
            grandchild = os.fork()
            if grandchild == 0:
                check_child()
                os._exit(0)
            os._exit(os.waitpid(grandchild, 0)[1] != 0)
        assert os.waitpid(pid, 0)[1] == 0
        held.release()
        loading.join()
        kernels[0][1, 1]()
        device.synchronize()
        """
    )


@pytest.mark.emulator
def test_exit_with_a_load_in_progress_and_pins_and_own_modules_open_is_silent():
    check_python(
        OPEN
        + """
    import threading
    from se_cy import emulator

    own = device.load(ptx, shared=False)
    pin = own.pin()
    held = emulator.block("cuModuleLoadDataEx")
    threading.Thread(target=device.load, args=(ptx + "// other",), daemon=True).start()
    held.wait_until_reached()
    """
    )


@pytest.mark.emulator
def test_interrupt_while_waiting_for_the_load_of_another_thread():
    # B49
    check_python(
        """
        import os, signal, threading, time
        import se_cy
        from se_cy import emulator

        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        spec = se_cy.KernelLoaderSpec("k").add_ptx(ptx)
        device = se_cy.Device(0)
        held = emulator.block("cuModuleLoadDataEx")
        loading = threading.Thread(target=device.create_kernel, args=(spec,))
        loading.start()
        held.wait_until_reached()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            device.create_kernel(spec)
        except KeyboardInterrupt:
            assert loading.is_alive()
        else:
            raise AssertionError("not interrupted")
        held.release()
        loading.join()
        device.create_kernel(spec)[1, 1]()
        assert emulator.calls("cuModuleLoadDataEx") == 1
        """
    )


@pytest.mark.emulator
def test_interrupt_while_waiting_to_unload_leaves_the_unload_for_later():
    check_python(
        """
        import os, signal, threading
        import se_cy
        from se_cy import emulator

        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
        device = se_cy.Device(0)
        module = device.load(".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n")
        pins, pinned, leave = [], threading.Event(), threading.Event()

        def hold():
            with module.pin():
                pinned.set()
                leave.wait()

        holding = threading.Thread(target=hold)
        holding.start()
        pinned.wait()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            module.unload()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("not interrupted")
        assert emulator.live("modules") == 1
        leave.set()
        holding.join()
        device.synchronize()
        assert emulator.live("modules") == 0
        """
    )
