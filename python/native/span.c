#include "span.h"

#include <structmember.h>

#include "gate.h"
#include "write.h"

// Python calls a span through this (PEP 590). It is in the limited API from 3.12 on only, but no
// version from 3.9 to 3.11 will change any more.
typedef PyObject* (*Vectorcall)(PyObject*, PyObject* const*, size_t, PyObject*);
enum { kHaveVectorcall = 1 << 11 };

// `with` looks up __enter__ and __exit__ of the type and binds them to the object: two allocations
// that cost as much as all the rest. Here both names are a Binder, which hands out the span itself,
// and the span knows by the number of arguments what is meant: none is __enter__, one is a function
// to decorate, three are those of __exit__.
typedef struct {
  PyObject ob_base;
  Vectorcall call;
  PyObject* name;    // a str; NULL in the idle span only
  int64_t start_ns;  // 0 while it has not begun
  uint64_t kind;     // kAnnotationMark or kPhaseMark
} Span;

static PyTypeObject* span_type = NULL;
static Span* idle_span = NULL;  // stands for all of them where nobody ever records
static Span* last_span = NULL;  // the last one made: the next one, when nobody else has it any more

// Looks for an agent if that is due, since a span may be used again long after it was made. -1 with
// an exception set.
static int Begin(Span* span) {
  if (span == idle_span) return 0;
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
  if (span == idle_span) {
    Py_INCREF(function);
    return function;
  }
  PyObject* const module = PyImport_ImportModule("stepscope._decorate");
  if (module == NULL) return NULL;
  const char* const kind = span->kind == kPhaseMark ? "phase" : "annotate";
  PyObject* const timed = PyObject_CallMethod(module, "timed", "sOO", kind, span->name, function);
  Py_DECREF(module);
  return timed;
}

static PyObject* CallSpan(PyObject* self, PyObject* const* given, size_t count, PyObject* names) {
  Span* const span = (Span*)self;
  const size_t kOffsetFlag = (size_t)1 << (8 * sizeof(size_t) - 1);
  switch (names == NULL || PyTuple_Size(names) == 0 ? count & ~kOffsetFlag : 2) {
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

// What does not know of vectorcall, such as PyObject_Call with a tuple, comes here.
static PyObject* CallWithTuple(PyObject* self, PyObject* args, PyObject* named) {
  PyObject* given[3] = {NULL, NULL, NULL};
  const Py_ssize_t count = named == NULL || PyDict_Size(named) == 0 ? PyTuple_Size(args) : 2;
  for (Py_ssize_t i = 0; i < count && i < 3; ++i) given[i] = PyTuple_GetItem(args, i);
  return CallSpan(self, given, (size_t)count, NULL);
}

static void DeallocSpan(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(((Span*)self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyMemberDef span_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Span, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot span_slots[] = {
    {Py_tp_dealloc, DeallocSpan},
    {Py_tp_call, CallWithTuple},
    {Py_tp_members, span_members},
    {0, NULL},
};

static PyType_Spec span_spec = {
    "stepscope._native.Span", sizeof(Span), 0, Py_TPFLAGS_DEFAULT | kHaveVectorcall, span_slots,
};

static PyObject* Bind(PyObject* binder, PyObject* span, PyObject* Py_UNUSED(type)) {
  PyObject* const bound = span == NULL ? binder : span;
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
  PyObject* const result = CallWithTuple(self, rest, named);
  Py_DECREF(rest);
  return result;
}

static PyType_Slot binder_slots[] = {
    {Py_tp_descr_get, Bind},
    {Py_tp_call, CallBinder},
    {0, NULL},
};

static PyType_Spec binder_spec = {
    "stepscope._native.Binder", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, binder_slots,
};

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

PyObject* MakeSpan(uint64_t kind, PyObject* name) {
  if (IsOff() && (open_gate == NULL || !open_gate->seeking)) {
    Py_INCREF(idle_span);
    return (PyObject*)idle_span;
  }
  PyObject* const spoken = Spoken(name);
  if (spoken == NULL) return NULL;
  Span* const span = last_span;
  if (span == NULL || Py_REFCNT((PyObject*)span) > 1) return NewSpan(kind, spoken);
  Py_DECREF(span->name);  // a str, whose end runs no code
  Fill(span, kind, spoken);
  Py_INCREF((PyObject*)span);
  return (PyObject*)span;
}

int BeginSpan(PyObject* span) {
  return Begin((Span*)span);
}

int EndAnnotation(PyObject* token) {
  if (Py_TYPE(token) != span_type || ((Span*)token)->kind != kAnnotationMark) return 0;
  const int ended = End((Span*)token);
  ((Span*)token)->start_ns = 0;
  return ended;
}

int PrepareSpans(void) {
  PyObject* const binder_type = PyType_FromSpec(&binder_spec);
  if (binder_type == NULL) return -1;
  PyObject* const binder = PyObject_CallObject(binder_type, NULL);
  Py_DECREF(binder_type);
  PyObject* const type = PyType_FromSpec(&span_spec);
  if (binder == NULL || type == NULL) return -1;
  if (PyObject_SetAttrString(type, "__enter__", binder) < 0) return -1;
  if (PyObject_SetAttrString(type, "__exit__", binder) < 0) return -1;
  Py_DECREF(binder);
  span_type = (PyTypeObject*)type;
  idle_span = PyObject_New(Span, span_type);
  if (idle_span != NULL) Fill(idle_span, kAnnotationMark, NULL);
  return idle_span == NULL ? -1 : 0;
}
