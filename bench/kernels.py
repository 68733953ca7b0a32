# SPDX-License-Identifier: Apache-2.0
"""PTX for the null driver, which reads none of it; se_cy and cuda.core do."""

# The null driver's kernels repeat the parameters of saxpy.
_TYPES = [".f32", ".u64", ".u64", ".u64", ".u32"]
_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def ptx(parameter_count, nbytes=0):
    """One kernel, named p<parameter_count>.

    Parameters
    ----------
    parameter_count : int
    nbytes : int
        Filled up to this size by a comment before the kernel, so that whatever searches the text for it reads it all.

    Returns
    -------
    bytes
    """
    name = f"p{parameter_count}"
    declared = ", ".join(f".param {_TYPES[i % 5]} {name}_param_{i}" for i in range(parameter_count))
    entry = f"\n.visible .entry {name}({declared})\n{{\n\tret;\n}}\n"
    padding = nbytes - len(_HEAD) - len(entry) - 2
    return (_HEAD + "//" + "." * max(padding, 0) + entry).encode()
