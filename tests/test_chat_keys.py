"""Keys come from the environment, go to their own host, and show nowhere."""

from __future__ import annotations

import asyncio
import logging
import traceback

import pytest

from rideway.chat import Endpoint, Endpoints, ModelFault, ProviderError
from rideway.errors import InputError
from rideway.records import Message
from rideway.retry import Patience
from tests.faulty_server import FaultyServer
from tests.raw_server import error, http, raw_server

KEY = "sk-planted-0123456789abcdef"
HELLO = [Message(role="user", content="你好")]
SAID = {"role": "assistant", "content": "您好"}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


ECHO = error(f"Incorrect API key provided: {KEY}; header Authorization: Bearer {KEY}")
FAILURES = {
    "refused": http(401, ECHO),
    "no model": http(404, ECHO),
    "bad request": http(400, ECHO),
    "too long": http(400, error(f"context_length {KEY}")),
    "rate limit": http(429, ECHO, "Retry-After: 0"),
    "far rate limit": http(429, ECHO, "Retry-After: 9999"),
    "server error": http(500, ECHO),
    "text error": http(500, f"oops {KEY}".encode()),
    "error inside": http(200, ECHO),
    "html": http(200, f"<html>{KEY}</html>".encode()),
    "invalid": http(200, f'{{"choices": "{KEY}'.encode()),
    "dropped": b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{",
    "no http": f"{KEY} is no HTTP\r\n\r\n".encode(),
    "silent": b"",
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_key_shows_in_no_failure(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in texts, nor in tracebacks with the values of local variables, nor in a log.

    Left out is the wire-level log of the HTTP library, which repeats lines that are no HTTP.
    """

    async def run() -> tuple[BaseException, list[str]]:
        async with raw_server(FAILURES[name]) as (url, _):
            endpoints = Endpoints(
                url, patience=Patience(attempts=2, first_delay=0, attempt_seconds=1)
            )
            model = endpoints.chat("openai:m")
            try:
                await model.complete(HELLO)
            except (ProviderError, ModelFault, InputError) as fault:
                return fault, [repr(model), repr(model.endpoint), str(model.endpoint.counts)]
            finally:
                await endpoints.close()
        raise AssertionError("the server answered")

    with caplog.at_level(logging.DEBUG):
        fault, shown = asyncio.run(run())
    lines = traceback.TracebackException.from_exception(fault, capture_locals=True)
    assert fault.__cause__ is None
    assert fault.__context__ is None
    logged = [log.getMessage() for log in caplog.records if not log.name.startswith("httpcore")]
    for text in (*shown, "".join(lines.format()), repr(fault), *logged):
        assert KEY not in text


def test_keys_come_from_the_environment_and_go_to_their_own_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def sent(spec: str, base: str | None = None) -> str:
        async with FaultyServer(lambda body: SAID, keep=True) as server:
            endpoints = Endpoints(base and base.replace("URL", server.url))
            await endpoints.chat(spec.replace("URL", server.url)).complete(HELLO)
            await endpoints.close()
            return server.headers[0]["authorization"]

    assert asyncio.run(sent("openai:m", "URL")) == f"Bearer {KEY}"
    assert asyncio.run(sent("openai:m@URL")) == "Bearer none"
    monkeypatch.setenv("RIDEWAY_KEY_127_0_0_1", " other \n")
    assert asyncio.run(sent("openai:m@URL")) == "Bearer other"
    assert asyncio.run(sent("openai:m", "URL")) == "Bearer other"


def test_a_missing_or_odd_key_is_told_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match=r"RIDEWAY_KEY_API_EXAMPLE_COM$"):
        Endpoints().chat("openai:m@https://api.example.com/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "键")
    with pytest.raises(InputError, match="OPENAI_API_KEY") as caught:
        Endpoints().chat("openai:m")
    assert caught.value.__traceback__ is not None
    ours = caught.value.__traceback__.tb_next  # this frame holds the key by itself
    lines = traceback.TracebackException(
        type(caught.value), caught.value, ours, capture_locals=True
    )
    assert "Endpoint" in "".join(lines.format())
    assert "键" not in "".join(lines.format())
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="RIDEWAY_KEY_API_OPENAI_COM or OPENAI_API_KEY"):
        Endpoints().chat("openai:m")


@pytest.mark.parametrize(
    "spec", ["m", "openai:", "openai", "openai:@http://localhost/v1", "anthropic:m", ""]
)
def test_what_names_no_model_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="openai:MODEL"):
        Endpoints().chat(spec)


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "localhost:8000", f"https://user:{KEY}@x/v1", f"https://x/v1?key={KEY}"]
)
def test_a_base_url_holds_no_credentials(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Endpoint(url)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:99999/v1", "http://x:abc/v1", "http://[::1/v1", "http://a b/v1",
            "http://127.0.0.1/v1#x", "http://x..y/v1"],
)  # fmt: skip
def test_an_address_that_cannot_be_one_is_refused_at_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with pytest.raises(InputError, match="base URL"):
        Endpoint(url)
