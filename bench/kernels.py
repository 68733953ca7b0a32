# SPDX-License-Identifier: Apache-2.0
"""PTX of one kernel that does nothing, of any size. The null driver reads none of it; se_cy and cuda.core do."""

# The null driver's kernels repeat the parameters of saxpy.
_TYPES = [".f32", ".u64", ".u64", ".u64", ".u32"]
_LINE = f"//{'-' * 97}\n"
_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def ptx(parameter_count, nbytes=0):
    """One kernel, named p<parameter_count>.

    Parameters
    ----------
    parameter_count : int
    nbytes : int
        Filled up to this size by comments before the kernel, so that whatever searches the text for it reads it all.

    Returns
    -------
    bytes
    """
    name = f"p{parameter_count}"
    declared = ", ".join(f".param {_TYPES[i % 5]} {name}_param_{i}" for i in range(parameter_count))
    entry = f"\n.visible .entry {name}({declared})\n{{\n\tret;\n}}\n"
    return (_HEAD + comments(nbytes - len(_HEAD) - len(entry)) + entry).encode()


def comments(nbytes):
    """So many bytes of comments, in lines that a compiler's line buffer holds; none if that is less than one.

    Parameters
    ----------
    nbytes : int

    Returns
    -------
    str
    """
    lines, rest = divmod(max(nbytes, 0), len(_LINE))
    return _LINE * lines + (f"//{'-' * (rest - 3)}\n" if rest >= 3 else " " * rest)
