# SPDX-License-Identifier: Apache-2.0
"""What the module cache rests on and what no other test would miss: docs/explanation/module-cache.md names the rest."""

import ctypes
import gc
import logging

import pytest
from test_modules import ptx, spec_of

import se_cy


@pytest.mark.emulator
def test_warm_request_makes_one_driver_call(device, emulator):
    spec = spec_of(ptx(comment="warm"))
    kernel = device.create_kernel(spec)
    with emulator.record() as log:
        assert device.create_kernel(spec) is kernel
        assert device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(se_cy.Code(ptx(comment="warm")))) is kernel
    assert log.functions == ["cuCtxGetId", "cuCtxGetId"]


def test_warm_request_reads_no_byte_of_the_code(device):
    content = ptx(comment="x" * 1000).encode()
    code = se_cy.Code(content)
    spec = se_cy.KernelLoaderSpec("k").add_ptx(code)
    kernel = device.create_kernel(spec)
    before = device.modules.stats()
    # The code keeps these very bytes. Nobody who reads them finds what was loaded any more.
    address, saved = ctypes.cast(content, ctypes.c_void_p).value, bytearray(content)
    ctypes.memset(address, 0x55, len(content))
    try:
        assert device.create_kernel(spec) is kernel
        assert device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(code)) is kernel
    finally:
        ctypes.memmove(address, bytes(saved), len(saved))
    after = device.modules.stats()
    assert (after.hits, after.misses) == (before.hits + 2, before.misses)


def test_loaded_code_keeps_its_address_while_nobody_but_the_cache_holds_it(device):
    code = se_cy.Code(ptx(comment="held"))
    address, number = id(code), code.id
    device.load(code)
    del code
    gc.collect()
    others = [se_cy.Code(ptx(comment=f"other {i}")) for i in range(2000)]
    assert address not in {id(other) for other in others}
    again = se_cy.Code(ptx(comment="held"))
    assert (id(again), again.id) == (address, number)


def test_address_that_is_used_again_finds_nothing_of_the_code_that_had_it(device):
    code = se_cy.Code(ptx(name="before"))
    address, number = id(code), code.id
    device.load(code)
    device.clear()
    del code
    gc.collect()
    others = []
    while not others or id(others[-1]) != address:
        assert len(others) < 100_000
        others.append(se_cy.Code(ptx(name=f"after_{len(others)}")))
    name = f"after_{len(others) - 1}"
    assert others[-1].id > number
    with pytest.raises(LookupError, match="before"):
        device.create_kernel(se_cy.KernelLoaderSpec("before").add_ptx(others[-1]))
    assert device.create_kernel(se_cy.KernelLoaderSpec(name).add_ptx(others[-1])).name == name


def test_thread_that_asks_again_for_what_it_is_loading_is_refused(device):
    text = ptx(comment="x" * 300_000)
    answers = []

    class Asking(logging.Handler):
        def emit(self, record):
            if not answers:
                answers.append(None)
                with pytest.raises(RuntimeError, match="by the thread that is loading it") as caught:
                    device.create_kernel(spec_of(text))
                answers.append(caught.value)

    handler, logger = Asking(), logging.getLogger("se_cy")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        kernel = device.create_kernel(spec_of(text))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert len(answers) == 2
    assert device.create_kernel(spec_of(text)) is kernel
