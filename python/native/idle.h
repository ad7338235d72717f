#pragma once

#include <Python.h>

// The idle span takes the place of all spans where nobody ever records: `with` enters and leaves it
// at the least cost Python has, and `@` gets the function back as it is.

// NULL before PrepareIdle, which makes them; -1 with an exception set. idle_exit is the __exit__ of
// a span that has not begun.
extern PyObject *idle_span, *idle_exit;
int PrepareIdle(void);
