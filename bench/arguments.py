# SPDX-License-Identifier: Apache-2.0
"""The arguments that all launches pass: those of saxpy, a float, three pointers and an int, again and again."""

A = 2.0
LENGTH = 128  # of each buffer, and of the one block that is launched


def text(count, a="2.0", n="n"):
    """The arguments as a statement writes them."""
    return ", ".join([a, "x", "y", "out", n][i % 5] for i in range(count))


def buffers(device):
    """What x, y and out stand for in se_cy's statements."""
    return {name: device.allocate(LENGTH, "float32") for name in ("x", "y", "out")}


def pointers(buffers):
    """The same for packages that take addresses."""
    return {name: buffer.handle for name, buffer in buffers.items()}
