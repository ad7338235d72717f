#pragma once

#include <Python.h>

// What stands for all spans where nobody ever records: for `with`, which it enters and leaves at
// the least cost Python has, and for `@`, which gives the function as it is.

// How Python calls an object without making a tuple (PEP 590). It is in the limited API from 3.12
// on only, but no version from 3.9 to 3.11 will change any more.
typedef PyObject* (*Vectorcall)(PyObject*, PyObject* const*, size_t, PyObject*);
enum { kHaveVectorcall = 1 << 11 };

// Fast calls are in the limited API from 3.10 on; 3.9 has the same ones under the same number.
enum { kFastCall = 0x0080 };

// How many arguments a vectorcall has by place; one too many for a span where some have names.
static inline size_t GivenByPlace(size_t count, PyObject* names) {
  const size_t kOffsetFlag = (size_t)1 << (8 * sizeof(size_t) - 1);
  return names == NULL || PyTuple_Size(names) == 0 ? count & ~kOffsetFlag : 2;
}

// NULL before PrepareIdle, which makes them; -1 with an exception set. The second one is the
// __exit__ of what has not begun.
extern PyObject *idle_span, *idle_exit;
int PrepareIdle(void);
