# SPDX-License-Identifier: Apache-2.0
"""Where cuda.h is, for tests that compile against it."""

from importlib.metadata import distribution


def cuda_include():
    """The folder of the cuda.h of the nvidia-cuda-runtime package, which the `test` extra installs."""
    return next(file.locate().resolve().parent for file in distribution("nvidia-cuda-runtime").files
                if file.name == "cuda.h")
