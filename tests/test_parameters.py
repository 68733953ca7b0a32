# SPDX-License-Identifier: Apache-2.0
import pathlib
import struct

import numpy as np
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


def test_kind_is_that_of_the_declaration_and_not_of_one_in_a_comment(device):
    for comment in ("// was: .entry k(.param .f32 a, .param .u64 o)", "/* .entry k(.param .f32 a, .param .u64 o) */",
                    '.file 1 "/* .entry k(.param .f32 a, .param .u64 o)"'):
        text = f""".version 7.0
            .target sm_52
            .address_size 64
            {comment if comment.startswith("/") else ""}
            .visible .entry k(.param .u32 a, .param .u64 o) {{
            .reg .b32 %r<2>; .reg .b64 %d<2>;
            ld.param.u32 %r1, [a]; ld.param.u64 %d1, [o]; cvta.to.global.u64 %d1, %d1;
            st.global.u32 [%d1], %r1; ret; }}
            {comment if comment.startswith(".") else ""}
            """
        out = device.to_device(np.zeros(1, np.uint32))
        device.load(text)["k"][1, 1](7, out)
        assert out.to_host()[0] == 7


def test_layout_of_hostile_text_takes_time_in_proportion_to_its_length(device):
    # Quadratic, this would take hours.
    text = (".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"
            + "/*" + ".entry k /* " * 400_000 + "*/\n")
    assert device.load(text)["k"].parameters == ()
    text = (".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry other() { ret; }\n"
            + "//.entry k(\n" * 400_000 + ".visible .entry k(.param .u32 a) { ret; }\n")
    assert device.load(text)["k"].parameters[0].kind == "integer"


@pytest.mark.emulator
def test_layout_is_read_once_for_all_kernel_objects_of_a_function(device, emulator, arguments_ptx):
    spec = se_cy.KernelLoaderSpec("every_width").add_ptx(arguments_ptx)
    device.create_kernel(spec)
    before = emulator.calls("cuFuncGetParamInfo")
    assert len(device.create_kernel(spec).parameters) == 7
    assert emulator.calls("cuFuncGetParamInfo") == before


def test_parameter_of_a_fatbin_that_can_only_be_bytes_is_bytes(device):
    kernel = device.load((KERNELS / "arguments.fatbin").read_bytes())["store_struct"]
    assert kernel.parameters == ((0, 24, "bytes", "driver"), (24, 8, "unknown", "driver"))
    out = device.to_device(np.zeros(3))
    kernel[1, 1](struct.pack("=b7xdh6x", -5, 2.5, -300), out)
    assert out.to_host().tolist() == [-5, 2.5, -300]


@pytest.mark.gpu
def test_cubin_gives_sizes_only(device):
    if device.compute_capability[0] != 9:
        pytest.skip("the cubin is for sm_90")
    spec = se_cy.KernelLoaderSpec("every_width").add_cubin((KERNELS / "arguments_sm90.cubin").read_bytes())
    parameters = device.create_kernel(spec).parameters
    assert [parameter.nbytes for parameter in parameters] == [4, 1, 2, 4, 8, 8, 8]
    assert {(parameter.kind, parameter.source) for parameter in parameters} == {("unknown", "driver")}
