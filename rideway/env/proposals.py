"""What an agent proposes, held against what the user holds true.

A key (time, car type, ...) is contradicted when the message proposes values of it and none of them
is accepted: a summary that names the old time beside the new one is right. Which words propose, and
which of them count, says `proposed`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from rideway.env.agenda_items import Item
from rideway.env.claims import HERE, Claim, claims_in, concerns, verified
from rideway.env.proposed import FLIGHT, values_proposed, words_that_propose
from rideway.env.wording.place_names import PlaceNames
from rideway.env.wording.topics import Topic
from rideway.env.wording.values import Key, Value, means_time

_A_NAME = re.compile("(?<![一二两三四五六七八九十几这那哪每男女老新名辆位个的机])[一-鿿]师傅")
_PLACE_KEYS = ("origin", "destination", "waypoint")
_FACT_KEYS = frozenset({"passengers", "luggage", "date", "origin", "destination"})
"""What is so, rather than what could be wished otherwise."""
_REPORT_KEYS = frozenset({"time", "date", "passengers", "car_type", *_PLACE_KEYS})


class Standing(NamedTuple):
    """What the words of a message say about the user's facts."""

    wrong: tuple[Item, ...]
    """Items that it contradicts, in the agenda's order."""
    unwanted: frozenset[str]
    """Ids of those that it contradicts by a `disagree` pattern only: nobody wants that."""
    right: tuple[Item, ...]
    """Items that it states as they are."""
    unsure: tuple[Item, ...] = ()
    """Items about which it proposes something that the user cannot tell to be so."""
    facts: frozenset[str] = frozenset()
    """Ids of contradicted items of which it misstates what is so: how many, where, which day."""


class Judge:
    """Holds texts against facts.

    Args:
        places: Finds places of the city; only those with a role in the ride are compared.
    """

    def __init__(self, places: PlaceNames) -> None:
        self._places = places

    def standing(
        self,
        text: str,
        items: Sequence[Item],
        now: datetime,
        *,
        asked: Sequence[str] = (),
        report: bool = False,
    ) -> Standing:
        """How a proposal, or the report of something done, stands to the facts of `items`.

        `asked`: the clauses of the text that ask for leave; what they name is what is proposed.
        """
        words = words_that_propose(text, asked, now)
        text, proposed = words.text, words.proposed
        named: dict[str, list[Any]] = {k: list(v) for k, v in values_proposed(words, now).items()}
        claims = []
        for mention in self._places.mentions(proposed):
            if mention.role and any(getattr(item.facts, mention.role) for item in items):
                named.setdefault(mention.role, []).append(mention)
            elif mention.role and mention.role != "waypoint":
                claims.append(Claim(mention.role, mention.name))
        claims += claims_in(proposed)
        looked_up = FLIGHT.search(text) is not None
        unsure = {} if report else self._unverified(claims, items, named, looked_up=looked_up)
        wrong: dict[str, Item] = {}
        right: dict[str, Item] = {}
        unwanted: set[str] = set()
        facts: set[str] = set()
        for key, values in named.items():
            if report and key not in _REPORT_KEYS:
                continue
            holders = [item for item in items if getattr(item.facts, key)]
            agreeing = [i for i in holders if any(self._agrees(key, v, i, now) for v in values)]
            if holders and not agreeing:
                meant = next((i for i in holders if i.means(text)), holders[0])
                wrong[meant.id] = meant
                if key in _FACT_KEYS:
                    facts.add(meant.id)
            right.update((item.id, item) for item in agreeing)
        for item in items:
            if any(pattern.search(text) for pattern in item.facts.agree):
                right[item.id] = item
            elif any(pattern.search(text) for pattern in item.facts.disagree):
                if item.id not in wrong:
                    unwanted.add(item.id)
                wrong[item.id] = item
            elif not report and _unknown_driver(text, item):
                unsure[item.id] = item
        return Standing(
            tuple(item for item in items if item.id in wrong),
            frozenset(unwanted),
            tuple(item for item in items if item.id in right and item.id not in wrong),
            tuple(i for i in items if i.id in unsure and i.id not in right and i.id not in wrong),
            frozenset(facts),
        )

    def _unverified(
        self,
        claims: Iterable[Claim],
        items: Sequence[Item],
        named: dict[str, list[Any]],
        *,
        looked_up: bool,
    ) -> dict[str, Item]:
        """Items of which something is claimed that cannot be compared; what can goes to `named`."""
        unsure = {}
        for claim in claims:
            mentions = list(self._places.mentions(claim.words))
            if HERE.match(claim.words):
                mentions = list(self._places.here(claim.words))
            compared = any(getattr(item.facts, claim.part, ()) for item in items)
            if mentions and compared and claim.part != "contact":
                known = named.setdefault(claim.part, [])
                known += [m._replace(role=claim.part) for m in mentions]
                continue
            holders = [item for item in items if concerns(claim, item)]
            bearers = holders if claim.part == "contact" else items
            if holders and not any(verified(claim, item, looked_up=looked_up) for item in bearers):
                unsure[holders[0].id] = holders[0]
        return unsure

    def _agrees(self, key: str, value: Any, item: Item, now: datetime) -> bool:
        accepted = getattr(item.facts, key)
        if key in _PLACE_KEYS:
            return self._places.agree(value, accepted)
        return agrees(value, accepted, now)

    def choice(self, text: str, items: Sequence[Item], now: datetime) -> str | None:
        """The name of the one offered option that fits the facts; None where none stands out."""
        best: list[tuple[int, int, str]] = []
        options = list(_options(text))
        named = Counter(name for option in options for name in set(_LABEL.findall(option)))
        for option in options:
            standing = self.standing(option, items, now)
            label = _label(option)
            # "13:00 出发还是 13:00 前到" is not settled by the hour
            if label and named[label] == 1 and not standing.wrong:
                best.append((len(standing.right), -len(best), label))
        best.sort(reverse=True)
        if not best or best[0][0] == 0 or (len(best) > 1 and best[1][0] == best[0][0]):
            return None
        return best[0][2]


def _unknown_driver(text: str, item: Item) -> bool:
    """Whether a text names drivers, none of whom the user would know as the one he means."""
    return (
        item.topics[:1] == (Topic.DRIVER,)
        and bool(item.facts.agree)
        and _A_NAME.search(text) is not None
    )


def agrees(value: Value, accepted: tuple[Any, ...], now: datetime) -> bool:
    """Whether a spoken value may be one of the accepted ones; a price is one up to the limit."""
    key: Key = value.key
    if key == "time":
        return means_time(value.value, accepted, now)
    if key == "date":
        return any(day.isoformat() in accepted for day in value.value.dates(now.date()))
    if key == "price_max":
        return bool(value.value <= max(accepted))
    return value.value in accepted


_SPLIT = re.compile(
    r"""
    还是|或者?|、|;|\n|,(?=[^,]{0,4}[\d¥]?[^,]*(?:师傅|车))|[。?!]|和|以及|(?<=\D)\d[.)、]
    """,
    re.VERBOSE,
)
_LABEL = re.compile(
    r"""
    特惠快车|快车|出租车|优享|无障碍车|宠物车|专车|小货车|六座商务|豪华车|[一-鿿]{1,2}师傅
    |(?:今晚|明早|早上|上午|下午|晚上)?\d{1,2}(?:[::]\d\d|点半?)|现在|预约|高速|高架|地面
    """,
    re.VERBOSE,
)


def _options(text: str) -> Iterable[str]:
    return (part.strip() for part in _SPLIT.split(text) if part and part.strip())


def _label(option: str) -> str | None:
    found = _LABEL.search(option)
    return found[0] if found else None
