# SPDX-License-Identifier: Apache-2.0
import gc
import mmap
import pathlib
import pickle
import weakref

import pytest

import se_cy

PTX = "//\n.version 7.0\n.target sm_{}\n.address_size 64\n.visible .entry k() {{ ret; }} // {}\n"


def ptx(target="52", comment=""):
    return PTX.format(target, comment)


def test_equal_content_of_any_type_is_one_object(tmp_path):
    text = ptx(comment="one object")
    path = tmp_path / "k.ptx"
    path.write_text(text)
    code = se_cy.Code(text)

    class HasCode:
        pass

    has_code = HasCode()
    has_code.code = text.encode()
    for same in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode()), code, has_code):
        assert se_cy.Code(same) is code
    assert se_cy.Code.from_file(path) is code
    assert se_cy.Code.from_file(str(path)) is code


def test_different_content_is_different_objects_with_different_ids():
    first, second = se_cy.Code(ptx(comment="1")), se_cy.Code(ptx(comment="2"))
    assert first is not second and first.id != second.id


def test_code_that_nobody_holds_is_freed_and_its_address_means_nothing():
    ids = {se_cy.Code(ptx(comment=f"freed {i}")).id for i in range(1000)}
    assert len(ids) == 1000
    # Freed addresses are reused at once; content decides all the same.
    for i in range(1000):
        code = se_cy.Code(ptx(comment=f"reused {i}"))
        assert code.id not in ids and se_cy.Code(ptx(comment=f"reused {i}")) is code


def test_living_bytes_are_kept_not_copied():
    data = ptx(comment="kept").encode()
    code = se_cy.Code(data)
    assert data in gc.get_referents(code) or code.__reduce__()[1][0] is data


def test_trailing_nul_bytes_do_not_count():
    code = se_cy.Code(ptx(comment="nul"))
    assert se_cy.Code(ptx(comment="nul").encode() + b"\0") is code
    assert se_cy.Code(ptx(comment="nul").encode() + b"\0" * 5) is code
    assert se_cy.Code(se_cy.Code(ptx(comment="nul2").encode() + b"\0")).nbytes == len(ptx(comment="nul2"))


def test_slice_of_a_larger_buffer_and_mapped_file_are_copied_to_their_length(device, tmp_path):
    # B41: what follows the PTX in memory is not zero.
    text = ptx(comment="slice").encode()
    buffer = b"\xff" * 100 + text + b"\xff" * 100
    code = se_cy.Code(memoryview(buffer)[100:100 + len(text)])
    assert code is se_cy.Code(text)
    device.load(code)
    page = mmap.PAGESIZE
    padded = text + b" " * (page - len(text) % page)
    path = tmp_path / "page.ptx"
    path.write_bytes(padded)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        code = se_cy.Code(mapped)
    assert code.nbytes % page == 0
    assert device.load(code).kernels == ("k",)


def test_pickled_code_is_interned_on_arrival():
    code = se_cy.Code(ptx(comment="pickle"))
    assert pickle.loads(pickle.dumps(code)) is code


@pytest.mark.parametrize(
    "data, message",
    [
        ("", "empty"),
        (b"", "empty"),
        (" \n\t", "white space"),
        ("// only this\n", "comments"),
        ("int main() {}", "neither PTX, cubin nor fatbin"),
        (b"\xef\xbb\xbf" + ptx().encode(), "byte-order mark"),
        (ptx().encode("utf-16"), "UTF-16"),
        (ptx()[:60] + "\0" + ptx()[60:], "offset 60"),
        ("kernels/saxpy.ptx", "from_file"),
        (b"\x7fELF", "truncated"),
    ],
)
def test_data_that_is_no_code_is_refused_with_the_reason(data, message):
    with pytest.raises(ValueError, match=message):
        se_cy.Code(data)


def test_path_object_is_refused_and_from_file_named():
    with pytest.raises(TypeError, match="from_file"):
        se_cy.Code(pathlib.Path("saxpy.ptx"))


@pytest.mark.parametrize("data", [5, None, object(), ["x"]])
def test_object_that_is_no_code_is_a_type_error(data):
    with pytest.raises(TypeError, match=type(data).__name__):
        se_cy.Code(data)


def test_file_that_is_no_code_is_named(tmp_path):
    path = tmp_path / "empty.ptx"
    path.touch()
    with pytest.raises(ValueError, match="empty.ptx.*empty"):
        se_cy.Code.from_file(path)
    with pytest.raises(FileNotFoundError):
        se_cy.Code.from_file(tmp_path / "absent.ptx")


def test_kind_that_contradicts_the_data_is_refused():
    with pytest.raises(ValueError, match="ptx, not a cubin"):
        se_cy.Code(ptx(), kind="cubin")
    with pytest.raises(ValueError, match="'sass'"):
        se_cy.Code(ptx(), kind="sass")


def test_kind_targets_and_size():
    code = se_cy.Code(ptx("90a", "size"))
    assert (code.kind, code.targets, code.nbytes) == ("ptx", ("sm_90a",), len(ptx("90a", "size")))


def test_code_made_by_its_class_alone_does_not_exist():
    with pytest.raises(TypeError):
        se_cy.Code()
    with pytest.raises(TypeError):
        se_cy.Code.__new__(se_cy.Code)
    with pytest.raises(TypeError):
        type("Sub", (se_cy.Code,), {})


def test_code_is_no_target_of_weak_references():
    # The interning table is the only thing that follows a Code weakly.
    with pytest.raises(TypeError):
        weakref.ref(se_cy.Code(ptx()))
