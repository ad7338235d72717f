"""The C extension of the package. Where it cannot be built the package is pure Python, and says so in info()."""

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

PARTS = ("edge", "flow", "gate", "idle", "likeness", "module", "place", "ring", "span", "wait", "watch", "write")

native = Extension(
    "stepscope._native",
    sources=[f"native/{part}.c" for part in PARTS],
    depends=["native/call.h", "native/outcome.h", *(f"native/{part}.h" for part in PARTS if part != "module")],
    define_macros=[("Py_LIMITED_API", "0x03090000")],
    extra_compile_args=["-O2", "-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"],
    py_limited_api=True,
    optional=True,
)



class BuildWithPth(build_py):
    """Puts the .pth that each start of a Python reads beside the package: it waits for torch."""

    def run(self):
        super().run()
        self.copy_file("stepscope-hooks.pth", f"{self.build_lib}/stepscope-hooks.pth")

    def get_outputs(self, *args, **named):
        return [*super().get_outputs(*args, **named), f"{self.build_lib}/stepscope-hooks.pth"]


setup(ext_modules=[native], py_modules=["_stepscope_imports", "_stepscope_start"], cmdclass={"build_py": BuildWithPth})
