# SPDX-License-Identifier: Apache-2.0
import os
from typing import Literal, final

from typing_extensions import Buffer

from se_cy.typing import HasCode

@final
class Code:
    def __new__(
        cls, data: str | Buffer | Code | HasCode, *, kind: Literal["ptx", "cubin", "fatbin"] | None = None
    ) -> Code: ...
    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Code: ...
    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> Literal["ptx", "cubin", "fatbin"]: ...
    @property
    def targets(self) -> tuple[str, ...]: ...
    @property
    def nbytes(self) -> int: ...
