"""The acts of a message: what it does to the user, and what its statements say was done.

`questions` finds the acts that want an answer; here are the others.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from rideway.env.wording.topics import Topic


class Act(StrEnum):
    """What a message does to the user; one message may do several things.

    `OPENING` asks what the user wants at all, `REPORT` says that something was done, `FINISHED`
    that everything is, `STALL` that something is coming, `UNABLE` that something cannot be had;
    `FOREIGN` is nothing that was understood.
    """

    ASK = "ask"
    CONFIRM = "confirm"
    OFFER = "offer"
    ANYTHING_ELSE = "anything_else"
    OPENING = "opening"
    INFORM = "inform"
    REPORT = "report"
    FINISHED = "finished"
    STALL = "stall"
    GREET = "greet"
    APOLOGISE = "apologise"
    UNABLE = "unable"
    SILENT = "silent"
    FOREIGN = "foreign"


QUESTIONS = frozenset({Act.ASK, Act.CONFIRM, Act.OFFER, Act.ANYTHING_ELSE, Act.OPENING})
"""The acts that the user owes an answer."""


class Question(NamedTuple):
    """One thing that the agent wants to hear.

    `topics` in the order asked; `text` the words it stands in. `polar`: a yes or no would do.
    `more`: it asks for what was not said yet ("还有别的要求吗"). `wide`: it asks for wishes, not
    for one fact. `closing`: (of ANYTHING_ELSE) whether the agent would end here. `before`: the
    statements in front of it in its sentence. `line`: the line of a list, or the question before,
    that says what it is about. `amiss`: it asks what was wrong with what was proposed.
    """

    act: Act
    topics: tuple[Topic, ...]
    text: str
    polar: bool = False
    more: bool = False
    wide: bool = False
    closing: bool = False
    before: str = ""
    line: str = ""
    amiss: bool = False


_FINISHED = re.compile(
    r"""
    (?:祝|愿)(?:您|你|老人家|大家|叔叔|阿姨|二位|各位)?.{0,8}(?:
        愉快|顺利|平安|开心|一路|旅途|出行|生活|快乐|健康|成功
    )
    |再见|拜拜|(?:感谢|谢谢)(?:您|你)?的?(?:使用|来电|咨询|信任|支持|选择|光临|配合)
    |期待(?:下次|再次|为您)|一路(?:顺风|平安)
    |(?:全部|都|均|全都|一切)(?:已经?|帮您|为您|给您)*.{0,4}(?:
        好了|完成|妥当|搞定|办妥|完毕|就绪|办好|安排好|安排妥
    )
    |(?:任务|服务|事情|事项)(?:全部|都)?已?经?(?:完成|结束|处理完|办完)|办理完毕|到此结束
    """,
    re.VERBOSE,
)
_CONTINUES = re.compile(
    r"""
    接下来|下面|然后|再(?:为|帮|给)|还需要|还有一|第二|下一步|继续|稍[等后候]
    """,
    re.VERBOSE,
)
_REPORT = re.compile(
    r"""
    (?:已经?|成功)[^,。;?!]{0,18}(?:
        下单|预[订约定]|约|订|确认|派单|安排|叫|取消|修改|更新|设置|添加|备注|改|换|加|设
        |提交|锁定|创建
    )(?:好|成功|完成|妥|完|了|到|为|成|上|\W|$)
    |已经?(?:帮|为|给)(?:您|你)(?:重新)?(?:
        预[约订]|约|订|叫|安排|确认|取消|设置|备注|添加|改|换|派|下单|提交|匹配到
    )
    |(?:帮您|给您|为您)[^,。;?!]{0,18}(?:
        下单|预[订约定]|约|订|确认|派单|安排|叫|取消|修改|更新|设置|添加|备注|改|换|加|设
        |提交|锁定|创建
    )(?:好|成功|完成|妥|完|了|到|成)
    |(?:
        订|约|叫|安排|办|弄|搞|预[约订]|下单|确认|设置|设|改|换|加|取消|派单|创建|提交|修改
        |更新
    )(?:车|单)?(?:好|成功|完|妥|定)(?:了|啦|咯|\W|$)
    |(?:司机|师傅)已?经?(?:接单|出发|确认)
    |(?:已|已经)(?:确认|预约|取消|下单|派单|接单|修改|生效|安排)
    """,
    re.VERBOSE,
)
_STALL = re.compile(
    r"""
    (?<!楼下)(?<!门口)(?<!原地)(?<!路边)(?<!大堂)稍[等候]|请等(?!候)|等一下
    |(?:^|[,。])(?:好的?[,，])?(?:我|这边|我们)?(?:
        马上|这就|立[即刻]|现在|先|正在|正
    )(?:就|去|来|帮|为|给)*(?:您|你)?(?:重新|再|先)?
    (?:
        查|看|帮|为|给|去|安排|处理|核实|联系|搜|下单|约|预|取消|匹配|规划|改|换|办|订|叫|调
        |确认|更|试
    )
    |正在|片刻|容我
    """,
    re.VERBOSE,
)
_APOLOGY = re.compile("抱歉|对不起|不好意思|很遗憾|见谅|谅解")
_UNABLE = re.compile(
    r"""
    暂无|暂时没有|没有?(?:找|查|匹配|搜|约|叫|订)到|无法|[办约叫订]不[了到]|不支持|找不到
    |没有(?:合适|符合|空闲|可用)
    """,
    re.VERBOSE,
)
_GREETING = re.compile(
    r"""
    您好|你好|早上好|晚上好|下午好|上午好|欢迎|(?:很)?高兴(?:为|能为)|哈[喽啰]|嗨
    """,
    re.VERBOSE,
)
_FILLER = re.compile(
    r"""
    ^(?:
        您好|你好|好的?|好嘞|嗯+|哦|行|可以|收到|明白|了解|知道|没问题|不客气|谢谢|感谢
        |欢迎(?:您|你|光临|使用.{0,10})?
        |很?高兴(?:能)?(?:为|给)?(?:您|你)?(?:服务|提供服务)?|(?:早上|上午|中午|下午|晚上)好
        |了|的|您|你|啦|呀|啊|哈|先生|女士|亲|请|我是.{0,12}(?:客服|助手|助理|小.{1,3})?|\W
    )+$
    """,
    re.VERBOSE,
)


def statement_acts(sentence: str) -> set[Act]:
    """What a sentence that asks nothing does; empty for a mere "好的"."""
    acts: set[Act] = set()
    if _FINISHED.search(sentence) and not _CONTINUES.search(sentence):
        acts.add(Act.FINISHED)
    if _APOLOGY.search(sentence):
        acts.add(Act.APOLOGISE)
    if _UNABLE.search(sentence):
        acts.add(Act.UNABLE)
    if _GREETING.search(sentence):
        acts.add(Act.GREET)
    if _FILLER.match(sentence):
        return acts
    if _STALL.search(sentence):
        acts.add(Act.STALL)
    elif _REPORT.search(sentence):
        acts.add(Act.REPORT)
    if not acts or acts <= {Act.REPORT, Act.APOLOGISE, Act.UNABLE}:
        acts.add(Act.INFORM)
    return acts
