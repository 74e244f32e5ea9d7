"""A connection that no client keeps open for nothing: its headers must arrive and its answer must be taken in time."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedConnection(H11Protocol):
    """uvicorn's connection by h11, closed where a client does not send all headers of a request in time, or does not
    read its answer. A client that only says that it sends no more still gets its answer.

    `BodyLimit` bounds the time of the body, uvicorn that between requests.

    Args:
        timeout_s: seconds for the headers, and for each time that the answer waits to be taken.
        options: uvicorn's.
    """

    def __init__(self, *arguments, timeout_s: float, **options):
        super().__init__(*arguments, **options)
        self._timeout_s = timeout_s
        self._headers_due: asyncio.TimerHandle | None = None
        self._answer_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        super().data_received(data)
        if self._is_asked:
            self._headers_due = _cancelled(self._headers_due)
        elif self._headers_due is None:
            self._wait_for_headers()

    def eof_received(self) -> bool:
        """Return whether the connection stays open: an answer is on its way to who has asked all there is to ask."""
        return self._is_asked and not self.cycle.more_body

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        self.flow.pause_writing()
        self._answer_due = self.loop.call_later(self._timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        self.flow.resume_writing()
        self._answer_due = _cancelled(self._answer_due)

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        self._headers_due, self._answer_due = _cancelled(self._headers_due), _cancelled(self._answer_due)
        super().connection_lost(exc)

    @property
    def _is_asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self._headers_due = self.loop.call_later(self._timeout_s, self.transport.close)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
