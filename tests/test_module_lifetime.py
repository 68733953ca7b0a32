# SPDX-License-Identifier: Apache-2.0
"""Which modules stay loaded: the limit, trimming, unloading, pins, and modules of one's own."""

import gc
import logging
import threading
import time

import numpy as np
import pytest
from helpers.child import check_python
from test_modules import ptx, spec_of

import se_cy


@pytest.fixture
def cache(device):
    """Device 0's cache, empty; its limit is put back."""
    limit = device.modules.limit
    yield device.modules
    device.modules.limit = limit
    device.clear()


def codes(count, word):
    return [se_cy.Code(ptx(comment=f"{word} {i}")) for i in range(count)]


def test_limit_takes_out_what_was_asked_for_longest_ago(device, cache):
    assert cache.limit == 1024
    cache.limit = 3
    a, b, c, d = codes(4, "limit")
    for code in (a, b, c, a, d):
        device.load(code)
    assert {module.code for module in cache} == {a, c, d}
    before = cache.stats()
    device.load(b)
    assert cache.stats().loads == before.loads + 1


def test_module_with_a_kernel_bound_kernel_or_module_object_stays_beyond_the_limit(device, cache):
    cache.limit = 1
    a, b, c, d, e = codes(5, "held")
    kernel = device.load(a)["k"]
    bound = device.load(b)["k"][1, 1]
    module = device.load(c)
    device.load(d)
    device.load(e)
    assert {module.code for module in cache} == {a, b, c, e}
    bound()
    kernel[1, 1]()
    assert module.kernels == ("k",)
    device.synchronize()


@pytest.mark.emulator
def test_limit_unloads_nothing_before_a_call_that_may_wait(device, cache, emulator):
    cache.limit = 1
    unloads = emulator.calls("cuModuleUnload")
    for code in codes(5, "later"):
        device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(code))
        gc.collect()
    assert emulator.calls("cuModuleUnload") == unloads and len(cache) == 1
    device.synchronize()
    assert emulator.calls("cuModuleUnload") == unloads + 4 and emulator.live("modules") == 1


def test_limit_counts_modules_with_options_and_can_be_lowered_and_lifted(device, cache):
    (a,) = codes(1, "options")
    cache.limit = None
    for registers in (16, 32, 64):
        device.load(a, options={"max_registers": registers})
    device.load(a)
    assert len(cache) == 4
    cache.limit = 2
    assert len(cache) == 2
    assert device.modules.stats().nbytes == 2 * a.nbytes
    cache.limit = 0
    device.load(a)
    assert len(cache) <= 1


@pytest.mark.parametrize("limit, error", [(-1, ValueError), ("3", TypeError), (True, TypeError), (1.5, TypeError)])
def test_bad_limit_is_refused(cache, limit, error):
    with pytest.raises(error):
        cache.limit = limit
    assert cache.limit == 1024


def test_trim_unloads_the_oldest_that_nobody_holds(device, cache):
    a, b, c, d = codes(4, "trim")
    for code in (a, b, c, d):
        device.load(code)
    kernel = device.load(a)["k"]
    before = cache.stats()
    assert cache.trim(max_modules=2) == 2
    assert {module.code for module in cache} == {a, d}
    assert cache.stats().unloads == before.unloads + 2
    assert cache.trim() == 1 and [module.code for module in cache] == [a]
    kernel[1, 1]()
    del kernel
    assert cache.trim(max_bytes=a.nbytes) == 0
    assert cache.trim(max_bytes=a.nbytes - 1) == 1
    assert len(cache) == 0 and cache.stats().nbytes == 0
    with pytest.raises(ValueError, match="max_modules"):
        cache.trim(max_modules=-1)


def test_unload_ends_one_module_for_all_its_users(device, cache):
    a, b = codes(2, "unload")
    module, kernel = device.load(a), device.load(a)["k"]
    other = device.load(b)["k"]
    module.unload()
    module.unload()
    for use in (lambda: kernel[1, 1](), lambda: kernel.handle, lambda: module["k"], lambda: module.kernels, module.pin):
        with pytest.raises(se_cy.ModuleUnloadedError):
            use()
    other[1, 1]()
    assert device.load(a) != module and device.load(a)["k"].name == "k"


def test_module_of_ones_own_is_nobody_elses(device, contract_kernels, zeros):
    code = se_cy.Code(contract_kernels)
    shared = device.load(code)
    mine, other = device.load(code, shared=False), device.load(code, shared=False)
    assert len({shared, mine, other}) == 3 and len(device.modules) == 1
    assert (shared.is_shared, mine.is_shared) == (True, False)
    out = zeros(1, "i4")
    results = []
    for module in (shared, mine, mine, other):
        module["count"][1, 1](out)
        results.append(int(out.to_host()[0]))
    assert results == [8, 8, 9, 8]
    assert "not shared" in repr(mine) and "not shared" not in repr(shared)


@pytest.mark.emulator
def test_module_of_ones_own_is_unloaded_once_it_is_dropped(device, emulator):
    live = emulator.live("modules")
    (a,) = codes(1, "own")
    module = device.load(a, shared=False)
    kernel = module["k"]
    del module
    device.synchronize()
    assert emulator.live("modules") == live + 1
    kernel[1, 1]()
    del kernel
    gc.collect()
    assert emulator.live("modules") == live + 1  # dropping unloads nothing
    device.synchronize()
    assert emulator.live("modules") == live


@pytest.mark.emulator
@pytest.mark.parametrize("shared", [True, False])
def test_failed_load_with_options_leaves_nothing(device, emulator, shared):
    (a,) = codes(1, f"failing {shared}")
    live, before = emulator.live("modules"), device.modules.stats()
    emulator.fail("cuModuleLoadDataEx")
    with pytest.raises(se_cy.OutOfMemoryError, match="JIT options max_registers=32"):
        device.load(a, shared=shared, options={"max_registers": 32})
    assert emulator.live("modules") == live and device.modules.stats().failures == before.failures + 1
    assert device.load(a, shared=shared, options={"max_registers": 32}).kernels == ("k",)


def test_options_that_ask_for_what_happens_anyway_are_no_options(device):
    (a,) = codes(1, "normal form")
    module = device.load(a)
    assert device.load(a, options={}) == module
    assert device.load(a, options={"optimization_level": 4, "line_info": False, "max_registers": None}) == module
    other = device.load(a, options={"line_info": True, "max_registers": np.int32(40), "cache_mode": "ca"})
    assert other != module
    assert device.load(a, options={"cache_mode": "ca", "max_registers": 40, "line_info": True}) == other
    assert device.load(a, options={"cache_mode": "cg", "max_registers": 40, "line_info": True}) != other


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"registers": 3}, ValueError, "'registers' is no JIT option: there are max_registers"),
        ({"max_registers": 0}, ValueError, "max_registers is 1 to 255; got 0"),
        ({"max_registers": 256}, ValueError, "1 to 255"),
        ({"max_registers": "32"}, TypeError, "max_registers is an int; got '32'"),
        ({"max_registers": True}, TypeError, "max_registers is an int"),
        ({"optimization_level": 5}, ValueError, "0 to 4"),
        ({"line_info": 1}, TypeError, "line_info is a bool"),
        ({"cache_mode": "all"}, ValueError, "'ca' or 'cg'; got 'all'"),
        (3, TypeError, "options is a mapping; got 3"),
    ],
)
def test_bad_options_are_refused_before_anything_is_loaded(device, options, error, message):
    (a,) = codes(1, "bad options")
    before = device.modules.stats()
    with pytest.raises(error, match=message):
        device.load(a, options=options)
    assert device.modules.stats() == before


@pytest.fixture
def contract_kernels(pytestconfig):
    return (pytestconfig.rootpath / "tests/driver_contract/kernels.ptx").read_bytes()


def test_global_variable_is_read_and_checked(device, contract_kernels):
    module = device.load(contract_kernels)
    counter = module.get_global("counter", (), np.int32)
    assert counter.to_host() == 7 and counter.nbytes == 4
    assert module.get_global("counter").shape == (4,) and module.get_global("counter", dtype="i2").shape == (2,)
    with pytest.raises(ValueError, match=r"variable 'counter' has 4 bytes; \(2,\) of int32 is 8"):
        module.get_global("counter", 2, np.int32)
    with pytest.raises(se_cy.GlobalNotFoundError, match="no variable 'absent'") as error:
        module.get_global("absent")
    assert error.value.call == "cuModuleGetGlobal"
    with pytest.raises(TypeError, match="name is a str"):
        module.get_global(b"counter")


def test_writing_a_global_of_a_shared_module_names_the_way(device, contract_kernels, zeros):
    counter = device.load(contract_kernels).get_global("counter", 1, np.int32)
    with pytest.raises(TypeError, match="shared=False"):
        counter.copy_from_host(np.array([1], np.int32))
    assert counter.to_host()[0] == 7
    module = device.load(contract_kernels, shared=False)
    module.get_global("counter", 1, np.int32).copy_from_host(np.array([40], np.int32))
    out = zeros(1, "i4")
    module["count"][1, 1](out)
    assert out.to_host()[0] == 41


def test_global_is_an_argument_until_its_module_is_unloaded(device, contract_kernels):
    module = device.load(contract_kernels, shared=False)
    kernel = device.load(contract_kernels)["put"]
    counter = module.get_global("counter", 1, np.int32)
    kernel[1, 1](counter, 12)
    assert counter.to_host()[0] == 12
    counter.close()
    with pytest.raises(ValueError, match="closed"):
        kernel[1, 1](counter, 13)
    counter = module.get_global("counter", 1, np.int32)
    module.unload()
    for use in (counter.to_host, lambda: kernel[1, 1](counter, 13), lambda: counter.handle):
        with pytest.raises(se_cy.ModuleUnloadedError):
            use()


@pytest.mark.emulator
def test_view_keeps_its_module_and_frees_nothing(device, contract_kernels, emulator):
    device.synchronize()  # frees what earlier tests dropped
    frees = emulator.calls("cuMemFree")
    counter = device.load(contract_kernels, shared=False).get_global("counter", 1, np.int32)
    device.synchronize()
    assert counter.to_host()[0] == 7
    del counter
    device.synchronize()
    assert emulator.calls("cuMemFree") == frees


CONSTANT = """
.version 7.0
.target sm_52
.address_size 64
.const .align 4 .b8 table[16];
.visible .entry read(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.const.u32 %r1, [table+8];
  st.global.u32 [%rd2], %r1;
  ret;
}
"""


def test_constant_memory_can_be_written(device, zeros):
    module = device.load(CONSTANT, shared=False)
    module.get_global("table", 4, np.int32).copy_from_host(np.array([1, 2, 33, 4], np.int32))
    out = zeros(1, "i4")
    module["read"][1, 1](out)
    assert out.to_host()[0] == 33


def test_pin_keeps_a_module_from_other_threads_and_says_so_to_its_own(device):
    (a,) = codes(1, "pin")
    module = device.load(a)
    unloaded = []

    def unload():
        module.unload()
        unloaded.append(time.monotonic())

    with module.pin() as pin:
        assert repr(a) in repr(pin)
        with pytest.raises(RuntimeError, match="pinned by this thread"):
            module.unload()
        with pytest.raises(RuntimeError, match="pinned by this thread"):
            device.clear()
        assert device.modules.trim() == 0
        device.synchronize()
        module["k"][1, 1]()
        thread = threading.Thread(target=unload)
        thread.start()
        time.sleep(0.1)
        assert not unloaded
        with pytest.raises(se_cy.ModuleUnloadedError):
            module["k"]
        device.synchronize()  # what is pinned here is left for later
        left = time.monotonic()
    thread.join(10)
    assert unloaded and unloaded[0] >= left
    pin.close()
    assert "closed" in repr(pin)


def test_dropped_pin_lets_the_module_go(device):
    (a,) = codes(1, "dropped pin")
    module = device.load(a)
    pin = module.pin()
    del pin
    module.unload()
    with pytest.raises(se_cy.ModuleUnloadedError):
        module.pin()


@pytest.mark.emulator
def test_preload_loads_every_function(device, emulator, contract_kernels):
    spec = se_cy.KernelLoaderSpec("put").add_ptx(contract_kernels)
    loads = emulator.calls("cuFuncLoad")
    device.preload(spec, spec_of(ptx(comment="preload")))
    count = len(device.load(contract_kernels).kernels)
    assert count > 5 and emulator.calls("cuFuncLoad") == loads + count + 1
    emulator.fail("cuFuncLoad", nth=2, status=700)
    with pytest.raises(se_cy.CudaError, match="cuFuncLoad"):
        device.preload(spec)


def test_loads_and_unloads_are_logged(device, caplog):
    caplog.set_level(logging.DEBUG, "se_cy")
    module = device.load(ptx(comment="logged"))
    module.unload()
    loaded, unloaded = [record.getMessage() for record in caplog.records]
    assert repr(module.code) in loaded and "loaded" in loaded and " ms" in loaded
    assert repr(module.code) in unloaded and "unloaded" in unloaded and " ms" in unloaded


def test_long_ptx_is_announced_before_and_after(device, caplog):
    caplog.set_level(logging.INFO, "se_cy")
    device.load(ptx(comment="x" * (256 << 10)))
    before, after = [record.getMessage() for record in caplog.records]
    assert "compiles" in before and str(256 << 10)[:2] in before and "loaded" in after
    device.load(ptx(comment="short"))
    assert len(caplog.records) == 2


def test_nothing_is_printed_without_logging():
    assert check_python(
        """
        import se_cy
        device = se_cy.Device(0)
        module = device.load(".version 7.0\\n.target sm_52\\n.address_size 64\\n//" + "x" * 300000
                             + "\\n.visible .entry k() { ret; }\\n")
        module.unload()
        """
    ) == ""


@pytest.mark.parametrize("use", ["kernel", "global", "pin"])
def test_what_is_not_made_by_calling_says_so(use):
    with pytest.raises(TypeError, match="not made by calling"):
        {"kernel": se_cy.Kernel, "global": se_cy.Module, "pin": se_cy.Pin}[use]()
