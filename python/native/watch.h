#pragma once

#include <Python.h>

// watch(what, flow, original, gradients, phase, kind, base): the original, timed. The C twin of the
// functions in stepscope/_hooks/_calls.py, which say what each of them is for.
PyObject* WatchCall(PyObject* module, PyObject* args);

// Makes the types of flows and watches, and adds the one of flows to the module; -1 with an
// exception set.
int AddFlow(PyObject* module);
