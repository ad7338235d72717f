#pragma once

#include <Python.h>

// What stands for all spans where nobody ever records: for `with`, which it enters and leaves at
// the least cost Python has, and for `@`, which gives the function as it is.

// NULL before PrepareIdle, which makes them; -1 with an exception set. The second one is the
// __exit__ of what has not begun.
extern PyObject *idle_span, *idle_exit;
int PrepareIdle(void);
