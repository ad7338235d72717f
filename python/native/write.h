#pragma once

#include <Python.h>
#include <stdint.h>

// Marks of the calling thread. Nothing is written while nobody records, or when there is no room.
// -1 with an exception set when the script's own comes through, such as KeyboardInterrupt.
int WritePhase(int64_t start_ns, int64_t end_ns, PyObject* name);
int WriteAnnotation(int64_t start_ns, int64_t end_ns, PyObject* name);

// Sets a metric; a value that is not finite is refused.
int WriteMetric(PyObject* name, double value);

// Ends the open step; `number`, its own, may be NULL. Listens to the agent when that has called.
int WriteStep(int64_t now_ns, const uint64_t* number);

// Makes the names of phases; -1 with an exception set.
int PreparePhases(void);
