#pragma once

#include <Python.h>
#include <stdint.h>

// Marks of the calling thread. Nothing is written while nobody records, or when there is no room.
// -1 with an exception set when the script's own comes through, such as KeyboardInterrupt.
int WritePhase(int64_t start_ns, int64_t end_ns, PyObject* name);
// A wait for the GPU is a phase that may be joined with the next one.
int WriteWait(int64_t start_ns, int64_t end_ns, PyObject* name);
int WriteAnnotation(int64_t start_ns, int64_t end_ns, PyObject* name);

// Sets a metric; a value that is not finite is refused.
int WriteMetric(PyObject* name, double value);

// Writes a time by the GPU's clock of a step that ended: the index of a phase, or kGpuIdle. A
// negative length is not known.
int WriteGpuTime(int64_t start_ns, int64_t length_ns, uint64_t name, uint64_t number);

// Ends the open step; `number`, its own, may be NULL. Listens to the agent when that has called.
int WriteStep(int64_t now_ns, const uint64_t* number);

// Makes the names of phases; -1 with an exception set.
int PreparePhases(void);
