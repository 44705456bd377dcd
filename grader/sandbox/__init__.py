"""Where student code runs, and the only place it does.

`host/` is the grader's side, `box/` runs inside beside student code, `jail/` holds what confines it. The messages:

    grader → fork server   path of its settings     control socket, once            host/loading_process, box/zygote
    fork server → grader   {"isolated": …}          JSON, once libraries are loaded host/fork_server
    grader → fork server   {"open": …}              JSON and two descriptors        host/fork_server, box/zygote
    fork server → grader   {"opened": id}           JSON and a descriptor to kill it
    sandbox → grader       {"layers": …}            a frame, once the jail is on    box/wire, host/channel
    grader → sandbox       probe, file, requests    a pickled frame per question    host/asking, box/worker
    sandbox → grader       a value or what it raised a frame per request, no pickle box/worker, host/fault_messages
    fork server → grader   {"ended": id, …}         JSON: how it ended, its time    host/channel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.sandbox.host.runner import BoxRunner

__all__ = ["BoxRunner"]


def __getattr__(name: str) -> Any:
    """Only when asked for: it needs Linux, and where there is none students check their own work without a box."""
    if name == "BoxRunner":
        from grader.sandbox.host.runner import BoxRunner

        return BoxRunner
    raise AttributeError(name)
