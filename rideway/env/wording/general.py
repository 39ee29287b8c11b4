"""Questions about nothing in particular: what else, what wishes, what at all; and offers to act."""

from __future__ import annotations

import re

from rideway.env.wording import clauses as marks
from rideway.env.wording.acts import Act, Question

MORE = re.compile(
    r"""
    还(?:有(?!多)|需|要|想|缺|差|别)|其[他它]|别的|另外|除此|除了|补充|额外|以外|之外|剩下
    |再(?:有|加|补|说)
    """,
    re.VERBOSE,
)
_WISH = re.compile(
    r"""
    要求|需求|偏好|特殊|特别|补充|注意|讲究|嘱咐|交代|说明|叮嘱|习惯|喜好|忌讳|顾虑|想法
    |担心|备注|在意|强调
    """,
    re.VERBOSE,
)
_SERVICE = re.compile(
    r"""
    帮(?:到|助|忙|您|你|上|得)|服务|效劳|吩咐
    |(?:为|给|替)(?:您|你)(?:做|办|处理|服务|效|解决|安排)
    |(?:什么|啥|其[他它]|别的|没有)(?:别)?的?(?:事|问题|疑问|安排)|办理|处理|咨询
    |(?:可以|能|需要我)做|不(?:清楚|明白)的
    """,
    re.VERBOSE,
)
_OPENING = re.compile(
    r"""
    (?:什么|啥|哪些|怎么|如何|怎样)(?:是我)?(?:可以|能|需要|是)?(?:帮|为(?:您|你)|服务|效劳)
    |(?:需要|想|要)(?:办理|咨询)?(?:什么|啥|哪些|怎样的|哪方面的?)(?:服务|帮助|帮忙|用车)
    |(?:想|要)(?:先)?(?:了解|咨询|问|知道)(?:些?什么|啥|哪些|哪方面|点什么)
    |(?:出行|用车|乘车|打车|叫车|约车)的?(?:具体)?(?:需求|要求|计划|信息|打算|情况|安排)
    |(?:具体)(?:的)?(?:需求|要求|需要|情况|信息)(?!.*(?:司机|车))
    |(?:想|要|打算)怎么(?:安排|走这|用车)
    """,
    re.VERBOSE,
)
_THATS_ALL = re.compile(
    r"""
    就(?:这些|这样|这么多|先这样)(?:要求|需求)?(?:了|对|吗|吧|就|\?)
    |没(?:别的|其他)?了(?:吧|对|\?)|(?<!有)没有(?:其他|别的|什么)
    """,
    re.VERBOSE,
)
BOOK = re.compile(
    r"""
    (?:帮|为|给|替)(?:您|你).{0,10}(?:
        下单|预[约订定]|确认|派|叫|约|安排|取消|发单|订|改|换|匹配|联系|查|选|锁定|提交|保留
        |续
    )
    |下单|发单|提交|派[车单]|确认(?:订单|行程|用车|预约)?(?:吗|么|\W*$)
    |就(?:这样|这么|按|用|选|定|它|要这|要它|订|叫|约)|[订定要选]这[个辆位]
    |确认要?(?:这样|这么|按)|按(?:这个|此|以上|这样|原|[^,]{0,10}(?:安排|方案|计划|行程)(?:来|去)?(?:订|约|叫|下|预|安排|走|办))|(?:换|改)(?:成|为|到|约)|直接(?:下|订|约|叫)
    |确定(?:要|吗|取消)|取消(?:吗|订单|这|原)|现在(?:就)?(?:订|约|下|叫)
    """,
    re.VERBOSE,
)


AT_WILL = re.compile(
    "(?:告诉|跟|和|联系|找|喊|叫)我?(?:一?声|一?下)?(?:就|即|都|也)(?:行|可|好|可以|成)"
)
"""An invitation ("有想好的告诉我就行"): no answer is owed."""
AMISS = re.compile(
    r"""
    (?:哪[里儿些边]?|哪[一几]?[个项点处方](?:面|地方)?|什么地方|什么|怎么)[^,?]{0,6}
        (?:不合适|不满意|不行|不对|不妥|不妥当|有问题|有误|不合心意|不符合|不喜欢|错了)
    |是指?[^,]{1,8}不(?:对|行|合适|满意)[^,]{0,3},?还是
    |(?:不合适|不满意|不对|不行|有误|有问题)的(?:是|地方)[^,?]{0,3}(?:哪|什么)
    |(?:想|要|需要|希望|得)(?:再)?(?:怎么|怎样|如何)(?:改|调整|换(?!乘)|修改|变)
    |(?:改|调整|修改|更改|变动)(?:的是)?(?:哪[里儿些边]|哪[一几]?[项点处方]|什么(?!时|地|车))
    |哪[里儿些]?[^,?]{0,3}(?:需要|要|想)(?:改|调整|修改)
    """,
    re.VERBOSE,
)
"""Asks what was wrong with what the user refused."""
NO_MORE_THAN = re.compile(
    r"""
    ^(?:
        (?:方便|可以|有)的话|麻烦|请问?|劳烦|烦请|辛苦|您|你|我|再|先|也|都|就|还|另外|然后|帮忙|一并|直接
        |语音|文字|打字|可以|能|想|要|需要|跟|和|同|向|给|把|这边|这里|告诉|告知|提供|说|讲|报|发|补充|了解
        |确认|核实|核对|请教|定|差|一个|一项|回复|填写?|问问?|一?下|一?声|个|准话|之?后|以后|的|些|[几两三]项|信息|以下|如下|哦|哈|呢|啊|吧|好|听|过来
        |\W
    )+$
    """,
    re.VERBOSE,
)
"""A request that names nothing: what is wanted stands before or below it."""


def general(words: str, which: bool, more: bool) -> Question | None:
    """A question about nothing in particular: what else, what wishes, what at all."""
    if _OPENING.search(words) and not more:
        return Question(Act.OPENING, (), words)
    if _SERVICE.search(words) and (more or which) and not BOOK.search(words.replace("安排", "")):
        act = Act.ANYTHING_ELSE if more else Act.OPENING
        return Question(act, (), words, more=more, closing=more)
    if _THATS_ALL.search(words):
        return Question(Act.ANYTHING_ELSE, (), words, more=True)
    if _WISH.search(words) and not marks.TAIL_TAG.search(words):
        return Question(Act.ANYTHING_ELSE, (), words, more=more, wide=True)
    if more and not BOOK.search(words):
        return Question(Act.ANYTHING_ELSE, (), words, more=True)
    return None
