#pragma once

#include <Python.h>

// A watch as the function that it watches: whoever asks it for anything but its call is answered by
// the original (`like`), and what is set is set there. NULL or -1 with an exception set.
PyObject* AttributeOf(PyObject* self, PyObject* like, PyObject* name);
int SetAttributeOf(PyObject* like, PyObject* name, PyObject* value);

// For pickle and copy: what gives the original.
PyObject* Reduced(PyObject* like);

// The method of an object; the watch itself where there is none.
PyObject* BoundTo(PyObject* self, PyObject* object);
