# SPDX-License-Identifier: Apache-2.0
import importlib.metadata
import os
import subprocess

import pytest

import se_cy

# The console script, wherever the package was installed to.
SE_CY = next(file.locate() for file in importlib.metadata.distribution("se_cy").files if file.name == "se_cy")


def run(*arguments, **environment):
    cleaned = {name: value for name, value in os.environ.items() if name != "SE_CY_DRIVER"}
    return subprocess.run([SE_CY, *arguments], capture_output=True, text=True, timeout=300,
                          env={**cleaned, **environment})


@pytest.fixture
def on_emulator():
    return {"SE_CY_DRIVER": "emulator"}


@pytest.mark.emulator
def test_demo_says_where_it_runs_and_is_right(on_emulator):
    result = run("demo", **on_emulator)
    assert result.returncode == 0 and result.stderr == "", result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("se_cy demo on the emulated driver, as SE_CY_DRIVER asks")
    assert lines[1] == "saxpy of 1,000,000 float32: equal to NumPy"
    assert "ns" in lines[2] and "hits=" in lines[3] and "loads=1" in lines[3]


@pytest.mark.emulator
def test_demo_falls_back_to_the_emulator_only_where_no_gpu_answers(tmp_path):
    # A driver library that is no library stands before whatever the machine has.
    (tmp_path / "libcuda.so.1").write_bytes(b"not a library")
    result = run("demo", LD_LIBRARY_PATH=str(tmp_path))
    assert result.returncode == 0 and "emulated driver, as no GPU answered" in result.stdout, result.stderr


@pytest.mark.gpu
def test_demo_on_a_gpu_says_so():
    result = run("demo")
    assert result.returncode == 0 and result.stdout.startswith("se_cy demo on the GPU"), result.stderr
    assert "equal to NumPy" in result.stdout


@pytest.mark.emulator
def test_info_names_driver_device_and_versions(on_emulator):
    result = run("info", **on_emulator)
    assert result.returncode == 0 and result.stderr == ""
    for part in (se_cy.__version__, "libse_cy_emulator.so", "emulated", "device 0", "sm_90"):
        assert part in result.stdout


def test_info_without_a_driver_says_why(tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes(b"not a library")
    result = run("info", LD_LIBRARY_PATH=str(tmp_path))
    assert result.returncode == 1 and "libcuda.so.1" in result.stdout and result.stderr == ""


def test_unknown_command_is_refused():
    result = run("launch")
    assert result.returncode == 2 and "info" in result.stderr and "demo" in result.stderr


@pytest.mark.emulator
def test_a_gpu_is_looked_for_by_the_installed_package_also_in_a_checkout(monkeypatch, tmp_path):
    from se_cy import cli

    (tmp_path / "se_cy").mkdir()
    (tmp_path / "se_cy" / "__init__.py").write_text("raise ImportError('the uncompiled source')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SE_CY_DRIVER", "emulator")
    assert cli.has_gpu()
