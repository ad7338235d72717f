#include "span.h"

#include <structmember.h>

#include "call.h"
#include "gate.h"
#include "idle.h"
#include "write.h"

// `with` looks up __enter__ and __exit__ of the type and binds them to the object: two allocations
// that cost as much as all the rest. Here both names are a Binder, which hands out the span itself,
// and the span knows by the number of arguments what is meant: none is __enter__, one is a function
// to decorate, three are those of __exit__.
typedef struct {
  PyObject ob_base;
  Vectorcall call;
  PyObject* name;    // a str
  int64_t start_ns;  // 0 while it has not begun
  uint64_t kind;     // kAnnotationMark or kPhaseMark
} Span;

static PyObject* native = NULL;  // the module, whose functions make spans
static PyTypeObject* span_type = NULL;
static Span* last_span = NULL;  // the last one made: the next one, when nobody else has it any more

// Looks for an agent if that is due, since a span may be used again long after it was made. -1 with
// an exception set.
static int Begin(Span* span) {
  span->start_ns = 0;
  const int is_off = IsOffNow();
  if (!is_off) span->start_ns = MonotonicNs();
  return is_off < 0 ? -1 : 0;
}

static int End(Span* span) {
  if (span->start_ns == 0) return 0;
  const int64_t end_ns = MonotonicNs();
  return span->kind == kPhaseMark ? WritePhase(span->start_ns, end_ns, span->name)
                                  : WriteAnnotation(span->start_ns, end_ns, span->name);
}

static PyObject* Decorate(const Span* span, PyObject* function) {
  PyObject* const module = PyImport_ImportModule("stepscope._decorate");
  if (module == NULL) return NULL;
  const char* const kind = span->kind == kPhaseMark ? "phase" : "annotate";
  PyObject* const make = PyObject_GetAttrString(native, kind);
  PyObject* timed = NULL;
  if (make != NULL) timed = PyObject_CallMethod(module, "timed", "OOO", make, span->name, function);
  Py_XDECREF(make);
  Py_DECREF(module);
  return timed;
}

static PyObject* CallSpan(PyObject* self, PyObject* const* given, size_t count, PyObject* names) {
  Span* const span = (Span*)self;
  switch (GivenByPlace(count, names)) {
    case 0:
      if (Begin(span) < 0) return NULL;
      Py_INCREF(self);
      return self;
    case 1:
      return Decorate(span, given[0]);
    case 3:
      if (End(span) < 0) return NULL;
      Py_RETURN_NONE;
    default:
      PyErr_SetString(PyExc_TypeError, "an annotation takes one function to decorate");
      return NULL;
  }
}

static PyObject* CallFromTuple(PyObject* self, PyObject* args, PyObject* named) {
  return CallByPlace(CallSpan, self, args, named);
}

static void DeallocSpan(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(((Span*)self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

// type(span)() would have no name, and crash where it is recorded.
static PyObject* RefuseNew(PyTypeObject* Py_UNUSED(type), PyObject* Py_UNUSED(args),
                           PyObject* Py_UNUSED(named)) {
  PyErr_SetString(PyExc_TypeError, "stepscope.annotate and stepscope.phase make spans");
  return NULL;
}

static PyMemberDef span_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Span, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot span_slots[] = {
    {Py_tp_new, RefuseNew},
    {Py_tp_dealloc, DeallocSpan},
    {Py_tp_call, CallFromTuple},
    {Py_tp_members, span_members},
    {0, NULL},
};

static PyType_Spec span_spec = {
    "stepscope._native.Span", sizeof(Span), 0, Py_TPFLAGS_DEFAULT | kHaveVectorcall, span_slots,
};

typedef struct {
  PyObject ob_base;
  int leaves;  // it is __exit__
} Binder;

// `with` asks for __exit__ before it calls __enter__, and nothing runs in between: where that will
// begin nothing, there is nothing to end, and a function of C costs less to call than the span. Who
// takes __exit__ himself before an agent is found may lose the one stretch in which it is.
static PyObject* Bind(PyObject* self, PyObject* span, PyObject* Py_UNUSED(type)) {
  PyObject* bound = span == NULL ? self : span;
  if (span != NULL && ((Binder*)self)->leaves && StaysOff()) bound = idle_exit;
  Py_INCREF(bound);
  return bound;
}

// type(span).__exit__(span, None, None, None), as contextlib.ExitStack does.
static PyObject* CallBinder(PyObject* Py_UNUSED(binder), PyObject* args, PyObject* named) {
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* const self = count > 0 ? PyTuple_GetItem(args, 0) : Py_None;
  if (Py_TYPE(self) != span_type) {
    PyErr_SetString(PyExc_TypeError, "needs an annotation");
    return NULL;
  }
  PyObject* const rest = PyTuple_GetSlice(args, 1, count);
  if (rest == NULL) return NULL;
  PyObject* const result = CallFromTuple(self, rest, named);
  Py_DECREF(rest);
  return result;
}

static PyType_Slot binder_slots[] = {
    {Py_tp_descr_get, Bind},
    {Py_tp_call, CallBinder},
    {0, NULL},
};

static PyType_Spec binder_spec = {
    "stepscope._native.Binder", sizeof(Binder), 0, Py_TPFLAGS_DEFAULT, binder_slots,
};

static int SetBinder(PyTypeObject* binder_type, PyObject* type, const char* name, int leaves) {
  Binder* const binder = PyObject_New(Binder, binder_type);
  if (binder == NULL) return -1;
  binder->leaves = leaves;
  const int is_set = PyObject_SetAttrString(type, name, (PyObject*)binder);
  Py_DECREF((PyObject*)binder);
  return is_set;
}

static void Fill(Span* span, uint64_t kind, PyObject* name) {
  span->call = CallSpan;
  span->name = name;
  span->start_ns = 0;
  span->kind = kind;
}

// Takes over the name.
static PyObject* NewSpan(uint64_t kind, PyObject* name) {
  Span* const span = PyObject_New(Span, span_type);
  if (span == NULL) {
    Py_DECREF(name);
    return NULL;
  }
  Fill(span, kind, name);
  Py_INCREF((PyObject*)span);
  Py_XDECREF((PyObject*)last_span);
  last_span = span;
  return (PyObject*)span;
}

PyObject* Spoken(PyObject* name) {
  if (PyUnicode_CheckExact(name)) {
    Py_INCREF(name);
    return name;
  }
  PyObject* const said = PyObject_Str(name);
  if (said == NULL) return Calm() < 0 ? NULL : PyUnicode_FromString("(no name)");
  PyObject* const spoken =
      PyUnicode_FromObject(said);  // not of a class that compares by its own code
  Py_DECREF(said);
  return spoken;
}

static int IsFree(const Span* span) {
  return Py_REFCNT((PyObject*)span) == 1;
}

PyObject* MakeSpan(uint64_t kind, PyObject* name) {
  if (IsOffForGood()) {
    Py_INCREF(idle_span);
    return idle_span;
  }
  Span* const before = last_span;
  if (before != NULL && before->name == name && before->kind == kind && IsFree(before)) {
    before->start_ns = 0;  // a loop makes the same span again and again
    Py_INCREF((PyObject*)before);
    return (PyObject*)before;
  }
  PyObject* const spoken = Spoken(name);
  if (spoken == NULL) return NULL;
  Span* const span = last_span;  // the name's __str__ may have made another span
  if (span == NULL || !IsFree(span)) return NewSpan(kind, spoken);
  Py_DECREF(span->name);  // a str, whose end runs no code
  Fill(span, kind, spoken);
  Py_INCREF((PyObject*)span);
  return (PyObject*)span;
}

int BeginSpan(PyObject* span) {
  return span == idle_span ? 0 : Begin((Span*)span);
}

int EndAnnotation(PyObject* token) {
  if (Py_TYPE(token) != span_type || ((Span*)token)->kind != kAnnotationMark) return 0;
  const int ended = End((Span*)token);
  ((Span*)token)->start_ns = 0;
  return ended;
}

int PrepareSpans(PyObject* module) {
  Py_INCREF(module);
  native = module;
  PyTypeObject* const binder_type = (PyTypeObject*)PyType_FromSpec(&binder_spec);
  PyObject* const type = PyType_FromSpec(&span_spec);
  if (binder_type == NULL || type == NULL) return -1;
  if (SetBinder(binder_type, type, "__enter__", 0) < 0) return -1;
  if (SetBinder(binder_type, type, "__exit__", 1) < 0) return -1;
  span_type = (PyTypeObject*)type;
  return PrepareIdle();
}
