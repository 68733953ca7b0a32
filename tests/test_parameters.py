# SPDX-License-Identifier: Apache-2.0
import pathlib

import pytest

import se_cy

KERNELS = pathlib.Path(__file__).parent / "kernels"


def test_layout_is_the_drivers_and_kinds_are_those_of_the_ptx(kernel_of):
    assert kernel_of("every_width").parameters == (
        (0, 4, "float", "ptx"),
        (4, 1, "integer", "ptx"),
        (6, 2, "integer", "ptx"),
        (8, 4, "integer", "ptx"),
        (16, 8, "integer", "ptx"),
        (24, 8, "float", "ptx"),
        (32, 8, "integer", "ptx"),
    )
    assert kernel_of("store_struct").parameters[0][1:] == (24, "bytes", "ptx")
    assert kernel_of("nothing").parameters == ()


def kinds_of(device, declaration, comment=""):
    text = (f".version 7.0\n.target sm_52\n.address_size 64\n{comment}\n"
            f".visible .entry k({declaration}) {{ ret; }}\n")
    return [parameter.kind for parameter in device.create_kernel(se_cy.KernelLoaderSpec("k").add_ptx(text)).parameters]


@pytest.mark.parametrize(
    "declaration, kinds",
    [
        (".param .u64 .ptr .global .align 4 a, .param .f32 b", ["pointer", "float"]),
        (".param .u64 .ptr a", ["pointer"]),
        (".param .align 2 .b8 a[2], .param .align 8 .b8 b[16]", ["bytes", "bytes"]),
        (".param .b32 a, .param .b64 b", ["unknown", "unknown"]),
        (".param .s32 a, // .param .f32 x\n .param /* .f64 */ .s64 b", ["integer", "integer"]),
        ("\n\t.param .f64\ta\n,\n.param\t.u16 b\n", ["float", "integer"]),
    ],
)
def test_kinds_of_declarations(device, declaration, kinds):
    assert kinds_of(device, declaration) == kinds


@pytest.mark.parametrize(
    "comment",
    [
        "// .entry k(.param .f32 a, .param .f32 b)",
        "/* .visible .entry k(.param .f64 a) { ret; } */",
        "/* .entry k */",
        "/* .entry k( */",
    ],
)
def test_what_looks_like_the_declaration_in_a_comment_is_passed_over(device, comment):
    assert kinds_of(device, ".param .u32 a, .param .u64 b", comment) == ["integer", "integer"]


@pytest.mark.gpu
def test_cubin_gives_sizes_only(device):
    if device.compute_capability[0] != 9:
        pytest.skip("the cubin is for sm_90")
    spec = se_cy.KernelLoaderSpec("every_width").add_cubin((KERNELS / "arguments_sm90.cubin").read_bytes())
    parameters = device.create_kernel(spec).parameters
    assert [parameter.nbytes for parameter in parameters] == [4, 1, 2, 4, 8, 8, 8]
    assert {(parameter.kind, parameter.source) for parameter in parameters} == {("unknown", "driver")}
