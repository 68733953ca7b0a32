# SPDX-License-Identifier: Apache-2.0
class CudaError(RuntimeError):
    status: int | None
    name: str | None
    call: str | None
    hint: str | None
    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        name: str | None = None,
        call: str | None = None,
        hint: str | None = None,
    ) -> None: ...

class DriverNotFoundError(CudaError): ...
class OutOfMemoryError(CudaError, MemoryError): ...
class InvalidValueError(CudaError, ValueError): ...
class NoVariantError(CudaError, LookupError): ...

class KernelNotFoundError(CudaError, LookupError):
    available: tuple[str, ...]

class JitError(CudaError, ValueError):
    log: str

class ModuleUnloadedError(CudaError): ...
class ContextResetError(CudaError): ...
class ContextLostError(CudaError): ...
class ForkError(CudaError): ...
