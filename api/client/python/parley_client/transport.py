"""Requests to the service and their answers: client.py has the operations."""

from __future__ import annotations

import json
import random
import time
import uuid
from http.client import HTTPException, HTTPResponse
from typing import Any, Callable, Iterator, Mapping
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

_RETRIES = 2
_MAX_WAIT = 20.0  # seconds between two tries, whatever the server wishes
_MAX_PROBLEM = 64 * 1024  # bytes of an error
_AGAIN = (408, 429, 502, 503, 504)


class ParleyError(Exception):
    """What the server answered instead of doing what it was asked.

    status is HTTP's, 0 where a socket said it; code is such as billing.insufficient_balance, empty where the
    answer had none; detail says what exactly was wrong; retryable says that the same request may succeed later;
    request_id names the request for the server's operator; problems are the fields that were wrong.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], request_id: str = "") -> None:
        self.status = status
        self.code: str = problem.get("code", "")
        self.detail: str = problem.get("detail", "")
        self.retryable: bool = problem.get("retryable", status >= 500)
        self.request_id = request_id
        self.problems: list[dict[str, str]] = problem.get("errors", [])
        message = problem.get("error") or problem.get("message") or f"The server answered {status}."
        super().__init__(f"{message} {self.detail}".strip() + (f" ({self.code})" if self.code else ""))


class Answer:
    """An answer that is no JSON, such as a recording. Read it to its end or close it; it is a context manager."""

    def __init__(self, response: HTTPResponse) -> None:
        self._response = response
        self.headers = response.headers

    def read(self, size: int | None = None) -> bytes:
        """Read at most size bytes, or all that is left."""
        return self._response.read(size)

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._response.read(64 * 1024):
            yield chunk

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Straight(HTTPRedirectHandler):
    """Follows nothing: a redirection would take the credential to another server."""

    def redirect_request(self, *_: object) -> None:
        return None


def part(value: object) -> str:
    """A part of a path, escaped."""
    return quote(str(value), safe="")


class Requests:
    """The part of a client that is the same for every operation."""

    def __init__(
        self,
        base_url: str,
        api_key: str | Callable[[], str] = "",
        *,
        timeout: float = 60.0,
        retries: int = _RETRIES,
    ) -> None:
        """Make a client of the server at base_url, such as https://voice.example.com.

        api_key is an API key or a ticket, or a function that returns one for each request. timeout is how long the
        network may be silent, in seconds. retries is how often a request is sent again that is safe to repeat and
        failed for now.
        """
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("base_url must begin with http:// or https://")
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._retries = retries
        self._opener = build_opener(_Straight())

    def credential(self) -> str:
        """The credential of the next request; empty where there is none."""
        return self._api_key() if callable(self._api_key) else self._api_key

    def _json(self, verb: str, path: str, **sent: Any) -> Any:
        with self._send(verb, path, **sent) as response:
            return json.load(response)

    def _none(self, verb: str, path: str, **sent: Any) -> None:
        self._send(verb, path, **sent).close()

    def _raw(self, verb: str, path: str, **sent: Any) -> Answer:
        return Answer(self._send(verb, path, **sent))

    def _each(self, verb: str, path: str, *, query: Mapping[str, Any], **sent: Any) -> Iterator[Any]:
        cursor = None
        while True:
            page = self._json(verb, path, query={**query, "cursor": cursor}, **sent)
            yield from page["data"]
            if (cursor := page["next_cursor"]) is None:
                return

    def _events(self, verb: str, path: str, **sent: Any) -> Iterator[dict[str, Any]]:
        """Read Server-Sent Events (HTML standard, section 9.2.6) until the server or the caller ends them."""
        with self._send(verb, path, accept="text/event-stream", **sent) as response:
            for line in response:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])

    def _send(
        self,
        verb: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        content_type: str | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        repeat: bool = False,
        accept: str = "*/*",
        timeout: float | None = None,
    ) -> HTTPResponse:
        headers = {"Accept": accept}
        if if_match is not None:
            headers["If-Match"] = if_match
        if repeat or idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        data, kind = _payload(body, content_type)
        if kind:
            headers["Content-Type"] = kind
        url = self.base_url + path + _query(query or {})
        tries = self._retries if verb == "GET" or "Idempotency-Key" in headers else 0
        for n in range(tries + 1):
            if credential := self.credential():
                headers["Authorization"] = f"Bearer {credential}"
            wait = 0.5 * 2**n * random.uniform(0.8, 1.2)
            try:
                return self._opener.open(Request(url, data, headers, method=verb), timeout=timeout or self._timeout)
            except HTTPError as e:
                with e:
                    if n == tries or e.code not in _AGAIN:
                        raise _refusal(e) from None
                    wait = float(e.headers.get("Retry-After") or wait)
            except (URLError, OSError, HTTPException):
                if n == tries:
                    raise
            time.sleep(min(wait, _MAX_WAIT))
        raise AssertionError("a try returns or raises")


def _refusal(e: HTTPError) -> ParleyError:
    try:
        problem = json.loads(e.read(_MAX_PROBLEM))
    except ValueError:
        problem = {}  # it came from something between us and the server
    return ParleyError(e.code, problem if isinstance(problem, dict) else {}, e.headers.get("X-Request-Id", ""))


def _query(values: Mapping[str, Any]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            pairs += [(f"{name}[{key}]", str(one)) for key, one in value.items()]
        elif isinstance(value, (list, tuple)):
            pairs.append((name, ",".join(map(str, value))))
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif value is not None:
            pairs.append((name, str(value)))
    return "?" + urlencode(pairs) if pairs else ""


def _payload(body: Any, content_type: str | None) -> tuple[bytes | None, str | None]:
    """The body as it is sent: a form where it holds files, else JSON; text with its own media type."""
    if body is None:
        return None, None
    if content_type is not None:
        return body.encode() if isinstance(body, str) else body, content_type
    if isinstance(body, dict) and any(_is_file(value) for value in body.values()):
        return _form(body)
    return json.dumps(body).encode(), "application/json"


def _is_file(value: Any) -> bool:
    return isinstance(value, (bytes, tuple))


def _form(fields: Mapping[str, Any]) -> tuple[bytes, str]:
    """A form as RFC 7578 has it."""
    boundary = uuid.uuid4().hex
    out = bytearray()
    for field, value in fields.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"'
        if _is_file(value):
            name, content = value if isinstance(value, tuple) else (field, value)
            escaped = name.replace("\\", "_").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
            head += f'; filename="{escaped}"\r\nContent-Type: application/octet-stream'
        else:
            content = str(value).encode()
        out += head.encode() + b"\r\n\r\n" + content + b"\r\n"
    out += f"--{boundary}--\r\n".encode()
    return bytes(out), f"multipart/form-data; boundary={boundary}"
