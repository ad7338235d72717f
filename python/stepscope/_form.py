"""Which of its two forms this process runs: the C extension, or the same in Python.

`marks` is the module with Gate, Ring and the functions that write marks; tests/python run with both.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
FORM = "C extension"
WHY = ""  # it is not the C extension
REFUSED = ""  # why marks are not made here at all

if TYPE_CHECKING:
    from . import _pure as marks

    __all__ = ["marks"]
elif os.environ.get("STEPSCOPE_PURE", "") not in ("", "0"):
    from . import _pure as marks

    FORM, WHY = "pure Python", "STEPSCOPE_PURE is set"
else:
    try:
        import stepscope._native as marks
    except ModuleNotFoundError:
        from . import _pure as marks

        FORM, WHY = "pure Python", "the extension was not built"
    except ImportError as problem:
        from . import _pure as marks

        FORM, WHY = "pure Python", f"the extension cannot be loaded: {problem}"
        if "interpreter" in WHY:
            REFUSED = "only the main interpreter of a process makes marks"
