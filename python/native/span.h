#pragma once

#include <Python.h>
#include <stdint.h>

// Spans, which annotate and phase make: a stretch of code for `with` and `@`, timed from enter to
// exit. The C twin of the spans in stepscope/_pure.py.

// A new reference; NULL with an exception set. `kind` is kAnnotationMark or kPhaseMark. Where
// nobody ever records it is always the same one, which costs nothing and remembers nothing.
PyObject* MakeSpan(uint64_t kind, PyObject* name);

int BeginSpan(PyObject* span);  // -1 as in write.h

// Anything can be a name: a new reference to the str that it says; NULL with an exception set.
PyObject* Spoken(PyObject* name);

// Ends an annotation that has begun; anything else is ignored. -1 as in write.h.
int EndAnnotation(PyObject* token);

// Makes the types, for this module; -1 with an exception set.
int PrepareSpans(PyObject* module);
