# The C form of the Python package, one file for every CPython from 3.9 on: what the agent's packages carry beside the
# Python files, which serve wherever it cannot be loaded. Without the headers of Python they serve alone. Sanitizers
# would have to be loaded into Python first: tests/python builds such an extension by itself.
# Any version's headers will do, so FindPython3 and its search for the right interpreter do not help here.
find_path(STEPSCOPE_PYTHON_HEADERS Python.h PATH_SUFFIXES python3.14 python3.13 python3.12 python3.11 python3.10 python3.9)
if(NOT STEPSCOPE_PYTHON_HEADERS OR STEPSCOPE_SANITIZE)
  return()
endif()
enable_language(C)
file(GLOB native CONFIGURE_DEPENDS python/native/*.c)
add_library(stepscope_native MODULE EXCLUDE_FROM_ALL ${native})
target_include_directories(stepscope_native SYSTEM PRIVATE ${STEPSCOPE_PYTHON_HEADERS})
target_compile_definitions(stepscope_native PRIVATE Py_LIMITED_API=0x03090000)
# The compiler options of python/setup.py, instead of those for C++.
set_target_properties(stepscope_native PROPERTIES
  COMPILE_OPTIONS "-O2;-std=c11;-fvisibility=hidden;-Wall;-Wextra;-Wno-unused-parameter;-Werror"
  PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python_native)
