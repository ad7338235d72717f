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

static inline PyObject* Give(Outcome* outcome, int told) {
  if (told < 0) {
    Py_XDECREF(outcome->result);
    for (int i = 0; i < 3; ++i) Py_XDECREF(outcome->error[i]);
    return NULL;
  }
  if (outcome->result == NULL) {
    PyErr_Restore(outcome->error[0], outcome->error[1], outcome->error[2]);
  }
  return outcome->result;
}
