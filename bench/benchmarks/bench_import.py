# SPDX-License-Identifier: Apache-2.0
"""What `import` costs beyond cuda.bindings.cydriver, which every package over cuda-bindings imports."""

import importlib.util
import subprocess
import sys


class Import:
    params = [["se_cy", "cuda.core", "cupy"]]
    param_names = ["package"]

    def setup(self, package):
        if importlib.util.find_spec(package) is None:
            raise NotImplementedError(f"{package} is not installed")

    def timeraw_import(self, package):
        return f"import {package}", "import cuda.bindings.cydriver"

    def track_modules(self, package):
        program = ("import sys, cuda.bindings.cydriver; before = len(sys.modules); "
                   f"import {package}; print(len(sys.modules) - before)")
        # -P: in a checkout, the current folder holds uncompiled sources of the package's name.
        return int(subprocess.check_output([sys.executable, "-P", "-c", program]))

    track_modules.unit = "modules"
