# SPDX-License-Identifier: Apache-2.0
import importlib.metadata

import pytest
from helpers.child import check_python
from helpers.fake_driver import build_fake_driver

import se_cy


def test_version_is_that_of_the_package():
    assert se_cy.__version__ == importlib.metadata.version("se_cy")


def test_every_public_name_is_there():
    assert [name for name in se_cy.__all__ if not hasattr(se_cy, name)] == []


def test_import_loads_no_driver_and_no_numpy():
    check_python(
        """
        import sys
        import se_cy
        assert "numpy" not in sys.modules
        with open("/proc/self/maps") as maps:
            assert "libcuda" not in maps.read()
        """,
        driver=None,
    )


def test_unknown_driver_name_is_refused():
    check_python(
        """
        try:
            import se_cy
        except ValueError as error:
            assert "'emulator'" in str(error) and "'gpu'" in str(error), error
        else:
            raise AssertionError("imported")
        """,
        driver="gpu",
    )


def test_host_only_work_needs_no_driver(saxpy_ptx, tmp_path):
    build_fake_driver(tmp_path, has_loader=False)
    check_python(
        f"""
        import pickle
        import se_cy
        code = se_cy.Code({saxpy_ptx!r})
        spec = se_cy.KernelLoaderSpec("saxpy").add_ptx(code)
        assert spec.select((9, 0)) is code
        assert pickle.loads(pickle.dumps(code)) is code
        """,
        driver=None,
        library_path=tmp_path,
    )


@pytest.mark.parametrize("how", ["absent", "without the loader entry point"])
def test_missing_driver_is_one_error_every_time(tmp_path, how):
    # A file that is no library stands before whatever driver the machine may have.
    if how == "absent":
        (tmp_path / "libcuda.so.1").write_bytes(b"not a library")
    else:
        build_fake_driver(tmp_path, has_loader=False)
    check_python(
        """
        import se_cy
        assert se_cy.is_available() is False
        assert se_cy.Device.count() == 0
        for attempt in range(3):
            try:
                se_cy.Device(0)
            except se_cy.DriverNotFoundError as error:
                assert "libcuda.so.1" in str(error), error
            else:
                raise AssertionError("no error")
        assert "libcuda.so.1" in se_cy.driver_info().error
        """,
        driver=None,
        library_path=tmp_path,
    )


def test_driver_that_is_too_old_names_both_versions(tmp_path):
    build_fake_driver(tmp_path, version=12030)
    check_python(
        f"""
        import se_cy
        assert se_cy.is_available() is False and se_cy.Device.count() == 0
        try:
            se_cy.Device(0)
        except se_cy.DriverNotFoundError as error:
            assert "12.3" in str(error) and "12.4" in str(error) and {str(tmp_path)!r} in str(error), error
        else:
            raise AssertionError("no error")
        info = se_cy.driver_info()
        assert info.version == (12, 3) and "12.4" in info.error
        """,
        driver=None,
        library_path=tmp_path,
    )


def test_no_device_names_status_and_library(tmp_path):
    build_fake_driver(tmp_path, init_status=100)
    check_python(
        f"""
        import se_cy
        assert se_cy.is_available() is False and se_cy.Device.count() == 0
        try:
            se_cy.Device(0)
        except se_cy.CudaError as error:
            assert error.status == 100 and error.call == "cuInit" and "CUDA_VISIBLE_DEVICES" in error.hint
            assert {str(tmp_path)!r} in error.__notes__[0]
        else:
            raise AssertionError("no error")
        """,
        driver=None,
        library_path=tmp_path,
    )


@pytest.mark.emulator
def test_failed_initialisation_is_tried_anew():
    check_python(
        """
        import se_cy
        from se_cy import emulator
        emulator.fail("cuInit", nth=1, status=802)
        try:
            se_cy.Device(0)
        except se_cy.CudaError as error:
            assert error.status == 802 and error.name == "CUDA_ERROR_SYSTEM_NOT_READY", error
        else:
            raise AssertionError("no error")
        assert se_cy.Device(0).ordinal == 0
        """
    )


def test_emulator_is_refused_once_another_driver_is_loaded(tmp_path):
    build_fake_driver(tmp_path)
    check_python(
        f"""
        import se_cy
        se_cy.is_available()
        try:
            se_cy.use_emulator()
        except RuntimeError as error:
            assert {str(tmp_path)!r} in str(error), error
        else:
            raise AssertionError("no error")
        """,
        driver=None,
        library_path=tmp_path,
    )


def test_emulator_can_be_chosen_after_no_driver_was_found(tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes(b"not a library")
    check_python(
        """
        import se_cy
        assert not se_cy.is_available()
        se_cy.use_emulator(devices=["9.0", "8.6"])
        assert se_cy.Device.count() == 2
        assert se_cy.Device(1).compute_capability == (8, 6) and se_cy.Device(1).is_emulated
        """,
        driver=None,
        library_path=tmp_path,
    )


@pytest.mark.parametrize("value, is_refused", [("", False), ("0", False), ("1", False), ("yes", True), ("2", True)])
def test_debug_variable_is_read_at_import(value, is_refused):
    check_python(
        f"""
        import os
        os.environ["SE_CY_DEBUG"] = {value!r}
        try:
            import se_cy
        except ValueError as error:
            assert {is_refused} and "SE_CY_DEBUG" in str(error) and repr({value!r}) in str(error), error
        else:
            assert not {is_refused}
        """
    )
