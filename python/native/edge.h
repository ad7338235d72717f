#pragma once

#include "flow.h"

// Tells the GPU's clock that a call begins. Where it times the call, `edge` is a new reference to
// what EndEdge then tells the call's end and whether it `counts`, else NULL. -1 with the script's
// own exception set.
int BeginEdge(Flow* flow, PyObject* phase, int gradients, PyObject** edge);
int EndEdge(PyObject* edge, int counts);
