#include "edge.h"

#include "gate.h"

// Ends a call of the clock. The only exceptions that leave it are the script's own.
static int Done(PyObject* nothing) {
  if (nothing == NULL) return Calm();
  Py_DECREF(nothing);
  return 0;
}

int BeginEdge(Flow* flow, PyObject* phase, int gradients, PyObject** edge) {
  *edge = NULL;
  PyObject* const clock = flow->edge;
  if (clock == NULL || clock == Py_None) return 0;
  Py_INCREF(clock);
  PyObject* const timed =
      PyObject_CallFunctionObjArgs(clock, phase, gradients ? Py_True : Py_False, NULL);
  if (timed == Py_True) {
    *edge = clock;
  } else {
    Py_DECREF(clock);
  }
  return Done(timed);
}

int EndEdge(PyObject* edge, int counts) {
  if (edge == NULL) return 0;
  PyObject* const told =
      PyObject_CallFunctionObjArgs(edge, Py_None, counts ? Py_True : Py_False, NULL);
  Py_DECREF(edge);
  return Done(told);
}
