# SPDX-License-Identifier: Apache-2.0
"""What the emulated driver's devices and version may be, and what is said of anything else."""

import numpy as np
import pytest
from helpers.child import check_python

from se_cy import emulator

pytestmark = pytest.mark.emulator


@pytest.mark.parametrize("devices, description", [
    (None, "9.0"), (1, "9.0"), (np.int64(3), "9.0,9.0,9.0"),
    (["9.0", "sm_80", (7, 5), "sm_100", "12.1"], "9.0,8.0,7.5,10.0,12.1"),
    (((9, 0),), "9.0"), (np.array(["9.0"]), "9.0"), (iter(["8.6"]), "8.6"), (64, ",".join(["9.0"] * 64)),
])
def test_devices_are_a_number_or_a_sequence(devices, description):
    assert emulator.parse_devices(devices) == description


@pytest.mark.parametrize("devices", [
    0, -1, 65, 10**18, [], ["9.0"] * 65, ["0.0"], ["9"], ["\u0669.\u0660"], ["9.0\0"], [""], ["sm_90a"], ["9.0 "],
    [(9,)], [(9, 0, 0)], [(9, 10)], [(0, 0)], [(100, 0)], [(-9, 0)], [(9.0, 0)], [("9", "0")],
])
def test_devices_that_can_not_be_are_refused(devices):
    with pytest.raises(ValueError, match="capability|1 to 64"):
        emulator.parse_devices(devices)


@pytest.mark.parametrize("devices", ["9.0", b"9.0", True, 1.0, object(), (9, 0), [9.0], [None], [b"9.0"], [(True, 0)]])
def test_devices_of_another_type_are_refused(devices):
    with pytest.raises((TypeError, ValueError), match="9.0|number or a sequence"):
        emulator.parse_devices(devices)


def test_devices_given_without_a_sequence_around_them_are_named():
    with pytest.raises(TypeError, match=r"has 9 in it.*write each as"):
        emulator.parse_devices((9, 0))


@pytest.mark.parametrize("description", ["", "9.0,", "9.0\0", "\udc80", "x", "9.0,,8.0"])
def test_description_that_can_not_be_read_changes_nothing(description):
    check_python(f"""
        import se_cy
        from se_cy import emulator
        se_cy.use_emulator(devices=2)
        try:
            emulator.configure({description!r})
        except RuntimeError as error:
            assert "description is wrong" in str(error)
        else:
            raise AssertionError("taken")
        assert se_cy.Device.count() == 2
    """)


@pytest.mark.parametrize("version, error", [
    ("12.4", TypeError), ((12,), TypeError), ((12, 4, 0), TypeError), ((12.0, 4), TypeError), (12, TypeError),
    (None, TypeError), ((10, 0), ValueError), ((14, 0), ValueError), ((12, 100), ValueError), ((-12, 4), ValueError),
    ((12 + (1 << 32), 4), ValueError), ((0, 12040), ValueError),
])
def test_version_that_can_not_be_is_refused(version, error):
    with pytest.raises(error, match="version is a tuple|can't be one of"):
        emulator.set_driver_version(version)


@pytest.mark.parametrize("name", ["", "k\0", "\0"])
def test_claim_for_what_is_no_name_is_refused(control, name):
    with pytest.raises(ValueError, match="no name of a kernel"):
        control.claim_registers(name, 8)
