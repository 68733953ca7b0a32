// SPDX-License-Identifier: Apache-2.0
//
// Callables that do the least a launch from Python must do. Both take any arguments and read none.
//
//   Empty()                                       releases the GIL and takes it back, around nothing
//   DriverCall(launch, function, stream, pointer) the same around one launch of a saxpy whose parameters are packed
//                                                 already; `launch` is a capsule with a function like cuLaunchKernel

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

typedef int (*launch_function)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                               void **parameters, void **extra);

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  launch_function launch;
  void *function;
  void *stream;
  uint64_t pointer;
  float scale;
  int count;
} Callable;

static PyObject *call_nothing(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
  Py_BEGIN_ALLOW_THREADS
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyObject *call_driver(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names) {
  Callable *self = (Callable *)object;
  void *parameters[] = {&self->scale, &self->pointer, &self->pointer, &self->pointer, &self->count};
  int status;
  Py_BEGIN_ALLOW_THREADS
  status = self->launch(self->function, 1, 1, 1, 128, 1, 1, 0, self->stream, parameters, NULL);
  Py_END_ALLOW_THREADS
  if (status != 0)
    return PyErr_Format(PyExc_RuntimeError, "cuLaunchKernel answered %d", status);
  Py_RETURN_NONE;
}

static int init_empty(PyObject *self, PyObject *args, PyObject *kwargs) {
  ((Callable *)self)->vectorcall = call_nothing;
  return 0;
}

static int init_driver_call(PyObject *object, PyObject *args, PyObject *kwargs) {
  Callable *self = (Callable *)object;
  PyObject *launch;
  unsigned long long function, stream, pointer;
  if (!PyArg_ParseTuple(args, "OKKK", &launch, &function, &stream, &pointer))
    return -1;
  self->launch = (launch_function)PyCapsule_GetPointer(launch, PyCapsule_GetName(launch));
  if (self->launch == NULL)
    return -1;
  self->function = (void *)(uintptr_t)function;
  self->stream = (void *)(uintptr_t)stream;
  self->pointer = pointer;
  self->scale = 2.0f;
  self->count = 128;
  self->vectorcall = call_driver;
  return 0;
}

static PyTypeObject empty_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "vectorcall.Empty",
    .tp_basicsize = sizeof(Callable),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Callable, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = PyType_GenericNew,
    .tp_init = init_empty,
};

static PyTypeObject driver_call_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "vectorcall.DriverCall",
    .tp_basicsize = sizeof(Callable),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Callable, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = PyType_GenericNew,
    .tp_init = init_driver_call,
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "vectorcall", .m_size = -1};

PyMODINIT_FUNC PyInit_vectorcall(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module == NULL || PyModule_AddType(module, &empty_type) < 0 || PyModule_AddType(module, &driver_call_type) < 0)
    return NULL;
  return module;
}
