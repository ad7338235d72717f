#include "wait.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"
#include "gate.h"
#include "ring.h"

// What is read of CPython's own objects. The layout is the same in all versions from 3.9 on; the
// size that the type gives for its objects is compared before it is believed.
typedef struct {
  PyObject ob_base;
  PyObject* of_class[3];
  PyMethodDef* def;
  void* call;
} Method;

typedef struct {
  PyObject ob_base;
  PyMethodDef* def;
  PyObject* of_module[3];
  void* call;
} Function;

typedef enum { kAlways, kValue, kCopy, kInto } Kind;
static const char* const kKinds[] = {"always", "value", "copy", "into"};
enum { kKindCount = 4 };

typedef struct {
  PyMethodDef* def;  // NULL: free
  PyCFunction original;
  PyObject* phase;
  Kind kind;
} Wait;

enum { kMostWithNames = 8, kMostWaits = 24 };
static Wait waits[kMostWaits];  // those that take names come first
static Flow* waiting_flow = NULL;
static PyObject* plain_types = NULL;  // tuple
static PyObject* is_on_gpu = NULL;
static int is_waiting = 0;  // the training thread is in such a call: those within are part of it
static const int64_t kLeastNs = 5000;  // the GPU is not waited for in a shorter time

static int IsPlain(PyObject* object) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(plain_types); ++i) {
    if (PyTuple_GetItem(plain_types, i) == (PyObject*)Py_TYPE(object)) return 1;
  }
  return 0;
}

static int IsOnGpu(PyObject* tensor) {
  if (!IsPlain(tensor)) return 0;
  PyObject* const said = PyObject_CallFunctionObjArgs(is_on_gpu, tensor, NULL);
  const int on_gpu = said == Py_True;
  Py_XDECREF(said);
  return said == NULL ? Calm() : on_gpu;
}

// Whether the call waited for the GPU; -1 with the script's own exception set.
static int Counts(Kind kind, PyObject* self, PyObject* args, PyObject* result) {
  if (kind == kAlways) return 1;
  if (kind == kValue) return IsOnGpu(self);
  const int has_first = args != NULL && PyTuple_Check(args) && PyTuple_Size(args) > 0;
  if (kind == kInto && !has_first) return 0;
  PyObject* const from = kind == kCopy ? self : PyTuple_GetItem(args, 0);
  if (from == result) return 0;
  const int from_gpu = IsOnGpu(from);
  const int to_gpu = from_gpu > 0 ? IsOnGpu(result) : 1;
  return from_gpu < 0 || to_gpu < 0 ? -1 : IsPlain(result) && !to_gpu;
}

static PyObject* Original(const Wait* wait, PyObject* self, PyObject* args, PyObject* named) {
  if ((wait->def->ml_flags & METH_KEYWORDS) == 0) return wait->original(self, args);
  return ((PyCFunctionWithKeywords)(void (*)(void))wait->original)(self, args, named);
}

static PyObject* Run(const Wait* wait, PyObject* self, PyObject* args, PyObject* named) {
  Flow* const flow = waiting_flow;
  const int is_seen = flow != NULL && IsOwner(flow) && (wait->kind == kAlways || IsPlain(self));
  if (!is_seen || is_waiting) return Original(wait, self, args, named);
  is_waiting = 1;
  const int64_t start_ns = MonotonicNs();
  PyObject* const result = Original(wait, self, args, named);
  const int64_t end_ns = MonotonicNs();
  is_waiting = 0;
  if (result == NULL || end_ns - start_ns < kLeastNs || wait->def == NULL) return result;
  int told = Counts(wait->kind, self, args, result);
  if (told > 0) told = TellWait(flow, start_ns, end_ns, wait->phase);
  if (told >= 0) return result;
  Py_DECREF(result);
  return NULL;
}

// A function of C knows nothing but its arguments, so each wait has one of its own.
typedef PyObject* Named(PyObject* self, PyObject* args, PyObject* named);
static PyObject* N0(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[0], s, a, n);
}
static PyObject* N1(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[1], s, a, n);
}
static PyObject* N2(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[2], s, a, n);
}
static PyObject* N3(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[3], s, a, n);
}
static PyObject* N4(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[4], s, a, n);
}
static PyObject* N5(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[5], s, a, n);
}
static PyObject* N6(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[6], s, a, n);
}
static PyObject* N7(PyObject* s, PyObject* a, PyObject* n) {
  return Run(&waits[7], s, a, n);
}
static PyObject* P8(PyObject* s, PyObject* a) {
  return Run(&waits[8], s, a, NULL);
}
static PyObject* P9(PyObject* s, PyObject* a) {
  return Run(&waits[9], s, a, NULL);
}
static PyObject* P10(PyObject* s, PyObject* a) {
  return Run(&waits[10], s, a, NULL);
}
static PyObject* P11(PyObject* s, PyObject* a) {
  return Run(&waits[11], s, a, NULL);
}
static PyObject* P12(PyObject* s, PyObject* a) {
  return Run(&waits[12], s, a, NULL);
}
static PyObject* P13(PyObject* s, PyObject* a) {
  return Run(&waits[13], s, a, NULL);
}
static PyObject* P14(PyObject* s, PyObject* a) {
  return Run(&waits[14], s, a, NULL);
}
static PyObject* P15(PyObject* s, PyObject* a) {
  return Run(&waits[15], s, a, NULL);
}
static PyObject* P16(PyObject* s, PyObject* a) {
  return Run(&waits[16], s, a, NULL);
}
static PyObject* P17(PyObject* s, PyObject* a) {
  return Run(&waits[17], s, a, NULL);
}
static PyObject* P18(PyObject* s, PyObject* a) {
  return Run(&waits[18], s, a, NULL);
}
static PyObject* P19(PyObject* s, PyObject* a) {
  return Run(&waits[19], s, a, NULL);
}
static PyObject* P20(PyObject* s, PyObject* a) {
  return Run(&waits[20], s, a, NULL);
}
static PyObject* P21(PyObject* s, PyObject* a) {
  return Run(&waits[21], s, a, NULL);
}
static PyObject* P22(PyObject* s, PyObject* a) {
  return Run(&waits[22], s, a, NULL);
}
static PyObject* P23(PyObject* s, PyObject* a) {
  return Run(&waits[23], s, a, NULL);
}
static Named* const kWithNames[kMostWithNames] = {N0, N1, N2, N3, N4, N5, N6, N7};
static const PyCFunction kPlain[kMostWaits - kMostWithNames] = {
    P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22, P23};

static PyCFunction InPlaceOf(const Wait* wait) {
  const long at = wait - waits;
  if (at < kMostWithNames) return (PyCFunction)(void (*)(void))kWithNames[at];
  return kPlain[at - kMostWithNames];
}

// Copies through the kernel, which refuses what cannot be read or written where a plain copy would
// end the process. 0 when it did not.
static int Copy(void* to, const void* from, size_t bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  const int done =
      write(ends[1], from, bytes) == (ssize_t)bytes && read(ends[0], to, bytes) == (ssize_t)bytes;
  close(ends[0]);
  close(ends[1]);
  return done;
}

static int HasSize(PyObject* object, size_t size) {
  PyObject* const said = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__basicsize__");
  const long long bytes = said == NULL ? -1 : PyLong_AsLongLong(said);
  Py_XDECREF(said);
  PyErr_Clear();
  return bytes == (long long)size;
}

static int HasType(PyObject* object, const char* name) {
  PyObject* const types = PyImport_ImportModule("types");
  PyObject* const type = types == NULL ? NULL : PyObject_GetAttrString(types, name);
  Py_XDECREF(types);
  Py_XDECREF(type);
  PyErr_Clear();
  return type == (PyObject*)Py_TYPE(object);
}

static int HasName(PyObject* function, const char* name) {
  char seen[64] = {0};
  PyObject* const said = PyObject_GetAttrString(function, "__name__");
  const size_t length = said == NULL ? sizeof(seen) : (size_t)PyUnicode_GetLength(said) + 1;
  const int is_same = length <= sizeof(seen) && Copy(seen, name, length) &&
                      seen[length - 1] == '\0' && PyUnicode_CompareWithASCIIString(said, seen) == 0;
  Py_XDECREF(said);
  PyErr_Clear();
  return is_same;
}

// The definition of a function or method of C; NULL for anything else.
static PyMethodDef* DefinitionOf(PyObject* function) {
  PyMethodDef* def = NULL;
  PyMethodDef seen = {NULL, NULL, 0, NULL};
  if (HasType(function, "MethodDescriptorType") && HasSize(function, sizeof(Method))) {
    def = ((Method*)function)->def;
  } else if (HasType(function, "BuiltinFunctionType") && HasSize(function, sizeof(Function))) {
    def = ((Function*)function)->def;
  }
  if (def == NULL || !Copy(&seen, def, sizeof(seen)) || !HasName(function, seen.ml_name))
    return NULL;
  return def;
}

// A free wait for this way of being called; NULL when there is none.
static Wait* FreeFor(const PyMethodDef* def) {
  const int named = def->ml_flags == (METH_VARARGS | METH_KEYWORDS);
  const int by_place =
      def->ml_flags == METH_NOARGS || def->ml_flags == METH_VARARGS || def->ml_flags == METH_O;
  const int first = named ? 0 : kMostWithNames;
  const int end = named ? kMostWithNames : by_place ? kMostWaits : first;
  for (int i = 0; i < kMostWaits; ++i) {
    if (waits[i].def == def) return NULL;
  }
  for (int i = first; i < end; ++i) {
    if (waits[i].def == NULL) return &waits[i];
  }
  return NULL;
}

static int Place(Wait* wait, PyMethodDef* def, PyObject* phase, Kind kind) {
  Py_INCREF(phase);
  *wait = (Wait){def, def->ml_meth, phase, kind};
  const PyCFunction ours = InPlaceOf(wait);
  if (Copy(&def->ml_meth, &ours, sizeof(ours))) return 1;
  Py_DECREF(phase);
  *wait = (Wait){NULL, NULL, NULL, kAlways};
  return 0;
}

static void Keep(PyObject** place, PyObject* object) {
  PyObject* const before = *place;
  Py_INCREF(object);
  *place = object;
  Py_XDECREF(before);
}

PyObject* AwaitGpu(PyObject* Py_UNUSED(module), PyObject* args) {
  PyObject *flow, *function, *phase, *plain, *on_gpu;
  const char* kind_name = NULL;
  if (!PyArg_ParseTuple(args, "O!OUsO!O:await_gpu", FlowType(), &flow, &function, &phase,
                        &kind_name, &PyTuple_Type, &plain, &on_gpu)) {
    return NULL;
  }
  int kind = 0;
  while (kind < kKindCount && strcmp(kKinds[kind], kind_name) != 0) ++kind;
  PyMethodDef* const def = kind == kKindCount ? NULL : DefinitionOf(function);
  Wait* const wait = def == NULL ? NULL : FreeFor(def);
  if (wait == NULL || !Place(wait, def, phase, (Kind)kind)) {
    PyErr_SetString(PyExc_ValueError, "it cannot be watched in its place");
    return NULL;
  }
  Keep((PyObject**)&waiting_flow, flow);
  Keep(&plain_types, plain);
  Keep(&is_on_gpu, on_gpu);
  Py_RETURN_NONE;
}

PyObject* AwaitGpuNoLonger(PyObject* Py_UNUSED(module), PyObject* Py_UNUSED(none)) {
  for (Wait* wait = waits; wait < waits + kMostWaits; ++wait) {
    if (wait->def == NULL || wait->def->ml_meth != InPlaceOf(wait)) continue;
    wait->def->ml_meth = wait->original;
    Py_DECREF(wait->phase);
    *wait = (Wait){NULL, NULL, NULL, kAlways};
  }
  Py_RETURN_NONE;
}
