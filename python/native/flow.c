#include "flow.h"

#include <pythread.h>
#include <structmember.h>

#include "gate.h"
#include "write.h"

enum { kFeedLook = 16 };  // LOOK in stepscope/_hooks/_feed.py

static PyTypeObject* flow_type = NULL;
static PyObject* data_phase = NULL;
static PyObject* backward_phase = NULL;
static PyObject* optimizer_phase = NULL;

// Whether the training goes its usual way: nothing is held back, and nothing has to be told.
static int IsSteady(const Flow* flow) {
  return flow->proven && !flow->evaluating && flow->idle == 0 && flow->loader == flow->told &&
         !IsOff() && flow->held != NULL && PyList_Size(flow->held) == 0;
}

int IsOwner(const Flow* flow) {
  return PyThread_get_thread_ident() == flow->owner;
}

static void Drop(Flow* flow) {
  while (flow->pending_count > 0) Py_DECREF(flow->pending[--flow->pending_count].phase);
}

// Adds a call to the pending ones. Whether there was room for it.
static int Push(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase) {
  if (flow->pending_count == kMostPending) return 0;
  Py_INCREF(phase);
  flow->pending[flow->pending_count++] = (Row){start_ns, end_ns, phase};
  return 1;
}

// Moves what is pending to where Python looks for it.
static int Spill(Flow* flow) {
  for (int i = 0; i < flow->pending_count; ++i) {
    const Row* const row = &flow->pending[i];
    PyObject* const tuple =
        Py_BuildValue("LLO", (long long)row->start_ns, (long long)row->end_ns, row->phase);
    if (tuple == NULL) return -1;
    const int added = PyList_Append(flow->held, tuple);
    Py_DECREF(tuple);
    if (added < 0) return -1;
  }
  Drop(flow);
  return 0;
}

// Writes the pending calls, which belong to the training, and then this one.
static int WriteAll(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase) {
  int written = 0;
  for (int i = 0; i < flow->pending_count && written == 0; ++i) {
    written =
        WritePhase(flow->pending[i].start_ns, flow->pending[i].end_ns, flow->pending[i].phase);
  }
  Drop(flow);
  return written < 0 ? -1 : WritePhase(start_ns, end_ns, phase);
}

// Something happened that each iteration has.
static void Worked(Flow* flow) {
  flow->fresh = flow->fresh_others = 1;
}

// Ends a call of the class's method. The only exceptions that leave it are the script's own.
static int Done(PyObject* nothing) {
  if (nothing == NULL) return Calm();
  Py_DECREF(nothing);
  return 0;
}

int Waited(Flow* flow, int64_t start_ns, int64_t end_ns, int gradients, int over) {
  if (IsSteady(flow) && gradients && !over && (flow->optimizers > 0 || flow->backwards == 0)) {
    if (open_gate->by_hand) return WriteAll(flow, start_ns, end_ns, data_phase);
    Worked(flow);
    if (Push(flow, start_ns, end_ns, data_phase)) return 0;
  }
  return Done(PyObject_CallMethod((PyObject*)flow, "waited", "LLii", (long long)start_ns,
                                  (long long)end_ns, gradients, over));
}

int Computed(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase, int gradients) {
  if (gradients && IsSteady(flow)) {
    Worked(flow);
    return WriteAll(flow, start_ns, end_ns, phase);
  }
  return Done(PyObject_CallMethod((PyObject*)flow, "computed", "LLOi", (long long)start_ns,
                                  (long long)end_ns, phase, gradients));
}

int WentBack(Flow* flow, int64_t start_ns, int64_t end_ns) {
  if (IsOwner(flow) && !flow->within && IsSteady(flow)) {
    flow->backwards += 1;
    flow->all_backwards += 1;
    flow->graded = 1;
    Worked(flow);
    return WriteAll(flow, start_ns, end_ns, backward_phase);
  }
  return Done(PyObject_CallMethod((PyObject*)flow, "went_back", "LL", (long long)start_ns,
                                  (long long)end_ns));
}

static int Leads(const Flow* flow, PyObject* optimizer) {
  if (flow->leader == NULL || flow->leader == Py_None) return 0;
  return PyWeakref_GetObject(flow->leader) == optimizer;
}

// Whether it is too early to look for an agent.
static int Sleeps(const Flow* flow, int64_t now_ns) {
  return flow->dormant && IsOff() && (open_gate == NULL || now_ns < open_gate->due);
}

typedef enum { kAsk, kEnds, kGoesOn } Boundary;

// Counts a step() of the optimizer, where it is plain to see what it is; the class knows the rest.
static Boundary BoundaryAt(Flow* flow, PyObject* optimizer) {
  const int looks_at_feed = (flow->unfed + 1) % kFeedLook == 0;
  if (flow->backing != 0 || looks_at_feed || !Leads(flow, optimizer)) return kAsk;
  if (flow->fresh && flow->usual_calls > 0 && flow->calls == flow->usual_calls) {
    flow->calls_before = flow->calls;
    flow->calls = 1;
    flow->fresh = 0;
    return kEnds;
  }
  if (flow->fresh || !flow->graded || flow->calls >= flow->usual_calls) return kAsk;
  flow->calls += 1;
  return kGoesOn;
}

int Stepped(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* optimizer) {
  if (Sleeps(flow, end_ns)) return 0;
  const int plain = IsOwner(flow) && IsSteady(flow);
  const Boundary boundary = plain ? BoundaryAt(flow, optimizer) : kAsk;
  if (boundary != kAsk) {
    flow->steps += 1;
    flow->others = flow->other_calls = 0;
    if (WriteAll(flow, start_ns, end_ns, optimizer_phase) < 0) return -1;
    if (boundary == kGoesOn) return 0;
    flow->backwards = 0;
    flow->unfed += 1;
    return IsOff() || open_gate->by_hand ? 0 : WriteStep(end_ns, NULL);
  }
  return Done(PyObject_CallMethod((PyObject*)flow, "stepped", "LLO", (long long)start_ns,
                                  (long long)end_ns, optimizer));
}

// Adds a wait to the last one that Python holds. Whether it could.
static int JoinHeld(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase) {
  const Py_ssize_t last = flow->held == NULL ? -1 : PyList_Size(flow->held) - 1;
  PyObject* const row = last < 0 ? NULL : PyList_GetItem(flow->held, last);
  if (row == NULL || PyTuple_Size(row) != 3 || PyTuple_GetItem(row, 2) != phase) return 0;
  const int64_t from_ns = PyLong_AsLongLong(PyTuple_GetItem(row, 0));
  const int64_t to_ns = PyLong_AsLongLong(PyTuple_GetItem(row, 1));
  if (!MayJoin(to_ns - from_ns, to_ns, start_ns)) return 0;
  PyObject* const joined =
      Py_BuildValue("LLO", (long long)(from_ns + start_ns - to_ns), (long long)end_ns, phase);
  if (joined == NULL) PyErr_Clear();
  return joined != NULL && PyList_SetItem(flow->held, last, joined) == 0;
}

int TellWait(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase) {
  Row* const last = flow->pending_count > 0 ? &flow->pending[flow->pending_count - 1] : NULL;
  if (last != NULL && last->phase == phase &&
      MayJoin(last->end_ns - last->start_ns, last->end_ns, start_ns)) {
    last->start_ns += start_ns - last->end_ns;
    last->end_ns = end_ns;
    return 0;
  }
  if (IsSteady(flow) && last == NULL) return WriteWait(start_ns, end_ns, phase);
  if (IsSteady(flow) && Push(flow, start_ns, end_ns, phase)) return 0;
  if (last == NULL && JoinHeld(flow, start_ns, end_ns, phase)) return 0;
  return Done(PyObject_CallMethod((PyObject*)flow, "happened", "LLO", (long long)start_ns,
                                  (long long)end_ns, phase));
}

int NoteBatch(Flow* flow, PyObject* settings, int gradients) {
  if (flow->loader != settings) {
    PyObject* const before = flow->loader;
    Py_INCREF(settings);
    flow->loader = settings;
    Py_XDECREF(before);
  }
  if (!gradients) return 0;
  flow->unfed = flow->elsewhere = 0;
  return flow->hungry ? Done(PyObject_CallMethod((PyObject*)flow, "fed", NULL)) : 0;
}

// Flow.quick: whether a call that a training and an evaluation both make was written or held here.
static PyObject* Quick(PyObject* self, PyObject* args) {
  Flow* const flow = (Flow*)self;
  long long start_ns = 0;
  long long end_ns = 0;
  PyObject* phase = NULL;
  if (!PyArg_ParseTuple(args, "LLU:quick", &start_ns, &end_ns, &phase)) return NULL;
  if (!IsSteady(flow)) Py_RETURN_FALSE;
  if (flow->pending_count > 0) return PyBool_FromLong(Push(flow, start_ns, end_ns, phase));
  return WritePhase(start_ns, end_ns, phase) < 0 ? NULL : PyBool_FromLong(1);
}

static PyObject* GetHeld(PyObject* self, void* Py_UNUSED(closure)) {
  Flow* const flow = (Flow*)self;
  if (flow->held == NULL) {
    PyErr_SetString(PyExc_AttributeError, "held");
    return NULL;
  }
  if (Spill(flow) < 0) return NULL;
  Py_INCREF(flow->held);
  return flow->held;
}

static int SetHeld(PyObject* self, PyObject* list, void* Py_UNUSED(closure)) {
  Flow* const flow = (Flow*)self;
  if (list == NULL || !PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "held is a list");
    return -1;
  }
  PyObject* const before = flow->held;
  Drop(flow);
  Py_INCREF(list);
  flow->held = list;
  Py_XDECREF(before);
  return 0;
}

static void Dealloc(PyObject* self) {
  Flow* const flow = (Flow*)self;
  PyTypeObject* const type = Py_TYPE(self);
  Drop(flow);
  Py_XDECREF(flow->held);
  Py_XDECREF(flow->leader);
  Py_XDECREF(flow->loader);
  Py_XDECREF(flow->told);
  Py_XDECREF(flow->edge);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"leader", T_OBJECT, offsetof(Flow, leader), 0, NULL},
    {"loader", T_OBJECT, offsetof(Flow, loader), 0, NULL},
    {"told", T_OBJECT, offsetof(Flow, told), 0, NULL},
    {"edge", T_OBJECT, offsetof(Flow, edge), 0, NULL},
    {"evaluating", T_LONGLONG, offsetof(Flow, evaluating), 0, NULL},
    {"idle", T_LONGLONG, offsetof(Flow, idle), 0, NULL},
    {"backwards", T_LONGLONG, offsetof(Flow, backwards), 0, NULL},
    {"all_backwards", T_LONGLONG, offsetof(Flow, all_backwards), 0, NULL},
    {"steps", T_LONGLONG, offsetof(Flow, steps), 0, NULL},
    {"optimizers", T_LONGLONG, offsetof(Flow, optimizers), 0, NULL},
    {"others", T_LONGLONG, offsetof(Flow, others), 0, NULL},
    {"other_calls", T_LONGLONG, offsetof(Flow, other_calls), 0, NULL},
    {"calls", T_LONGLONG, offsetof(Flow, calls), 0, NULL},
    {"calls_before", T_LONGLONG, offsetof(Flow, calls_before), 0, NULL},
    {"usual_calls", T_LONGLONG, offsetof(Flow, usual_calls), 0, NULL},
    {"unfed", T_LONGLONG, offsetof(Flow, unfed), 0, NULL},
    {"elsewhere", T_LONGLONG, offsetof(Flow, elsewhere), 0, NULL},
    {"owner", T_ULONG, offsetof(Flow, owner), 0, NULL},
    {"backing", T_ULONG, offsetof(Flow, backing), 0, NULL},
    {"inside", T_BOOL, offsetof(Flow, inside), 0, NULL},
    {"stepping", T_BOOL, offsetof(Flow, stepping), 0, NULL},
    {"proven", T_BOOL, offsetof(Flow, proven), 0, NULL},
    {"dormant", T_BOOL, offsetof(Flow, dormant), 0, NULL},
    {"fresh", T_BOOL, offsetof(Flow, fresh), 0, NULL},
    {"fresh_others", T_BOOL, offsetof(Flow, fresh_others), 0, NULL},
    {"graded", T_BOOL, offsetof(Flow, graded), 0, NULL},
    {"within", T_BOOL, offsetof(Flow, within), 0, NULL},
    {"hungry", T_BOOL, offsetof(Flow, hungry), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {{"held", GetHeld, SetHeld, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {{"quick", Quick, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, Dealloc},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    "stepscope._native.Flow", sizeof(Flow), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots,
};

PyTypeObject* FlowType(void) {
  if (flow_type != NULL) return flow_type;
  data_phase = PyUnicode_InternFromString("data");
  backward_phase = PyUnicode_InternFromString("backward");
  optimizer_phase = PyUnicode_InternFromString("optimizer");
  if (data_phase == NULL || backward_phase == NULL || optimizer_phase == NULL) return NULL;
  flow_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return flow_type;
}
