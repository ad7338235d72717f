#include "idle.h"

#include <structmember.h>

#include "call.h"

typedef struct {
  PyObject ob_base;
  Vectorcall call;
} Idle;

PyObject* idle_span = NULL;
PyObject* idle_exit = NULL;

// The idle span is its own __enter__, and binds to nothing, so `with` calls it without arguments.
// contextlib.ExitStack gives the span itself, which looks like a function that is decorated.
static PyObject* CallIdle(PyObject* self, PyObject* const* given, size_t count, PyObject* names) {
  PyObject* result = NULL;
  switch (GivenByPlace(count, names)) {
    case 0:
      result = self;
      break;
    case 1:
      result = given[0];
      break;
    default:
      PyErr_SetString(PyExc_TypeError, "an annotation takes one function to decorate");
  }
  Py_XINCREF(result);
  return result;
}

static PyObject* CallFromTuple(PyObject* self, PyObject* args, PyObject* named) {
  return CallByPlace(CallIdle, self, args, named);
}

// A function of C, which binds to nothing either, and which Python calls at once: since 3.11 that
// costs half as much as calling any other object.
static PyObject* Exit(PyObject* Py_UNUSED(module), PyObject* const* Py_UNUSED(given),
                      Py_ssize_t Py_UNUSED(count)) {
  Py_RETURN_NONE;
}

static PyMethodDef exit_method = {"__exit__", (PyCFunction)(void (*)(void))Exit, kFastCall, NULL};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Idle, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_call, CallFromTuple}, {Py_tp_members, members}, {0, NULL}};

static PyType_Spec spec = {
    "stepscope._native.IdleSpan", sizeof(Idle), 0, Py_TPFLAGS_DEFAULT | kHaveVectorcall, slots,
};

int PrepareIdle(void) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == NULL) return -1;
  Idle* const idle = PyObject_New(Idle, (PyTypeObject*)type);
  if (idle == NULL) return -1;
  idle->call = CallIdle;
  idle_span = (PyObject*)idle;
  if (PyObject_SetAttrString(type, "__enter__", idle_span) < 0) return -1;
  idle_exit = PyCFunction_NewEx(&exit_method, NULL, NULL);
  return idle_exit == NULL ? -1 : PyObject_SetAttrString(type, "__exit__", idle_exit);
}
