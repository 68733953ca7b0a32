# SPDX-License-Identifier: Apache-2.0
"""KernelLoaderSpec: a kernel's name and the pieces of code that have it, and which of them a device gets.

Floor 2; needs no driver. A spec is frozen by its first choice; choosing compares integers, never code.
"""
import sys

cimport cython
from cpython.object cimport PyTypeObject

from se_cy.code.interned cimport KIND_CUBIN, KIND_FATBIN, KIND_PTX, Code, Target, has_entry, intern_code
from se_cy.code.target cimport parse_target, target_name, target_obstacle, target_runs_on

from se_cy.slots cimport se_cy_refuse_new, se_cy_set_new

from se_cy.driver.status import NoVariantError

cdef tuple _piece_names = ("ptx", "cubin")


cdef str _target_name(const Target *target):
    cdef str name = f"sm_{target.major}{target.minor}"
    return name + chr(target.suffix) if target.suffix else name


cdef bint _runs_on(const Target *target, int major, int minor) noexcept:
    # The common case of target_runs_on without Python objects; suffixes and their families are decided there.
    if target.kind == KIND_CUBIN:
        return target.major == major and target.minor <= minor
    return target.major < major or (target.major == major and target.minor <= minor)


@cython.final
@cython.no_gc
cdef class Variants:
    """The codes that a spec offers, in the order they were added."""

    def __cinit__(self):
        self.codes = []

    cdef Code choose(self, int major, int minor, int ordinal):
        """The best code for a capability, or None. See `KernelLoaderSpec.select` for the order.

        What the device of that ordinal has rejected is passed over.
        """
        cdef Code code
        cdef Code best = None
        cdef Target *target
        cdef Py_ssize_t i
        cdef int rank
        cdef int best_rank = -1
        self.is_frozen = True
        for code in self.codes:
            if self.rejected is not None and (ordinal, code) in self.rejected:
                continue
            for i in range(code.target_count):
                target = &code.c_targets[i]
                if target.suffix:
                    if not target_runs_on(_piece_names[target.kind], _target_name(target), (major, minor)):
                        continue
                elif not _runs_on(target, major, minor):
                    continue
                # Cubin before fatbin before PTX, then the highest capability, then what is made for just this one.
                rank = (2 if code.c_kind == KIND_CUBIN else 1 if code.c_kind == KIND_FATBIN else 0) * 100000
                if code.c_kind != KIND_FATBIN:
                    rank += target.major * 1000 + target.minor * 10 + (target.suffix != 0)
                if rank > best_rank:
                    best, best_rank = code, rank
        return best


@cython.final
@cython.no_gc
cdef class KernelLoaderSpec:
    """What a kernel is called and where its code is: one piece of code per architecture, as many as wanted.

    Parameters
    ----------
    name : str
        The kernel's name in the code; for C++ without ``extern "C"`` that is the mangled name.

    Notes
    -----
    A spec can't be changed once a code was chosen from it. It may be shared by threads and devices, and pickled.
    """

    def __cinit__(self):
        self.variants = Variants.__new__(Variants)

    def __init__(self, name):
        if self.name is not None:
            raise RuntimeError(f"the spec of {self.name!r} is made already: .named() makes one of another name")
        if not isinstance(name, str):
            raise TypeError(f"a kernel's name is a str; got {type(name).__name__}")
        if not name:
            raise ValueError("a kernel's name can't be empty")
        if "\0" in name:
            raise ValueError(f"a kernel's name can't contain a NUL character: {name!r}")
        self.name = sys.intern(str(name))

    def add_ptx(self, code, compute_capability=None):
        """Offer PTX.

        Parameters
        ----------
        code : str, bytes-like, Code, or object with ``.code``
        compute_capability : tuple or str, optional
            What the PTX is for, such as (9, 0) or "sm_90a". It is read from the text; a contradiction is an error.

        Returns
        -------
        KernelLoaderSpec
            This spec.

        Raises
        ------
        ValueError
            Not PTX, PTX without a kernel, or not for `compute_capability`.
        RuntimeError
            A code has been chosen from this spec already.
        """
        cdef Code piece = intern_code(code, "ptx")
        if not has_entry(piece):
            raise ValueError("the PTX has no kernel: there is no .entry in it")
        if compute_capability is not None:
            wanted = target_name(compute_capability)
            if wanted not in piece.targets:
                raise ValueError(f"the PTX is for {', '.join(piece.targets)}, and compute_capability says {wanted}")
        return _add(self, piece)

    def add_cubin(self, code):
        """Offer a cubin; which architecture it is for is read from it. Otherwise like `add_ptx`."""
        return _add(self, intern_code(code, "cubin"))

    def add_fatbin(self, code):
        """Offer a fatbin; which architectures it has is read from it. Otherwise like `add_ptx`."""
        return _add(self, intern_code(code, "fatbin"))

    def named(self, name):
        """A spec for another kernel of the same code.

        Parameters
        ----------
        name : str

        Returns
        -------
        KernelLoaderSpec
            It shares this spec's variants, also those added later.
        """
        cdef KernelLoaderSpec other = KernelLoaderSpec(name)
        other.variants = self.variants
        return other

    def select(self, compute_capability):
        """Choose the code for a device.

        A cubin of the same major and not above the minor version, the highest first; else a fatbin that has a piece
        for the device; else the PTX of the highest capability not above. Targets with suffix "a" are for exactly their
        capability, those with "f" for their family. `Device.create_kernel` takes the next one if the driver can't load
        that for a reason another may not share.

        Parameters
        ----------
        compute_capability : tuple or str
            Such as (9, 0) or "sm_90a".

        Returns
        -------
        Code

        Raises
        ------
        NoVariantError
            None fits; the message names every variant offered.
        """
        major, minor, _ = parse_target(target_name(compute_capability))
        return self.code_for(major, minor, ANY_DEVICE)

    def explain(self, compute_capability):
        """Say what `select` makes of each variant: one line each, with the reason.

        Parameters
        ----------
        compute_capability : tuple or str

        Returns
        -------
        str
        """
        cdef Code code
        major, minor, _ = parse_target(target_name(compute_capability))
        chosen = self.variants.choose(major, minor, ANY_DEVICE)
        rejected = dict(self.variants.rejected or {})
        lines = []
        for code in self.variants.codes:
            obstacles = [target_obstacle(_piece_names[code.c_targets[i].kind], _target_name(&code.c_targets[i]),
                                         (major, minor)) for i in range(code.target_count)]
            if code is chosen:
                reason = "chosen"
            elif None in obstacles:
                reason = "would run, but a better one is offered"
            else:
                reason = "; ".join(obstacles)
            for (ordinal, other), why in rejected.items():
                if other is code:
                    reason += f"; device {ordinal} could not load it: {why}"
            lines.append(f"{code.kind} for {', '.join(code.targets)} ({code.nbytes} bytes): {reason}")
        return "\n".join(lines) if lines else "no variants"

    cdef Code code_for(self, int major, int minor, int ordinal):
        cdef Code code = self.variants.choose(major, minor, ordinal)
        if code is None:
            offered = [f"{(<Code>piece).kind} for {', '.join((<Code>piece).targets)}" for piece in self.variants.codes]
            raise NoVariantError(
                f"kernel {self.name!r} has no code for a device of compute capability {major}.{minor}; "
                f"offered: {'; '.join(offered) if offered else 'nothing'}",
                hint="compile for this device, or add PTX of a lower capability, which newer devices can run",
            )
        return code

    cdef Code code_instead_of(self, Code code, int major, int minor, int ordinal, str why):
        """The next best code for a device that could not load one, or None: then the rejections are forgotten."""
        if self.variants.rejected is None:
            self.variants.rejected = {}
        self.variants.rejected[ordinal, code] = why
        other = self.variants.choose(major, minor, ordinal)
        if other is None:
            for key in [key for key in self.variants.rejected if key[0] == ordinal]:
                self.variants.rejected.pop(key, None)
        return other

    def __reduce__(self):
        return _spec_of, (self.name, self.variants.codes)

    def __repr__(self):
        offered = ", ".join(f"{(<Code>piece).kind} {'+'.join((<Code>piece).targets)}" for piece in self.variants.codes)
        return f"<se_cy.KernelLoaderSpec {self.name!r}: {offered or 'no variants'}>"


cdef KernelLoaderSpec _add(KernelLoaderSpec spec, Code code):
    if spec.variants.is_frozen:
        raise RuntimeError(
            f"the spec of {spec.name!r} is in use: a code has been chosen from it, so no other can be added")
    if code not in spec.variants.codes:
        spec.variants.codes.append(code)
    return spec


def _spec_of(name, codes):
    cdef KernelLoaderSpec spec = KernelLoaderSpec(name)
    for code in codes:
        _add(spec, code)
    return spec


se_cy_set_new(<PyTypeObject *>Variants, se_cy_refuse_new)
