"""The C extension of the package. Where it cannot be built the package is pure Python, and says so in info()."""

from setuptools import Extension, setup

PARTS = ("gate", "module", "ring", "span", "write")

native = Extension(
    "stepscope._native",
    sources=[f"native/{part}.c" for part in PARTS],
    depends=[f"native/{part}.h" for part in PARTS if part != "module"],
    define_macros=[("Py_LIMITED_API", "0x03090000")],
    extra_compile_args=["-O2", "-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"],
    py_limited_api=True,
    optional=True,
)

setup(ext_modules=[native])
