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

// The base of the Flow in stepscope/_hooks/_flow.py, with its state. The usual steps of a training
// are written here; for anything else the functions below call the method of that class, which
// decides: this is only the short way through it.
typedef struct {
  PyObject ob_base;
  PyObject* held;             // list: rows that only Python looks at
  Row pending[kMostPending];  // rows behind the held ones; Python finds them in `held`
  int pending_count;
  PyObject* leader;      // a weak reference to the leading optimizer, or None
  PyObject* loader;      // dict: settings of the newest loader, or None
  PyObject* told;        // dict: settings that the agent knows, or None
  PyObject* edge;        // the GPU's clock, told of the edges of calls; NULL or None: nobody is
  long long evaluating;  // since when, ns
  long long idle;
  long long backwards;
  long long all_backwards;
  long long steps;
  long long optimizers;
  long long others;
  long long other_calls;
  long long calls;  // what these are is said in stepscope/_hooks/_boundary.py
  long long calls_before;
  long long usual_calls;
  long long unfed;  // and these in stepscope/_hooks/_feed.py
  long long elsewhere;
  unsigned long owner;    // the training thread
  unsigned long backing;  // the thread in which a backward pass is under way, or 0
  char inside;
  char stepping;
  char proven;
  char dormant;  // there is no agent, and a step is where one is looked for
  char fresh;
  char fresh_others;
  char graded;
  char within;
  char hungry;
} Flow;

// They do what the methods waited, computed, went_back and stepped do. -1 with an exception set
// when it is the script's own, such as KeyboardInterrupt.
int Waited(Flow* flow, int64_t start_ns, int64_t end_ns, int gradients, int over);
int Computed(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase, int gradients);
int WentBack(Flow* flow, int64_t start_ns, int64_t end_ns);
int Stepped(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* optimizer);

int IsOwner(const Flow* flow);

// The training thread waited for the GPU. Very many short waits become one. -1 as above.
int TellWait(Flow* flow, int64_t start_ns, int64_t end_ns, PyObject* phase);

// A loader with these settings gave the training thread a batch; without gradients it is not one to
// train on. -1 as above.
int NoteBatch(Flow* flow, PyObject* settings, int gradients);

// The type, borrowed; made when it is first asked for. NULL with an exception set.
PyTypeObject* FlowType(void);
