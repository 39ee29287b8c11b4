"""Who plays in a run: agents and the user by their specs, and the endpoints behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rideway.chat import Endpoints, Patience, Sampling, load_prompt
from rideway.env.agenda import AgendaUser
from rideway.env.live import LiveAgent, LiveUser
from rideway.env.participants import LLMAgent, LLMUser, plugin_factory
from rideway.env.profiles import agent_from_spec
from rideway.errors import InputError
from rideway.records import Task


@dataclass(frozen=True, slots=True)
class Contestant:
    """An agent of the grid: its name in records, its model, what is recorded of it.

    `make(task, seed, trial)` gives the agent of one episode.
    """

    name: str
    model: str | None
    make: Callable[[Task, int, int], LiveAgent]
    settings: dict[str, Any] | None = None


class Cast:
    """Who plays: agents by their specs, and the user; the endpoints behind them.

    Args:
        agents: `openai:MODEL[@URL]`, `python:module:factory`, or names of built-in agents.
        user: `agenda`, or `openai:MODEL[@URL]`.
        base_url: Where models without an address of their own are.
        sampling: How agents are asked; the trial's number is added to its seed.
        user_sampling: How a user model is asked, likewise.
        extra: Further request fields of agents, in place of those that turn private reasoning off.
        concurrency: Calls in flight at one endpoint.
        patience: Retries and time limits of calls.

    Raises:
        InputError: A spec is none, or a model's endpoint has no key.
        UnknownAgent: A name is no built-in agent's.
    """

    def __init__(
        self,
        agents: Sequence[str],
        user: str = "agenda",
        *,
        base_url: str | None = None,
        sampling: Sampling = Sampling(seed=0),  # noqa: B008  frozen
        user_sampling: Sampling = Sampling(seed=0, max_tokens=512),  # noqa: B008  frozen
        extra: Mapping[str, Any] | None = None,
        concurrency: int = 16,
        patience: Patience | None = None,
    ) -> None:
        self.endpoints = Endpoints(base_url, concurrency=concurrency, patience=patience)
        self._sampling = sampling
        self._extra = extra
        self._user_sampling = user_sampling
        self.agents = tuple(self._contestant(spec) for spec in agents)
        names = [agent.name for agent in self.agents]
        if len(set(names)) != len(names):
            raise InputError(f"agents: {', '.join(names)}: one name twice; use a folder for each")
        self._user_model = None if user == "agenda" else self.endpoints.chat(user)
        self.user = user.partition("@http")[0]

    def _contestant(self, spec: str) -> Contestant:
        if spec.startswith("openai:"):
            model = self.endpoints.chat(spec, extra=self._extra)
            return Contestant(
                spec.partition("@http")[0],
                model.name,
                lambda task, seed, trial: LLMAgent(model, _for_trial(self._sampling, trial)),
                model.settings | self._sampling.options(),
            )
        if spec.startswith("python:"):
            factory = plugin_factory(spec)
            return Contestant(spec, None, lambda task, seed, trial: factory())
        return Contestant(spec, None, agent_from_spec(spec))

    def player(self, task: Task, seed: int, trial: int) -> LiveUser:
        """The user of one episode."""
        if self._user_model is None:
            return AgendaUser(task, seed + trial)
        return LLMUser(self._user_model, task, _for_trial(self._user_sampling, trial))

    def settings(self) -> dict[str, Any]:
        """What fixes the models of a run, for its configuration; no keys."""
        found: dict[str, Any] = {
            agent.name: agent.settings for agent in self.agents if agent.settings is not None
        }
        prompts = ["agent"] if found else []
        if (user := self._user_model) is not None:
            found["user"] = user.settings | self._user_sampling.options()
            prompts.append("user")
        return found | {f"prompt {name}": load_prompt(name).digest for name in prompts}


def _for_trial(sampling: Sampling, trial: int) -> Sampling:
    if sampling.seed is None:
        return sampling
    return Sampling(sampling.temperature, sampling.seed + trial, sampling.max_tokens)
