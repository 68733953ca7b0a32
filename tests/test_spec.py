# SPDX-License-Identifier: Apache-2.0
import pathlib
import pickle

import pytest

import se_cy

IMAGES = pathlib.Path(__file__).parent / "images"


def ptx(target):
    return f".version 7.0\n.target sm_{target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"


def cubin(target):
    """Bytes with the headers of a cubin, which is all that selection looks at."""
    data = bytearray((pathlib.Path(__file__).parent / "kernels" / "arguments_sm90.cubin").read_bytes())
    data[0x30:0x34] = ((int.from_bytes(data[0x30:0x34], "little") & ~0xFF00) | target << 8).to_bytes(4, "little")
    return bytes(data)


def spec_of(*variants):
    spec = se_cy.KernelLoaderSpec("k")
    for kind, target in variants:
        spec.add_cubin(cubin(target)) if kind == "cubin" else spec.add_ptx(ptx(target))
    return spec


@pytest.mark.parametrize(
    "capability, variants, chosen",
    [
        # B01
        ((9, 0), [("ptx", "70"), ("ptx", "80")], ("ptx", "sm_80")),
        ((8, 6), [("cubin", 80), ("ptx", "70")], ("cubin", "sm_80")),
        ((8, 6), [("cubin", 80), ("cubin", 86), ("cubin", 89)], ("cubin", "sm_86")),
        ((9, 0), [("cubin", 80), ("ptx", "80")], ("ptx", "sm_80")),
        ((9, 0), [("ptx", "90a"), ("ptx", "80")], ("ptx", "sm_90a")),
        ((10, 0), [("ptx", "90a"), ("ptx", "80")], ("ptx", "sm_80")),
        ((9, 0), [("ptx", "90"), ("cubin", 90)], ("cubin", "sm_90")),
    ],
)
def test_select_takes_the_best_in_any_order(capability, variants, chosen):
    for order in (variants, variants[::-1]):
        code = spec_of(*order).select(capability)
        assert (code.kind, code.targets[0]) == chosen


def test_select_with_nothing_that_fits_names_capability_and_every_variant():
    with pytest.raises(se_cy.NoVariantError) as caught:
        spec_of(("cubin", 80), ("ptx", "90")).select((7, 0))
    message = str(caught.value)
    assert "7.0" in message and "cubin for sm_80" in message and "ptx for sm_90" in message and "'k'" in message
    with pytest.raises(se_cy.NoVariantError, match="nothing"):
        se_cy.KernelLoaderSpec("k").select((9, 0))


def test_device_that_nothing_fits_is_not_asked(device):
    before = device.modules.stats()
    with pytest.raises(se_cy.NoVariantError, match="9.0.*ptx for sm_100"):
        device.create_kernel(spec_of(("ptx", "100")))
    assert device.modules.stats() == before


def test_explain_has_one_line_for_each_variant():
    lines = spec_of(("cubin", 90), ("ptx", "80"), ("ptx", "100")).explain((9, 0)).splitlines()
    assert len(lines) == 3
    assert "chosen" in lines[0] and "better" in lines[1] and "needs compute capability 10.0" in lines[2]


def test_spec_is_frozen_by_the_first_choice_and_with_it_all_that_share_its_variants():
    spec = spec_of(("ptx", "70"))
    other = spec.named("other")
    spec.select((9, 0))
    for frozen in (spec, other):
        with pytest.raises(RuntimeError, match="in use"):
            frozen.add_ptx(ptx("80"))


def test_named_shares_variants_added_later():
    spec = se_cy.KernelLoaderSpec("k")
    other = spec.named("other")
    spec.add_ptx(ptx("70"))
    assert other.name == "other" and other.select((9, 0)) is spec.select((9, 0))


def test_capability_that_contradicts_the_ptx_is_refused():
    spec = se_cy.KernelLoaderSpec("k")
    for fitting in ((7, 0), "sm_70", "compute_70"):
        spec.add_ptx(ptx("70"), fitting)
    with pytest.raises(ValueError, match="sm_70.*sm_80"):
        spec.add_ptx(ptx("70"), (8, 0))


def test_ptx_without_a_kernel_is_refused_when_it_is_added():
    with pytest.raises(ValueError, match="no kernel"):
        se_cy.KernelLoaderSpec("k").add_ptx(".version 7.0\n.target sm_70\n.address_size 64\n")


@pytest.mark.parametrize("add", ["add_ptx", "add_cubin", "add_fatbin"])
def test_data_of_another_kind_is_refused(add):
    data = cubin(90) if add == "add_ptx" else ptx("70")
    with pytest.raises(ValueError, match="not a"):
        getattr(se_cy.KernelLoaderSpec("k"), add)(data)


@pytest.mark.parametrize("name, error", [("", ValueError), ("a\0b", ValueError), (b"k", TypeError), (None, TypeError)])
def test_bad_name_is_refused(name, error):
    with pytest.raises(error):
        se_cy.KernelLoaderSpec(name)


def test_pickled_spec_has_the_same_codes():
    spec = spec_of(("ptx", "70"), ("ptx", "80"))
    copy = pickle.loads(pickle.dumps(spec))
    assert copy.name == "k" and copy.select((9, 0)) is spec.select((9, 0))


def test_repr_names_kernel_and_variants():
    assert repr(spec_of(("ptx", "70"))) == "<se_cy.KernelLoaderSpec 'k': ptx sm_70>"


def test_spec_without_a_name_is_empty_and_one_with_a_name_keeps_it():
    nameless = se_cy.KernelLoaderSpec.__new__(se_cy.KernelLoaderSpec)
    assert "no variants" in repr(nameless) and nameless.explain((9, 0)) == "no variants"
    with pytest.raises(se_cy.NoVariantError):
        nameless.select((9, 0))
    spec = spec_of(("ptx", "70"))
    with pytest.raises(RuntimeError, match="made already"):
        spec.__init__("other")
    assert spec.name == "k" and spec.select((9, 0)).kind == "ptx"
