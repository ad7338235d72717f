#pragma once

#include <Python.h>
#include <stdint.h>

// The ring of one thread, as core/wire/mark.h describes it; the agent reads it from another
// process. The C twin of stepscope/_ring.py: the same words, in the same order. One writer: whoever
// holds the GIL, so no function here may let go of it between two words of a mark.
typedef struct {
  PyObject ob_base;
  uint64_t* words;  // NULL when the ring is closed
  uint64_t slots;
  uint64_t position;
  uint64_t number;  // number of the open step
  int64_t start;    // where it began, ns; 0 while that is not known
  uint64_t heard;   // what the control word said last
  int fd;           // the memory's, if the script has not closed it
  uint64_t device;  // device and inode tell its file from others (stepscope/_descriptor.py)
  uint64_t inode;
  int64_t wait_ns;  // how long a wait took that is written before the next mark; 0: there is none
  int64_t wait_end;
  uint64_t wait_name;  // its kind and name
  char lost;           // marks were dropped since the last one that was written
  char fresh;          // nothing happened before, so the first phase begins the first step
} Ring;

enum { kStepMark = 1, kPhaseMark = 2, kAnnotationMark = 3, kMetricMark = 4, kGpuTimeMark = 5 };

// In place of a phase in a mark of GPU time: how long the GPU was idle before the step.
enum { kGpuIdle = 0xffff };

// The second word of a mark without its duration.
static inline uint64_t KindAndName(uint64_t kind, uint64_t name) {
  return kind << 32 | name << 48;
}

// Grows with each ring that is closed: whoever remembers a ring looks here before touching it.
extern uint64_t rings_closed;

// A new reference to the type; NULL with an exception set.
PyObject* MakeRingType(void);

// Writes one mark, or counts it as dropped when the agent has not emptied the ring.
void PutMark(Ring* ring, int64_t start_ns, int64_t end_ns, uint64_t kind_and_name);

// Puts a mark that has a value and no duration.
void PutValue(Ring* ring, int64_t at_ns, uint64_t kind_and_name, uint64_t value);

// Whether a wait of such a length and end goes on with one that began then: a loop may make
// hundreds of thousands of them, and a ring has some thousand slots. The waits count, not what lies
// between.
static inline int MayJoin(int64_t length_ns, int64_t end_ns, int64_t start_ns) {
  enum { kMostJoined = 1000000, kMostBetween = 250000 };
  return length_ns < kMostJoined && start_ns - end_ns < kMostBetween;
}

// Puts a mark that may be joined with the next one of its kind and name.
void PutWait(Ring* ring, int64_t start_ns, int64_t end_ns, uint64_t kind_and_name);

// Puts a time by the GPU's clock of the step with this number; a negative length is not known.
void PutGpuTime(Ring* ring, int64_t start_ns, int64_t length_ns, uint64_t name, uint64_t number);

// Ends the open step, which gets the number unless it is NULL, and begins the next one. False when
// no step was open.
int EndStep(Ring* ring, int64_t now_ns, const uint64_t* number);

// The number of the step before the open one.
uint64_t NumberBefore(const Ring* ring);

// Whether the agent has changed the control word since this was asked before.
int WasCalled(Ring* ring);

// CLOCK_MONOTONIC.
int64_t MonotonicNs(void);
