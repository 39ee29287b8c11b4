"""The agenda user: what it answers, brings in, and makes of proposals."""

from __future__ import annotations

from typing import Any

import pytest

from rideway.env.agenda import AgendaUser
from rideway.env.expressions import STOP
from rideway.env.phrases import CORRECTIONS, Phrase
from rideway.records import Message
from tests.agenda_talk import CONFIRMED_8, PENDING_8, Talk

# answering


def test_all_that_was_asked_is_answered_in_one_message_and_nothing_else() -> None:
    talk = Talk("clinic")
    reply = talk.say("请问几点出发，从哪里到哪里，一共几位？")
    assert [item for item in ("people", "places", "time") if talk.told(item, reply)] == [
        "people",
        "places",
        "time",
    ]
    assert not talk.told("wheelchair", reply)
    assert not talk.told("nervous", reply)


@pytest.mark.parametrize("order", [("几位？", "几点走？"), ("几点走？", "几位？")])
def test_questions_may_come_in_any_order(order: tuple[str, str]) -> None:
    talk = Talk("clinic")
    replies = " ".join(talk.say(text) for text in order)
    assert talk.told("people", replies)
    assert talk.told("time", replies)


def test_repeats_are_told_again_in_other_words_then_with_impatience() -> None:
    talk = Talk("clinic")
    replies = [talk.say("请问几点出发？") for _ in range(4)]
    first, second = talk.task["agenda"][2]["say"]
    assert first in replies[0]
    assert second in replies[1]
    assert first in replies[2]
    assert replies[0] == first
    assert any(replies[2].startswith(words) for words in Phrase.IMPATIENT.value)
    assert any(replies[3].startswith(words) for words in Phrase.IMPATIENT.value)


def test_what_is_held_back_is_told_when_asked_about_and_not_in_general() -> None:
    talk = Talk("clinic")
    assert not talk.told("wheelchair", talk.say("请问还有什么要求吗？"))
    assert talk.told("wheelchair", talk.say("对车辆有什么要求吗？"))


def test_an_open_item_answers_a_general_question() -> None:
    talk = Talk("concert")
    assert not talk.told("money", talk.say("好的，马上为您查询。"))
    assert talk.told("money", talk.say("请问还有什么要求吗？"))


def test_cues_tell_two_rides_apart() -> None:
    talk = Talk("concert")
    assert talk.told("there_time", talk.say("去程几点出发？"))
    assert talk.told("back_time", talk.say("那回程几点呢？"))
    assert talk.told("there_time", talk.say("去的时候是几点来着？"))


def test_what_it_has_no_fact_for_it_leaves_to_the_agent() -> None:
    talk = Talk("clinic")
    reply = talk.say("您想走哪条路线？")
    assert reply.startswith(Phrase.NO_NEED.value)
    assert Talk("clinic").say("请问贵姓？").startswith(Phrase.UNKNOWN.value)


def test_the_rest_is_admitted_beside_what_is_known() -> None:
    talk = Talk("clinic")
    reply = talk.say("请问几位？走哪条路线？")
    assert talk.told("people", reply)
    assert any(words in reply for words in Phrase.REST_FREE.value)


def test_english_is_answered_where_it_is_a_common_question() -> None:
    talk = Talk("clinic")
    assert talk.told("people", talk.say("How many passengers?"))
    assert talk.say("Your fare is being calculated.") in Phrase.SPEAK_CHINESE.value


# volunteering and revisions


def test_volunteered_items_come_once_and_one_at_a_time() -> None:
    talk = Talk("compare")
    replies = [talk.say("快车大约28元。"), talk.say("专车大约56元。"), talk.say("出租车大约35元。")]
    assert [talk.told("tonight", reply) for reply in replies] == [True, False, False]


def test_a_volunteered_item_waits_for_its_turn_while_questions_are_answered() -> None:
    talk = Talk("clinic")
    assert not talk.told("nervous", talk.say("请问几位？"))
    assert not talk.told("nervous", talk.say("从哪里到哪里？"))
    assert not talk.told("nervous", talk.say("几点出发？"))
    assert not talk.told("nervous", talk.say("对车辆有什么要求吗？"))
    # everything before it has been said: it comes with the next message
    assert talk.told("nervous", talk.say("您想坐什么车型？"))


@pytest.mark.parametrize("orders", [[PENDING_8], [CONFIRMED_8]])
@pytest.mark.parametrize(
    "text",
    ["明早8:00的车约好了，确认吗？", "请问几位？", "好的。", "还有什么可以帮您？", "", "Done."],
)
def test_a_revision_comes_with_the_next_message_whatever_led_to_its_state(
    orders: list[dict[str, str]], text: str
) -> None:
    talk = Talk("clinic")
    talk.say("几点出发？")
    talk.call(orders)
    reply = talk.say(text)
    assert talk.told("moved", reply)
    assert STOP not in reply
    assert not talk.told("moved", talk.say("好的，我记下了。"))


def test_a_revision_replaces_what_it_is_about() -> None:
    talk = Talk("clinic")
    assert talk.told("time", talk.say("几点出发？"))
    talk.call([PENDING_8])
    talk.say("约好了，确认吗？")
    talk.call()
    reply = talk.say("再确认一下，几点出发？")
    assert talk.told("moved", reply)
    assert not talk.told("time", reply)
    assert talk.say("下午一点半，对吗？").startswith(Phrase.RIGHT.value)
    assert talk.told("moved", talk.say("早上八点出发，对吗？"))


def late_talk(**extra: Any) -> Talk:
    """A talk whose user thinks of a stop as soon as an order exists."""
    talk = Talk("clinic")
    stop = {
        "id": "stop",
        "topics": ["waypoint"],
        "when": "length(orders) > `0`",
        "say": ["哎对了，路上去药房停一下。", "药房停一下，五分钟。"],
        **extra,
    }
    rows = [row for row in talk.task["agenda"] if row["id"] != "moved"]
    talk.task = {**talk.task, "agenda": [*rows[:-1], stop, rows[-1]], "notices": []}
    talk.user = AgendaUser(talk.task, 0)
    return talk


def test_a_revision_that_changes_nothing_proposed_comes_beside_the_yes() -> None:
    talk = late_talk()
    talk.say("几位？从哪里到哪里？几点走？")
    talk.call([PENDING_8])
    reply = talk.say("派车，好吗？")
    assert reply.startswith(Phrase.YES.value)
    assert talk.told("stop", reply)


def test_a_wrong_proposal_is_corrected_beside_a_revision() -> None:
    talk = late_talk()
    talk.call([PENDING_8])
    reply = talk.say("三位乘客，可以吗？")
    assert reply.startswith(CORRECTIONS)
    assert talk.told("people", reply)
    assert talk.told("stop", reply)


def test_what_is_due_is_the_answer_to_a_question_about_it() -> None:
    talk = late_talk()
    talk.call([PENDING_8])
    assert talk.say("路上要停一下吗？") == "哎对了，路上去药房停一下。"


def test_what_is_still_to_come_is_not_denied() -> None:
    talk = late_talk()
    reply = talk.say("路上要停一下吗？")
    assert any(words in reply for words in Phrase.LATER.value)
    assert not talk.told("stop", reply)


def test_a_revision_answers_for_what_it_replaces() -> None:
    talk = late_talk(topics=[], replaces=["people"])
    talk.call([PENDING_8])
    talk.say("约好了。")
    assert talk.told("stop", talk.say("再确认一下，几位乘车？"))


def test_an_item_may_come_without_words_in_front() -> None:
    replies = {True: "", False: ""}
    for plain in replies:
        talk = Talk("compare")
        rows = [{**row, "plain": plain} for row in talk.task["agenda"][:-1]]
        talk.user = AgendaUser({**talk.task, "agenda": [*rows, talk.task["agenda"][-1]]}, 0)
        talk.messages += [Message(role="user", content="嗯。")] * 2
        for text in ("快车大约28元。", "专车大约56元。", "出租车大约35元。", "好的。"):
            replies[plain] += talk.say(text)
    assert not any(words in replies[True] for words in Phrase.BESIDES.value)
    assert replies[False]


# proposals


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("明天早上九点出发，对吗？", "time"),
        ("一位乘客，可以吗？", "people"),
        ("从家到北医三院，没错吧？", "places"),
        ("从妈妈家到协和医院，没错吧？", "places"),
        ("给您安排快车，行吗？", "wheelchair"),
        ("后天早上8点的车，可以吗？", "time"),
        ("已为您预约明早9:00的车。", "time"),
    ],
)
def test_a_wrong_proposal_is_corrected_politely_and_then_firmly(text: str, item: str) -> None:
    talk = Talk("clinic")
    first, second = talk.say(text), talk.say(text)
    assert talk.told(item, first)
    assert first.startswith(CORRECTIONS)
    assert not first.startswith(Phrase.NOT_SO_FIRM.value)
    assert talk.told(item, second)
    assert second.startswith(Phrase.NOT_SO_FIRM.value)


@pytest.mark.parametrize(
    "text",
    [
        "明早8点，从妈妈家到北医三院，两位，对吗？",
        "从南湖东园到北京大学第三医院，可以吗？",
        "无障碍车，八点到，可以吗？",
        "明早8:00出发，预计8:50到达，可以吗？",
        "取消刚才那单，改成早上8点，可以吗？",
        "以上信息确认无误吗？",
        "需要我现在下单吗？",
    ],
)
def test_a_proposal_that_agrees_gets_a_yes(text: str) -> None:
    reply = Talk("clinic").say(text)
    yes = (*Phrase.YES.value, *Phrase.RIGHT.value, *Phrase.RIGHT_AND.value)
    assert reply.startswith(yes)
    assert not reply.startswith(CORRECTIONS)


def test_a_price_above_the_limit_is_refused_and_one_below_accepted() -> None:
    assert Talk("concert").say("两趟共126元，可以吗？").startswith(CORRECTIONS)
    assert not Talk("concert").say("两趟共86元，可以吗？").startswith(CORRECTIONS)


def test_an_unwanted_offer_is_declined_with_the_reason() -> None:
    reply = Talk("compare").say("需要我现在帮您下单吗？")
    assert reply.startswith(Phrase.NO_THANKS.value)
    assert "别给我下单" in reply


def test_a_single_fact_that_was_never_told_is_told_with_the_yes() -> None:
    talk = Talk("clinic")
    assert talk.told("time", talk.say("是明天早上八点出发吧？"))


def test_a_choice_is_made_by_the_facts_or_left_to_the_agent() -> None:
    talk = Talk("compare")
    talk.say("您坐什么车型？")
    assert "快车" in talk.say("快车还是专车？")
    assert "专车" not in talk.say("要专车还是快车呢？")
    assert Talk("clinic").say("要A方案还是B方案？").startswith(Phrase.ANY.value)
