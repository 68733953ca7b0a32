# SPDX-License-Identifier: Apache-2.0
"""A spec whose best variant the driver can't load."""

import logging
import pathlib

import pytest
from test_modules import ptx

import se_cy

TOO_NEW = ptx(comment="too new", version="99.0").replace("sm_52", "sm_61")
OLDER = ptx(comment="older")
CUBIN = (pathlib.Path(__file__).parent / "driver_contract/kernels_sm90.cubin").read_bytes()


def test_ptx_too_new_gives_way_to_older_ptx_and_the_kernel_says_so(device, caplog):
    # B02 C
    spec = se_cy.KernelLoaderSpec("k").add_ptx(TOO_NEW).add_ptx(OLDER)
    kernel = device.create_kernel(spec)
    assert kernel.module.code is se_cy.Code(OLDER)
    assert "UNSUPPORTED_PTX_VERSION" in repr(kernel) and "UNSUPPORTED_PTX_VERSION" in repr(kernel.module)
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "takes" in warning.getMessage() and "'k'" in warning.getMessage()
    kernel[1, 1]()
    device.synchronize()


def test_rejected_variant_is_not_tried_again_by_the_same_spec(device):
    spec = se_cy.KernelLoaderSpec("k").add_ptx(TOO_NEW).add_ptx(OLDER)
    kernel = device.create_kernel(spec)
    before = device.modules.stats()
    assert device.create_kernel(spec) is kernel and device.create_kernel(spec.named("k")) is kernel
    after = device.modules.stats()
    assert (after.hits, after.misses, after.failures) == (before.hits + 2, before.misses, before.failures)
    lines = spec.explain(device.compute_capability).splitlines()
    assert "chosen; device 0 could not load it: CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in lines[0]
    assert "could not" not in lines[1]


def test_rejection_is_the_specs_alone(device):
    device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(TOO_NEW).add_ptx(OLDER))
    with pytest.raises(se_cy.JitError, match="99.0"):
        device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(TOO_NEW))


def test_all_variants_failing_raises_the_first_error_with_notes_and_remembers_nothing(device):
    other = ptx(comment="too", version="98.0")
    spec = se_cy.KernelLoaderSpec("k").add_ptx(TOO_NEW).add_ptx(other)
    for _ in range(2):
        before = device.modules.stats()
        with pytest.raises(se_cy.JitError, match="99.0") as error:
            device.create_kernel(spec)
        (note,) = error.value.__notes__
        assert "98.0" in note
        assert device.modules.stats().failures == before.failures + 2 and len(device.modules) == 0
    assert "could not" not in spec.explain((9, 0))


@pytest.mark.emulator
def test_cubin_that_the_driver_does_not_run_gives_way_to_ptx(device):
    spec = se_cy.KernelLoaderSpec("k").add_cubin(CUBIN).add_ptx(OLDER)
    assert device.create_kernel(spec).module.code.kind == "ptx"


@pytest.mark.emulator
def test_missing_compiler_is_named_and_not_remembered_for_others(device, emulator):
    # B48
    emulator.fail("cuModuleLoadDataEx", status=221)
    with pytest.raises(se_cy.JitError, match="PTX compiler library is missing"):
        device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(OLDER))
    assert device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(OLDER)).name == "k"


@pytest.mark.emulator
@pytest.mark.parametrize("status", [218, 2, 700])
def test_errors_that_are_not_the_variants_are_raised_at_once(emulator, status):
    from helpers.child import check_python

    check_python(
        f"""
        import se_cy
        from se_cy import emulator
        spec = se_cy.KernelLoaderSpec("k").add_ptx({TOO_NEW.replace("99.0", "7.0")!r}).add_ptx({OLDER!r})
        emulator.fail("cuModuleLoadDataEx", status={status})
        try:
            se_cy.Device(0).create_kernel(spec)
        except se_cy.CudaError as error:
            assert error.status == {status} and emulator.calls("cuModuleLoadDataEx") == 1
        else:
            raise AssertionError("no error")
        """
    )


def test_syntax_error_shows_the_line_of_ptx(device):
    # B16
    broken = ptx(comment="broken", body="\n  nonsense.u32 %r1, 5;\n  ret;")
    with pytest.raises(se_cy.JitError) as error:
        device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(broken))
    assert "line 6 of the PTX: nonsense.u32 %r1, 5;" in str(error.value)
    assert "6" in error.value.log
