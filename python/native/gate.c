#include "gate.h"

#include <pthread.h>
#include <structmember.h>

#include "outcome.h"

Gate* open_gate = NULL;

static PyTypeObject* gate_type = NULL;
static PyTypeObject* ring_type = NULL;

// The ring that this thread was lent. It belongs to the session, and stays here for as long as no
// ring was closed and no other gate was opened.
static _Thread_local struct {
  Ring* ring;
  uint64_t age;
} lent;

static uint64_t gates_opened = 0;

int calls_left = kMostCalls;

int IsOffAt(int64_t now_ns) {
  Gate* const gate = open_gate;
  if (!IsOff() || gate == NULL || !gate->seeking || now_ns < gate->due) return IsOff();
  PyObject* const found = PyObject_CallMethod((PyObject*)gate, "seek", "L", (long long)now_ns);
  if (found == NULL && Calm() < 0) return -1;
  Py_XDECREF(found);
  return IsOff();
}

int IsOffAfterLook(void) {
  calls_left = kMostCalls;
  return IsOffAt(MonotonicNs());
}

static uint64_t Age(void) {
  return gates_opened + rings_closed;
}

static Ring* Lent(void) {
  return lent.age == Age() ? lent.ring : NULL;
}

static Ring* AskSession(int64_t now_ns) {
  PyObject* const found = PyObject_CallMethod((PyObject*)open_gate, "ring", "L", (long long)now_ns);
  if (found == NULL) return NULL;
  const int is_ring = Py_TYPE(found) == ring_type;
  lent.ring = is_ring ? (Ring*)found : NULL;
  lent.age = Age();
  Py_DECREF(found);
  return Lent();
}

Ring* RingAt(int64_t now_ns) {
  Gate* const gate = open_gate;
  if (IsOff()) return NULL;
  Ring* const ring = Lent();
  if (now_ns < gate->due && (ring != NULL || !gate->ready)) return ring;
  return AskSession(now_ns);
}

long KnownName(Names names, PyObject* name) {
  if (IsOff()) return -1;
  PyObject* const known = names == kMetricNames ? open_gate->metrics : open_gate->ids;
  if (known == NULL) return -1;
  PyObject* const number = PyDict_GetItemWithError(known, name);
  return number == NULL ? -1 : PyLong_AsLong(number);
}

long DeclareName(Names names, PyObject* name, int64_t now_ns) {
  if (IsOff()) return -1;
  const char* const declare = names == kMetricNames ? "metric" : "name";
  PyObject* const number =
      PyObject_CallMethod((PyObject*)open_gate, declare, "OL", name, (long long)now_ns);
  if (number == NULL) return -1;
  const long given = PyLong_AsLong(number);
  Py_DECREF(number);
  return given;
}

// Asks stepscope/_calm.py about an exception: 1 where it is the script's own; -1 with another one
// set.
static int IsOfScript(PyObject* problem) {
  PyObject* const module = PyImport_ImportModule("stepscope._calm");
  PyObject* const said =
      module == NULL ? NULL : PyObject_CallMethod(module, "is_of_script", "O", problem);
  Py_XDECREF(module);
  Py_XDECREF(said);
  return said == NULL ? -1 : said == Py_True;
}

// A handler of the script may raise once more while it is asked about what it raised.
static int CalmAfter(int tries) {
  PyObject *type, *problem, *trace;
  if (PyErr_Occurred() == NULL) return 0;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  PyErr_Fetch(&type, &problem, &trace);
  PyErr_NormalizeException(&type, &problem, &trace);
  if (trace != NULL) PyException_SetTraceback(problem, trace);
  const int is_of_script = IsOfScript(problem);
  Py_XDECREF(trace);
  if (is_of_script > 0) {
    PyErr_Restore(type, problem, PyException_GetTraceback(problem));
    return -1;
  }
  if (is_of_script < 0 && tries > 0) {
    Chain((PyObject*[]){type, problem, NULL});
    return CalmAfter(tries - 1);
  }
  Py_XDECREF(type);
  Py_XDECREF(problem);
  PyErr_Clear();
  return 0;
}

int Calm(void) {
  return PyErr_Occurred() == NULL ? 0 : CalmAfter(3);
}

PyObject* Use(PyObject* Py_UNUSED(module), PyObject* gate) {
  if (gate != Py_None && !PyObject_TypeCheck(gate, gate_type)) {
    PyErr_SetString(PyExc_TypeError, "not a gate");
    return NULL;
  }
  Gate* const before = open_gate;
  if (gate != Py_None) Py_INCREF(gate);
  open_gate = gate == Py_None ? NULL : (Gate*)gate;
  gates_opened += 1;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

PyObject* Leave(PyObject* Py_UNUSED(module), PyObject* Py_UNUSED(none)) {
  lent.ring = NULL;
  Py_RETURN_NONE;
}

// The child of a fork that Python does not know of writes nothing into its parent's rings. The one
// of os.fork() opens a gate of its own.
static void ShutInChild(void) {
  open_gate = NULL;
}

static void Dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(((Gate*)self)->ids);
  Py_XDECREF(((Gate*)self)->metrics);
  Py_XDECREF(((Gate*)self)->at_step);
  Py_XDECREF(((Gate*)self)->at_window);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"off", T_BOOL, offsetof(Gate, off), 0, NULL},
    {"seeking", T_BOOL, offsetof(Gate, seeking), 0, NULL},
    {"by_hand", T_BOOL, offsetof(Gate, by_hand), 0, NULL},
    {"ready", T_BOOL, offsetof(Gate, ready), 0, NULL},
    {"due", T_LONGLONG, offsetof(Gate, due), 0, NULL},
    {"ids", T_OBJECT_EX, offsetof(Gate, ids), 0, NULL},
    {"metrics", T_OBJECT_EX, offsetof(Gate, metrics), 0, NULL},
    {"refused", T_LONGLONG, offsetof(Gate, refused), 0, NULL},
    {"at_step", T_OBJECT, offsetof(Gate, at_step), 0, NULL},
    {"at_window", T_OBJECT, offsetof(Gate, at_window), 0, NULL},
    {"untimed", T_LONGLONG, offsetof(Gate, untimed), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, Dealloc}, {Py_tp_members, members}, {0, NULL}};

static PyType_Spec spec = {
    "stepscope._native.Gate", sizeof(Gate), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots,
};

int AddGate(PyObject* module) {
  gate_type = (PyTypeObject*)PyType_FromSpec(&spec);
  ring_type = (PyTypeObject*)MakeRingType();
  if (gate_type == NULL || ring_type == NULL) return -1;
  if (PyObject_SetAttrString(module, "Gate", (PyObject*)gate_type) < 0) return -1;
  if (PyObject_SetAttrString(module, "Ring", (PyObject*)ring_type) < 0) return -1;
  if (pthread_atfork(NULL, NULL, ShutInChild) == 0) return 0;
  PyErr_NoMemory();
  return -1;
}
