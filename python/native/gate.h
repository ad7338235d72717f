#pragma once

#include "ring.h"

// The state that each mark looks at before it is written: the base of the Session in
// stepscope/_session.py, which does in Python what is rare. The C twin of Gate in _pure.py.
typedef struct {
  PyObject ob_base;
  long long due;      // ns of the monotonic clock, when the connection is looked at again
  PyObject* ids;      // dict: the name of an annotation -> its number
  PyObject* metrics;  // dict: the name of a metric -> its number
  long long refused;  // metrics that were none
  PyObject*
      at_step;  // called with number and end (ns) of each step that ended; NULL or None: nobody
  PyObject* at_window;  // called with the number of each step that ended, while a window of
                        // operators waits or is recorded; NULL or None: there is none
  long long untimed;    // so many steps from now on have no GPU times and are not told to at_step
  char off;             // nobody records
  char seeking;         // but an agent may come: it is looked for when that is due
  char by_hand;         // the script ends its steps itself
  char ready;           // there are rings, so a thread without one asks for it
} Gate;

// Makes the types of gates and rings and adds them to the module; -1 with an exception set.
int AddGate(PyObject* module);

// The gate that marks pass, or NULL.
extern Gate* open_gate;

static inline int IsOff(void) {
  return open_gate == NULL || open_gate->off;
}

// Whether nobody records, and no agent is looked for.
static inline int IsOffForGood(void) {
  return IsOff() && (open_gate == NULL || !open_gate->seeking);
}

// Whether nobody records, also after a look for an agent if that is due. -1 with an exception set.
int IsOffAt(int64_t now_ns);

// Calls that must cost nothing do not even look at the clock, but each of so many.
enum { kMostCalls = 64 };
extern int calls_left;

// Whether the next IsOffNow() will say so without a look.
static inline int StaysOff(void) {
  return IsOffForGood() || (IsOff() && calls_left > 1);
}

// IsOffAt(), for such calls.
int IsOffAfterLook(void);
static inline int IsOffNow(void) {
  if (!IsOff() || IsOffForGood()) return IsOff();
  return --calls_left > 0 ? 1 : IsOffAfterLook();
}

// The ring of the calling thread. NULL when there is none, perhaps with an exception set.
Ring* RingAt(int64_t now_ns);

// The names of annotations, and those of metrics.
typedef enum { kAnnotationNames, kMetricNames } Names;

// The number of a name, 0 for those beyond the bound; -1 when it has none, perhaps with an
// exception set. Runs Python when the name is new, so a ring that was asked for before has to be
// again.
long KnownName(Names names, PyObject* name);
long DeclareName(Names names, PyObject* name, int64_t now_ns);

// Ends a mark that met an exception: -1 for what is the script's own, such as KeyboardInterrupt, or
// what a handler of a signal raised; all others, and none at all, are 0.
int Calm(void);

// Makes a gate, or None, the one that marks pass.
PyObject* Use(PyObject* module, PyObject* gate);

// For the lease of a thread that ends: its ring belongs to another one from now on.
PyObject* Leave(PyObject* module, PyObject* none);
