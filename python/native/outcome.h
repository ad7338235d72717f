#pragma once

#include <Python.h>

// The result or exception of the original, kept while the flow is told that it ran.
typedef struct {
  PyObject* result;
  PyObject* error[3];
} Outcome;

static inline Outcome Keep(PyObject* result) {
  Outcome outcome = {result, {NULL, NULL, NULL}};
  if (result == NULL) PyErr_Fetch(&outcome.error[0], &outcome.error[1], &outcome.error[2]);
  return outcome;
}

// What the script's own exception, which is set, came upon becomes its context, as in Python.
static inline void Chain(PyObject* const* before) {
  PyObject *type = before[0], *problem = before[1], *trace = before[2];
  PyObject* now[3];
  PyErr_Fetch(&now[0], &now[1], &now[2]);
  PyErr_NormalizeException(&now[0], &now[1], &now[2]);
  PyErr_NormalizeException(&type, &problem, &trace);
  if (trace != NULL) PyException_SetTraceback(problem, trace);
  PyObject* const known = PyException_GetContext(now[1]);
  if (known == NULL && problem != now[1]) {
    PyException_SetContext(now[1], problem);
  } else {
    Py_XDECREF(problem);
  }
  Py_XDECREF(known);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  PyErr_Restore(now[0], now[1], now[2]);
}

static inline PyObject* Give(Outcome* outcome, int told) {
  if (told < 0) {
    if (outcome->result == NULL) Chain(outcome->error);
    Py_XDECREF(outcome->result);
    return NULL;
  }
  if (outcome->result == NULL) {
    PyErr_Restore(outcome->error[0], outcome->error[1], outcome->error[2]);
  }
  return outcome->result;
}
