"""Who and where an agent proposes in words that the map does not know.

A place of the map is compared by id (`proposals`). "从您现在的位置出发" or "联系人写汪先生"
can only be held against the user's own words: what he cannot verify he does not nod to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from rideway.env.agenda_items import Item
from rideway.env.wording.topics import Topic

Part = Literal["origin", "destination", "contact"]


class Claim(NamedTuple):
    """Words that stand for one part of the ride."""

    part: Part
    words: str


_WORDS = r"(?:[^,。;:?!、\s\d从到去送]|\d(?!\d?[点:月日号分位个人件])){1,20}?"
_CLAIMS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    (
        "origin",
        re.compile(
            rf"""
            (?:从|(?<!现)在|(?<![来赶回])到)(?P<x1>{_WORDS})(?:
                出发|上车|接(?:上?(?:您|你|他|她|人|老人))|动身|叫车|发车
            )
            |从(?P<x2>{_WORDS})(?:到|去|回|送)(?!达|了)
            """,
            re.VERBOSE,
        ),
    ),
    (
        "destination",
        re.compile(
            rf"""
            送(?:您|你|他|她|老人家?|客人|您们)*(?:到|去|回|至)
                (?P<x1>{_WORDS})(?=[,。;?!\s]|的|吗|吧|可以|行|$)
            |(?:前往|目的地(?:是|为|:))
                (?P<x2>{_WORDS})(?=[,。;?!\s]|的|吗|吧|可以|行|$)
            """,
            re.VERBOSE,
        ),
    ),
    (
        "contact",
        re.compile(
            r"""
            (?:联系人|联系|电话[打留]给?|打给|乘车人|称呼)(?:是|为|写|填|登记|用|:|就|的是)*
            (?P<x1>
                [一-鿿]{1,4}?(?:先生|女士|老师|阿姨|叔叔|大爷|小姐|总|本人|太太|儿子|女儿|老伴)
            )(?P<x2>)
            """,
            re.VERBOSE,
        ),
    ),
)
_KIND = re.compile(
    "的?(?:机场|火?车站|高铁站|目的地|终点|起点|那里|那儿|门口|楼下|大厅|这里|这儿|路边|原地|出发地|上车点)"
)
"""Names a kind of place only: nothing to be wrong about."""
HERE = re.compile(
    "^(?:您|你)?的?(?:现在|目前|当前|此刻|这会儿|眼下)?的?(?:所在)?"
    "(?:这里|这儿|这边|这个?(?:位置|地方)|位置|定位|所在地)的?$"
)
"""Where the user is at the moment."""
_SELF = re.compile("^(?:您|你)(?:自己|本人)?$")
_ME = re.compile("[我俺阿]|咱")
_OF_NO_USE = re.compile("^(?:您|你|咱)?的?|(?:那边|这边|门口|楼下|小区|航站楼|附近)+$")
_LEFT_TO_FLIGHT = re.compile("看(?:一?下|哈)?航班|查(?:一?下)?航班|航班.{0,6}(?:查|晓得|知道|就有)")
_AIRPORT = re.compile("机场|航站楼|T\\d")
_ROLE_TOPIC = {
    "origin": Topic.ORIGIN,
    "destination": Topic.DESTINATION,
    "contact": Topic.CONTACT,
}


def claims_in(text: str) -> Iterator[Claim]:
    """The claims of a normalised text."""
    for part, pattern in _CLAIMS:
        for found in pattern.finditer(text):
            words = found["x1"] or found["x2"]
            if HERE.match(words) or not _KIND.fullmatch(words):
                yield Claim(part, words)


def concerns(claim: Claim, item: Item) -> bool:
    """Whether an item holds the part of the ride that a claim is about."""
    if claim.part == "contact":
        return Topic.CONTACT in item.topics[:1]
    return bool(getattr(item.facts, claim.part)) or _ROLE_TOPIC[claim.part] in item.topics


def verified(claim: Claim, item: Item, *, looked_up: bool = False) -> bool:
    """Whether the user's own words bear a claim out.

    `looked_up`: the agent speaks of the flight: what the user leaves to it he does not deny.
    """
    said = "".join(item.say)
    if claim.part == "contact":
        if _SELF.match(claim.words):
            return _ME.search(said) is not None
        return claim.words[:1] in said
    if looked_up and _LEFT_TO_FLIGHT.search(said) and _AIRPORT.search(claim.words):
        return True
    words = _OF_NO_USE.sub("", claim.words)
    if words.rstrip(")").endswith("店") and "店" not in said:
        return False  # the hotel at the airport is not the airport
    names = (*getattr(item.facts, claim.part), said)
    size = min(3, len(words))
    if size < 2:
        return any(words in name for name in names)
    return any(
        words[place : place + size] in name
        for place in range(len(words) - size + 1)
        for name in names
    )
