"""Which request fields one model's endpoint takes, learnt from what it refuses by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NOT_EXTRA = frozenset(
    {"model", "messages", "tools", "stream", "n"}
    | {"temperature", "seed", "max_tokens", "response_format"}
    | {"api_key", "authorization"}
)
"""Request fields that nobody adds: each has a place of its own, keys in the environment."""

_TOO_LONG = re.compile(
    r"context[_ -]?(length|window|size)|maximum context|prompt is too long|too many (input )?tokens"
    r"|exceeds? the (available|maximum)|input length|max_model_len",
    re.IGNORECASE,
)


def says_too_long(detail: str) -> bool:
    """Whether a refusal says that the conversation is longer than the model's context."""
    return _TOO_LONG.search(detail) is not None


class Dialect:
    """The fields of a request as one endpoint takes them.

    A field that is refused by name is sent in its newer form or left out from then on.

    Args:
        model: The name that the endpoint knows.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._forms: dict[str, str | None] = {}
        self._schemas = True

    @property
    def notes(self) -> tuple[str, ...]:
        """What the endpoint refused so far, one text a field."""
        return tuple(f"{name} refused by the endpoint" for name in self._forms)

    def fields(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The fields to send for these options; one that is None is left out."""
        fields: dict[str, Any] = {"model": self._model}
        for name, value in options.items():
            form = self._forms.get(name, name)
            if value is not None and form is not None:
                fields[form] = value
        if not self._schemas and "response_format" in fields:
            fields["response_format"] = {"type": "json_object"}
        return fields

    def adapt(self, options: Mapping[str, Any], detail: str) -> bool:
        """Change the form of the field that a refusal names; False: it names none of ours."""
        for name, value in options.items():
            form = self._forms.get(name, name)
            if value is None or form is None or not re.search(rf"\b{form}\b", detail):
                continue
            if name == "response_format" and self._schemas and value.get("type") == "json_schema":
                self._schemas = False
                self._forms[name] = name
            elif name == form == "max_tokens":
                self._forms[name] = "max_completion_tokens"
            else:
                self._forms[name] = None
            return True
        return False
