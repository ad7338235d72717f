#include "write.h"

#include "gate.h"

static const char* const kPhases[] = {"data",       "transfer",      "forward",   "loss",
                                      "backward",   "communication", "optimizer", "callback",
                                      "checkpoint", "other"};
enum { kPhaseCount = sizeof(kPhases) / sizeof(kPhases[0]), kOther = kPhaseCount - 1 };
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
  if (ring->start == 0 && ring->fresh) ring->start = start_ns;
  PutMark(ring, start_ns, end_ns, KindAndName(kPhaseMark, PhaseOf(name)));
  return 0;
}

int WriteAnnotation(int64_t start_ns, int64_t end_ns, PyObject* name) {
  Ring* ring = RingAt(end_ns);
  if (ring == NULL) return Calm();
  long number = KnownName(name);
  if (number < 0) {
    if (Calm() < 0) return -1;
    number = DeclareName(name, end_ns);
    ring = number < 0 ? NULL : RingAt(end_ns);
    if (ring == NULL) return Calm();
  }
  PutMark(ring, start_ns, end_ns, KindAndName(kAnnotationMark, (uint64_t)number));
  return 0;
}

int WriteStep(int64_t now_ns, const uint64_t* number) {
  Ring* ring = RingAt(now_ns);
  if (ring != NULL && WasCalled(ring)) {
    open_gate->due = 0;
    ring = RingAt(now_ns);
  }
  if (ring == NULL) return Calm();
  EndStep(ring, now_ns, number);
  return 0;
}

int PreparePhases(void) {
  for (int i = 0; i < kPhaseCount; ++i) {
    phase_names[i] = PyUnicode_InternFromString(kPhases[i]);
    if (phase_names[i] == NULL) return -1;
  }
  return 0;
}
