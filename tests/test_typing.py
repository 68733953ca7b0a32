# SPDX-License-Identifier: Apache-2.0
"""The .pyi files: they say what the installed modules are, and a type checker tells right uses from wrong ones."""

import re
import subprocess
import sys
from pathlib import Path

TYPING = Path(__file__).parent / "typing"


def run_mypy(module, *arguments, folder):
    # From an empty folder: in the checkout, mypy would read the sources in place of the installed package.
    return subprocess.run([sys.executable, "-m", module, *map(str, arguments)], cwd=folder, capture_output=True,
                          text=True, timeout=600)


def test_stubs_agree_with_the_installed_package(tmp_path):
    checked = run_mypy("mypy.stubtest", "se_cy", "--allowlist", TYPING / "stubtest_allowlist.txt", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_right_uses_pass_and_wrong_ones_are_errors(tmp_path):
    source = (TYPING / "user_code.py").read_text()
    expected = {}
    for number, line in enumerate(source.splitlines(), 1):
        marked = re.search(r"# wrong: ([\w -]+)$", line)
        if marked:
            expected[number] = set(marked[1].split())
    (tmp_path / "user_code.py").write_text(source)
    checked = run_mypy("mypy", "--strict", "user_code.py", folder=tmp_path)
    found = {}
    for number, code in re.findall(r"^user_code\.py:(\d+): error: .*\[([\w-]+)\]$", checked.stdout, re.MULTILINE):
        found.setdefault(int(number), set()).add(code)
    assert found.keys() == expected.keys(), checked.stdout + checked.stderr
    assert all(codes & expected[number] for number, codes in found.items()), checked.stdout
