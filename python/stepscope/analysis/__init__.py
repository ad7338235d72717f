"""What a Stepscope service knows of a job, as pandas data frames: for notebooks and scripts.

    from stepscope.analysis import Client

    job = Client("http://127.0.0.1:8080").job("resnet-42")
    job.system_metrics("gpu_util_percent")    # time, node, device, metric, value, min, max
    job.steps(rank=0)                         # rank, step, start, wall, a column for each phase

Times are time stamps in UTC, durations are seconds, percent are 0 to 100. It needs pandas
(python3-pandas of Debian, or `pip install pandas`) and shares nothing with the marks of a training process.
"""

try:
    import pandas as _pandas  # noqa: F401
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"stepscope.analysis needs pandas ({_missing}): install it with apt install python3-pandas or pip install pandas", name=_missing.name
    ) from None

from ._client import Client
from ._job import Job
from ._problem import Problem, Unreachable
from ._window import Window

__all__ = ["Client", "Job", "Problem", "Unreachable", "Window"]
