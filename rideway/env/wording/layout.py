"""What of a message is laid out rather than said: tables, pictograms, quoted words, counted points.

A row of a table, a note in quotes and "几点信息" hold the words of questions and ask nothing.
"""

from __future__ import annotations

import re

_PICTURE = "[\U0001f1e6-\U0001faff\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff]"
_PICTURES = rf"(?:{_PICTURE}[\ufe0f\u200d]*)+"
_ARROW = "[\u2190-\u21ff\u27a1\u2794-\u27bf]"
_AT_LINE = re.compile(rf"(?m)^[ \t]*(?!{_ARROW})(?![①-⑳❶-➓]){_PICTURES}[ \t]*(?=\S)")
_AT_END = re.compile(
    rf"(?<=[^\W_])(?P<mark>\W?)[ \t]*(?!{_ARROW})(?![①-⑳❶-➓]){_PICTURES}"
    r"(?P<next>[ \t]*[?!。,;:)…~]?)"
)
_ELSEWHERE = re.compile(rf"(?!{_ARROW})(?![①-⑳❶-➓]){_PICTURES}")
_PICTURED = re.compile(_PICTURE)


def without_pictures(text: str) -> str:
    """Pictograms as the marks that they stand for: of a list in front of a line, else of an end."""
    if not _PICTURED.search(text):
        return text
    text = _AT_LINE.sub("- ", text)
    text = _AT_END.sub(lambda p: f"{p['mark']}{p['next']}" if _closes(p) else "。", text)
    return _ELSEWHERE.sub("", text)


def _closes(picture: re.Match[str]) -> bool:
    """Whether a mark of its own stands beside a pictogram."""
    return bool(picture["mark"].strip() or picture["next"].strip())


_ROW = re.compile(r"(?m)^[ \t]*\|[^\n]*\|[ \t]*$")


def without_tables(text: str) -> str:
    """A text without the rows of its tables, the head included."""
    return _ROW.sub("", text) if text.count("|") > 1 else text


_QUOTED = re.compile(
    r"""
    (?P<lead>
        备注|留言|留话|附言|注明|写[上明着]?|一[句条段]话?|转告|转达|叮嘱|嘱咐|交代|提醒
        |比如|例如|譬如|如|(?:告诉|跟|和|对)(?:师傅|司机)说?
    )
    (?P<between>[^“”「」『』"\n。?!？！]{0,8})
    (?:“[^”\n]{2,}”|「[^」\n]{2,}」|『[^』\n]{2,}』|"[^"\n]{2,}")
    """,
    re.VERBOSE,
)


def without_notes(text: str) -> str:
    """A raw text without the quoted words of a note or an example: nobody asks in them."""
    return _QUOTED.sub(r"\g<lead>\g<between>", text)


_N = "[几两二三四五]"
_NO_CLOCK = r"(?<![上中下]午)(?<!晚上|早上|凌晨|傍晚)(?<!\d)"
_POINTS = re.compile(
    rf"""
    (?:
        (?<=[有下这])(?P<a>{_N})点(?=您|你|信息|要|想|需|建议|提醒|问题|说明|疑问|注意|细节|情况|\W|$)
        |(?:(?<=确认|核实|核对|请教|了解|说明|补充|沟通|提醒)|(?<=[醒问教][您你]))
            (?P<b>{_N})点(?=\s*(?:[:。!~\n]|$))
        |{_NO_CLOCK}(?P<c>{_N})点(?=
            (?:小)?(?:信息|问题|建议|疑问|说明|细节|情况|内容|要求|事项)
            |(?:需要|还要|还得|想|要|得)?(?:再)?(?:跟|和|向|请|同|与)?(?:您|你)
                (?:确认|核实|核对|请教|说明|补充|明确|注意)
            |想(?:请)?(?:问|请教|了解)
        )
    )
    |(?<=[^一二三四五六七八九十\d])(?P<d>{_N})件(?=小?事|事情)
    |(?<=[差缺])(?P<e>{_N})样
    |(?P<f>{_N})个(?=小?(?:信息|问题|细节|情况|事项|要点|事))
    """,
    re.VERBOSE,
)


def with_points(text: str) -> str:
    """A text in which "几点" and "两点" of what is to be said are no clock: "几项"."""
    if "点" not in text and "件" not in text and "样" not in text and "个" not in text:
        return text
    return _POINTS.sub(lambda found: f"{next(filter(None, found.groups()))}项", text)
