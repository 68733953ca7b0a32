# SPDX-License-Identifier: Apache-2.0
"""Type slots that Cython does not generate: a `tp_new` that may return an existing object, and vectorcall."""
from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #include <Python.h>
    #include <string.h>

    /* For types whose objects only this package can fill in: an empty one would be full of null pointers. */
    static PyObject *se_cy_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
        const char *name = strrchr(type->tp_name, '.');
        name = name ? name + 1 : type->tp_name;
        return PyErr_Format(PyExc_TypeError, "a %s is not made by calling its class: %s.__doc__ says how", name, name);
    }

    /* Cython's tp_vectorcall would construct an object past tp_new. */
    static void se_cy_set_new(PyTypeObject *type, newfunc make) {
        type->tp_new = make;
        type->tp_vectorcall = NULL;
        PyType_Modified(type);
    }

    /* An instance is called through the vectorcall pointer it holds at that offset; tp_call stays for callers that
       have a tuple. The type is final and complete when this runs, so no subtype has inherited its slots. */
    static void se_cy_set_vectorcall(PyTypeObject *type, Py_ssize_t offset) {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(type);
    }
    """
    ctypedef PyObject *(*newfunc)(PyTypeObject *, PyObject *, PyObject *) except NULL
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *) except NULL
    PyObject *se_cy_refuse_new(PyTypeObject *, PyObject *, PyObject *) except NULL
    void se_cy_set_new(PyTypeObject *type, newfunc make)
    void se_cy_set_vectorcall(PyTypeObject *type, Py_ssize_t offset)
