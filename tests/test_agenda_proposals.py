"""What of a message the agenda user takes for its proposal, and how its yes and no fit together."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from rideway.env.agenda import AgendaUser
from rideway.env.city import City
from rideway.env.expressions import STOP
from rideway.env.phrases import CORRECTIONS, Phrase
from rideway.env.proposed import values_proposed, without_echoes, words_that_propose
from rideway.env.wording.clauses import normalise
from rideway.env.wording.place_names import PlaceNames
from rideway.env.wording.values import Later, values_in
from tests.agenda_talk import CONFIRMED_1330, PENDING_8, Talk

NOW = datetime.fromisoformat("2026-04-17T17:40:00+08:00")


def named(text: str, key: str) -> list[Any]:
    return [value.value for value in values_in(normalise(text)) if value.key == key]


def proposed(text: str, question: str, key: str) -> list[Any]:
    """The values of a kind that a message proposes, asking for leave in these words."""
    words = words_that_propose(normalise(text), [normalise(question)], NOW)
    return [value.value for value in values_proposed(words, NOW).get(key, [])]


# what is no value of the ride


@pytest.mark.parametrize(
    "text",
    [
        "座位高，能放4件行李。",
        "优享可放3件行李。",
        "快车只放得下2件行李。",
        "最多可以带三个箱子。",
        "后备箱能装下4个大箱子。",
        "行李容量4件行李箱。",
    ],
)
def test_what_a_car_holds_is_nobodys_luggage(text: str) -> None:
    assert named(text, "luggage") == []
    assert named("您带4件行李。", "luggage") == [4]


@pytest.mark.parametrize(
    "text",
    [
        "提醒已经设好：**周一早上06:30**（出发前一小时）提醒您吃药。",
        "给您设了06:30的闹钟。",
        "出发提醒设在06:30。",
        "到时候六点半喊您一声。",
        "4月18日06:30响铃。",
    ],
)
def test_a_reminder_is_no_departure(text: str) -> None:
    assert named(text, "time") == []
    assert named(text, "date") == []


def test_a_departure_beside_a_reminder_is_one() -> None:
    assert named("提醒您明早7:30出发。", "time") == [{7 * 60 + 30}]
    assert named("07:30出发，06:30提醒您。", "time") == [{7 * 60 + 30}]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("没问题的话我就马上为您叫车。", 0),
        ("我现在给您派车。", 0),
        ("附近有司机约2分钟可到。", 2),
        ("司机：吴师傅，白色卡罗拉，约3分钟到酒店。", 3),
    ],
)
def test_a_car_that_comes_at_once_is_a_time(text: str, minutes: int) -> None:
    assert named(text, "time") == [Later(minutes, implied=True)]


def test_how_long_the_ride_takes_is_no_time() -> None:
    assert named("全程约9分钟到。路上12分钟到酒店。", "time") == []


def test_a_named_time_wins_over_a_car_called_at_once() -> None:
    text = "18:10出发。没问题的话我马上为您叫车。"
    assert proposed(text, "没问题的话我马上为您叫车", "time") == [{18 * 60 + 10}]


# which of several values is proposed


@pytest.mark.parametrize(
    ("text", "question", "car"),
    [
        (
            "特惠快车40元、快车53元、专车95元。就用快车帮您预约可以吗？",
            "就用快车帮您预约可以吗?",
            "快车",
        ),
        ("您默认是快车，用专车帮您约，可以吗？", "可以吗?", "专车"),
        ("特惠快车40元，快车53元。建议用快车。可以吗？", "可以吗?", "快车"),
        ("- 快车：53元\n- 特惠快车：40元\n推荐特惠快车，行吗？", "行吗?", "特惠快车"),
        ("给您安排快车（特惠快车便宜13元），行吗？", "行吗?", "快车"),
        ("如果换专车要60元，您看快车可以吗？", "您看快车可以吗?", "快车"),
        ("推荐优享。备选：专车116元。可以吗？", "可以吗?", "优享"),
    ],
)
def test_of_a_list_only_the_choice_is_proposed(text: str, question: str, car: str) -> None:
    assert proposed(text, question, "car_type") == [car]


def test_a_condition_proposes_nothing() -> None:
    text = "快车没有座椅，需要儿童座椅的话得换专车。您看可以吗？"
    assert "专车" not in proposed(text, "您看可以吗?", "car_type")
    assert proposed("可以的话帮您约专车。", "", "car_type") == ["专车"]


@pytest.mark.parametrize(
    "text",
    [
        "3U8702延误了，现在预计20:30到天府机场T1。",
        "查到航班，20:30从深圳起飞，到天府机场T1。",
        "您的高铁，从成都东站始发。",
    ],
)
def test_a_flight_goes_where_it_goes(text: str) -> None:
    words = words_that_propose(normalise(text), [], NOW)
    assert not any(m.role for m in PlaceNames(City.load("成都"), {}).mentions(words.proposed))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("“回家”我按爸妈家订的，没错吧？", "我按爸妈家订的，没错吧？"),
        ("您说的“公司”是丽泽SOHO吗？", "您说是丽泽SOHO吗？"),
        ("备注“回家时开慢点”可以吗？", "备注“回家时开慢点”可以吗？"),
    ],
)
def test_the_users_own_words_propose_nothing(text: str, left: str) -> None:
    assert without_echoes(text) == left


# places


@pytest.mark.parametrize(
    ("city", "text", "roles"),
    [
        ("成都", "送到全季酒店（宽窄巷子店）。", ["destination"]),
        ("成都", "送到全季酒店(成都宽窄巷子店)。", ["destination"]),
        ("成都", "送到全季酒店宽窄巷子店。", ["destination"]),
        ("成都", "去小龙坎老火锅（科华店，科华北路143号）。", ["destination"]),
        (
            "北京",
            "八里庄北里 → 太阳星城（夏家园11号）→ 国家会议中心，2人",
            ["origin", "waypoint", "destination"],
        ),
        ("北京", "| 1 | 国家会议中心 → 太阳星城 | 8:00 |", ["origin", "destination"]),
        ("北京", "查到国家会议中心", [None]),
        ("北京", "去太阳星城捎上小米没问题", [None]),
        ("北京", "由太阳星城改去国家会议中心", [None, "destination"]),
        ("北京", "家（八里庄北里）→ 国家会议中心", ["origin", None, "destination"]),
        ("北京", "宽敞的那家，哪家都行，一家人", []),
    ],
)
def test_places_have_the_roles_that_their_words_give(
    city: str, text: str, roles: list[str | None]
) -> None:
    names = PlaceNames(City.load(city), {"家": "home"})
    assert [mention.role for mention in names.mentions(normalise(text))] == roles


def test_a_branch_in_brackets_is_that_branch() -> None:
    names = PlaceNames(City.load("成都"), {})
    for text in ("全季酒店（宽窄巷子店）", "全季（宽窄巷子店）", "全季酒店宽窄巷子店"):
        (mention,) = names.mentions(normalise(text))
        assert mention.ids == names.ids("全季酒店(成都宽窄巷子店)")


# yes and no


def test_a_right_proposal_gets_its_yes_beside_an_answer() -> None:
    talk = Talk("clinic")
    talk.say("几点出发？从哪里到哪里？坐什么车？")
    reply = talk.say("一共几位？就按8点、无障碍车下单，可以吗？")
    assert talk.told("people", reply)
    assert any(words in reply for words in Phrase.AND_YES.value)


def test_a_wrong_proposal_gets_no_yes_beside_an_answer() -> None:
    talk = Talk("clinic")
    reply = talk.say("一共几位？就按9点、无障碍车下单，可以吗？")
    assert talk.told("people", reply)
    assert talk.told("time", reply)
    assert not any(words in reply for words in (*Phrase.AND_YES.value, *Phrase.YES.value))


def test_what_is_so_is_denied_and_not_refused() -> None:
    for text in ("三位乘客，可以吗？", "是从妈妈家去协和医院吗？"):
        assert Talk("clinic").say(text).startswith(Phrase.NOT_SO.value)


def test_beside_a_correction_what_is_right_is_borne_out() -> None:
    talk = Talk("clinic")
    reply = talk.say("明天早上八点走，对吗？一共三位，对吗？")
    assert reply.startswith(CORRECTIONS)
    assert any(
        f"{words}{talk.task['agenda'][2]['say'][0]}" in reply for words in Phrase.RIGHT_AND.value
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("要不要设个出发前提醒？", Phrase.NO_THANK_YOU),
        ("需要给师傅留个备注吗？", Phrase.NO_THANK_YOU),
        ("有宠物吗？", Phrase.NONE),
        ("有没有小朋友一起？", Phrase.NONE),
        ("师傅抽烟您介意吗？", Phrase.NOT_MINDED),
        ("请问贵姓？", Phrase.UNKNOWN),
    ],
)
def test_an_offer_is_declined_and_only_a_fact_is_unknown(text: str, kind: Phrase) -> None:
    assert Talk("concert").say(text).startswith(kind.value)


def test_an_offer_and_a_closing_question_are_answered_whole() -> None:
    talk = Talk("clinic")
    talk.say("您好，请稍等。")
    talk.call([PENDING_8])
    talk.say("约好了，确认吗？")
    talk.call([CONFIRMED_1330])
    reply = talk.say("需要设个出发提醒吗？还有其他可以帮您的吗？")
    assert reply.startswith(Phrase.NO_THANK_YOU.value)
    assert reply.endswith(STOP)


def test_no_impatience_with_a_question_that_its_own_correction_caused() -> None:
    talk = Talk("clinic")
    for _ in range(2):
        talk.say("请问几点出发？")
    assert talk.say("早上九点出发，对吗？").startswith(CORRECTIONS)
    reply = talk.say("那请问几点出发？")
    assert not reply.startswith(Phrase.IMPATIENT.value)
    assert talk.told("time", reply)


# what need not be said, or not yet


def with_items(*rows: dict[str, Any]) -> Talk:
    """A talk whose user also holds these items."""
    talk = Talk("clinic")
    agenda = talk.task["agenda"]
    talk.task = {**talk.task, "agenda": [*agenda[:-1], *rows, agenda[-1]], "notices": []}
    talk.user = AgendaUser(talk.task, 0)
    return talk


PATIENT: dict[str, Any] = {
    "id": "patient",
    "topics": ["driver"],
    "open": True,
    "say": ["师傅要有耐心。", "找个耐心的师傅吧。"],
    "facts": {"agree": ["耐心"]},
}


def test_what_the_agent_sees_to_by_itself_need_not_be_said() -> None:
    assert with_items(PATIENT).say("请问还有什么要求吗？").find("耐心") >= 0
    talk = with_items(PATIENT)
    talk.say("已为您选好有耐心的师傅。")
    assert "耐心" not in talk.say("请问还有什么要求吗？")
    assert talk.told("patient", talk.say("对师傅有什么要求吗？"))


def test_what_replaces_an_open_item_is_said_in_its_place() -> None:
    wake: dict[str, Any] = {
        "id": "wake",
        "topics": ["reminder"],
        "open": True,
        "say": ["提前半个钟头喊我。", "半个钟头前叫我一声。"],
    }
    late = {"id": "late", "when": "length(orders) > `0`", "say": ["对咯，走之前喊我哈。"]}
    for replaces in ([], ["wake"]):
        talk = with_items(wake, {**late, "replaces": replaces})
        talk.say("您好。")
        talk.call([PENDING_8])
        talk.say("约好了。")  # another revision comes first
        reply = talk.say("还有什么要求吗？")
        assert talk.told("late", reply)
        assert talk.told("wake", reply) == (not replaces)


def test_nobody_says_nothing_else_while_something_waits() -> None:
    talk = with_items(
        {"id": "first", "topics": ["flight"], "say": ["CA1234。", "是CA1234。"]},
        {"id": "then", "open": True, "after": ["first"], "say": ["下了飞机要等行李。"]},
    )
    talk.say("请问还有什么要求吗？")
    assert talk.say("请问还有什么要求吗？") in Phrase.SO_FAR.value


def test_the_next_ride_is_what_was_not_told_yet() -> None:
    talk = Talk("concert")
    talk.say("请问几点出发？")
    told = {
        row["id"]
        for row in talk.task["agenda"]
        if talk.told(row["id"], talk.messages[-1].content or "")
    }
    reply = talk.say("第一趟好了。接下来安排第二趟，请问几点出发、去哪里？")
    assert not any(talk.told(item, reply) for item in told)
