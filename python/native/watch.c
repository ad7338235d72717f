#include "watch.h"

#include <pythread.h>
#include <structmember.h>

#include "call.h"
#include "edge.h"
#include "flow.h"
#include "gate.h"
#include "likeness.h"
#include "outcome.h"
#include "ring.h"

// A function in the place of the one that it watches. As a class attribute it is a method.
typedef struct Watch {
  PyObject ob_base;
  PyObject* (*run)(struct Watch*, PyObject* args, PyObject* named);
  PyObject* references;  // weak ones
  Vectorcall call;
  PyObject* like;       // what it says that it is
  PyObject* original;   // None where the class inherits the method
  PyObject* gradients;  // torch.is_grad_enabled
  PyObject* phase;
  PyObject* kind;  // the class
  PyObject* base;  // the class behind it where that decides what is inherited, or None
  Flow* flow;
} Watch;

static PyTypeObject* watch_type = NULL;
static PyObject* call_name = NULL;
static PyObject* settings_name = NULL;

// -1 with the script's own exception set.
static int HasGradients(const Watch* watch) {
  PyObject* const said = PyObject_CallObject(watch->gradients, NULL);
  Py_XDECREF(said);
  return said == NULL ? Calm() : said == Py_True;
}

static PyObject* First(PyObject* args) {
  if (PyTuple_Size(args) > 0) return PyTuple_GetItem(args, 0);
  PyErr_SetString(PyExc_TypeError, "a method needs its object");
  return NULL;
}

static int HasBatch(const Watch* watch, PyObject* iterator, int gradients) {
  PyObject* const settings = PyObject_GetAttr(iterator, settings_name);
  if (settings == NULL && Calm() < 0) return -1;
  const int noted = NoteBatch(watch->flow, settings == NULL ? Py_None : settings, gradients);
  Py_XDECREF(settings);
  return noted;
}

static PyObject* Wait(Watch* watch, PyObject* args, PyObject* named) {
  Flow* const flow = watch->flow;
  PyObject* const iterator = First(args);
  if (iterator == NULL) return NULL;
  const int elsewhere = !IsOwner(flow);
  flow->elsewhere += elsewhere;
  if (flow->inside || elsewhere) return PyObject_Call(watch->original, args, named);
  flow->inside = 1;
  const int64_t start_ns = MonotonicNs();
  Outcome outcome = Keep(PyObject_Call(watch->original, args, named));
  const int64_t end_ns = MonotonicNs();
  flow->inside = 0;
  const int gradients = HasGradients(watch);
  if (gradients < 0) return Give(&outcome, -1);
  if (outcome.result != NULL && HasBatch(watch, iterator, gradients) < 0) return Give(&outcome, -1);
  return Give(&outcome, Waited(flow, start_ns, end_ns, gradients, outcome.result == NULL));
}

// super(kind, module).__call__(...)
static PyObject* CallBehind(const Watch* watch, PyObject* module, PyObject* args, PyObject* named) {
  PyObject* const behind =
      PyObject_CallFunctionObjArgs((PyObject*)&PySuper_Type, watch->kind, module, NULL);
  PyObject* const call = behind == NULL ? NULL : PyObject_GetAttr(behind, call_name);
  PyObject* const rest = call == NULL ? NULL : PyTuple_GetSlice(args, 1, PyTuple_Size(args));
  PyObject* const result = rest == NULL ? NULL : PyObject_Call(call, rest, named);
  Py_XDECREF(rest);
  Py_XDECREF(call);
  Py_XDECREF(behind);
  return result;
}

// A method that a class inherits is looked up at each call: others may have replaced it since.
static PyObject* CallModule(const Watch* watch, PyObject* module, PyObject* args, PyObject* named) {
  if (watch->original != Py_None) return PyObject_Call(watch->original, args, named);
  if (watch->base == Py_None || (PyObject*)Py_TYPE(module) != watch->kind) {
    return CallBehind(watch, module, args, named);
  }
  PyObject* const call = PyObject_GetAttr(watch->base, call_name);
  if (call == NULL) return NULL;
  PyObject* const result = PyObject_Call(call, args, named);
  Py_DECREF(call);
  return result;
}

static PyObject* Compute(Watch* watch, PyObject* args, PyObject* named) {
  Flow* const flow = watch->flow;
  PyObject* const module = First(args);
  if (module == NULL) return NULL;
  if (flow->inside || !IsOwner(flow)) return CallModule(watch, module, args, named);
  const int gradients = HasGradients(watch);
  if (gradients < 0) return NULL;
  PyObject* edge = NULL;
  if (BeginEdge(flow, watch->phase, gradients, &edge) < 0) return NULL;
  flow->inside = 1;
  const int64_t start_ns = MonotonicNs();
  Outcome outcome = Keep(CallModule(watch, module, args, named));
  const int64_t end_ns = MonotonicNs();
  flow->inside = 0;
  if (EndEdge(edge, 1) < 0) return Give(&outcome, -1);
  return Give(&outcome, Computed(flow, start_ns, end_ns, watch->phase, gradients));
}

static PyObject* GoBack(Watch* watch, PyObject* args, PyObject* named) {
  Flow* const flow = watch->flow;
  if (flow->inside) return PyObject_Call(watch->original, args, named);
  PyObject* edge = NULL;
  if (BeginEdge(flow, watch->phase, 1, &edge) < 0) return NULL;
  flow->inside = 1;
  flow->backing = PyThread_get_thread_ident();
  const int64_t start_ns = MonotonicNs();
  Outcome outcome = Keep(PyObject_Call(watch->original, args, named));
  const int64_t end_ns = MonotonicNs();
  flow->backing = 0;
  flow->inside = 0;
  if (EndEdge(edge, 1) < 0) return Give(&outcome, -1);
  return Give(&outcome, WentBack(flow, start_ns, end_ns));
}

static PyObject* Step(Watch* watch, PyObject* args, PyObject* named) {
  Flow* const flow = watch->flow;
  PyObject* const optimizer = First(args);
  if (optimizer == NULL) return NULL;
  if (flow->stepping) return PyObject_Call(watch->original, args, named);
  PyObject* edge = NULL;
  if (BeginEdge(flow, watch->phase, 1, &edge) < 0) return NULL;
  flow->stepping = 1;
  const int64_t start_ns = MonotonicNs();
  Outcome outcome = Keep(PyObject_Call(watch->original, args, named));
  const int64_t end_ns = MonotonicNs();
  flow->stepping = 0;
  const int told = EndEdge(edge, 1);
  if (told < 0 || outcome.result == NULL) return Give(&outcome, told);
  return Give(&outcome, Stepped(flow, start_ns, end_ns, optimizer));
}

static PyObject* Call(PyObject* self, PyObject* args, PyObject* named) {
  return ((Watch*)self)->run((Watch*)self, args, named);
}

// A call takes none of the depth that Python leaves a script for calls within calls.
static PyObject* CallByPlaces(PyObject* self, PyObject* const* given, size_t count,
                              PyObject* names) {
  return CallWithTuple(Call, self, given, count, names);
}

static PyObject* Bind(PyObject* self, PyObject* object, PyObject* Py_UNUSED(type)) {
  return BoundTo(self, object);
}

static PyObject* GetAttribute(PyObject* self, PyObject* name) {
  return AttributeOf(self, ((Watch*)self)->like, name);
}

static int SetAttribute(PyObject* self, PyObject* name, PyObject* value) {
  return SetAttributeOf(((Watch*)self)->like, name, value);
}

static PyObject* LikeOf(PyObject* object) {
  return Py_TYPE(object) == watch_type ? ((Watch*)object)->like : object;
}

static PyObject* Compare(PyObject* self, PyObject* other, int operation) {
  return PyObject_RichCompare(LikeOf(self), LikeOf(other), operation);
}

static Py_hash_t Hash(PyObject* self) {
  return PyObject_Hash(((Watch*)self)->like);
}

static PyObject* Represent(PyObject* self) {
  return PyObject_Repr(((Watch*)self)->like);
}

static PyObject* Reduce(PyObject* self, PyObject* Py_UNUSED(none)) {
  return Reduced(((Watch*)self)->like);
}

static int Traverse(PyObject* self, visitproc visit, void* arg) {
  Watch* const watch = (Watch*)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(watch->like);
  Py_VISIT(watch->original);
  Py_VISIT(watch->gradients);
  Py_VISIT(watch->phase);
  Py_VISIT(watch->kind);
  Py_VISIT(watch->base);
  Py_VISIT((PyObject*)watch->flow);
  return 0;
}

static void Dealloc(PyObject* self) {
  Watch* const watch = (Watch*)self;
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (watch->references != NULL) PyObject_ClearWeakRefs(self);
  Py_XDECREF(watch->like);
  Py_XDECREF(watch->original);
  Py_XDECREF(watch->gradients);
  Py_XDECREF(watch->phase);
  Py_XDECREF(watch->kind);
  Py_XDECREF(watch->base);
  Py_XDECREF((PyObject*)watch->flow);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Watch, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Watch, references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_call, Call},
    {Py_tp_descr_get, Bind},
    {Py_tp_dealloc, Dealloc},
    {Py_tp_traverse, Traverse},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getattro, GetAttribute},
    {Py_tp_setattro, SetAttribute},
    {Py_tp_richcompare, Compare},
    {Py_tp_hash, Hash},
    {Py_tp_repr, Represent},
    {0, NULL},
};

static PyType_Spec spec = {
    "stepscope._native.Watch",
    sizeof(Watch),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR | kHaveVectorcall,
    slots,
};

static PyObject* (*const kRuns[])(Watch*, PyObject*, PyObject*) = {Wait, Compute, GoBack, Step};

static void Take(PyObject** place, PyObject* object) {
  Py_INCREF(object);
  *place = object;
}

PyObject* WatchCall(PyObject* Py_UNUSED(module), PyObject* args) {
  unsigned what = 0;
  PyObject *flow, *original, *gradients, *phase, *kind, *base;
  if (!PyArg_ParseTuple(args, "IO!OOOOO:watch", &what, FlowType(), &flow, &original, &gradients,
                        &phase, &kind, &base)) {
    return NULL;
  }
  if (what >= sizeof(kRuns) / sizeof(kRuns[0])) {
    PyErr_SetString(PyExc_ValueError, "there is no such watch");
    return NULL;
  }
  const allocfunc allocate = (allocfunc)PyType_GetSlot(watch_type, Py_tp_alloc);
  Watch* const watch = (Watch*)allocate(watch_type, 0);
  if (watch == NULL) return NULL;
  watch->run = kRuns[what];
  watch->call = CallByPlaces;
  Take(&watch->original, original);
  Take(&watch->gradients, gradients);
  Take(&watch->phase, phase);
  Take(&watch->kind, kind);
  Take(&watch->base, base);
  Take((PyObject**)&watch->flow, flow);
  watch->like = original == Py_None ? PyObject_GetAttr(kind, call_name) : original;
  if (original != Py_None) Py_INCREF(original);
  if (watch->like != NULL) return (PyObject*)watch;
  Py_DECREF((PyObject*)watch);
  return NULL;
}

int AddFlow(PyObject* module) {
  call_name = PyUnicode_InternFromString("__call__");
  settings_name = PyUnicode_InternFromString("_stepscope_settings");
  watch_type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (call_name == NULL || settings_name == NULL || watch_type == NULL) {
    return -1;
  }
  if (FlowType() == NULL) return -1;
  return PyObject_SetAttrString(module, "Flow", (PyObject*)FlowType());
}
