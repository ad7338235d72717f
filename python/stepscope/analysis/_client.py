"""A service, and the list of its jobs."""

from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Union

from ._job import Job
from ._service import Service, environment_token
from ._tables import Moment, table, text_of_time

class Client:
    """A Stepscope service.

    `url`, `token` and `ca_file` (certificates to trust for https; the system's by default) come from the
    environment where they are not given, by the names that the agent knows: STEPSCOPE_SERVER,
    STEPSCOPE_TOKEN_FILE or STEPSCOPE_TOKEN, STEPSCOPE_CA_FILE. `timeout` is in seconds, for each wait of a
    request. A token goes to other machines over https only, unless `insecure_http` lets it travel in the
    clear. Nothing is asked before the first call; calls raise `Problem` and `Unreachable`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        ca_file: Optional[str] = None,
        timeout: float = 30.0,
        insecure_http: bool = False,
    ) -> None:
        url = url or os.environ.get("STEPSCOPE_SERVER")
        if not url:
            raise ValueError("no service: give its address, or set STEPSCOPE_SERVER")
        ca_file = ca_file or os.environ.get("STEPSCOPE_CA_FILE") or None
        self._service = Service(url, token or environment_token(), ca_file, timeout, insecure_http)

    def __repr__(self) -> str:
        return f"Client({self._service.url!r})"

    def job(self, name: str) -> Job:
        """A job by its name. Whether there is one is seen at the first call."""
        return Job(self._service, name)

    def jobs(
        self,
        *,
        name_contains: Optional[str] = None,
        status: Union[str, Sequence[str], None] = None,
        group: Optional[str] = None,
        rule: Optional[str] = None,
        rule_status: Union[str, Sequence[str], None] = None,
        verdict: Union[str, Sequence[str], None] = None,
        created_after: Optional[Moment] = None,
        created_before: Optional[Moment] = None,
        sort: Optional[str] = None,
    ) -> Any:
        """All jobs that match, the newest first, as a DataFrame with a row for each.

        The columns are those of the REST answer: name, status, times, `duration_seconds`,
        `mean_gpu_util_percent`, `median_step_seconds`, `rules_in_trouble` and so on.
        """
        pages = self._service.pages(
            "/jobs",
            name_contains=name_contains,
            status=status,
            group=group,
            rule=rule,
            rule_status=rule_status,
            verdict=verdict,
            created_after=text_of_time(created_after),
            created_before=text_of_time(created_before),
            sort=sort,
            limit=500,
        )
        items = [item for page in pages for item in page["items"]]
        return table(items, _COLUMNS, times=("created", "started", "ended"))


_COLUMNS = (
    "name",
    "group",
    "status",
    "secondary_status",
    "created",
    "started",
    "ended",
    "duration_seconds",
    "nodes",
    "gpus",
    "mean_gpu_util_percent",
    "mean_cpu_util_percent",
    "median_step_seconds",
    "verdict",
    "rules_in_trouble",
    "gpu_util_sparkline",
    "cpu_util_sparkline",
)
