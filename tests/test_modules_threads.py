# SPDX-License-Identifier: Apache-2.0
"""What other code may do in the middle of a request: threads, garbage collections, weak references' callbacks."""

import gc
import threading
import time
import weakref

import pytest
from helpers.child import check_python

import se_cy


def spec_of(comment, name="k"):
    text = f".version 7.0\n.target sm_52\n.address_size 64\n// {comment}\n.visible .entry {name}() {{ ret; }}\n"
    return se_cy.KernelLoaderSpec(name).add_ptx(text)


def run_for(seconds, *works):
    """Run each work in a thread of its own again and again; returns what they raised."""
    end = time.monotonic() + seconds
    errors = []

    def loop(work):
        while time.monotonic() < end and not errors:
            try:
                work()
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=loop, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_dying_kernel_is_not_handed_out_to_its_weak_reference_callback(device):
    spec = spec_of("dying")
    kernel = device.create_kernel(spec)
    found = []
    reference = weakref.ref(kernel, lambda _: found.append(device.create_kernel(spec)))
    del kernel
    assert reference() is None and len(found) == 1
    found[0][1, 1]()
    assert device.create_kernel(spec) is found[0]


def test_kernels_die_in_one_thread_while_another_asks_for_them(device):
    spec = spec_of("dying in threads")
    kept = weakref.WeakValueDictionary()

    def keep():
        kept[time.monotonic_ns() % 7] = device.create_kernel(spec)

    assert run_for(2, keep, keep, lambda: device.create_kernel(spec)[1, 1]) == []


@pytest.mark.emulator
def test_clear_while_other_threads_create_and_launch(device, emulator, arguments_ptx):
    spec = se_cy.KernelLoaderSpec("nothing").add_ptx(arguments_ptx)
    names = ["nothing", "double_it", "add_hundred", "store_bool"]

    def create():
        for name in names:
            device.create_kernel(spec.named(name))

    def launch():
        try:
            bound = device.create_kernel(spec).bind(1, 1)
            for _ in range(20):
                bound()
        except se_cy.ModuleUnloadedError:
            pass

    assert run_for(2, create, create, launch, device.clear) == []
    device.clear()
    assert emulator.live("modules") == len(se_cy.Device(1).modules)


@pytest.mark.emulator
def test_request_from_a_destructor_in_the_middle_of_another_loads_once(device, emulator):
    spec = spec_of("destructor")
    live = emulator.live("modules")

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            device.create_kernel(spec)

    threshold = gc.get_threshold()
    try:
        for i in range(200):
            device.clear()
            gc.collect()
            device.clear()
            before = emulator.calls("cuModuleLoadDataEx")
            Cycle()
            gc.set_threshold(1 + i % 12)
            device.create_kernel(spec)
            gc.set_threshold(*threshold)
            assert emulator.calls("cuModuleLoadDataEx") == before + 1
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    device.clear()
    assert emulator.live("modules") == live


@pytest.mark.emulator
def test_first_use_by_two_threads_at_once_loses_no_module():
    check_python(
        """
        import gc, threading, time
        import se_cy
        from se_cy import emulator

        device = se_cy.Device(0)
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        spec = se_cy.KernelLoaderSpec("k").add_ptx(ptx)
        threads = []

        def collecting(phase, info):
            if phase == "start" and not threads:
                threads.append(threading.Thread(target=device.create_kernel, args=(spec,)))
                threads[0].start()
                time.sleep(0.05)

        gc.callbacks.append(collecting)
        gc.set_threshold(1)
        device.create_kernel(spec)
        threads[0].join()
        assert emulator.live("modules") == len(device.modules) == 1
        """
    )


@pytest.mark.emulator
def test_clear_from_a_destructor_while_a_launch_fails_does_not_wait_for_that_launch():
    check_python(
        """
        import gc
        import se_cy
        from se_cy import emulator

        device = se_cy.Device(0)
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        bound = device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(ptx))[1, 1]
        gc.callbacks.append(lambda phase, info: device.clear())
        emulator.fail("cuCtxPushCurrent", nth=1, status=999)
        gc.set_threshold(1)
        try:
            bound()
        except se_cy.ModuleUnloadedError:
            pass
        except se_cy.CudaError as error:
            assert error.call == "cuCtxPushCurrent", error
        """,
        timeout=60,
    )


def test_equal_content_made_in_the_middle_of_an_interning_is_one_code():
    for threshold in range(1, 12):
        text = (f".version 7.0\n.target sm_52\n.address_size 64\n// interning {threshold}\n"
                ".visible .entry k() { ret; }\n")
        others = []

        def intern(phase, info, text=text, others=others):
            if phase == "start":
                others.append(se_cy.Code(text))

        before = gc.get_threshold()
        gc.callbacks.append(intern)
        gc.set_threshold(threshold)
        try:
            code = se_cy.Code(text)
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(intern)
        assert all(other is code for other in others)


def test_64_threads_racing_on_32_codes_load_32_modules(device):
    specs = [spec_of(f"race {i}") for i in range(32)]
    before = device.modules.stats()
    barrier = threading.Barrier(64)
    kernels = [None] * 64

    def work(i):
        mine = specs[i % 32:] + specs[:i % 32]
        barrier.wait()
        kernels[i] = {spec.select(device.compute_capability): device.create_kernel(spec) for spec in mine}

    threads = [threading.Thread(target=work, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = device.modules.stats()
    assert (after.loads - before.loads, after.failures - before.failures, len(device.modules)) == (32, 0, 32)
    assert all(found == kernels[0] for found in kernels)


def test_device_of_one_ordinal_asked_for_by_many_threads_is_one_object():
    check_python(
        """
        import threading
        import se_cy

        barrier, found = threading.Barrier(32), []

        def work():
            barrier.wait()
            found.append(se_cy.Device(0))
            found[-1].memory_info()

        threads = [threading.Thread(target=work) for _ in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 32 and len(set(map(id, found))) == 1
        """
    )


@pytest.mark.emulator
def test_reader_does_not_wait_for_a_load_in_progress(device, emulator):
    warm = spec_of("warm")
    kernel = device.create_kernel(warm)
    cold = spec_of("cold")
    with emulator.block("cuModuleLoadDataEx") as held:
        loading = threading.Thread(target=device.create_kernel, args=(cold,))
        loading.start()
        held.wait_until_reached()
        assert device.create_kernel(warm) is kernel and device.create_kernel(spec_of("warm")) is kernel
        kernel[1, 1]()
        device.synchronize()
        assert loading.is_alive()
    loading.join()


@pytest.mark.emulator
def test_dropping_and_collecting_do_not_wait_for_a_running_kernel(device, emulator):
    # Unloading waits for all work of the context: nobody but who asks for it may be made to.
    kernel = device.create_kernel(spec_of("dropped while busy"))
    own = device.load(spec_of("own, dropped while busy").select((9, 0)), shared=False)
    with emulator.block("cuModuleUnload") as held:
        unloading = threading.Thread(target=device.load(spec_of("unloading").select((9, 0))).unload)
        unloading.start()
        held.wait_until_reached()
        del kernel, own
        gc.collect()
        device.create_kernel(spec_of("made while busy"))[1, 1]()
        assert unloading.is_alive()
    unloading.join()
