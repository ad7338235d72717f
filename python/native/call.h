#pragma once

#include <Python.h>

// Calls from Python into C that make no tuple of the arguments.

// Fast calls are in the limited API from 3.10 on; 3.9 has the same ones under the same number.
enum { kFastCall = 0x0080 };

// The call of an object (PEP 590). It is in the limited API from 3.12 on only, but no version from
// 3.9 to 3.11 will change any more.
typedef PyObject* (*Vectorcall)(PyObject*, PyObject* const*, size_t, PyObject*);
enum { kHaveVectorcall = 1 << 11 };

// The number of arguments that a call gives by their place, which comes with a flag.
static inline size_t WithoutFlag(size_t count) {
  return count & ~((size_t)1 << (8 * sizeof(size_t) - 1));
}

// The number of arguments of a call; kNamed, which no span takes, where some are given by name.
enum { kNamed = 2 };
static inline size_t GivenByPlace(size_t count, PyObject* names) {
  return names == NULL || PyTuple_Size(names) == 0 ? WithoutFlag(count) : kNamed;
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

// For objects that want a tuple, with a dictionary where there are names.
static inline PyObject* CallWithTuple(ternaryfunc call, PyObject* self, PyObject* const* given,
                                      size_t count, PyObject* names) {
  const Py_ssize_t by_place = (Py_ssize_t)WithoutFlag(count);
  const Py_ssize_t by_name = names == NULL ? 0 : PyTuple_Size(names);
  PyObject* const args = PyTuple_New(by_place);
  PyObject* const named = by_name == 0 ? NULL : PyDict_New();
  int failed = args == NULL || (by_name > 0 && named == NULL);
  for (Py_ssize_t i = 0; i < by_place && !failed; ++i) {
    Py_INCREF(given[i]);
    failed = PyTuple_SetItem(args, i, given[i]) < 0;
  }
  for (Py_ssize_t i = 0; i < by_name && !failed; ++i) {
    failed = PyDict_SetItem(named, PyTuple_GetItem(names, i), given[by_place + i]) < 0;
  }
  PyObject* const result = failed ? NULL : call(self, args, named);
  Py_XDECREF(named);
  Py_XDECREF(args);
  return result;
}
