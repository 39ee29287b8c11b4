"""The one door to chat models: any OpenAI-compatible endpoint behind one small protocol.

Keys come from the environment alone and are taken out of every text that leaves this module. A
call that the provider fails is asked again with growing delays; what then remains is told apart:

    ProviderError     an outage after all retries: the episode is owed again, and never scored
    EndpointRefusal   wrong key, no such model, no credit: every call would fail; ends the run
    ModelFault        the model's own, such as a conversation longer than its context
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from rideway.chatmodel import (
    ChatModel,
    EndpointRefusal,
    ModelFault,
    ProviderError,
    RequestRefused,
    Sampling,
    ScriptedChat,
    Tools,
)
from rideway.completions import (
    Completion,
    UnreadableAnswer,
    read_completion,
    total_usage,
    wire_body,
    wire_message,
    wire_tools,
)
from rideway.dialect import NOT_EXTRA, Dialect, says_too_long
from rideway.errors import InputError
from rideway.prompt import Prompt, load_prompt
from rideway.records import Message
from rideway.retry import Patience, passes, retry_after
from rideway.thinking import non_thinking

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

__all__ = [
    "ChatModel",
    "Completion",
    "Endpoint",
    "EndpointRefusal",
    "Endpoints",
    "ModelFault",
    "OpenAIChat",
    "Patience",
    "Prompt",
    "ProviderError",
    "Sampling",
    "ScriptedChat",
    "Tools",
    "load_prompt",
    "total_usage",
    "wire_message",
]

DEFAULT_URL = "https://api.openai.com/v1"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SHORTEST_KEY = 8
_FATAL = frozenset({401, 402, 403, 404, 405})


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: str
    status: int | None = None
    detail: str = ""
    wait: float | None = None


def _parts_of(url: str) -> SplitResult:
    """The parts of a base URL; raises InputError where no request could be sent to it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"base URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"base URL {parts.path!r:.80}: must begin with http:// or https://")
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            f"base URL of {parts.hostname}: must hold neither credentials nor a query; "
            "a key belongs into the environment"
        )
    if re.search(r"\s", url) or ".." in parts.hostname:
        raise InputError(f"base URL of {parts.hostname!r}: is no address")
    return parts


class Endpoint:
    """One base URL with its key, its places for calls in flight and its rests after 429.

    The key is that of `RIDEWAY_KEY_<HOST>` (`RIDEWAY_KEY_API_EXAMPLE_COM`), else `OPENAI_API_KEY`
    where `default` says that this is the endpoint which that key is for. A server on this machine
    needs none.

    Raises:
        InputError: The URL is none, or there is no key for it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        concurrency: int = 16,
        patience: Patience | None = None,
        default: bool = True,
    ) -> None:
        self.url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        parts = _parts_of(self.url)
        self.host = parts.hostname or ""
        self.patience = patience or Patience()
        self.counts: Counter[str] = Counter()
        """How many tries were made, and why some failed."""
        own = "RIDEWAY_KEY_" + re.sub(r"[^A-Z0-9]", "_", self.host.upper())
        self._variables = (own, "OPENAI_API_KEY") if default else (own,)
        self._key()
        self._concurrency = concurrency
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(concurrency)
        self._quiet_until = 0.0

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"

    def _key(self) -> str:
        for name in self._variables:
            key = os.environ.get(name, "").strip()
            if key:
                if not (key.isascii() and key.isprintable()):
                    del key
                    raise InputError(f"environment variable {name}: no header can carry its value")
                return key
        if self.host in _LOOPBACK:
            return "none"
        raise InputError(
            f"no key for {self.host}: set the environment variable {' or '.join(self._variables)}"
        )

    def _connected(self) -> AsyncOpenAI:
        """The client of the running event loop; connections of an earlier loop are of no use."""
        from openai import AsyncOpenAI

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = AsyncOpenAI(
                api_key=self._key(),
                base_url=self.url,
                max_retries=0,
                timeout=self.patience.attempt_seconds,
            )
            self._loop = loop
            self._slots = asyncio.Semaphore(self._concurrency)
            self._quiet_until = 0.0
        return self._client

    async def close(self) -> None:
        """Close the connections; the endpoint can be used again."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def post(self, body: bytes, taken: Iterable[str] = ()) -> Completion:
        """Send one request body until it is answered; see `ChatModel.complete` for errors."""
        retries: list[str] = []
        taken = tuple(taken)
        while True:
            outcome = await self._attempt(body, taken)
            if isinstance(outcome, Completion):
                return replace(outcome, retries=tuple(retries)) if retries else outcome
            self.counts[outcome.reason] += 1
            retries.append(outcome.reason)
            delay = self.patience.delay(len(retries), outcome.wait)
            if delay is None or not passes(outcome.status):
                raise self._given_up(outcome, len(retries))
            if outcome.status == 429 and outcome.wait is not None:
                now = asyncio.get_running_loop().time()
                self._quiet_until = max(self._quiet_until, now + outcome.wait)
            await asyncio.sleep(delay)

    async def _attempt(self, body: bytes, taken: Sequence[str]) -> Completion | _Failure:
        """One try; what went wrong is returned, so that no traceback holds the request."""
        from openai import APIConnectionError, APIStatusError

        client = self._connected()
        loop = asyncio.get_running_loop()
        async with self._slots:
            while (rest := self._quiet_until - loop.time()) > 0:
                await asyncio.sleep(rest)
            self.counts["tries"] += 1
            start = loop.time()
            try:
                async with asyncio.timeout(self.patience.attempt_seconds):
                    answer = await client.post("/chat/completions", cast_to=bytes, content=body)
                return read_completion(answer, taken=taken, seconds=loop.time() - start)
            except TimeoutError:
                return _Failure(f"no answer within {self.patience.attempt_seconds:g} s")
            except UnreadableAnswer as fault:
                return _Failure(
                    f"HTTP {fault.status} inside an answer"
                    if fault.status
                    else "unreadable answer",
                    fault.status,
                    self._redacted(str(fault)),
                )
            except APIStatusError as error:
                return self._status_failure(error)
            except APIConnectionError as error:
                cause = type(error.__cause__ or error).__name__
                return _Failure(f"connection failed ({cause})")

    def _status_failure(self, error: APIStatusError) -> _Failure:
        """What a status other than 200 means; `detail` is what the provider says of it."""
        body = error.body if isinstance(error.body, Mapping) else {}
        inner = body.get("error", body)
        inner = inner if isinstance(inner, Mapping) else {"message": inner}
        parts = [inner.get("code"), inner.get("param"), inner.get("message")]
        text = " ".join(str(part) for part in parts if part) or str(error.body or "")
        status = error.status_code
        if status == 429 and "insufficient_quota" in text:
            status = 402
        wait = retry_after(error.response.headers)
        return _Failure(f"HTTP {error.status_code}", status, self._redacted(text), wait)

    def _given_up(self, failure: _Failure, tries: int) -> Exception:
        detail = f": {failure.detail}" if failure.detail else ""
        if failure.status in _FATAL:
            return EndpointRefusal(f"{self.host}: {failure.reason}{detail}")
        if failure.status is not None and not passes(failure.status):
            return RequestRefused(
                f"{self.host}: {failure.reason}{detail}",
                status=failure.status,
                detail=failure.detail,
            )
        wait = f", asks to wait {failure.wait:.0f} s" if failure.wait is not None else ""
        times = "once" if tries == 1 else f"{tries} times"
        return ProviderError(f"{self.host}: tried {times}, last {failure.reason}{wait}{detail}")

    def _redacted(self, text: str) -> str:
        """One line of at most 300 characters without the key.

        What is shorter than any key, such as the `EMPTY` of local servers, may be part of a word.
        """
        for name in self._variables:
            key = os.environ.get(name, "").strip()
            text = text.replace(key, "***") if len(key) >= SHORTEST_KEY else text
        return " ".join(text.split())[:300]


# --- models -------------------------------------------------------------------------------------


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint.

    A request field that the endpoint refuses by name is sent in its newer form or left out from
    then on (`max_tokens`, `seed`, `temperature`, `response_format`, non-thinking fields), and every
    later answer carries a note that says so.

    Args:
        model: The name that the endpoint knows.
        endpoint: Where it is.
        extra: Further request fields; by default those that turn private reasoning off.

    Raises:
        InputError: `extra` holds a field that is not its to set.
    """

    def __init__(
        self, model: str, endpoint: Endpoint, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        self.name = model
        self.endpoint = endpoint
        self.extra = dict(non_thinking(model, endpoint.host) if extra is None else extra)
        if taken := sorted(NOT_EXTRA & self.extra.keys()):
            raise InputError(f"model {model}: the request fields {', '.join(taken)} are set by us")
        self._dialect = Dialect(model)
        self._tools: tuple[Tools, str] | None = None

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r}, {self.endpoint!r})"

    @property
    def settings(self) -> dict[str, Any]:  # noqa: D102
        return {"model": self.name, "url": self.endpoint.url, "extra": self.extra}

    async def complete(  # noqa: D102
        self,
        messages: Sequence[Message],
        tools: Tools | None = None,
        *,
        temperature: float | None = None,
        seed: int | None = None,
        max_tokens: int | None = None,
        response_format: Mapping[str, Any] | None = None,
    ) -> Completion:
        options: dict[str, Any] = {
            **self.extra,
            "response_format": response_format,
            "seed": seed,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        written = self._written(tools) if tools else None
        taken = tuple(call.id for message in messages for call in message.tool_calls if call.id)
        while True:
            fields = self._dialect.fields(options)
            try:
                answer = await self.endpoint.post(wire_body(fields, messages, written), taken)
            except RequestRefused as refusal:
                if refusal.status == 413 or says_too_long(refusal.detail):
                    fault = ModelFault(f"{self.name}: {refusal}")
                elif self._dialect.fields(options) != fields:
                    continue  # another call met the same refusal meanwhile
                elif self._dialect.adapt(options, refusal.detail):
                    continue
                else:
                    raise
            else:
                notes = self._dialect.notes
                return replace(answer, notes=answer.notes + notes) if notes else answer
            raise fault

    def _written(self, tools: Tools) -> str:
        """The tools as JSON, written once for as long as the same list comes."""
        if self._tools is None or self._tools[0] is not tools:
            self._tools = (tools, wire_tools(tools))
        return self._tools[1]


class Endpoints:
    """The endpoints of a run: one for each base URL, shared by all models there.

    A model is named `openai:MODEL`, or `openai:MODEL@https://host/v1` where it is elsewhere than at
    `base_url`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        concurrency: int = 16,
        patience: Patience | None = None,
    ) -> None:
        self._default = base_url
        self._concurrency = concurrency
        self._patience = patience
        self._open: dict[str | None, Endpoint] = {}

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._open.values())

    def chat(self, spec: str, *, extra: Mapping[str, Any] | None = None) -> OpenAIChat:
        """The model of a name; raises InputError where it is none, or where there is no key."""
        kind, _, rest = spec.partition(":")
        model, at, address = rest.partition("@http")
        if kind != "openai" or not model:
            raise InputError(
                f"model {spec!r}: must be openai:MODEL or openai:MODEL@https://host/v1"
            )
        url = f"http{address}" if at else self._default
        if url not in self._open:
            self._open[url] = Endpoint(
                url, concurrency=self._concurrency, patience=self._patience, default=not at
            )
        return OpenAIChat(model, self._open[url], extra=extra)

    async def close(self) -> None:
        """Close all connections."""
        for endpoint in self:
            await endpoint.close()
