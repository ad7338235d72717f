"""Between the JSON of the service and data frames: columns, and times."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd

Moment = Union[str, datetime, Any]  # Any: a pandas Timestamp, for which mypy has no types


def stamps(micros: Iterable[Optional[int]]) -> Any:
    """Time stamps in UTC; NaT for None."""
    return pd.to_datetime(pd.Series(list(micros), dtype="Int64"), unit="us", utc=True)


def stamps_of_runs(runs: Sequence[Sequence[int]], bin_us: int) -> Any:
    """Time stamps in UTC of bins that follow each other, from runs of [begin in microseconds, how many]."""
    micros = [begin + np.arange(bins, dtype="int64") * bin_us for begin, bins in runs]
    return pd.to_datetime(pd.Series(np.concatenate(micros) if micros else [], dtype="int64"), unit="us", utc=True)


def _instant(moment: Moment) -> Any:
    """The moment as a time stamp. One without a zone could be anywhere: it is refused."""
    stamp = pd.Timestamp(moment)
    if stamp is pd.NaT or stamp.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; say for example pd.Timestamp('2026-11-20 20:14', tz='UTC')")
    return stamp.tz_convert("UTC")


def micros_of(moment: Optional[Moment]) -> Optional[int]:
    """Microseconds since the epoch; None for None."""
    return None if moment is None else int(_instant(moment).value // 1000)


def text_of_time(moment: Optional[Moment]) -> Optional[str]:
    """RFC 3339 in UTC; None for None."""
    return None if moment is None else str(_instant(moment).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def table(items: Sequence[Mapping[str, Any]], columns: Sequence[str], times: Sequence[str] = ()) -> Any:
    """A row for each item. Columns that are named in `times` are made of the `_us` of that name."""
    made: Dict[str, Any] = {}
    for name in columns:
        made[name] = stamps(item[name + "_us"] for item in items) if name in times else [item[name] for item in items]
    return pd.DataFrame(made, columns=list(columns))
