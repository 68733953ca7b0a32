# SPDX-License-Identifier: Apache-2.0
import gc
import threading

import numpy as np
import pytest

import se_cy


def ptx(name="k", comment="", version="7.0", body="ret;"):
    return (f".version {version}\n.target sm_52\n.address_size 64\n// {comment}\n"
            f".visible .entry {name}() {{ {body} }}\n")


def spec_of(text, name="k"):
    return se_cy.KernelLoaderSpec(name).add_ptx(text)


def counts(device):
    stats = device.modules.stats()
    return stats.hits, stats.misses, stats.loads, stats.failures


def change(device, before):
    return tuple(now - then for now, then in zip(counts(device), before))


def test_second_request_is_a_hit_and_the_same_kernel(device):
    spec = spec_of(ptx(comment="hit"))
    before = counts(device)
    kernel = device.create_kernel(spec)
    assert change(device, before) == (0, 1, 1, 0)
    assert device.create_kernel(spec) is kernel
    assert device.create_kernel(spec_of(ptx(comment="hit"))) is kernel
    assert change(device, before) == (2, 1, 1, 0)


def test_dropped_kernel_leaves_its_module_loaded(device):
    spec = spec_of(ptx(comment="dropped"))
    device.create_kernel(spec)
    gc.collect()
    before = counts(device)
    assert device.create_kernel(spec).name == "k"
    assert change(device, before) == (1, 0, 0, 0)


def test_two_names_of_one_code_are_two_functions_of_one_module(device, kernel_of, zeros):
    double_it, add_hundred = kernel_of("double_it"), kernel_of("add_hundred")
    assert double_it.module == add_hundred.module and double_it.handle != add_hundred.handle
    assert len(device.modules) == 1
    out = device.to_device(np.arange(4, dtype=np.int32))
    double_it[1, 4](out)
    add_hundred[1, 4](out)
    assert out.to_host().tolist() == [100, 102, 104, 106]


def test_one_name_in_two_codes_is_two_kernels(device, arguments_ptx):
    # B27: double_it under the name of add_hundred in the second code, alternated.
    swapped = (arguments_ptx.replace(b"double_it", b"_moving_").replace(b"add_hundred", b"double_it")
               .replace(b"_moving_", b"add_hundred"))
    kernels = {}
    for which, text in (("first", arguments_ptx), ("second", swapped)):
        for name in ("double_it", "add_hundred"):
            kernels[which, name] = device.create_kernel(se_cy.KernelLoaderSpec(name).add_ptx(text))
    for _ in range(2):
        for (which, name), kernel in kernels.items():
            out = device.to_device(np.array([7], np.int32))
            kernel[1, 1](out)
            doubles = (which == "first") == (name == "double_it")
            assert out.to_host()[0] == (14 if doubles else 107), (which, name)


def test_missing_name_lists_what_the_module_has_and_leaves_it_usable(device, arguments_ptx):
    # B08
    spec = se_cy.KernelLoaderSpec("absent").add_ptx(arguments_ptx)
    with pytest.raises(se_cy.KernelNotFoundError) as caught:
        device.create_kernel(spec)
    assert "'absent'" in str(caught.value) and "double_it" in str(caught.value)
    assert "_Z5scalePfi" in caught.value.available and isinstance(caught.value, LookupError)
    with pytest.raises(se_cy.KernelNotFoundError, match="_Z5scalePfi.*extern"):
        device.create_kernel(spec.named("scale"))
    with pytest.raises(se_cy.KernelNotFoundError, match="blanks"):
        device.create_kernel(spec.named("double_it "))
    with pytest.raises(se_cy.KernelNotFoundError):
        device.create_kernel(spec.named("größe"))
    assert device.create_kernel(spec.named("_Z5scalePfi")).name == "_Z5scalePfi"
    assert device.modules.stats().modules == 1


def test_failed_load_leaves_nothing_and_has_the_log(device):
    broken = spec_of(ptx(comment="broken", body="frobnicate.u32 %r1;"))
    before = device.modules.stats()
    for attempt in (1, 2):
        with pytest.raises(se_cy.JitError) as caught:
            device.create_kernel(broken)
        assert "line 5" in caught.value.log and caught.value.log in str(caught.value)
        now = device.modules.stats()
        assert now.failures - before.failures == attempt
        assert (now.modules, now.nbytes, now.loads) == (before.modules, before.nbytes, before.loads)


def test_ptx_that_is_too_new_names_both_versions(device):
    with pytest.raises(se_cy.JitError) as caught:
        device.create_kernel(spec_of(ptx(version="99.0")))
    assert caught.value.name == "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
    driver = "{}.{}".format(*se_cy.driver_info().version)
    assert "99.0" in str(caught.value) and f"CUDA {driver}" in str(caught.value)


@pytest.mark.emulator
@pytest.mark.parametrize("function", ["cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetParamInfo"])
def test_injected_failure_is_named_and_the_next_attempt_succeeds(device, emulator, arguments_ptx, function):
    spec = se_cy.KernelLoaderSpec("every_width").add_ptx(arguments_ptx)
    live = emulator.live("modules")
    emulator.fail(function, nth=1, status=2)
    with pytest.raises(se_cy.OutOfMemoryError) as caught:
        device.create_kernel(spec)
    assert caught.value.call == function
    assert emulator.live("modules") == live + len(device.modules)
    assert len(device.create_kernel(spec).parameters) == 7


@pytest.mark.emulator
def test_failure_after_the_load_unloads_the_module(device, emulator):
    spec = spec_of(ptx(comment="after the load"))
    foreign = "cuCtxPopCurrent"
    live = emulator.live("modules")
    # The calling thread has no context, so the load pushes one and pops it afterwards.
    emulator.fail(foreign, nth=1, status=999)
    with pytest.raises(se_cy.CudaError):
        device.create_kernel(spec)
    assert emulator.live("modules") == live and len(device.modules) == 0


def test_clear_unloads_and_its_kernels_say_so(device):
    spec = spec_of(ptx(comment="clear"))
    kernel = device.create_kernel(spec)
    bound = kernel.bind(1, 1)
    before = device.modules.stats()
    device.clear()
    assert len(device.modules) == 0 and device.modules.stats().nbytes == 0
    assert device.modules.stats().unloads == before.unloads + 1
    for use in (bound, lambda: kernel[1, 1], lambda: kernel.attributes, lambda: kernel.handle,
                lambda: kernel.module.kernels, lambda: kernel.module["k"]):
        with pytest.raises(se_cy.ModuleUnloadedError, match="unloaded"):
            use()
    assert "unloaded" in repr(kernel)
    again = device.create_kernel(spec)
    assert again is not kernel
    again[1, 1]()


@pytest.mark.emulator
def test_clear_without_waiting_unloads_at_the_next_synchronize(device, emulator):
    device.create_kernel(spec_of(ptx(comment="later")))
    live = emulator.live("modules")
    device.clear(wait=False)
    assert emulator.live("modules") == live and len(device.modules) == 0
    device.synchronize()
    assert emulator.live("modules") == live - 1


def test_load_gives_a_module_with_its_kernels(device, arguments_ptx):
    module = device.load(arguments_ptx)
    assert "double_it" in module.kernels and module.device is device
    assert module["double_it"] is device.create_kernel(se_cy.KernelLoaderSpec("double_it").add_ptx(arguments_ptx))
    assert "double_it" in module and "absent" not in module and len(module) == len(list(module)) == len(module.kernels)
    assert list(device.modules) == [module] and module.code is se_cy.Code(arguments_ptx)
    with pytest.raises(se_cy.KernelNotFoundError):
        module["absent"]
    with pytest.raises(TypeError, match="int"):
        module[0]


@pytest.mark.emulator
def test_each_device_has_modules_of_its_own():
    # B07
    spec = spec_of(ptx(comment="two devices"))
    kernels = [se_cy.Device(ordinal).create_kernel(spec) for ordinal in (0, 1, 0, 1)]
    assert kernels[0] is kernels[2] and kernels[1] is kernels[3] and kernels[0] is not kernels[1]
    for kernel in kernels:
        kernel[1, 1]()


def test_threads_that_ask_at_once_share_one_load(device):
    specs = [spec_of(ptx(comment=f"race {i}")) for i in range(8)]
    before = counts(device)
    barrier = threading.Barrier(32)
    found = [None] * 32

    def ask(i):
        barrier.wait()
        found[i] = device.create_kernel(specs[i % 8])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[i] is found[i % 8] for i in range(32))
    assert change(device, before)[2] == 8


def test_threads_that_wait_for_a_failing_load_each_raise_their_own_error(device):
    spec = spec_of(ptx(comment="race to fail", body="frobnicate.u32 %r1;"))
    barrier = threading.Barrier(16)
    errors = []

    def ask():
        barrier.wait()
        try:
            device.create_kernel(spec)
        except se_cy.JitError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 16 and len({id(error) for error in errors}) == 16
    assert all("line 5" in error.log for error in errors)


@pytest.mark.emulator
def test_reset_by_somebody_else_loads_anew_and_old_kernels_say_so():
    from helpers.child import check_python

    check_python(
        """
        import numpy as np
        import se_cy
        from cuda.bindings import driver

        device = se_cy.Device(0)
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        spec = se_cy.KernelLoaderSpec("k").add_ptx(ptx)
        stream = device.create_stream()
        memory = device.allocate(4, "f4")
        kernel = device.create_kernel(spec)
        bounds = kernel[1, 1, stream], kernel[1, 1]
        bounds[0]()
        status, = driver.cuDevicePrimaryCtxReset(0)
        assert status == 0
        again = device.create_kernel(spec)
        assert again is not kernel
        again[1, 1]()
        for use in (*bounds, lambda: kernel[1, 1], lambda: kernel.module.kernels, stream.synchronize, memory.to_host):
            try:
                use()
            except se_cy.ContextResetError as error:
                assert "reset" in str(error)
            else:
                raise AssertionError(use)
        stream.close()
        memory.close()
        device.synchronize()
        """
    )


def test_kernels_modules_and_bound_kernels_refuse_pickling(device):
    import pickle

    kernel = device.create_kernel(spec_of(ptx(comment="pickle")))
    for thing in (kernel, kernel.module, kernel[1, 1], device.modules):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(thing)


@pytest.mark.emulator
def test_module_whose_unload_fails_is_unloaded_by_the_next_attempt(device, emulator):
    device.create_kernel(spec_of(ptx(comment="unload fails")))
    live, before = emulator.live("modules"), device.modules.stats().unloads
    emulator.fail("cuModuleUnload", nth=1, status=999)
    with pytest.raises(se_cy.CudaError, match="cuModuleUnload"):
        device.clear()
    assert (emulator.live("modules"), device.modules.stats().unloads) == (live, before)
    device.synchronize()
    assert (emulator.live("modules"), device.modules.stats().unloads) == (live - 1, before + 1)
