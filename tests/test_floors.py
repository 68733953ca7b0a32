# SPDX-License-Identifier: Apache-2.0
"""The floor rule: a module may cimport only from floors above it, and files keep to their size and their place."""

import pathlib
import re

import pytest

import se_cy

# Installed packages carry no .pyx, so the source is read where the tests are.
PACKAGE = pathlib.Path(__file__).parent.parent / "se_cy"

FLOORS = [
    ["slots", "log", "debug"],
    ["driver.guards", "driver.status", "driver.library", "driver.context"],
    ["code.interned", "code.target", "code.spec", "code.table", "code.jit_options",
     "code.loaded", "code.contents", "code.loading", "code.modules"],
    ["stream", "memory"],
    ["launch.parameters", "launch.arguments", "launch.attributes", "launch.dimensions", "launch.limits",
     "launch.configuration", "launch.current_stream", "launch.kernel", "launch.module", "launch.packed"],
    ["device"],
]
FLOOR_OF = {module: floor for floor, modules in enumerate(FLOORS) for module in modules}

# Within a folder the order is free, but it must be one: no module may depend on itself through others.
IMPORT = re.compile(r"^\s*from se_cy((?:\.\w+)*) c?import (\([^)]*|[^#\n]*)", re.MULTILINE)


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def dependencies(path):
    for prefix, names in IMPORT.findall(path.read_text()):
        prefix = prefix.lstrip(".")
        if prefix in FLOOR_OF:
            yield prefix
            continue
        for name in names.strip("( \n").split(","):
            yield f"{prefix}.{name.split()[0]}".lstrip(".")


def sources():
    return sorted(path for pattern in ("*.pyx", "*.pxd") for path in PACKAGE.rglob(pattern) if path.stem != "__init__")


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_depends_only_on_its_floor_and_those_above(path):
    module = name_of(path)
    assert module in FLOOR_OF, f"{module} has no floor: say which in {__file__}"
    for dependency in dependencies(path):
        if dependency == "emulator":
            assert module == "driver.library", f"{module} names the emulator"
            continue
        assert FLOOR_OF[dependency] <= FLOOR_OF[module], f"{module} depends on {dependency}, which is below it"


def test_no_module_depends_on_itself_through_others():
    graph = {}
    for path in sources():
        graph.setdefault(name_of(path), set()).update(set(dependencies(path)) - {"emulator"} - {name_of(path)})
    done, open_ = set(), []

    def visit(module):
        assert module not in open_, f"a circle: {' -> '.join(open_ + [module])}"
        if module in done:
            return
        open_.append(module)
        for dependency in sorted(graph.get(module, ())):
            visit(dependency)
        open_.pop()
        done.add(module)

    for module in sorted(graph):
        visit(module)


def test_the_rule_catches_a_module_that_reaches_down(tmp_path):
    path = tmp_path / "guards.pyx"
    path.write_text("from se_cy.launch.kernel cimport Kernel\nfrom se_cy.driver cimport status\n")
    assert list(dependencies(path)) == ["launch.kernel", "driver.status"]
    assert FLOOR_OF["launch.kernel"] > FLOOR_OF["driver.guards"]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.pxd")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_pxd_that_others_reach_declares_on_cydriver(path):
    # It would force C++ and a new cuda.h on every package that cimports se_cy; a .pxd brings in all that it cimports.
    if name_of(path) == "driver.status":
        assert "cydriver" in path.read_text()
    else:
        assert "cydriver import" not in path.read_text() and "cydriver cimport" not in path.read_text()
        assert "driver.status" not in dependencies(path)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_noexcept_function_calls_the_driver(path):
    # cydriver raises where a symbol is missing; out of a noexcept function that becomes CUDA_SUCCESS.
    for function in re.split(r"\n(?=    cdef |cdef |def |    def )", path.read_text()):
        header, _, body = function.partition("\n")
        if "noexcept" in header:
            assert "cydriver." not in body, header


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_file_is_short_enough_to_find_things_in(path):
    assert len(path.read_text().splitlines()) <= 500


def test_installed_package_has_the_pxd_files():
    import importlib.resources

    for path in PACKAGE.rglob("*.pxd"):
        resource = importlib.resources.files(se_cy).joinpath(*path.relative_to(PACKAGE).parts)
        assert resource.is_file(), path
