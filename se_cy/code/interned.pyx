# SPDX-License-Identifier: Apache-2.0
"""Code: one immutable object for each distinct piece of device code, so that its address is its identity.

Floor 2; needs no driver. The table of living codes is read and written under the GIL.
"""
cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

from se_cy.code.target cimport code_kind, code_targets, fatbin_entries, parse_target
from se_cy.slots cimport newfunc, se_cy_set_new

import os

cdef extern from "<string.h>" nogil:
    void *memmem(const void *haystack, size_t haystack_nbytes, const void *needle, size_t needle_nbytes)

# Content to the address of the living Code that keeps that very bytes object. Weak: a Code takes its entry out when it
# dies. bytes cache their hash, so a look-up with a bytes object seen before reads none of its content.
cdef dict _content_to_address = {}
cdef unsigned long long _last_id = 0

cdef tuple _kind_names = ("ptx", "cubin", "fatbin")


@cython.final
@cython.no_gc
cdef class Code:
    """One immutable piece of device code: PTX, a cubin or a fatbin.

    Equal content gives the same object while it lives: ``Code(x) is Code(x)``. Trailing NUL bytes of PTX do not count.

    Parameters
    ----------
    data : str, bytes-like, or object with a ``code`` attribute of bytes
        The code itself, never a file name. `cuda.core.ObjectCode` has such an attribute.
    kind : {"ptx", "cubin", "fatbin"}, optional
        What the data must be; it is recognised anyway.

    Attributes
    ----------
    id : int
        Never used again in this process, unlike an address.

    Raises
    ------
    ValueError
        The data is empty, cut short, none of the three kinds, or not of the kind that `kind` says.
    TypeError
        `data` is not code at all.
    """

    def __dealloc__(self):
        if self.data is not None:
            # Found by identity: the key is this very object, so no content is compared.
            _content_to_address.pop(self.data, None)
        PyMem_Free(self.c_targets)

    @staticmethod
    def from_file(path):
        """Read code from a file.

        Parameters
        ----------
        path : str or os.PathLike

        Returns
        -------
        Code

        Raises
        ------
        OSError
            The file can't be read.
        ValueError
            Its content is not code; the message names the file.
        """
        with open(path, "rb") as file:
            data = file.read()
        try:
            return intern_code(data, None)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @property
    def kind(self):
        """"ptx", "cubin" or "fatbin"."""
        return _kind_names[self.c_kind]

    @property
    def targets(self):
        """The architectures the code is for, as a tuple of names such as "sm_90" or "sm_90a"."""
        return code_targets(self.data, _kind_names[self.c_kind])

    @property
    def nbytes(self):
        """Length of the code in bytes, without a terminating NUL."""
        return len(self.data)

    def __reduce__(self):
        return Code, (self.data,)

    def __repr__(self):
        return f"<se_cy.Code {self.id}: {self.kind} for {', '.join(self.targets)}, {self.nbytes} bytes>"


cdef bytes _bytes_of(object data):
    if isinstance(data, bytes):
        return bytes(data)
    if isinstance(data, str):
        return (<str>data).encode()
    if isinstance(data, os.PathLike):
        raise TypeError(f"Code takes the code itself, and {data!r} is a path: use Code.from_file")
    try:
        return bytes(memoryview(data))
    except TypeError:
        pass
    code = getattr(data, "code", None)
    if isinstance(code, (bytes, bytearray, str)):
        return _bytes_of(code)
    raise TypeError(
        "Code takes PTX as str or bytes, a cubin or fatbin as bytes, or an object whose .code is bytes; "
        f"got {type(data).__name__}"
    )


cdef Code intern_code(object data, str kind):
    """The one `Code` of this content, made if need be."""
    global _last_id
    cdef Code code
    cdef bytes content
    cdef str found
    if type(data) is Code:
        code = data
    else:
        content = _bytes_of(data)
        address = _content_to_address.get(content)
        if address is None and content.endswith(b"\0") and code_kind(content) == "ptx":
            content = content.rstrip(b"\0")
            address = _content_to_address.get(content)
        if address is not None:
            code = <Code><PyObject *><size_t>address
        else:
            found = code_kind(content)
            code = Code.__new__(Code)
            code.c_kind = _kind_names.index(found)
            _set_targets(code, content, found)
            # What was allocated since the look-up may have run a garbage collection, and that anybody's code.
            address = _content_to_address.get(content)
            if address is not None:
                code = <Code><PyObject *><size_t>address
            else:
                _last_id += 1
                code.id = _last_id
                code.data = content
                _content_to_address[content] = <size_t><PyObject *>code
    if kind is not None and kind != _kind_names[code.c_kind]:
        if kind not in _kind_names:
            raise ValueError(f"kind must be one of {', '.join(_kind_names)}; got {kind!r}")
        raise ValueError(f"the data is a {_kind_names[code.c_kind]}, not a {kind}")
    return code


cdef bint has_entry(Code code) noexcept:
    """Whether there is a kernel in the PTX. Looked for when it is asked, which can take a pass, and not while interning."""
    cdef const char *text = code.data
    if code.entry == 0:
        code.entry = 1 if memmem(text, len(code.data), b".entry", 6) != NULL else -1
    return code.entry > 0


cdef int _set_targets(Code code, bytes content, str kind) except -1:
    cdef Py_ssize_t i
    targets = code_targets(content, kind)
    pieces = [(kind, target) for target in targets]
    if kind == "fatbin":
        # Others, such as LTO code, are for a linker and not for a driver.
        pieces = [piece for piece in fatbin_entries(content) if piece[0] in ("ptx", "cubin")]
    code.c_targets = <Target *>PyMem_Malloc(len(pieces) * sizeof(Target))
    if code.c_targets == NULL:
        raise MemoryError()
    for i, (piece, name) in enumerate(pieces):
        major, minor, suffix = parse_target(name)
        code.c_targets[i].major = major
        code.c_targets[i].minor = minor
        code.c_targets[i].suffix = ord(suffix) if suffix else 0
        code.c_targets[i].kind = KIND_PTX if piece == "ptx" else KIND_CUBIN
    code.target_count = len(pieces)
    return 0


def _new_code(data, *, str kind=None):
    return intern_code(data, kind)


cdef PyObject *_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) except NULL:
    """`Code(...)` may return an object that exists, which a constructor in Cython can't."""
    code = _new_code(*<tuple>args, **(<dict>kwargs if kwargs != NULL else {}))
    Py_INCREF(code)
    return <PyObject *>code


se_cy_set_new(<PyTypeObject *>Code, <newfunc>_new)
