"""What the rest of the package knows of chat models: one protocol, its errors, scripted answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rideway.completions import Completion, read_completion
from rideway.errors import InputError
from rideway.records import Message, Usage

Tools = Sequence[Mapping[str, Any]]


class ProviderError(Exception):
    """The provider gave no usable answer, retries included; says nothing about the model."""


class RequestRefused(ProviderError):
    """The endpoint refuses this one request (400, 413, 422) and would refuse it again."""

    def __init__(self, text: str, *, status: int, detail: str) -> None:
        super().__init__(text)
        self.status = status
        self.detail = detail


class EndpointRefusal(InputError):
    """The endpoint refuses whatever we ask: a key, a model's name or an account is wrong."""


class ModelFault(Exception):
    """The model itself cannot go on: the episode ends, and counts."""


class ChatModel(Protocol):
    """Anything that answers a conversation.

    `name` is what records call it; `settings` is all that fixes it besides the options of a call:
    name, address, further request fields, never a key.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Tools | None = None,
        *,
        temperature: float | None = None,
        seed: int | None = None,
        max_tokens: int | None = None,
        response_format: Mapping[str, Any] | None = None,
    ) -> Completion:
        """The next message after `messages`; None for an option leaves it to the provider.

        Raises:
            ProviderError: No usable answer after all retries.
            ModelFault: The conversation is longer than the model's context.
            EndpointRefusal: Key, model name or account is wrong.
        """
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked; recorded with every run."""

    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = 2048

    def options(self) -> dict[str, Any]:
        """As keyword arguments of `ChatModel.complete`."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }


# --- scripted -----------------------------------------------------------------------------------

Answer = str | Message | Completion | Mapping[str, Any] | Exception
Script = Callable[[Sequence[Message], Tools | None], Answer | Awaitable[Answer]]


@dataclass
class ScriptedChat:
    """Answers from a list in order, or from a function of messages and tools; for tests and demos.

    An answer is a text, a message, a completion, the JSON document of an API answer (read as one
    that came from outside), or an exception to raise. `asked` keeps what was asked.
    """

    answers: Iterable[Answer] | Script
    name: str = "scripted"
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, Any]:  # noqa: D102
        return {"model": self.name}

    async def complete(  # noqa: D102
        self, messages: Sequence[Message], tools: Tools | None = None, **options: Any
    ) -> Completion:
        self.asked.append({"messages": tuple(messages), "tools": tools, **options})
        if callable(self.answers):
            answer = self.answers(messages, tools)
            if isinstance(answer, Awaitable):
                answer = await answer
        else:
            self.answers = iter(self.answers)
            try:
                answer = next(self.answers)
            except StopIteration:
                raise LookupError(f"{self.name}: no answer is left in the script") from None
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        if isinstance(answer, Mapping):
            taken = [call.id for message in messages for call in message.tool_calls if call.id]
            return read_completion(json.dumps(answer).encode(), taken=taken)
        if isinstance(answer, str):
            answer = Message(role="assistant", content=answer)
        return Completion(answer, Usage(calls=1, seconds=0.0))
