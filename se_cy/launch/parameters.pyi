# SPDX-License-Identifier: Apache-2.0
from typing import Literal, NamedTuple

class ParameterInfo(NamedTuple):
    offset: int
    nbytes: int
    kind: Literal["integer", "pointer", "float", "bytes", "unknown"]
    source: Literal["ptx", "driver"]
