"""How each clause of a sentence asks, once all of them are seen together."""

from __future__ import annotations

import re

from rideway.env.wording import clauses as marks
from rideway.env.wording.topics import topics_in


def kinds_of(parts: list[str], sentence: str) -> list[str]:
    """How each clause asks: tag, request, heading, question, bare, or not at all (self, empty)."""
    marked = "?" in sentence
    kinds = [_kind(part, marked and place == len(parts) - 1) for place, part in enumerate(parts)]
    _silence(parts, kinds, sentence)
    if kinds[-1] == "request" and sentence.rstrip().endswith(":"):
        kinds[-1] = "heading"
    return kinds


def _silence(parts: list[str], kinds: list[str], sentence: str) -> None:
    """Takes the mark of asking from clauses that the others of their sentence answer or take back.

    And gives it to the first of two offers: "需要约回程的车,或者设个提醒吗?".
    """
    for number, part in enumerate(parts[1:]):
        # "有什么要交代的,您随时说" asks nothing now
        if kinds[number] in ("question", "request") and marks.FREELY.match(part):
            kinds[number] = ""
        asks = kinds[number + 1]
        if asks in ("question", "bare") and _OR.match(part) and _OFFERS.match(parts[number]):
            kinds[number] = kinds[number] or "question"
        elif asks == "request" and marks.CONDITION.match(parts[number]) and _invites(part):
            kinds[number + 1] = ""  # "如果不是这家,告诉我马上改"
    for number, kind in enumerate(kinds[:-1]):
        if kind == "question" and _SEVERAL.search(parts[number]) and "哪" in parts[number + 1]:
            kinds[number] = ""  # "福田有几个地方,您要去哪一个?"
    if "?" in sentence:
        return
    exclaimed = sentence.rstrip().endswith("!")
    for number, kind in enumerate(kinds):
        # "有没有儿童座椅,我再查一下" tells what the agent is about to find out
        if kind == "question" and (
            _FINDS_OUT.search(",".join(parts[number : number + 2]))
            or (exclaimed and not marks.POLAR_END.search(parts[number]))
        ):
            kinds[number] = ""


def _invites(clause: str) -> bool:
    return not (marks.CONFIRM_WORD.search(clause) or topics_in(clause))


_SEVERAL = re.compile("^[^您你要]*有几[个家处种]")
_OR = re.compile("^或者?")
_OFFERS = re.compile("^(?:请问|那|您|你|还|另外|是否|要不要|也)*(?:需不?需?要|要|想|用不?用?|是否)")


def joined(parts: list[str]) -> list[str]:
    """The clauses, those that only give an example or the words of a note put to their clause."""
    found: list[str] = []
    example = False
    for part in parts:
        if found and _OF_NOTE.match(part) and NOTE.search(found[-1]):
            example = True
        elif example or _EXAMPLES.match(part):
            asks = marks.ASKS_WHICH.search(part) or marks.A_NOT_A_ONLY.search(part)
            example = not (asks or marks.TAG.match(part))
        if example:
            end = _END.search(part)
            if found and end:
                found[-1] = f"{found[-1]}{end[0]}"
        else:
            found.append(part)
    return found


_EXAMPLES = re.compile("^(?:比如|例如|譬如|像是?(?!不)|如(?!果|何|需|有|您|你|无|今|此))")
_END = re.compile("[吗么]?\\W*$")
NOTE = re.compile("备注|留[^,]{0,3}言|留[^,]{0,4}话|说一?声|打[^,]{0,3}招呼")
_OF_NOTE = re.compile(
    "^(?:说明|注明|写[明上着]|提醒[他她]|[让请叫][他她]|(?:[让请叫]|告诉|麻烦|提醒)(?:师傅|司机))"
)


def purpose(clause: str) -> bool:
    """Whether a clause says what an answer is good for, or what follows from it."""
    return bool(marks.PURPOSE.match(clause) or marks.GOES_ON.search(clause))


def _kind(clause: str, last: bool) -> str:
    """How a clause asks: tag, request, question, bare, or not at all (self, empty)."""
    if marks.TAG.match(clause):
        return "tag"
    tail = marks.TAIL_TAG.search(clause) is not None
    kind = _form(clause, tail, last)
    if kind and marks.FREE_CHOICE.search(clause):
        return ""
    if tail:
        return kind
    if kind and _states(clause):
        return ""
    if marks.SELF_ACTION.match(clause):
        return "self"
    if kind and marks.SERVES.search(clause) and not marks.interrogative(clause):
        return ""
    return kind


def _form(clause: str, tail: bool, last: bool) -> str:
    """The form of asking that the words of a clause have, whatever it says."""
    if marks.REQUEST.search(clause) or marks.CONFIRM_WORD.search(clause):
        return "request"
    if tail or marks.interrogative(clause):
        return "question"
    return "bare" if last and not marks.POLITE.match(clause) else ""


_RHETORIC = re.compile("(?<!是)不是(?!不)[^,]*嘛\\W*$")


def _states(clause: str) -> bool:
    """Whether a clause only states, whatever words stand in it."""
    if _RHETORIC.search(clause):
        return True
    if marks.POLAR_END.search(clause):
        return False
    if marks.CONDITION.match(clause):
        asks = marks.REQUEST.search(clause) or marks.CONFIRM_WORD.search(clause)
        return not (asks or marks.A_NOT_A_ONLY.search(clause) or "怎么" in clause)
    return marks.TELLS.search(clause) is not None


_FINDS_OUT = re.compile(
    r"""
    我(?:这边|就|再|去|先|来|马上|这就|会|给您|帮您|替您|为您)+[^,]{0,3}(?:
        查|看|问|核实|确认|核对|算|挑|选|定|安排|排|找|盯|留意|比|调|改
    )
    |由我|咱们?再|要看|取决于|得看|(?:您|你)(?:刚才?|刚刚|之前)?(?:问|关心)(?:的|到|过)
    """,
    re.VERBOSE,
)
