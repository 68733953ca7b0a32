# SPDX-License-Identifier: Apache-2.0
"""The documentation: its programs run, its links lead somewhere, and the reference leaves nothing public out."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import se_cy

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# A fenced block, and the block of output where one follows directly.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```output\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
# Blocks that begin with a file's name make up a folder of tests; what pytest says of it follows its command.
FILE = re.compile(r"^```python\n(# (\S+\.py)\n.*?)^```$", re.MULTILINE | re.DOTALL)
PYTEST = re.compile(r"^```sh\npython -m pytest -q\n```\n\n```output\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def programs():
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            if FILE.match(match[0]):
                continue
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(match[1], match[2], id=f"{page.relative_to(ROOT)}:{line}")


@pytest.mark.emulator
@pytest.mark.parametrize("program, output", list(programs()))
def test_program_runs_as_printed(program, output, tmp_path):
    (tmp_path / "program.py").write_text(program)
    child = subprocess.run(
        [sys.executable, "-W", "error", "program.py"],
        cwd=tmp_path, env=os.environ | {"SE_CY_DRIVER": "emulator"}, capture_output=True, text=True, timeout=120,
    )
    assert (child.returncode, child.stderr) == (0, "")
    if output is not None:
        assert child.stdout == output


def test_tests_that_the_pages_name_exist():
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text())}
    assert named and not [name for name in sorted(named) if f"def {name}(" not in sources]


@pytest.mark.emulator
def test_tests_of_the_how_to_run_as_printed(tmp_path):
    text = (ROOT / "docs/how-to/test-without-a-gpu.md").read_text()
    for source, name in FILE.findall(text):
        (tmp_path / name).write_text(source)
    child = subprocess.run([sys.executable, "-W", "error", "-m", "pytest", "-q"], cwd=tmp_path, capture_output=True,
                           text=True, timeout=120)
    assert child.returncode == 0, child.stdout
    (printed,) = PYTEST.findall(text)
    assert re.sub(r" in [\d.]+s", "", child.stdout) == printed


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in LINK.findall(CODE.sub("", page.read_text())):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", se_cy.__all__)
def test_public_name_is_in_the_reference(name):
    reference = (ROOT / "docs/reference/api.md").read_text()
    thing = getattr(se_cy, name)
    if isinstance(thing, type) and issubclass(thing, Exception):
        assert f"`{name}`" in reference
        assert f"\n## {name}\n" in (ROOT / "docs/reference/errors.md").read_text()
        return
    heading = f"\n## {name}\n" if isinstance(thing, type) else f"\n### {name}\n"
    _, found, section = reference.partition(heading)
    assert found, heading
    if isinstance(thing, type):
        section = section.partition("\n## ")[0]
        for member in vars(thing):
            if not member.startswith("_"):
                assert re.search(rf"`(?:{name})?\.{member}\b", section), f"{name}.{member}"


def test_emulator_control_is_in_the_reference():
    from se_cy import emulator

    reference = (ROOT / "docs/reference/api.md").read_text()
    for name in emulator.__all__:
        assert f"`{name}(" in reference, name
