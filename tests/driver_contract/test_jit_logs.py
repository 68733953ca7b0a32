# SPDX-License-Identifier: Apache-2.0
"""The buffers in which the driver tells what is wrong with PTX."""

import ctypes

import pytest
from helpers.jit import ERROR_LOG, ERROR_LOG_SIZE, INFO_LOG, INFO_LOG_SIZE, load_with_log, load_with_options
from helpers.kernels import PTX

WRONG = PTX.replace(b"mov.u32", b"mvv.u32", 1)


def test_size_written_back_is_the_logs_length(context):
    loaded = load_with_log(WRONG)
    assert loaded.status == "INVALID_PTX"
    assert 0 < loaded.size < 4096
    assert loaded.size == len(loaded.log.split(b"\0")[0])


def test_longer_log_than_the_buffer_fills_it(context):
    loaded = load_with_log(WRONG, capacity=16)
    assert loaded.status == "INVALID_PTX"
    assert loaded.size == 16
    assert b"\0" in loaded.log


def test_log_of_good_code_is_empty(context):
    loaded = load_with_log(PTX)
    assert loaded.status == "SUCCESS"
    assert not loaded.log.strip(b"\0\xff")


@pytest.mark.parametrize("option", [ERROR_LOG, INFO_LOG])
def test_buffer_without_a_size_is_refused(context, option):
    buffer = ctypes.create_string_buffer(4096)
    assert load_with_options(PTX, {option: ctypes.addressof(buffer)}) == "INVALID_VALUE"


def test_options_come_in_any_order(context):
    error, info = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(4096)
    options = {
        ERROR_LOG_SIZE: 4096,
        INFO_LOG: ctypes.addressof(info),
        ERROR_LOG: ctypes.addressof(error),
        INFO_LOG_SIZE: 4096,
    }
    assert load_with_options(WRONG, options) == "INVALID_PTX"
    assert b"mvv" in error.value


def test_unknown_options_are_refused(context):
    assert load_with_options(PTX, {100000: 0}) == "INVALID_VALUE"
