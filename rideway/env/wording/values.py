"""The values that an agent's message names: times, dates, numbers of people, cars, drivers, prices.

A value is what could be compared with what the user holds true. Times on a twelve-hour clock stay
ambiguous unless a word before them says the half of the day; what departs is told from what arrives
or closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from rideway.env.spoken import value_of
from rideway.env.wording.topics import CAR_TYPES

Key = Literal[
    "time", "date", "passengers", "luggage", "car_type", "driver_gender", "smoke_free", "price_max"
]
DAY = 24 * 60


class Value(NamedTuple):
    """One value of a message and where it stands.

    `value`: for `time` a frozenset of minutes of the day, or `Later`; for `date` a `Day`; else the
    number, text or truth value.
    """

    key: Key
    value: Any
    start: int


class Later(NamedTuple):
    """A time told from now on; `implied`: no time was named, a car is called or comes at once."""

    minutes: float
    implied: bool = False


class Day(NamedTuple):
    """A date as spoken: days from today, a weekday (0 Monday) of a week from now, or a date."""

    ahead: int | None = None
    weekday: int | None = None
    week: int | None = None
    month: int | None = None
    day: int | None = None

    def dates(self, today: date) -> tuple[date, ...]:
        """The dates that this may mean; none for a date that does not exist."""
        if self.ahead is not None:
            return (today + timedelta(days=self.ahead),)
        if self.weekday is not None:
            monday = today - timedelta(days=today.weekday())
            if self.week is not None:
                return (monday + timedelta(days=self.weekday + 7 * self.week),)
            return (today + timedelta(days=(self.weekday - today.weekday()) % 7),)
        year, month = today.year, self.month or today.month
        if self.day is None:
            return ()
        if self.month and month < today.month - 6:
            year += 1
        try:
            return (date(year, month, self.day),)
        except ValueError:
            return ()


_N = r"(?:\d+|[零〇一二两三四五六七八九十]+)"
_HALF = (
    "(?P<half>凌晨|清晨|早上|早晨|上午|中午|正午|下午|傍晚|晚上|晚间|夜里|半夜|午夜|今早|明早|一早|大早"
    "|今晚|明晚|当晚|后天晚|午后|早|晚)?"
)
_TIME = re.compile(
    rf"""
    {_HALF}的?(?:大概|大约|约|是)?(?:
        (?P<h>\d{{1,2}}):(?P<m>\d\d)(?!\d)
        |(?P<hour>
            \d{{1,2}}|[零〇一二两三四五六七八九十]{{1,3}}
        )(?:点|时(?!候|间|段|长))(?:钟|整)?
        (?:
            (?P<special>半|一刻|三刻)
            |零?(?P<minute>\d{{1,2}}|[零〇一二两三四五六七八九十]{{1,3}})分?(?!钟|个|位|点)
        )?
    )
    """,
    re.VERBOSE,
)
_LATER = re.compile(
    rf"""
    (?P<n>{_N}|半|{_N}个半)个?(?P<half>半)?(?P<unit>
        小时|钟头|分钟|刻钟
    )(?P<more>半)?(?:之|以)?后
    """,
    re.VERBOSE,
)
_ONE_O_CLOCK = re.compile("(?!一点(?!钟|整|半|[一三]刻|零|过|出发|走|来|到|的[车时航]|左右))")
"""一点 is mostly "a little"; it is a time after a half of the day or in front of such words."""
_COMPARED = re.compile("[适敞宽大小好静宜快慢高贵净软稳服近远新多少惠便]$")
"""Before 一点 that is "a little": "舒适一点的车"."""
_NOW = re.compile("现在|马上|立[即刻]|这就|即时|实时")
_AT_ONCE = re.compile(
    "(?:就|给|为|帮|替|您|你)*(?:走|出发|用车|上车|动身|(?P<implied>叫车|派车|叫一?辆|发车))"
)
_COMES = re.compile(
    r"""
    (?<!全程)(?<!行程)(?<!车程)(?<!路上)(?<!行车)(?:大?约|预计|大概|只要)?\s*
    (?<!\d)(?P<n>1[0-5]|\d)\s*分钟(?:左右|之?内|以内)?\s*(?:就|即|可以?|能|会)*
    (?:[到赶](?!.{0,10}(?:机场|[车高]站|航站楼))|抵达上车|接您)
    """,
    re.VERBOSE,
)
_APPROACHES = re.compile("师傅|司机|离您|离上车|附近|接驾|车(?:辆|子)?(?:马上|已经?|正在)")
_NO_DEPARTURE = re.compile(
    r"""
    ^(?:\s*(?:左右|前后|之?前|准时|就|能|可以?|会|才|的时候|整|分|过一?点儿?|出头|多|不到|来钟))*(?:
        到达|抵达|到(?!.{0,5}(?:接|楼下|上车|您家|等))|送达|落地|降落|起飞|登机
        |开[始门场馆演会船]|关|闭|结束|截止|打烊
        |的(?:航班|飞机|火车|高铁|动车|船|车票|电影|演出|会|位子|位置|座|号|课|场|票|饭|局|预约|戏)
    )
    |^\s*(?:-|~|至|到)\s*\d
    """,
    re.VERBOSE,
)
_BEFORE_ARRIVAL = re.compile(
    r"""
    (?:
        到达|抵达|落地|起飞|降落|营业|开放|截止|关门|开门|闭馆|航班|送达|[开营忙排等持续]到|营业至|开放至
        |赶(?:得上|不上|上|到|在)?|约的是?|订的是?|挂的是?
        |通关|运营|营运|服务|办公|(?<![改前后迟调换挪移延动定整早晚订约了])到
    )(?:时间)?(?:预计|是|为|在|大概|约|:|于)*\s*$
    |[-~至]\s*$
    """,
    re.VERBOSE,
)
_REMINDS = re.compile("提醒|闹钟|响铃|铃|叫醒|[叫喊][您你我](?!们?[的车])(?:一声|起)?|打铃")
_DEPARTS = re.compile(
    r"^(?:整|准时|左右|钟|就|再|才|我们|您|从[^,。;]{1,12})*(?:出发|走|上车|用车|发车|动身|的车|的单)(?!前)"
)
"""Behind a clock: it is a departure even in a clause that speaks of a reminder."""
_RIDES = re.compile("(?:出发|走|上车|用车|发车|动身|的车)(?!前)")
_END_OF_CLAUSE = re.compile(r"[,。;!?\n]")
_DAY = re.compile(
    r"""
    (?P<word>大后天|后天|明[天日早晚]|今[天日早晚儿]|当天|今儿|明儿)
    |(?P<week>下下|下|本|这)?个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])
    |(?:\d{4}[-年/])?(?P<month>
        \d{1,2}|[一二三四五六七八九十]{1,3}
    )
    (?:月|/|(?<=\d{4}-\d\d)-)(?P<day>
        \d{1,2}|[一二三四五六七八九十]{1,3}
    )[日号]?(?!\d|小时|分)
    |(?<![路街道巷弄段里村\d])(?P<only>\d{1,2}|[一二三四五六七八九十]{1,3})号(?!
        楼|线|门|航|口|院|馆|车|停|台|店|路|登|候|厅|桌|包|柜|座|仓|出|公馆
    )
    """,
    re.VERBOSE,
)
_AHEAD = {"今": 0, "当": 0, "明": 1, "后": 2, "大": 3}
_PASSENGERS = re.compile(
    rf"""
    (?P<n>{_N})\s*(?:
        位|个(?=人|大人|小孩|孩子|儿童|成人|老人|乘客)|名
        |(?=大人?[{"一二两三四五六七八九"}\d])|(?=人(?!座))
    )
    (?:的)?(?!
        司机|师傅|驾驶员|女司|男司|女师|男师|于|置|[^,。;]{{0,10}}(?:司机|师傅)
        |老?同[学事]|老人家|朋友|老师|叔叔|阿姨|长辈|亲戚|老?战友|专家|贵宾|医生|护士|老板
    )(?P<who>大人|成人|小孩|孩子|儿童|老人|乘客|人)?
    """,
    re.VERBOSE,
)
_FAMILY = re.compile(r"(?P<a>[一二两三四五六\d])大(?P<b>[一二两三四五六\d])小")
_ALONE = re.compile(
    "(?:您|你)(?:自己)?一个人?(?![位个])|(?:就|只有|只)(?:您|你)(?:自己|本人)"
    "|(?:您|你)(?:自己|本人)(?=坐|乘|去|走|出行|出发|上车|一)|独自|单独"
)
_CAPACITY = re.compile(
    "(?:可|能|最多|限|核|满|够)(?:以)?(?:乘?坐|载|容纳)?(?:得?下|满)?$|[坐载]得?下$|可乘坐?$"
)
_HOLDS = re.compile(
    r"""
    (?:可以?|能|最多|限|够|最大|容量|[空车]间|行李[厢箱舱]|后备箱)(?:再|同时|可以?|能|只|够)*
        (?:放|装|带|容纳|搁|塞|载|携带)?(?:得?下|得了|了|约|是|为|:)*$
    |[放装塞容][得不]?[下了](?:约|:)*$
    """,
    re.VERBOSE,
)
"""Before a number of pieces: so many the car holds, whoever brings how many."""
_NOBODY_NEW = re.compile("[第前后上每这那同另哪任半]$")
"""Before a number: it counts no passengers ("不是同一位")."""
_FOUND = re.compile("(?:有|找到|匹配到|查到|筛出|师傅|司机)[^,。;]{0,3}$")
_A_DRIVER = re.compile("师傅|司机")
_LUGGAGE = re.compile(
    rf"""
    (?P<n>{_N})\s*(?:个|件|只)?\s*(?:大|小)?(?:行李箱|行李|箱子|箱|大件)
    |(?:行李箱?|箱子)(?:一?共|总共|是|有|:|数量?)*(?P<m>{_N})\s*(?:件|个|只|箱)
    """,
    re.VERBOSE,
)
_CAR = re.compile("|".join(CAR_TYPES))
_GENDER = re.compile(
    r"""
    (?P<g>[男女])(?:性)?(?:的)?(?:司机|师傅|驾驶员)
    |(?:
        司机|师傅|驾驶员
    )(?:性别|师傅)?[^,。;男女]{0,8}?(?:是|为|:|\(|,|、)?\s*(?P<h>[男女])(?![孩士朋友女男]|的?还是|是女|是男|或)
    """,
    re.VERBOSE,
)
_SMOKE = re.compile(
    r"""
    (?P<free>无烟|不[抽吸]烟|没有?烟味|没有?[抽吸]烟|禁烟|没有?异味|不带烟味)
    |(?P<not>非无烟|有(?:点|一点|些)?烟味|[抽吸]烟)
    """,
    re.VERBOSE,
)
_PRICE = re.compile(
    r"""
    (?P<what>[^,。;、\d零一二两三四五六七八九十百千]{0,6})(?:
        [¥￥]\s*(?P<a>\d+(?:\.\d+)?)
        |(?P<b>\d+(?:\.\d+)?|[零一二两三四五六七八九十百千]+)\s*(?:元|块)(?!路)
    )
    """,
    re.VERBOSE,
)
_OTHER_MONEY = re.compile("过路|高速|通行|路桥|取消|优惠|券|减|立减|起步|节省|便宜|省|贵|多|差")


@lru_cache(maxsize=4096)
def values_in(text: str) -> tuple[Value, ...]:
    """The values that a normalised text names, in no particular order."""
    return tuple(_values(text))


def _values(text: str) -> Iterator[Value]:
    yield from _times(text)
    yield from _days(text)
    yield from _people(text)
    for found in _LUGGAGE.finditer(text):
        if _HOLDS.search(text[max(0, found.start() - 8) : found.start()]):
            continue
        yield Value("luggage", int(value_of(found["n"] or found["m"])), found.start())
    for found in _CAR.finditer(text):
        yield Value("car_type", found[0], found.start())
    for found in _GENDER.finditer(text):
        gender = "male" if (found["g"] or found["h"]) == "男" else "female"
        yield Value("driver_gender", gender, found.start())
    for found in _SMOKE.finditer(text):
        yield Value("smoke_free", found["free"] is not None, found.start())
    for found in _PRICE.finditer(text):
        if not _OTHER_MONEY.search(found["what"]):
            yield Value("price_max", value_of(found["a"] or found["b"]), found.start())


def _times(text: str) -> Iterator[Value]:
    for found in _TIME.finditer(text):
        after, before = text[found.end() : found.end() + 12], text[: found.start()]
        if _NO_DEPARTURE.match(after) or _BEFORE_ARRIVAL.search(before[-8:]):
            continue
        if _REMINDS.search(_clause_at(text, found)) and not _DEPARTS.match(after):
            continue
        if found["hour"] == "一" and (
            found["half"] in ("早", "晚")
            or _COMPARED.search(before[-1:])
            or not _ONE_O_CLOCK.match(found[0] + after)
        ):
            continue
        minutes = _minutes(found)
        if minutes:
            yield Value("time", minutes, found.start())
    for found in _LATER.finditer(text):
        if not re.match(r"(?:就|会|可以|能|即可)*(?:到|抵|送|接单)", text[found.end() :]):
            yield Value("time", Later(_span(found)), found.start())
    for found in _NOW.finditer(text):
        if order := _AT_ONCE.match(text, found.end()):
            yield Value("time", Later(0, order["implied"] is not None), found.start())
    for found in _COMES.finditer(text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _APPROACHES.search(line):
            yield Value("time", Later(float(found["n"]), implied=True), found.start())


def _clause_at(text: str, found: re.Match[str]) -> str:
    """The clause around a match; brackets and colons divide nothing."""
    start = max((text.rfind(mark, 0, found.start()) for mark in ",。;!?\n"), default=-1) + 1
    end = _END_OF_CLAUSE.search(text, found.end())
    return text[start : end.start() if end else len(text)]


def _minutes(found: re.Match[str]) -> frozenset[int]:
    """The minutes of the day that a clock time may mean; empty where it is no time."""
    if found["h"]:
        hour, minute = int(found["h"]), int(found["m"])
        exact = len(found["h"]) == 2
    else:
        hour = int(value_of(found["hour"]))
        special = {"半": 30, "一刻": 15, "三刻": 45}.get(found["special"] or "")
        minute = special if special is not None else int(value_of(found["minute"] or "0"))
        exact = False
    if hour > 24 or minute > 59:
        return frozenset()
    half = found["half"] or ""
    hours = {hour % 24}
    if hour <= 12 and half:
        if any(word in half for word in ("下午", "傍晚", "晚", "夜", "午后")):
            # 凌晨 hours are called 夜里 too; 晚上十二点 is midnight
            hours = {0} if hour == 12 else {hour + 12} if hour >= 5 or "夜" not in half else {hour}
        elif "中午" in half or "正午" in half:
            hours = {hour if hour >= 10 else hour + 12}
        elif hour == 12 and ("凌晨" in half or "午夜" in half or "半夜" in half):
            hours = {0}
    elif hour <= 12 and not exact:
        hours = {hour % 24, (hour + 12) % 24}
    return frozenset(hour * 60 + minute for hour in hours)


def _span(found: re.Match[str]) -> float:
    text = found["n"].rstrip("半").rstrip("个")
    number = value_of(text) if text else 0.0
    if "半" in (found["n"] + (found["half"] or "") + (found["more"] or "")):
        number += 0.5
    return number * {"小时": 60, "钟头": 60, "分钟": 1, "刻钟": 15}[found["unit"]]


def _days(text: str) -> Iterator[Value]:
    for found in _DAY.finditer(text):
        clause = _clause_at(text, found)
        if _REMINDS.search(clause) and not _RIDES.search(clause, clause.find(found[0])):
            continue
        if found["word"]:
            day = Day(ahead=_AHEAD[found["word"][0]])
        elif found["weekday"]:
            number = "一二三四五六日".find(found["weekday"].replace("天", "日").replace("末", "六"))
            week = {"下下": 2, "下": 1, "本": 0, "这": 0}.get(found["week"] or "")
            day = Day(weekday=number, week=week)
        elif found["only"]:
            day = Day(day=int(value_of(found["only"])))
            if not 0 < (day.day or 0) < 32:
                continue
        else:
            day = Day(month=int(value_of(found["month"])), day=int(value_of(found["day"])))
        yield Value("date", day, found.start())


def _people(text: str) -> Iterator[Value]:
    parts = []
    for found in _PASSENGERS.finditer(text):
        before = text[: found.start()]
        if _NOBODY_NEW.search(before[-1:]) or _CAPACITY.search(before[-6:]):
            continue
        if not found["who"] and _FOUND.search(before[-6:]) and _near_a_driver(text, found):
            continue  # "有两位，谈师傅和邵师傅"
        number = int(value_of(found["n"]))
        parts.append(number)
        yield Value("passengers", number, found.start())
    if len(parts) == 2:
        yield Value("passengers", sum(parts), len(text))
    for found in _FAMILY.finditer(text):
        total = int(value_of(found["a"])) + int(value_of(found["b"]))
        yield Value("passengers", total, found.start())
    if found_alone := _ALONE.search(text):
        yield Value("passengers", 1, found_alone.start())


def _near_a_driver(text: str, found: re.Match[str]) -> bool:
    return _A_DRIVER.search(text[max(0, found.start() - 6) : found.end() + 24]) is not None


def means_time(value: frozenset[int] | Later, accepted: tuple[int, ...], now: datetime) -> bool:
    """Whether a spoken time may be one of the accepted minutes of the day.

    A time told from now on is taken with ten minutes of tolerance: nobody means it to the minute.
    """
    if isinstance(value, Later):
        minute = (now.hour * 60 + now.minute + value.minutes) % DAY
        return any(min((minute - a) % DAY, (a - minute) % DAY) <= 10 for a in accepted)
    return not value.isdisjoint(accepted)
