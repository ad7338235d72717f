#pragma once

#include <Python.h>

// await_gpu(flow, function, phase, kind, plain, on_gpu, gradients): watches a function or method of
// C, in its place, while it waits for the GPU or copies to it. Nobody can tell that from outside:
// the object stays the same one, and only where it goes is changed (PyMethodDef.ml_meth).
// ValueError where that cannot be done.
//
//   kind       when a call counts: "always"; "value": of a tensor on the GPU; "copy": of a tensor,
//              to the host or to the GPU; "into": a tensor, from one on the other side
//   phase      of a wait, or of a copy to the host; one to the GPU is phase "transfer"
//   plain      the types whose objects are looked at; what others are is theirs
//   on_gpu     on_gpu(tensor) says whether it lies there
//   gradients  gradients() says whether they are computed here
PyObject* AwaitGpu(PyObject* module, PyObject* args);

// await_gpu_no_longer(): takes all of it back.
PyObject* AwaitGpuNoLonger(PyObject* module, PyObject* none);
