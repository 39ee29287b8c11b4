"""Places in a message: which places of the city it names, as start, end or stop of the ride."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from rideway.env.city import City
from rideway.env.wording.clauses import normalise

Role = Literal["origin", "destination", "waypoint"]

_BEFORE: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "waypoint",
        re.compile(
            r"""
            (?:
                途[经径]|经过|经停|经由|先去|先到|先送|中途(?:停|去|到)?|顺路去|绕[道到]?
                |停靠|停留
            )(?:点|地)?(?:是|为|:|在|您的?)*$
            """,
            re.VERBOSE,
        ),
    ),
    (
        "origin",
        re.compile(
            r"""
            (?:
                从|由|自|打|起点|出发地|出发点|始发地|上车(?:点|地点|地|位置)?
                |接(?:人|驾)?(?:点|地点)?|到达?(?=$)(?!)
            )(?:是|为|:|在|您的?)*$
            """,
            re.VERBOSE,
        ),
    ),
    (
        "destination",
        re.compile(
            r"""
            (?:
                (?<![查找看遇约派搜收想提匹碰])到|去|往|至|→|->|—+|-|回|前往|抵达|目的地|终点
                |下车(?:点|地点|地)?|送(?:到|去|至|您到|您去)|开到
            )(?:是|为|:|在|您的?)*$
            """,
            re.VERBOSE,
        ),
    ),
)
_AFTER: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("waypoint", re.compile("^(?:停|停留|接上|中转)")),
    ("origin", re.compile("^(?:这边|那边|门口|楼下)?(?:出发|上车|接|到|去|至|→|->|—+|-)")),
    ("destination", re.compile("^(?:那边|门口|楼下)?下车")),
)


_SHOPS = frozenset({"餐厅", "咖啡茶馆", "超市", "快餐", "酒店", "礼品店", "家居家具", "地铁站"})


class Mention(NamedTuple):
    """A place that a message names; `role` None where the words do not tell."""

    ids: frozenset[str]
    name: str
    role: Role | None


class PlaceNames:
    """Names, aliases and saved labels of one city's places, found in texts.

    Args:
        city: The city; None for an agenda that belongs to none: nothing is found.
        labels: Saved addresses: label to place id.
        here: Id of the place where the user is, None where it is not known.
    """

    def __init__(
        self, city: City | None, labels: Mapping[str, str], here: str | None = None
    ) -> None:
        self._here = here
        self._city = city
        self._labels = {label: frozenset({place}) for label, place in labels.items()}
        self._by_head = _index(city) if city else {}
        self._own = sorted(self._labels, key=len, reverse=True)

    def ids(self, name: str) -> frozenset[str]:
        """The places that a name or label may mean; none for an unknown one."""
        if name in self._labels:
            return self._labels[name]
        name = normalise(name)
        for known, ids in self._by_head.get(name[:2], ()):
            if known == name:
                return ids
        return frozenset()

    def agree(self, mention: Mention, accepted: tuple[str, ...]) -> bool:
        """Whether a mention may mean one of the accepted names.

        A part of a place (a terminal) and the whole of it may stand for each other; a shop in it
        is no part that stands for it.
        """
        return any(self._same(mention, name) for name in accepted)

    def _same(self, mention: Mention, name: str) -> bool:
        ids = self.ids(name)
        if not ids:  # a name that the map does not know: the words decide
            return name in mention.name or mention.name in name
        whole = self._parents(ids)
        return not ids.isdisjoint(mention.ids | self._parents(mention.ids, _SHOPS)) or not (
            whole.isdisjoint(mention.ids)
        )

    def _parents(self, ids: frozenset[str], but: frozenset[str] = frozenset()) -> set[str]:
        places = self._city.places if self._city else {}
        parts = [places[i] for i in ids if i in places]
        return {part.parent for part in parts if part.parent and part.category not in but}

    def here(self, words: str) -> Iterator[Mention]:
        """The place where the user is, called by these words; nothing where it is not known."""
        if self._here is not None:
            yield Mention(frozenset({self._here}), words, None)

    def mentions(self, text: str) -> Iterator[Mention]:
        """The places of a normalised text with their roles."""
        place = last = 0
        branches = self._branches(text) if "(" in text else {}
        while place < len(text):
            name, ids = branches.get(place) or self._at(text, place)
            if not name:
                place += 1
                continue
            end = place + len(name)
            role = _in_chain(text, place, end) or _role(text[:place], text[end:])
            if last and _ADDRESS.fullmatch(text[last:place]):
                role = None  # "新娘家(三林世博家园)" names one place
            yield Mention(ids, name, role)
            place = last = end

    def _branches(self, text: str) -> dict[int, tuple[str, frozenset[str]]]:
        """Branches called by their chain, "全季酒店(宽窄巷子店)": where they stand in a text."""
        found: dict[int, tuple[str, frozenset[str]]] = {}
        inner = _branch_index(self._city) if self._city else {}
        for bracket in _IN_BRACKETS.finditer(text):
            before = text[: bracket.start()]
            for base, place in inner.get(_core(bracket[1], self._city), ()):
                for start in range(max(0, len(before) - len(base)), len(before) - 1):
                    if _calls(before[start:], base):
                        _, ids = found.get(start, ("", frozenset()))
                        found[start] = text[start : bracket.end()], ids | {place}
                        break
        return found

    def _at(self, text: str, place: int) -> tuple[str, frozenset[str]]:
        for label in self._own:
            if text.startswith(label, place) and (len(label) > 1 or _stands_alone(text, place)):
                return label, self._labels[label]
        for name, ids in self._by_head.get(text[place : place + 2], ()):
            if text.startswith(name, place):
                return name, ids
        return "", frozenset()


_IN_BRACKETS = re.compile(r"\(([^(),]{2,14})(?:,[^()]{0,30})?\)")
_ADDRESS = re.compile(r"\([^()]{0,8}")
_BRANCH_NAME = re.compile(r"(?P<base>[^()]{2,})\((?P<inner>[^()]{2,14})\)$")
_KIND_OF_BRANCH = re.compile("(?:(?:分|总|旗舰|门)?店|院区|分?院|校区|馆)$")


def _core(inner: str, city: City | None) -> str:
    """What tells a branch from others: "成都宽窄巷子店" and "宽窄巷子" are one."""
    core = inner.removeprefix(city.name if city else "")
    return _KIND_OF_BRANCH.sub("", core) or core


def _calls(words: str, base: str) -> bool:
    """Whether words call a chain or house: by its name, or a beginning or an end of it."""
    return base.startswith(words) or (len(words) > 2 and base.endswith(words))


@lru_cache(maxsize=32)
def _branch_index(city: City) -> dict[str, list[tuple[str, str]]]:
    """What tells a branch from others -> (name of the house, place id)."""
    index: dict[str, list[tuple[str, str]]] = {}
    for place in city.places.values():
        if named := _BRANCH_NAME.match(normalise(place.name)):
            entry = (named["base"], place.id)
            index.setdefault(_core(named["inner"], city), []).append(entry)
    return index


def _in_chain(text: str, start: int, end: int) -> Role | None:
    """The role of a place in a row of arrows: "家 → A → B" goes from home by A to B."""
    before = _ARROW.split(_CELL.split(text[:start])[-1])
    after = _ARROW.split(_CELL.split(text[end:], maxsplit=1)[0])
    led = len(before) > 1 and _next_to_arrow(before[-1])
    leads = len(after) > 1 and _next_to_arrow(after[0])
    if led:
        return "waypoint" if leads else "destination" if len(after) == 1 else None
    return "origin" if leads and len(before) == 1 else None


def _next_to_arrow(words: str) -> bool:
    """Whether nothing but brackets and a few words stands between a place and an arrow."""
    rest = _BRACKETED.sub("", words)
    return len(rest) < 12 and not _NEW_CLAUSE.search(rest)


def _stands_alone(text: str, place: int) -> bool:
    """Whether a label of one character (家) is a word of its own there."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if (after and after in "人乡里常庭具长务电政") or (before and before in _MEASURED):
        return False
    return (
        before in tuple("从到去回至往由→>—-:在送的您")
        or after in tuple("→>—-到去至")
        or (before in ("", *"\n| ") and after in tuple(" (→"))
    )


_PICKUP = re.compile(
    "^的?(?:楼下|门口|小区|大堂|停车|这边|那边)?(?:[东西南北]门)?(?:楼下|门口|接|等|候|来)"
)


_ERRAND = re.compile("^[^,。;到去送→]{0,4}(?:捎|(?<!好)接(?!近)|取(?!消)|拿|买)")
"""Behind a place that one goes to: something is fetched there, it is not the end of the ride."""
_ARROW = re.compile("[→➡➔⟶]|[-—=]+>")
_CELL = re.compile(r"[|\n]")
_BRACKETED = re.compile(r"\([^()]*\)")
_NEW_CLAUSE = re.compile("[,;。!?]")
_MEASURED = "那这哪一二两三四五六七八九十几每某另各多整大全"
"""Before 家: a measure word ("那家店") or a part of another word."""
_GIVEN_UP = re.compile("^(?:那边)?(?:改|换|变更?|调整?)(?:去|到|成|为)")
_FETCHED_FROM = re.compile("(?:从|由|自)(?:您|你)?的?$")


def _role(before: str, after: str) -> Role | None:
    if _GIVEN_UP.match(after):
        return None  # "由A改去B" goes to B
    if _FETCHED_FROM.search(before[-4:]):
        return "origin"
    if _PICKUP.match(after):
        return None  # "到您家楼下" is where the car comes to
    for role, pattern in _BEFORE:
        if pattern.search(before[-12:]):
            return None if role == "destination" and _ERRAND.match(after[:8]) else role
    for role, pattern in _AFTER:
        if pattern.match(after[:8]):
            return role
    return None


def _unbracketed(name: str, city: City) -> Iterator[str]:
    """A branch without brackets, and without the city: "全季酒店宽窄巷子店"."""
    if named := _BRANCH_NAME.match(normalise(name)):
        inner = named["inner"].removeprefix(city.name)
        for base in (named["base"], named["base"].removesuffix("酒店")):
            yield from (base + named["inner"], base + inner)


@lru_cache(maxsize=32)
def _index(city: City) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """First two characters -> (name, ids), the longest name first."""
    found: dict[str, set[str]] = {}
    for place in city.places.values():
        for name in map(normalise, (place.name, *place.aliases, *_unbracketed(place.name, city))):
            if len(name) > 1:
                found.setdefault(name, set()).add(place.id)
    index: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for name in sorted(found, key=len, reverse=True):
        index.setdefault(name[:2], []).append((name, frozenset(found[name])))
    return index
