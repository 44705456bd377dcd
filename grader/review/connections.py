"""How many connections may wait for a request, and for how long: Uvicorn's own limits begin with a request."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 100  # a browser opens six; with the backlog it stays below 256 files, the least a system allows
BACKLOG = 100  # so many are accepted at once, before the limit is looked at
_SECONDS_FOR_A_REQUEST = 10


class LimitedConnection(H11Protocol):
    """Of too many, the one that has waited longest is closed: nobody can keep others out by opening more."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._limit_time()
        connected = [one for one in self.connections if not one.transport.is_closing()]
        idle = [one for one in connected if isinstance(one, LimitedConnection) and one._is_idle()]
        if len(connected) > MOST_CONNECTIONS and idle:
            min(idle, key=lambda one: one._idle_since).timeout_keep_alive_handler()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_time()

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _limit_time(self) -> None:
        """However slowly its bytes come. The timer is uvicorn's, which stops it at every byte."""
        if self._is_idle() and self.timeout_keep_alive_task is None:
            end = self._idle_since + _SECONDS_FOR_A_REQUEST
            self.timeout_keep_alive_task = self.loop.call_at(end, self.timeout_keep_alive_handler)
