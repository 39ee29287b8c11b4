"""What the agenda user says out of no agenda: yes, no, thanks, "you decide".

Each list is varied by a draw; none of these texts may stand in an agenda (`read_agenda` refuses
it), because the user tells from its own words what it has conveyed.
"""

from __future__ import annotations

from enum import Enum


class Phrase(Enum):
    """A kind of built-in text; `value` holds its wordings."""

    YES = ("好的。", "可以的。", "行，可以。", "嗯，可以。", "没问题。")
    RIGHT = ("对的。", "嗯，没错。", "是的。", "对，没错。")
    RIGHT_AND = ("对，", "是的，", "嗯，")
    JUST_DO = ("可以可以，你直接办吧。", "行的行的，你办就是了。")
    ACKNOWLEDGE = ("好的。", "嗯，知道了。", "行。", "好，我知道了。", "哦，明白了。")
    WAIT = ("好，我等着。", "嗯，好。", "行，你弄吧。", "好的，麻烦你了。")
    ANOTHER_WAY = (
        "这样啊，那你看看还有没有别的办法。",
        "哦，那你再想想办法吧。",
        "这样啊，那怎么办好呢。",
    )
    UNKNOWN = (
        "不清楚，你看着办。",
        "这个我也说不好，你看着办吧。",
        "没想过这个，你定就行。",
        "这我不清楚，你安排吧。",
    )
    NO_NEED = (
        "没什么特别的，你看着办。",
        "这个没有，你看着办就行。",
        "这方面没讲究，你定吧。",
    )
    LATER = (
        "这个还没定，等下再说吧。",
        "还说不准，晚点再告诉你。",
        "这会儿还定不下来，回头再说。",
    )
    NO_THANK_YOU = ("不用了，谢谢。", "这个不用，谢谢。", "不用，谢谢你。")
    NONE = ("没有。", "没有的。", "这个没有。")
    NOT_MINDED = ("不介意。", "没关系，不介意。", "这个无所谓的。")
    REST_UNKNOWN = (
        "别的不清楚，你看着办。",
        "其他的我说不好，你定吧。",
        "剩下的不清楚，你看着办吧。",
    )
    REST_FREE = ("别的我没想过，你看着办。", "其他的你定就行。", "别的没讲究，你看着办吧。")
    REST_NONE = ("别的没有。", "其他的没有。", "别的就没有了。")
    REST_NO_THANKS = ("别的不用了，谢谢。", "其他的就不用了。", "别的不用。")
    AND_YES = ("行，就这么办吧。", "好的，就这样定。", "没问题，就这么办。")
    UNKNOWN_AGAIN = (
        "这个我真不清楚，你看着办就是了。",
        "都说了不清楚，你定就行。",
        "别老问这个了，你看着办。",
    )
    ANY = ("随便，你看着办。", "哪个都可以，你定吧。", "我无所谓，你帮我选一个就行。")
    SO_FAR = ("暂时就这些。", "先就这些吧。", "眼下就这些。")
    ALL_SAID = ("没有了，就刚才说的那些。", "没别的要求了。", "没了，就这些。")
    NO_MORE = ("没有了", "没别的了", "没有了，就这样")
    NOT_DONE_YET = ("没有别的了，你先帮我办好。", "没别的事，先把刚才说的弄好吧。")
    DOUBT = ("嗯？这就都办好了吗？", "等等，刚才说的都弄好了吗？")
    ACCEPT = ("行吧，那就这样，谢谢。", "好吧，那先这样，谢谢你。")
    OPENING = (
        "就是刚才说的那件事，要知道什么你问我。",
        "刚才不是说了嘛，需要什么信息你问我就行。",
    )
    BESIDES = ("对了，", "哦对了，", "还有啊，")
    NOT_SO = ("不是的，", "不对，", "不对不对，")
    NOT_THAT = ("这个不行，", "那不行，", "不要这样，")
    NO_THANKS = ("不用，", "先不用，", "不用了，")
    NOT_SO_FIRM = ("我说过了，不是这样的，", "又弄错了，我再说一遍，")
    IMPATIENT = ("刚才不是说过了吗，", "我都说过好几遍了，", "怎么还问这个呀，")
    CALLING = ("喂？听得到吗？", "在吗？", "喂，怎么没声音了？", "还在吗？")
    SPEAK_CHINESE = (
        "不好意思，我听不懂，麻烦说中文。",
        "这个我看不懂，请说中文吧。",
        "能不能说中文？",
    )
    HOW_FAR = ("那现在弄到哪一步了？", "那现在是什么情况了？", "那接下来呢？")
    GIVE_UP = ("算了，那我再想别的办法吧，谢谢。", "那算了吧，我自己想办法，谢谢。")
    THANKS = ("谢谢。", "谢谢你。", "辛苦了，谢谢。")


CORRECTIONS = (
    *Phrase.NOT_SO.value,
    *Phrase.NOT_THAT.value,
    *Phrase.NO_THANKS.value,
    *Phrase.NOT_SO_FIRM.value,
)
"""What stands in front of a fact that corrects the agent."""
ALL_TEXTS = frozenset(text for phrase in Phrase for text in phrase.value)
"""Every built-in wording."""
