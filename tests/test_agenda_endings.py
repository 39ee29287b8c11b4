"""The end of a conversation with the agenda user, and what holds against any agent."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rideway.env.agenda import MOST_MESSAGES, AgendaUser
from rideway.env.agenda_memory import PATIENCE_FLAT, PATIENCE_SILENT, PATIENCE_STALE
from rideway.env.expressions import STOP
from rideway.env.phrases import CORRECTIONS, Phrase
from rideway.env.understanding import QUESTIONS, Act, topics_asked, understand
from rideway.records import Message, ToolCall
from tests.agenda_talk import CONFIRMED_8, CONFIRMED_1330, PENDING_8, TASKS, TEXTS, Talk

# the end


def reached() -> Talk:
    """A talk in which all was said and the outcome is there."""
    talk = Talk("clinic")
    talk.say("您好，请稍等。")
    talk.call([PENDING_8])
    talk.say("约好了，确认吗？")
    talk.call([CONFIRMED_1330])
    return talk


@pytest.mark.parametrize(
    "text",
    [
        "改好了，明天13:30出发。",
        "请问还有什么可以帮您？",
        "都办好了，祝您一路平安！",
        "好的。",
        "",
        "还有其他要求吗？",
    ],
)
def test_it_closes_once_the_outcome_is_there(text: str) -> None:
    reply = reached().say(text)
    if text:
        assert reply.endswith(f"谢谢。{STOP}")
    assert (STOP in reply) == bool(text) or reply.endswith(STOP)


def test_a_closing_question_gets_no_thanks_and_the_stop_in_one_message() -> None:
    reply = reached().say("请问还有什么可以帮您？")
    assert reply.startswith(Phrase.NO_MORE.value)
    assert "谢" in reply
    assert reply.endswith(STOP)


@pytest.mark.parametrize(
    "text", [t for t in TEXTS if {"ask", "offer"} & {a.value for a in understand(t).acts}]
)
def test_no_stop_while_a_question_is_open(text: str) -> None:
    """An offer that is declined in the same message is open no more."""
    reply = reached().say(text)
    assert STOP not in reply or (
        reply.startswith(Phrase.NO_THANK_YOU.value) and Act.ANYTHING_ELSE in understand(text).acts
    )


def test_no_stop_while_a_call_is_pending() -> None:
    talk = reached()
    talk.messages.append(
        Message(role="assistant", content="稍等", tool_calls=(ToolCall(name="x", id="9"),))
    )
    assert STOP not in talk.user.reply(talk.messages, talk.document)


def test_an_agent_that_ends_early_hears_once_what_is_missing() -> None:
    talk = Talk("clinic")
    talk.say("还有什么要求吗？")
    talk.call([CONFIRMED_8])
    assert talk.told("moved", talk.say("订好了，祝您出行愉快！"))
    missing = talk.say("全部办好了，祝您出行愉快！")
    assert missing == talk.task["notices"][0]["say"][0]
    last = talk.say("全部办好了，祝您出行愉快！")
    assert last.removesuffix(STOP) in Phrase.ACCEPT.value
    assert last.endswith(STOP)


def test_without_a_notice_it_doubts_once_and_accepts() -> None:
    talk = Talk("concert")
    talk.say("请问还有什么要求吗？")
    assert talk.say("都办好了，再见！") in Phrase.DOUBT.value
    assert talk.say("都办好了，再见！").endswith(STOP)


def test_a_nod_is_asked_for_twice_at_most_when_all_is_done() -> None:
    talk = reached()
    assert STOP not in talk.say("13:30的车已经改好，您看可以吗？")
    assert talk.say("13:30的车已经改好，您看可以吗？").endswith(STOP)


# against any agent


def play(talk: Talk, texts: Iterable[str]) -> list[str]:
    """The replies until the user ends; fails where it does not."""
    replies = []
    for text in texts:
        replies.append(talk.say(text))
        if STOP in replies[-1]:
            return replies
    raise AssertionError("the user never ended")


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("", PATIENCE_SILENT),
        ("…", PATIENCE_SILENT),
        ("We are processing your request.", PATIENCE_SILENT),
        ("您好！", PATIENCE_SILENT + 1),
        ("好的，请稍等。", PATIENCE_SILENT + 1),
        ("快车很不错。", PATIENCE_FLAT + 1),
        ("请问几点出发？", PATIENCE_STALE + 2),
        ("How many passengers?", PATIENCE_STALE + 2),
        ("您看可以吗？", PATIENCE_STALE + 2),
        ("早上九点出发，对吗？", PATIENCE_STALE + 2),
        ("请问贵姓？", PATIENCE_STALE + 2),
        ("还有什么要求吗？", 6),
        ("再见！", 5),
        ("您坐什么车、几位、几点走、去哪里、从哪里走、带什么行李？", PATIENCE_STALE + 3),
    ],
)
@pytest.mark.parametrize("name", ["clinic", "concert"])
def test_monotonous_agents_are_left_in_time(name: str, text: str, most: int) -> None:
    replies = play(Talk(name), [text] * MOST_MESSAGES)
    assert len(replies) <= most


def test_the_bound_holds_even_against_progress_without_end() -> None:
    talk = Talk("clinic")
    for _ in range(MOST_MESSAGES - 2):
        talk.call()
        assert STOP not in talk.say("请问几点出发？")
    talk.call()
    assert talk.say("请问几点出发？").endswith(STOP)
    assert talk.own == MOST_MESSAGES


def test_the_bound_wins_over_a_pending_call() -> None:
    talk = Talk("clinic")
    talk.messages += [Message(role="user", content="嗯。")] * (MOST_MESSAGES - 2)
    talk.messages.append(Message(role="assistant", tool_calls=(ToolCall(name="x", id="9"),)))
    assert talk.user.reply(talk.messages, talk.document).endswith(STOP)


MOVES = st.lists(
    st.one_of(
        st.sampled_from(TEXTS),
        st.sampled_from(["", "…", "好的。", "Hello", "I see.", "请稍等。", "再见！"]),
        st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)).map("\n".join),
        st.text(max_size=30),
        st.lists(st.sampled_from([PENDING_8, CONFIRMED_8, CONFIRMED_1330]), max_size=2),
    ),
    min_size=1,
    max_size=25,
)


ANSWERED = (
    "ANY",
    "RIGHT",
    "ALL_SAID",
    *(p.name for p in Phrase if "NO" in p.name or "REST" in p.name),
)
ANSWERS = ["那就", *(words for name in ANSWERED for words in Phrase[name].value)]


def corrected(talk: Talk, reply: str) -> set[str]:
    """The items that a reply says to correct the agent, or in agreement with what it named."""
    heads = (*CORRECTIONS, *Phrase.RIGHT_AND.value)
    return {
        row["id"]
        for row in talk.task["agenda"]
        for text in row["say"]
        if any(head + text.rstrip("。") in reply for head in heads)
    }


@settings(deadline=None, max_examples=120)
@given(st.sampled_from(sorted(TASKS)), MOVES, st.integers(0, 3))
def test_against_any_agent(name: str, moves: list[str | list[dict[str, str]]], seed: int) -> None:
    talk = Talk(name, seed)
    texts = {row["id"]: row["say"] for row in talk.task["agenda"]}
    volunteers = [r["id"] for r in talk.task["agenda"] if r.get("volunteer")]
    for move in [*moves, *moves, *moves]:
        if isinstance(move, list):
            talk.call(move)
            continue
        before = list(talk.messages)
        reply = talk.say(move)
        # the same conversation gives the same reply, from the start or on the way
        again = AgendaUser(talk.task, seed)
        assert again.reply([*before, talk.messages[-2]], talk.document) == reply
        assert reply.strip()
        heard = understand(move)
        asked = set(heard.topics)
        # a general question may draw out several, else one comes by itself
        if QUESTIONS.isdisjoint(heard.acts):
            assert sum(talk.told(item, reply) for item in volunteers) <= 1
        for row in talk.task["agenda"]:
            if row.get("hold_back") and talk.told(row["id"], reply):
                assert asked & set(row["topics"]) or row["id"] in corrected(talk, reply)
        if STOP in reply and talk.own < MOST_MESSAGES:
            if {"ASK", "OFFER"} & {act.name for act in heard.acts}:
                # only lost patience ends in spite of a question, and not without its answer
                if reply.startswith(Phrase.NO_THANK_YOU.value):
                    break
                given_up = max(reply.find(words) for words in Phrase.GIVE_UP.value)
                facts = [text.rstrip("。") for say in texts.values() for text in say]
                assert given_up > 0
                assert any(words in reply[:given_up] for words in (*facts, *ANSWERS))
            break
        if talk.own >= MOST_MESSAGES:
            break
    assert talk.own <= MOST_MESSAGES


HARMLESS = [
    text
    for text in TEXTS
    if not set(topics_asked(text)) & {"car_needs", "luggage", "car_type", "other"}
    and not {"confirm"} & {act.value for act in understand(text).acts}
    and "车" not in text
]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(HARMLESS), min_size=5, max_size=40))
def test_what_is_held_back_never_comes_unasked(texts: list[str]) -> None:
    talk = Talk("clinic")
    for text in texts:
        reply = talk.say(text)
        assert "轮椅" not in reply
        if STOP in reply:
            break


def test_built_in_texts_are_varied() -> None:
    talk = Talk("concert")
    talk.say("请问还有什么要求吗？")
    replies = []
    for number in range(6):
        talk.call()
        replies.append(talk.say(f"第{number}条信息已经看到了。"))
    assert len(set(replies)) >= 3
    assert set(replies) <= set(Phrase.ACKNOWLEDGE.value)


def test_the_seed_varies_the_manner_and_never_the_matter() -> None:
    replies = {Talk("clinic", seed).say("几点出发？") for seed in range(8)}
    assert len(replies) == 1
    manners = {Talk("clinic", seed).say("请问贵姓？") for seed in range(8)}
    assert len(manners) > 1
