"""The success panel: three distinct models, three passes each (paper, section 3).

A judge's outcome needs two agreeing readable passes of its three, the panel's two agreeing judges;
otherwise the verdict is `undecided`. An answer that is not exactly the JSON object asked for is no
vote, neither pass nor fail: the pass is asked again and then kept as unread.

Everything in a transcript is data. It reaches the judge as JSON between lines that carry a tag
drawn for this one judgement, long after the transcript was written, and nothing of the answer
counts but that one object. All passes of a judgement ask the same prompt, so that a provider
can keep its beginning; what is asked again carries a tag of its own, or it would be answered alike.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rideway import __version__
from rideway.chat import ChatModel, ModelFault, ProviderError, load_prompt, total_usage
from rideway.errors import InputError
from rideway.jsonl import digest
from rideway.metric.audit import panel_verdict
from rideway.records import JudgePass, Message, Outcome, Task, Trajectory, Usage, Verdict
from rideway.run_folder import PanelConfig

JUDGES = 3
PASSES = 3
ASKED_AGAIN = 2
"""How often an unreadable pass is asked again."""
TEMPERATURE = 0.0
MOST_TOKENS = 4096

Vote = Literal["pass", "fail"]


class Panel:
    """Three judges over one trajectory at a time.

    Args:
        judges: Three chat models with different names.
        allow_self: Whether a judge may be the agent that it judges.
        max_tokens: Limit of one answer.
        draw_tag: Gives the tag of a judgement; random unless a test needs another.

    Raises:
        InputError: They are not three, or two are one model.
    """

    def __init__(
        self,
        judges: Sequence[ChatModel],
        *,
        allow_self: bool = False,
        max_tokens: int = MOST_TOKENS,
        draw_tag: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        names = [judge.name for judge in judges]
        if len(names) != JUDGES:
            raise InputError(f"panel: needs {JUDGES} judges, has {len(names)}: {', '.join(names)}")
        if len({same_model(name) for name in names}) != JUDGES:
            raise InputError(f"panel: needs {JUDGES} different models, has {', '.join(names)}")
        self.judges = tuple(judges)
        self.name = f"panel:{','.join(names)}"
        self._allow_self = allow_self
        self._max_tokens = max_tokens
        self._draw_tag = draw_tag
        self._digest = self.config.digest

    @property
    def config(self) -> PanelConfig:
        """Everything that fixes its verdicts, for the folder in which it judges."""
        return PanelConfig(
            rideway=__version__,
            panel=self.name,
            judges=tuple(judge.settings for judge in self.judges),
            passes=PASSES,
            asked_again=ASKED_AGAIN,
            temperature=TEMPERATURE,
            max_tokens=self._max_tokens,
            prompt=load_prompt("judge").digest,
            answer_format=digest(ANSWER_FORMAT),
        )

    def refuse_self(self, model: str | None) -> None:
        """Raises InputError where a judge is the agent, unless that is allowed."""
        if model is None or self._allow_self:
            return
        for judge in self.judges:
            if same_model(judge.name) == same_model(model):
                raise InputError(
                    f"panel: judge {judge.name} is the agent itself; take another judge, "
                    "or allow it"
                )

    async def judge(self, task: Task, trajectory: Trajectory) -> Verdict:
        """The verdict on one trajectory, with all nine passes.

        Raises:
            InputError: A judge is the agent itself, or the trajectory stores no final state.
            ProviderError: Undecided because a provider failed: the verdict is owed again.
        """
        self.refuse_self(trajectory.model)
        case = Case.of(task, trajectory)
        first = case.prompt(self._draw_tag)
        readings = await asyncio.gather(
            *(
                self._pass(judge, number, case, first)
                for judge in self.judges
                for number in range(PASSES)
            )
        )
        passes = tuple(reading for reading, _ in readings)
        outcome = decide(passes)
        failures = [failure for _, failure in readings if failure]
        if outcome == "undecided" and failures:
            raise ProviderError(f"{trajectory.trajectory_id}: undecided, for {failures[0]}")
        return Verdict(
            trajectory_id=trajectory.trajectory_id,
            panel=self.name,
            outcome=outcome,
            passes=passes,
            failed_items=tuple(
                item for item in range(len(task.rubrics)) if item_met(passes, item) is False
            ),
            usage=total_usage(one.usage for one in passes if one.usage),
            config=self._digest,
        )

    async def _pass(
        self, judge: ChatModel, number: int, case: Case, prompt: str
    ) -> tuple[JudgePass, str | None]:
        """One pass, and the provider's failure that kept it from being read, if one did."""
        usages: list[Usage] = []
        unread: list[str] = []
        failure: str | None = None
        for time in range(1 + ASKED_AGAIN):
            prompt = case.prompt(self._draw_tag) if time else prompt
            try:
                answer = await judge.complete(
                    [Message(role="user", content=prompt)],
                    temperature=TEMPERATURE,
                    max_tokens=self._max_tokens,
                    response_format=ANSWER_FORMAT,
                )
                usages.append(answer.usage)
                reading = read_answer(answer.message.content or "", case.items)
            except UnreadableVerdict as fault:
                unread.append(str(fault))
            except ModelFault as fault:
                unread.append(str(fault))
                break
            except ProviderError as fault:
                failure = str(fault)
                unread.append(failure)
                break
            else:
                return (
                    JudgePass(
                        judge=judge.name,
                        number=number,
                        outcome=reading.outcome,
                        failed_items=reading.failed_items,
                        reasons=reading.reasons,
                        usage=total_usage(usages),
                    ),
                    None,
                )
        reasons = f"unread: {'; '.join(unread)}"
        usage = total_usage(usages)
        return (
            JudgePass(judge=judge.name, number=number, outcome=None, reasons=reasons, usage=usage),
            failure,
        )


def same_model(name: str) -> str:
    """What two names of one model share: no door, address, owner or letter case."""
    bare = name.removeprefix("openai:").partition("@http")[0]
    return bare.rpartition("/")[2].casefold()


# --- what a judge is shown ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """The four materials of a judgement as JSON texts, and the number of rubric items."""

    rubrics: str
    scenario: str
    state: str
    transcript: str
    items: int

    @classmethod
    def of(cls, task: Task, trajectory: Trajectory) -> Case:
        """Rubric, scenario, final state (system time and orders) and transcript of an episode."""
        state = trajectory.final_state
        if state is None:
            raise InputError(f"{trajectory.trajectory_id}: stores no final_state to judge by")
        rubrics = [{"item": n, "text": item.text} for n, item in enumerate(task.rubrics, 1)]
        return cls(
            rubrics="\n".join(map(_json, rubrics)),
            scenario=_json(task.scenario),
            state=_json({"time": state.get("time"), "orders": state.get("orders", [])}),
            transcript="\n".join(map(_json, transcript_rows(trajectory.messages))),
            items=len(rubrics),
        )

    def prompt(self, draw_tag: Callable[[], str]) -> str:
        """The whole prompt, under a tag that occurs in none of the materials."""
        materials = (self.rubrics, self.scenario, self.state, self.transcript)
        while any((tag := draw_tag()) in material for material in materials):
            continue
        example = [
            {"item": number, "reason": "……", "met": False} for number in range(1, self.items + 1)
        ]
        return load_prompt("judge").fill(
            tag=tag,
            rubrics=self.rubrics,
            scenario=self.scenario,
            state=self.state,
            transcript=self.transcript,
            count=str(self.items),
            example=_json({"items": example, "verdict": "fail"}),
        )


def transcript_rows(messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    """The conversation, one dictionary a message, numbered from 1."""
    for number, message in enumerate(messages, 1):
        row: dict[str, Any] = {
            "n": number,
            "from": "agent" if message.role == "assistant" else message.role,
            "text": message.content or "",
        }
        if message.role == "tool":
            row["answers"] = message.tool_call_id
        if message.tool_calls:
            row["calls"] = [
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in message.tool_calls
            ]
        yield row


def _json(value: Any) -> str:
    """One line of JSON; also line separators that JSON would leave as they are get escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _LINE_BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_LINE_BREAKS = re.compile("[\u0085\u2028\u2029\x7f]")


# --- what a judge answers -----------------------------------------------------------------------

ANSWER_FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "item": {"type": "integer"},
                            "reason": {"type": "string"},
                            "met": {"type": "boolean"},
                        },
                        "required": ["item", "reason", "met"],
                        "additionalProperties": False,
                    },
                },
                "verdict": {"type": "string", "enum": ["pass", "fail"]},
            },
            "required": ["items", "verdict"],
            "additionalProperties": False,
        },
    },
}


class UnreadableVerdict(ValueError):
    """An answer that is not the one JSON object asked for; the text says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one readable answer says."""

    outcome: Vote
    failed_items: tuple[int, ...]
    reasons: str


def read_answer(text: str, items: int) -> Reading:
    """The one verdict in an answer; what stands around the JSON object is ignored.

    Raises:
        UnreadableVerdict: There is no such object, or two different ones; an item is missing, given
            twice or not judged by true or false; the verdict contradicts the items.
    """
    if not text.strip():
        raise UnreadableVerdict("empty answer")
    found = [one for one in _objects(text) if "verdict" in one or "items" in one]
    if not found:
        raise UnreadableVerdict(f"no verdict in the answer: {text.strip()[:80]!r}")
    if any(one != found[0] for one in found):
        raise UnreadableVerdict("two different verdicts in one answer")
    return _reading(found[0], items)


def _objects(text: str) -> Iterable[dict[str, Any]]:
    """Top-level JSON objects in a text, in order."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)


def _reading(answer: Mapping[str, Any], items: int) -> Reading:
    verdict, rows = answer.get("verdict"), answer.get("items")
    if verdict not in ("pass", "fail") or not isinstance(verdict, str):
        raise UnreadableVerdict(f"`verdict` is {verdict!r:.40}, neither pass nor fail")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise UnreadableVerdict("`items` is no list of objects")
    numbers = [row.get("item") for row in rows]
    if numbers != list(range(1, items + 1)) or True in (isinstance(n, bool) for n in numbers):
        raise UnreadableVerdict(f"`items` judges {numbers!r:.80}, not 1 to {items}")
    met = [row.get("met") for row in rows]
    if not all(isinstance(one, bool) for one in met):
        raise UnreadableVerdict("`met` is neither true nor false")
    outcome: Vote = "pass" if all(met) else "fail"
    if outcome != verdict:
        raise UnreadableVerdict(f"`verdict` {verdict} contradicts the items")
    return Reading(
        outcome=outcome,
        failed_items=tuple(place for place, one in enumerate(met) if not one),
        reasons="\n".join(
            f"{row['item']} {'met' if row['met'] else 'unmet'}: {row.get('reason', '')}"
            for row in rows
        ),
    )


# --- what follows from the passes ---------------------------------------------------------------


def decide(passes: Iterable[JudgePass]) -> Outcome:
    """The panel's outcome: two judges that agree, each by two passes that agree."""
    verdict = _panel(passes, lambda one: one.outcome == "pass")
    return "undecided" if verdict is None else "pass" if verdict else "fail"


def item_met(passes: Iterable[JudgePass], item: int) -> bool | None:
    """What the panel found of one rubric item, by the same two majorities; None: undecided."""
    return _panel(passes, lambda one: item not in one.failed_items)


def _panel(passes: Iterable[JudgePass], says: Callable[[JudgePass], bool]) -> bool | None:
    """Both majorities over what each pass says; an unread or missing pass says nothing."""
    judges: dict[str, list[bool | None]] = {}
    for one in passes:
        judges.setdefault(one.judge, []).append(None if one.outcome is None else says(one))
    for absent in range(JUDGES - len(judges)):
        judges[f"absent {absent}"] = []
    full = {name: said + [None] * (PASSES - len(said)) for name, said in judges.items()}
    return panel_verdict(full)[0]
