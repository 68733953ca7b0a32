# SPDX-License-Identifier: Apache-2.0
import pickle
import threading
import uuid

import numpy as np
import pytest
from helpers.child import check_python

import se_cy


def test_one_object_for_each_ordinal():
    found = []
    threads = [threading.Thread(target=lambda: found.append(se_cy.Device(0))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
    assert se_cy.Device() is se_cy.Device(np.int64(0)) is pickle.loads(pickle.dumps(se_cy.Device(0)))


@pytest.mark.parametrize("ordinal, error", [(99, ValueError), (-1, ValueError), (True, TypeError), ("0", TypeError),
                                            (0.0, TypeError), (None, TypeError)])
def test_bad_ordinal_is_refused(ordinal, error):
    # B12
    with pytest.raises(error, match=str(se_cy.Device.count()) if error is ValueError else "ordinal"):
        se_cy.Device(ordinal)


def test_what_a_device_says_of_itself(device):
    assert device.ordinal == device.handle == 0 and device.name and isinstance(device.uuid, uuid.UUID)
    assert device.arch == "sm_{}{}".format(*device.compute_capability)
    assert device.attributes.warp_size == 32 and device.attributes.max_threads_per_block == 1024
    assert se_cy.is_available() and se_cy.Device.count() >= 1
    assert se_cy.driver_info().error is None and device.is_emulated == se_cy.driver_info().is_emulated


@pytest.mark.emulator
def test_emulated_devices_are_those_asked_for():
    assert [se_cy.Device(i).compute_capability for i in range(se_cy.Device.count())] == [(9, 0), (8, 0)]


@pytest.mark.emulator
def test_callers_current_context_is_the_same_afterwards():
    # B05, B10: none, another device's, and one that is no primary context.
    check_python(
        """
        import numpy as np
        import se_cy
        from cuda.bindings import driver

        se_cy.use_emulator(devices=2)
        ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
        device = se_cy.Device(0)

        def check(result):
            assert result[0] == 0, result
            return result[1] if len(result) == 2 else None

        def work(comment):
            kernel = device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(ptx + "//" + comment))
            stream = device.create_stream()
            for where in (None, stream, 0, 1, 2):
                kernel[1, 1, where]()
            device.to_device(np.arange(3)).to_host()
            device.synchronize()
            device.clear()
            for fails in (lambda: device.create_kernel(se_cy.KernelLoaderSpec("absent").add_ptx(ptx)),
                          lambda: device.allocate(2**50, "u1")):
                try:
                    fails()
                except se_cy.CudaError:
                    pass
                else:
                    raise AssertionError(fails)

        assert int(check(driver.cuCtxGetCurrent())) == 0 if driver.cuInit(0)[0] == 0 else True
        work("none")
        assert int(check(driver.cuCtxGetCurrent())) == 0
        other = check(driver.cuDevicePrimaryCtxRetain(1))
        check(driver.cuCtxSetCurrent(other))
        work("other device")
        assert int(check(driver.cuCtxGetCurrent())) == int(other)
        assert se_cy.Device.current() is se_cy.Device(1)
        own = check(driver.cuCtxCreate(None, 0, 0))
        work("not primary")
        assert int(check(driver.cuCtxGetCurrent())) == int(own)
        """,
        driver=None,
    )


@pytest.mark.emulator
def test_nothing_is_set_up_on_a_device_that_is_only_asked_about():
    check_python(
        """
        import se_cy
        from se_cy import emulator
        device = se_cy.Device(0)
        device.name, device.uuid, device.attributes, repr(device)
        assert emulator.calls("cuDevicePrimaryCtxRetain") == 0
        device.create_stream()
        device.allocate(1, "f4")
        assert emulator.calls("cuDevicePrimaryCtxRetain") == 1
        """
    )
