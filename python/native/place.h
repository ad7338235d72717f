#pragma once

#include <Python.h>

// Where a function of C says what is called: the place in which it is watched.

// The definition of a function or method of C; NULL for anything else.
PyMethodDef* DefinitionOf(PyObject* function);

// Copies through the kernel, which refuses what cannot be read or written where a plain copy would
// end the process. 0 when it did not.
int CopyBytes(void* to, const void* from, size_t bytes);
