#include "write.h"

#include <math.h>
#include <string.h>

#include "gate.h"

static const char* const kPhases[] = {"data",       "transfer",      "forward",   "loss",
                                      "backward",   "communication", "optimizer", "callback",
                                      "checkpoint", "other",         "sync",      "device_to_host"};
enum { kPhaseCount = sizeof(kPhases) / sizeof(kPhases[0]), kOther = 9 };
static PyObject* phase_names[kPhaseCount];  // interned, as the literals of a script are

static uint64_t PhaseOf(PyObject* name) {
  for (int i = 0; i < kPhaseCount; ++i) {
    if (name == phase_names[i]) return i;
  }
  for (int i = 0; i < kPhaseCount; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, kPhases[i]) == 0) return i;
  }
  return kOther;
}

int WritePhase(int64_t start_ns, int64_t end_ns, PyObject* name) {
  Ring* const ring = RingAt(end_ns);
  if (ring == NULL) return Calm();
  if (ring->start == 0 && !ring->fresh) return 0;  // the step began before anybody looked
  if (ring->start == 0) ring->start = start_ns;
  PutMark(ring, start_ns, end_ns, KindAndName(kPhaseMark, PhaseOf(name)));
  return 0;
}

int WriteWait(int64_t start_ns, int64_t end_ns, PyObject* name) {
  Ring* const ring = RingAt(end_ns);
  if (ring == NULL) return Calm();
  if (ring->start != 0) PutWait(ring, start_ns, end_ns, KindAndName(kPhaseMark, PhaseOf(name)));
  return 0;
}

// The ring for a mark of this name, and the number of that. NULL when there is none, perhaps with
// an exception set.
static Ring* RingFor(Names names, PyObject* name, int64_t now_ns, long* number) {
  Ring* const ring = RingAt(now_ns);
  if (ring == NULL) return NULL;
  *number = KnownName(names, name);
  if (*number >= 0) return ring;
  if (Calm() < 0) return NULL;
  *number = DeclareName(names, name, now_ns);
  return *number < 0 ? NULL : RingAt(now_ns);
}

int WriteAnnotation(int64_t start_ns, int64_t end_ns, PyObject* name) {
  long number = 0;
  Ring* const ring = RingFor(kAnnotationNames, name, end_ns, &number);
  if (ring == NULL) return Calm();
  PutMark(ring, start_ns, end_ns, KindAndName(kAnnotationMark, (uint64_t)number));
  return 0;
}

int WriteMetric(PyObject* name, double value) {
  if (!isfinite(value)) {
    open_gate->refused += 1;
    return 0;
  }
  const int64_t now_ns = MonotonicNs();
  long number = 0;
  Ring* const ring = RingFor(kMetricNames, name, now_ns, &number);
  if (ring == NULL) return Calm();
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  if (number > 0) PutValue(ring, now_ns, KindAndName(kMetricMark, (uint64_t)number), bits);
  return 0;
}

int WriteGpuTime(int64_t start_ns, int64_t length_ns, uint64_t name, uint64_t number) {
  Ring* const ring = RingAt(start_ns);
  if (ring == NULL) return Calm();
  PutGpuTime(ring, start_ns, length_ns, name, number);
  return 0;
}

// Begins and ends what is recorded of a window of operators.
static int TellWindow(uint64_t ended) {
  PyObject* const at_window = open_gate->at_window;
  if (at_window == NULL || at_window == Py_None) return 0;
  Py_INCREF(at_window);
  PyObject* const done = PyObject_CallFunction(at_window, "K", (unsigned long long)ended);
  Py_DECREF(at_window);
  Py_XDECREF(done);
  return done == NULL ? Calm() : 0;
}

// Tells the GPU's clock that a step ended.
static int TellStep(Ring* ring, int64_t now_ns) {
  Gate* const gate = open_gate;
  if (gate->at_step == NULL || gate->at_step == Py_None) return 0;
  const uint64_t number = NumberBefore(ring);
  if (gate->untimed > 0) {
    gate->untimed -= 1;
    PutGpuTime(ring, now_ns, -1, kGpuIdle, number);
    return 0;
  }
  PyObject* const at_step = gate->at_step;
  Py_INCREF(at_step);
  PyObject* const done =
      PyObject_CallFunction(at_step, "KL", (unsigned long long)number, (long long)now_ns);
  Py_DECREF(at_step);
  Py_XDECREF(done);
  return done == NULL ? Calm() : 0;
}

int WriteStep(int64_t now_ns, const uint64_t* number) {
  Ring* ring = RingAt(now_ns);
  if (ring != NULL && WasCalled(ring)) {
    open_gate->due = 0;
    ring = RingAt(now_ns);
  }
  if (ring == NULL) return Calm();
  if (!EndStep(ring, now_ns, number)) return 0;
  const uint64_t ended = NumberBefore(ring);
  return TellStep(ring, now_ns) < 0 ? -1 : TellWindow(ended);
}

int PreparePhases(void) {
  for (int i = 0; i < kPhaseCount; ++i) {
    phase_names[i] = PyUnicode_InternFromString(kPhases[i]);
    if (phase_names[i] == NULL) return -1;
  }
  return 0;
}
