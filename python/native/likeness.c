#include "likeness.h"

static PyObject* method_type = NULL;
static const char* const kOwn[] = {"__call__", "__get__", "__reduce__", "__reduce_ex__"};

static int IsOwn(PyObject* name) {
  for (size_t i = 0; i < sizeof(kOwn) / sizeof(kOwn[0]); ++i) {
    if (PyUnicode_CompareWithASCIIString(name, kOwn[i]) == 0) return 1;
  }
  return 0;
}

PyObject* AttributeOf(PyObject* self, PyObject* like, PyObject* name) {
  return IsOwn(name) ? PyObject_GenericGetAttr(self, name) : PyObject_GetAttr(like, name);
}

int SetAttributeOf(PyObject* like, PyObject* name, PyObject* value) {
  return value == NULL ? PyObject_DelAttr(like, name) : PyObject_SetAttr(like, name, value);
}

PyObject* Reduced(PyObject* like) {
  PyObject* const module = PyImport_ImportModule("operator");
  PyObject* const first = module == NULL ? NULL : PyObject_CallMethod(module, "itemgetter", "i", 0);
  Py_XDECREF(module);
  return first == NULL ? NULL : Py_BuildValue("N((O))", first, like);
}

// types.MethodType, which the limited API has no name for, borrowed.
static PyObject* MethodType(void) {
  if (method_type == NULL) {
    PyObject* const types = PyImport_ImportModule("types");
    method_type = types == NULL ? NULL : PyObject_GetAttrString(types, "MethodType");
    Py_XDECREF(types);
  }
  return method_type;
}

PyObject* BoundTo(PyObject* self, PyObject* object) {
  if (object == NULL || object == Py_None) {
    Py_INCREF(self);
    return self;
  }
  PyObject* const method = MethodType();
  return method == NULL ? NULL : PyObject_CallFunctionObjArgs(method, self, object, NULL);
}
