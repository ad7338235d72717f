#include "wait.h"

#include <string.h>

#include "edge.h"
#include "flow.h"
#include "gate.h"
#include "outcome.h"
#include "place.h"
#include "ring.h"

typedef enum { kAlways, kValue, kCopy, kInto } Kind;
static const char* const kKinds[] = {"always", "value", "copy", "into"};
enum { kKindCount = 4 };

typedef struct {
  PyMethodDef* def;  // NULL: free
  PyCFunction original;
  PyObject* phase;
  Kind kind;
} Wait;

// What a call was, once it is over.
typedef enum { kFault = -1, kNeither, kWaited, kToGpu } Seen;

enum { kMostWithNames = 8, kMostWaits = 24 };
static Wait waits[kMostWaits];  // those that take names come first
static Flow* waiting_flow = NULL;
static PyObject* plain_types = NULL;  // tuple
static PyObject* is_on_gpu = NULL;
static PyObject* has_gradients = NULL;
static PyObject* to_gpu_phase = NULL;
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

// The tensor that a call copies, NULL where it copies none.
static PyObject* CopiedBy(Kind kind, PyObject* self, PyObject* args) {
  if (kind == kCopy) return self;
  const int has_first = args != NULL && PyTuple_Check(args) && PyTuple_Size(args) > 0;
  return kind == kInto && has_first ? PyTuple_GetItem(args, 0) : NULL;
}

// kFault: with the script's own exception set.
static Seen OutcomeOf(Kind kind, PyObject* self, PyObject* args, PyObject* result) {
  if (kind == kAlways) return kWaited;
  if (kind == kValue) return (Seen)IsOnGpu(self);
  PyObject* const from = CopiedBy(kind, self, args);
  if (from == NULL || from == result || !IsPlain(from) || !IsPlain(result)) return kNeither;
  const int was_there = IsOnGpu(from);
  const int is_there = was_there < 0 ? -1 : IsOnGpu(result);
  if (is_there < 0) return kFault;
  return was_there == is_there ? kNeither : is_there ? kToGpu : kWaited;
}

static PyObject* Original(const Wait* wait, PyObject* self, PyObject* args, PyObject* named) {
  if ((wait->def->ml_flags & METH_KEYWORDS) == 0) return wait->original(self, args);
  return ((PyCFunctionWithKeywords)(void (*)(void))wait->original)(self, args, named);
}

static int HasGradients(void) {
  PyObject* const said = PyObject_CallObject(has_gradients, NULL);
  const int yes = said == Py_True;
  Py_XDECREF(said);
  return said == NULL ? Calm() : yes;
}

// Tells the GPU's clock of a copy that may go there, where this step is timed.
static int BeginCopy(Flow* flow, const Wait* wait, PyObject* self, PyObject* args,
                     PyObject** edge) {
  *edge = NULL;
  if (flow->edge == NULL || flow->edge == Py_None || flow->inside) return 0;
  PyObject* const from = CopiedBy(wait->kind, self, args);
  const int is_there = from != NULL && IsPlain(from) ? IsOnGpu(from) : 1;
  const int gradients = is_there == 0 ? HasGradients() : 0;
  if (is_there < 0 || gradients < 0) return -1;
  return is_there ? 0 : BeginEdge(flow, to_gpu_phase, gradients, edge);
}

// Tells what a call was. A copy to the GPU within a phase is a part of that.
static int Tell(Flow* flow, const Wait* wait, Seen outcome, int64_t start_ns, int64_t end_ns) {
  if (outcome == kWaited && end_ns - start_ns >= kLeastNs)
    return TellWait(flow, start_ns, end_ns, wait->phase);
  if (outcome == kToGpu && !flow->inside) return TellWait(flow, start_ns, end_ns, to_gpu_phase);
  return outcome == kFault ? -1 : 0;
}

static PyObject* Run(const Wait* wait, PyObject* self, PyObject* args, PyObject* named) {
  Flow* const flow = waiting_flow;
  const int is_seen = flow != NULL && IsOwner(flow) && (wait->kind == kAlways || IsPlain(self));
  if (!is_seen || is_waiting) return Original(wait, self, args, named);
  PyObject* edge = NULL;
  if (BeginCopy(flow, wait, self, args, &edge) < 0) return NULL;
  is_waiting = 1;
  const int64_t start_ns = MonotonicNs();
  Outcome outcome = Keep(Original(wait, self, args, named));
  const int64_t end_ns = MonotonicNs();
  is_waiting = 0;
  const int is_short = end_ns - start_ns < kLeastNs && wait->kind != kCopy && wait->kind != kInto;
  Seen what = kNeither;
  if (outcome.result != NULL && !is_short && wait->def != NULL)
    what = OutcomeOf(wait->kind, self, args, outcome.result);
  const int ended = EndEdge(edge, what == kToGpu);
  return Give(&outcome, ended < 0 ? -1 : Tell(flow, wait, what, start_ns, end_ns));
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
  if (CopyBytes(&def->ml_meth, &ours, sizeof(ours))) return 1;
  Py_DECREF(phase);
  *wait = (Wait){NULL, NULL, NULL, kAlways};
  return 0;
}

static void Replace(PyObject** place, PyObject* object) {
  PyObject* const before = *place;
  Py_INCREF(object);
  *place = object;
  Py_XDECREF(before);
}

PyObject* AwaitGpu(PyObject* Py_UNUSED(module), PyObject* args) {
  PyObject *flow, *function, *phase, *plain, *on_gpu, *gradients;
  const char* kind_name = NULL;
  if (!PyArg_ParseTuple(args, "O!OUsO!OO:await_gpu", FlowType(), &flow, &function, &phase,
                        &kind_name, &PyTuple_Type, &plain, &on_gpu, &gradients)) {
    return NULL;
  }
  if (to_gpu_phase == NULL) to_gpu_phase = PyUnicode_InternFromString("transfer");
  if (to_gpu_phase == NULL) return NULL;
  int kind = 0;
  while (kind < kKindCount && strcmp(kKinds[kind], kind_name) != 0) ++kind;
  PyMethodDef* const def = kind == kKindCount ? NULL : DefinitionOf(function);
  Wait* const wait = def == NULL ? NULL : FreeFor(def);
  if (wait == NULL || !Place(wait, def, phase, (Kind)kind)) {
    PyErr_SetString(PyExc_ValueError, "it cannot be watched in its place");
    return NULL;
  }
  Replace((PyObject**)&waiting_flow, flow);
  Replace(&plain_types, plain);
  Replace(&is_on_gpu, on_gpu);
  Replace(&has_gradients, gradients);
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
