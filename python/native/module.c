#include <Python.h>

#include "call.h"
#include "gate.h"
#include "span.h"
#include "wait.h"
#include "watch.h"
#include "write.h"

// The functions of stepscope._native, twins of those in stepscope/_pure.py.

static Py_ssize_t Count(PyObject* names) {
  return names == NULL ? 0 : PyTuple_Size(names);
}

// The only argument of a call, borrowed, given by place or by this name; NULL with an exception
// set.
static PyObject* Only(PyObject* const* given, Py_ssize_t count, PyObject* names, const char* name) {
  const Py_ssize_t named = Count(names);
  if (count + named != 1) {
    PyErr_Format(PyExc_TypeError, "takes one argument: %s", name);
    return NULL;
  }
  if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), name) != 0) {
    PyErr_Format(PyExc_TypeError, "there is no argument but %s", name);
    return NULL;
  }
  return given[0];
}

static PyObject* Annotate(PyObject* module, PyObject* const* given, Py_ssize_t count,
                          PyObject* names) {
  PyObject* const name = Only(given, count, names, "name");
  return name == NULL ? NULL : MakeSpan(kAnnotationMark, name);
}

static PyObject* Phase(PyObject* module, PyObject* const* given, Py_ssize_t count,
                       PyObject* names) {
  PyObject* const name = Only(given, count, names, "name");
  return name == NULL ? NULL : MakeSpan(kPhaseMark, name);
}

static PyObject* AnnotationBegin(PyObject* module, PyObject* const* given, Py_ssize_t count,
                                 PyObject* names) {
  PyObject* const span = Annotate(module, given, count, names);
  if (span == NULL || BeginSpan(span) == 0) return span;
  Py_DECREF(span);
  return NULL;
}

static PyObject* AnnotationEnd(PyObject* module, PyObject* token) {
  if (EndAnnotation(token) < 0) return NULL;
  Py_RETURN_NONE;
}

typedef int (*Write)(int64_t start_ns, int64_t end_ns, PyObject* name);

static int Times(PyObject* const* given, long long* start_ns, long long* end_ns) {
  *start_ns = PyLong_AsLongLong(given[0]);
  *end_ns = *start_ns < 0 ? -1 : PyLong_AsLongLong(given[1]);
  return *end_ns < 0 ? -1 : 0;
}

// A mark with its times; what makes no sense is ignored.
static PyObject* WriteTimed(PyObject* const* given, Py_ssize_t count, Write write) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "takes three arguments: start_ns, end_ns, name");
    return NULL;
  }
  long long start_ns = 0;
  long long end_ns = 0;
  if (IsOff()) Py_RETURN_NONE;
  const int is_said = PyUnicode_CheckExact(given[2]) && Times(given, &start_ns, &end_ns) == 0;
  if ((is_said ? write(start_ns, end_ns, given[2]) : Calm()) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* Record(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  return WriteTimed(given, count, WritePhase);
}

static PyObject* RecordSpan(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  return WriteTimed(given, count, WriteAnnotation);
}

static PyObject* GpuTime(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  long long numbers[4] = {0};
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "takes four arguments: start_ns, length_ns, name, number");
    return NULL;
  }
  if (IsOff()) Py_RETURN_NONE;
  for (int i = 0; i < 4; ++i) numbers[i] = PyLong_AsLongLong(given[i]);
  const int is_said = !PyErr_Occurred();
  const int written = is_said ? WriteGpuTime(numbers[0], numbers[1], (uint64_t)numbers[2] & 0xffff,
                                             (uint64_t)numbers[3])
                              : Calm();
  if (written < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* Step(PyObject* module, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  PyObject* number = Py_None;
  if (count > 0 || Count(names) > 0) number = Only(given, count, names, "number");
  if (number == NULL) return NULL;
  if (open_gate != NULL) open_gate->by_hand = 1;  // also before there is an agent
  const int is_off = IsOffAt(open_gate != NULL && open_gate->seeking ? MonotonicNs() : 0);
  if (is_off < 0) return NULL;
  if (is_off) Py_RETURN_NONE;
  // Before the ring is looked up, since a number may run code of its own.
  const uint64_t value = number == Py_None ? 0 : PyLong_AsUnsignedLongLongMask(number);
  const int is_said = !PyErr_Occurred();
  const uint64_t* const given_number = number == Py_None ? NULL : &value;
  if ((is_said ? WriteStep(MonotonicNs(), given_number) : Calm()) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* EndStepAt(PyObject* module, PyObject* end) {
  const long long end_ns = PyLong_AsLongLong(end);
  if (end_ns < 0 && Calm() < 0) return NULL;
  const int is_off = end_ns < 0 ? 1 : IsOffAt(end_ns);
  if (is_off < 0) return NULL;
  if (is_off || open_gate->by_hand) Py_RETURN_NONE;
  if (WriteStep(end_ns, NULL) < 0) return NULL;
  Py_RETURN_NONE;
}

// The place, in a call with two arguments, of the one that has this name or this place; -1 with an
// exception set.
static Py_ssize_t PlaceOf(const char* name, Py_ssize_t place, Py_ssize_t count, PyObject* names) {
  if (place < count) return place;
  for (Py_ssize_t i = 0; i < Count(names); ++i) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), name) == 0) return count + i;
  }
  PyErr_SetString(PyExc_TypeError, "takes two arguments: name, value");
  return -1;
}

// A value may run code of its own, so it is asked before anything else.
static int SetMetric(PyObject* name, PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred()) {
    if (!IsOff()) open_gate->refused += 1;
    return Calm();
  }
  PyObject* const spoken = Spoken(name);
  const int written = spoken == NULL ? -1 : IsOff() ? 0 : WriteMetric(spoken, number);
  Py_XDECREF(spoken);
  return written;
}

static PyObject* Metric(PyObject* module, PyObject* const* given, Py_ssize_t count,
                        PyObject* names) {
  Py_ssize_t name = 0;
  Py_ssize_t value = 1;
  if (count != 2 || Count(names) != 0) {
    // Too many, or one of them twice, leaves one without a place.
    const int are_two = count + Count(names) == 2;
    name = PlaceOf("name", 0, are_two ? count : 0, are_two ? names : NULL);
    value = name < 0 ? -1 : PlaceOf("value", 1, count, names);
  }
  if (name < 0 || value < 0) return NULL;
  const int is_off = IsOffNow();
  if (is_off < 0) return NULL;
  if (is_off) Py_RETURN_NONE;
  if (SetMetric(given[name], given[value]) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"annotate", (PyCFunction)(void (*)(void))Annotate, kFastCall | METH_KEYWORDS,
     "annotate(name)\n--\n\n"
     "Times a stretch of code under a name: with annotate(\"augment\"): or "
     "@annotate(\"collate\").\n\n"
     "The job's page shows count, sum, least and most (seconds) for each name. A process has at\n"
     "most 511 names; all others become \"(other)\". As a decorator it times each call; generator\n"
     "functions are left as they are."},
    {"phase", (PyCFunction)(void (*)(void))Phase, kFastCall | METH_KEYWORDS,
     "phase(name)\n--\n\n"
     "Times a part of the step: data, transfer, forward, loss, backward, communication, "
     "optimizer,\n"
     "callback, checkpoint, sync, device_to_host or other; any other word counts as other.\n\n"
     "The agent adds the time (ns) to this phase of the step in which it ends. A phase inside\n"
     "another one is not counted twice."},
    {"annotation_begin", (PyCFunction)(void (*)(void))AnnotationBegin, kFastCall | METH_KEYWORDS,
     "annotation_begin(name)\n--\n\n"
     "Begins an annotation that ends in another function; give the token to annotation_end."},
    {"annotation_end", AnnotationEnd, METH_O,
     "annotation_end(token, /)\n--\n\n"
     "Ends what annotation_begin began. Anything else, and a second end, is ignored."},
    {"step", (PyCFunction)(void (*)(void))Step, kFastCall | METH_KEYWORDS,
     "step(number=None)\n--\n\n"
     "Ends a step of the training, and begins the next one. Call it once in each iteration.\n\n"
     "Steps are numbered from 0; give `number` to go on after a checkpoint: it is that of the "
     "step\n"
     "that ends. The first step begins with the first phase, or else with the first call. What\n"
     "comes after the last call is not a step. Only the first thread that calls it counts steps."},
    {"metric", (PyCFunction)(void (*)(void))Metric, kFastCall | METH_KEYWORDS,
     "metric(name, value)\n--\n\n"
     "Sets a custom metric of this rank: metric(\"samples_per_second\", 1480).\n\n"
     "The job has it as user.NAME of the device rank0, rank1, ...: at each tick of the agent\n"
     "(half a second) the value that was set last, and nothing where none was set since the tick\n"
     "before. The unit is yours to put into the name. A name is 1 to 58 letters, digits, \"_\"\n"
     "and \".\"; a process has at most 64. Other names, and values that are no finite numbers,\n"
     "are left out and counted in info(). A tensor on a GPU is waited for, as by float()."},
    {"end_step", EndStepAt, METH_O, NULL},
    {"record", (PyCFunction)(void (*)(void))Record, kFastCall, NULL},
    {"span", (PyCFunction)(void (*)(void))RecordSpan, kFastCall, NULL},
    {"gpu_time", (PyCFunction)(void (*)(void))GpuTime, kFastCall, NULL},
    {"use", Use, METH_O, NULL},
    {"watch", WatchCall, METH_VARARGS, NULL},
    {"await_gpu", AwaitGpu, METH_VARARGS, NULL},
    {"await_gpu_no_longer", AwaitGpuNoLonger, METH_NOARGS, NULL},
    {"leave", Leave, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

// Static variables belong to one interpreter for the life of the process.
static int Fill(PyObject* module) {
  static int is_filled = 0;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "it serves the main interpreter only");
    return -1;
  }
  if (is_filled) {
    PyErr_SetString(PyExc_ImportError, "it was loaded before");
    return -1;
  }
  is_filled = 1;
  if (AddGate(module) < 0 || PreparePhases() < 0 || PrepareSpans(module) < 0) return -1;
  return AddFlow(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, Fill}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "stepscope._native", NULL, 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
  return PyModuleDef_Init(&definition);
}
