"""Conversations with agents over a WebSocket.

    async with Session(parley, agent_id=agent) as session:
        await session.send_text("What time do you open?")
        async for event in session:
            if event.type == "transcript" and event.data["role"] == "agent":
                print(event.data["data"])

The sound is the caller's: it goes as Int16 at 16 kHz, little endian, and comes as Int16 at 44.1 kHz. A connection that
is lost comes back by itself: within half a minute to the same conversation, else as a new one.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import Any, AsyncIterator, Mapping
from urllib.parse import quote

import websockets

from .client import Parley
from .transport import ParleyError

RATE_IN = 16_000
"""What send_audio takes, in samples a second."""

RATE_OUT = 44_100
"""What events of the type audio have, in samples a second."""

_WAITS = (1.0, 2.0, 4.0, 8.0, 10.0)  # seconds before a lost connection is tried again
_LASTED = 30.0  # seconds after which a connection was a good one
_AGAIN = (1001, 1006, 1011, 1012, 1013, 1014)  # close codes (RFC 6455, section 7.4) after which trying again may help
_RETURNS = (0.3, 1.0, 2.0, 4.0, 8.0)  # the same for a conversation that the server keeps; the last again and again
_KEPT = 30.0  # seconds for which it does
_MAX_MESSAGE = 4 << 20  # bytes


@dataclass(frozen=True)
class Event:
    """Something that happened.

    type is that of the server's message, and data the message; or audio, whose samples are in audio; flushed: the agent
    was cut off, and what was not played yet must not be; reconnecting: the connection was lost, data says why. With
    resumes the server still has the conversation, which goes on with a message session; else what comes back is a new one.
    """

    type: str
    data: dict[str, Any] = field(default_factory=dict)
    audio: bytes = b""


class Session:
    """A conversation. It is an asynchronous context manager and, once, an asynchronous iterator of events."""

    def __init__(
        self,
        client: Parley,
        *,
        agent_id: str = "",
        agent: Mapping[str, Any] | None = None,
        variables: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Make a conversation with the agent agent_id, or, without one, with what agent says: its voice, language,
        prompt and tools. variables are values of the agent's variables, metadata is kept with the call."""
        self._client = client
        self._agent_id = agent_id
        self._agent = dict(agent or {})
        self._first: dict[str, Any] = {"variables": variables, "metadata": metadata}
        self._token = ""  # to come back to the conversation with
        self._socket: Any = None
        self._closed = False

    async def __aenter__(self) -> Session:
        await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop, tries, returns = asyncio.get_running_loop(), 0, 0
        since, fault = loop.time(), {}
        lost = since
        while not self._closed:
            try:
                async for message in self._socket:
                    if isinstance(message, bytes):
                        yield Event("audio", audio=message)
                        continue
                    data = json.loads(message)
                    if data["type"] == "error":
                        fault = data["data"]
                    if data["type"] == "session":
                        self._token, returns = data["data"]["resume"], 0
                    yield Event(data["type"], data)
                    if data["type"] == "status" and data["data"] == "interrupted":
                        yield Event("flushed")
            except websockets.ConnectionClosedError:
                pass  # its code says what it is
            code = self._socket.close_code or 1006
            if self._closed or code == 1000:
                return
            if loop.time() - since > _LASTED:
                tries = 0
            reason = {"code": code, "reason": self._socket.close_reason or ""}
            if returns == 0:
                lost = loop.time()
            over = bool(self._token) and fault.get("code") == "agent.session_over"
            while True:
                if self._token and code == 1006 and (returns == 0 or loop.time() - lost < _KEPT):
                    wait = _RETURNS[min(returns, len(_RETURNS) - 1)]
                    returns += 1
                elif over:
                    self._token, over, wait = "", False, 0.0
                else:
                    self._token = ""
                    if code not in _AGAIN or tries == len(_WAITS):
                        raise ParleyError(0, fault or {"error": reason["reason"] or f"The connection was lost ({code})."})
                    wait = _WAITS[tries]
                    tries += 1
                yield Event("reconnecting", {**reason, "resumes": bool(self._token)})
                await asyncio.sleep(wait * random.uniform(0.8, 1.2))
                try:
                    await self._connect()
                    since, fault = loop.time(), {}
                    break
                except ParleyError as e:
                    if not e.retryable:
                        raise
                except OSError as e:
                    reason = {"code": 1006, "reason": str(e)}

    async def _connect(self) -> None:
        url = self._client.base_url.replace("http", "ws", 1) + "/ws/agent"
        if self._token:
            url += f"?resume={quote(self._token)}"
        elif self._agent_id:
            url += f"?agent_id={self._agent_id}"
        options = {"max_size": _MAX_MESSAGE, "open_timeout": 10}
        headers = {"X-API-Key": await asyncio.to_thread(self._client.credential)}
        # The package renamed an argument in version 14.
        name = "extra_headers" if int(websockets.__version__.split(".")[0]) < 14 else "additional_headers"
        try:
            self._socket = await websockets.connect(url, **options, **{name: headers})
        except websockets.InvalidHandshake as e:
            # So does the place of the status.
            response = getattr(e, "response", None)
            raise ParleyError(response.status_code if response else getattr(e, "status_code", 0), {}) from None
        if self._token:
            return  # the server knows what follows
        await self.send({"type": "features", "data": ["resume"]})
        await self.send({"type": "rates", "playback": RATE_OUT, "input": RATE_IN})
        if not self._agent_id:
            for kind, data in self._agent.items():
                await self.send({"type": kind, "data": data})
        for kind, data in self._first.items():
            if data:
                await self.send({"type": kind, "data": dict(data)})

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, as the documentation of /ws/agent has them. One to a lost connection is lost."""
        await self._write(json.dumps(message))

    async def send_audio(self, samples: bytes) -> None:
        """Say samples at 16 kHz: Int16, little endian, any number of them. It waits for a slow network."""
        await self._write(samples)

    async def _write(self, message: str | bytes) -> None:
        try:
            await self._socket.send(message)
        except websockets.ConnectionClosed:
            pass  # the iterator says so

    async def send_text(self, text: str) -> None:
        """Say a turn without a voice."""
        await self.send({"type": "text", "data": text})

    async def send_tool_result(self, call_id: str, result: Any) -> None:
        """Answer a tool_call of the agent with a text, or with what is written as JSON."""
        text = result if isinstance(result, str) else json.dumps(result)
        await self.send({"type": "tool_result", "data": {"call_id": call_id, "result": text}})

    async def interrupt(self) -> None:
        """Have the agent stop talking."""
        await self.send({"type": "interrupt"})

    async def close(self) -> None:
        """End the conversation. The iterator ends, too."""
        self._closed = True
        if self._socket is not None:
            await self._socket.close()
