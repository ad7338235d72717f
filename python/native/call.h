#pragma once

#include <Python.h>

// Calls from Python into C that make no tuple of the arguments.

// Fast calls are in the limited API from 3.10 on; 3.9 has the same ones under the same number.
enum { kFastCall = 0x0080 };

// The call of an object (PEP 590). It is in the limited API from 3.12 on only, but no version from
// 3.9 to 3.11 will change any more.
typedef PyObject* (*Vectorcall)(PyObject*, PyObject* const*, size_t, PyObject*);
enum { kHaveVectorcall = 1 << 11 };

// The number of arguments of a call; kNamed, which no span takes, where some are given by name.
enum { kNamed = 2 };
static inline size_t GivenByPlace(size_t count, PyObject* names) {
  const size_t kOffsetFlag = (size_t)1 << (8 * sizeof(size_t) - 1);
  return names == NULL || PyTuple_Size(names) == 0 ? count & ~kOffsetFlag : kNamed;
}

// For callers that know no vectorcall, such as PyObject_Call with a tuple: up to three arguments.
static inline PyObject* CallByPlace(Vectorcall call, PyObject* self, PyObject* args,
                                    PyObject* named) {
  PyObject* given[3] = {NULL, NULL, NULL};
  const int has_names = named != NULL && PyDict_Size(named) > 0;
  const Py_ssize_t count = has_names ? kNamed : PyTuple_Size(args);
  const Py_ssize_t by_place = PyTuple_Size(args);
  for (Py_ssize_t i = 0; i < by_place && i < 3; ++i) given[i] = PyTuple_GetItem(args, i);
  return call(self, given, (size_t)count, NULL);
}
