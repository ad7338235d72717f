#pragma once

#include <Python.h>
#include <stdint.h>

enum { kMostPending = 8 };

// A call that was seen and is not written yet.
typedef struct {
  int64_t start_ns;
  int64_t end_ns;
  PyObject* phase;  // a str
} Row;

// What stepscope/_hooks/_flow.py knows of the training: its Flow is made of this. The steps of a
// training that goes its usual way are written here; for anything else the functions below call
// the method of that class, which is the law: here is nothing but its shortest way through.
typedef struct {
  PyObject ob_base;
  PyObject* held;             // list: rows that only Python looks at
  Row pending[kMostPending];  // rows behind those; Python finds them in `held`
  int pending_count;
  PyObject* leader;      // a weak reference to the leading optimizer, or None
  PyObject* loader;      // dict: settings of the newest loader, or None
  PyObject* told;        // those that the agent knows
  long long evaluating;  // since when, ns
  long long idle;
  long long backwards;
  long long all_backwards;
  long long steps;
  long long optimizers;
  long long others;
  unsigned long owner;  // the training thread
  char inside;
  char stepping;
  char proven;
  char dormant;  // there is no agent, and a step is where one is looked for
} Flow;

// The same as the methods of these names. -1 with an exception set when the script's own comes
// through, such as KeyboardInterrupt.
int Waited(Flow* flow, int64_t start_ns, int64_t end_ns, int gradients, int over);
int Computed(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase, int gradients);
int WentBack(Flow* flow, int64_t start_ns, int64_t end_ns);
int Stepped(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* optimizer);

int IsOwner(const Flow* flow);

// Remembers the settings of the loader that gave a batch.
void NoteLoader(Flow* flow, PyObject* settings);

// The type, borrowed; made when it is first asked for. NULL with an exception set.
PyTypeObject* FlowType(void);
