"""Cantonese and Sichuanese question words, as some agents write to riders who speak so.

Only words that ask, or that hide what is asked about, are put into standard Chinese; the rest of a
message stays as it was written.
"""

from __future__ import annotations

import re

_MOVES = "走|出发|动身|到|来|去|切|出门|用车|要车|开|回|接|上车|起飞|落地"
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), standard)
    for pattern, standard in (
        # Cantonese
        ("[边邊](?:度|处)", "哪里"),
        (r"边个(?=[坐去同跟乘来]|一齐|\W|$)", "谁"),
        ("边(?=一?[日天间个位班趟家条]|一)", "哪"),
        ("几多(?=[位个人])", "几"),
        ("几多", "多少"),
        ("有冇", "有没有"),
        ("[系係]咪|[系係]唔[系係]|咪[系係]", "是不是"),
        ("使唔使", "用不用"),
        (r"([一-鿿])唔\1", r"\1不\1"),
        (r"[咩乜](?=\W*$|[?,。!])(?<!嘢)", "吗"),
        ("[咩乜][嘢野]?", "什么"),
        ("[系係](?=哪)", "是"),
        ("嘅", "的"),
        ("[係]", "是"),
        ("听日", "明天"),
        ("今次", "这次"),
        ("[依而]家", "现在"),
        ("喺", "在"),
        ("佢[哋地]?", "他"),
        ("啱[唔不]啱", "对不对"),
        ("掂[唔不]掂|得[唔不]得|[oO][唔不]?[kK]?[唔不][oO][kK]", "行不行"),
        ("点样|咋[个样]?样", "怎么样"),
        ("咋[个样]?", "怎么"),
        ("仲(?=有|要|使|差|想|系|是|需)", "还"),
        ("睇", "看"),
        ("唔该", "麻烦"),
        ("唔", "不"),
        ("冇", "没有"),
        ("[㗎噶]", ""),
        ("嚟", "来"),
        ("咗", "了"),
        ("[俾畀]", "给"),
        # Sichuanese
        ("啥子", "什么"),
        ("有没得", "有没有"),
        ("没得", "没有"),
        (rf"好久(?=就|才|要|能|得|会|给您|来接|再|想|打算|{_MOVES})(?!没)", "什么时候"),
        ("好多(?=钱|个人|人|位|岁|件|个)", "多少"),
        ("切(?=哪|什么|何处)", "去"),
        (r"要得不(?=\W|$)", "可以不"),
        (r"得不(?=\W*$)", "行不"),
        (r"喃(?=\W|$)", "呢"),
        # Wu
        (r"(?<=[好对行要是可])伐(?=\W|$)|(?<=可以)伐(?=\W|$)", "吗"),
    )
)
_ANY = re.compile(
    "[边邊](?:度|处|一|[日个位])|几多|[冇係咪唔咩乜嘅喺佢㗎噶嚟咗俾畀喃啱掂仲睇咋伐]|点样|听日|今次|[依而]家|啥子|没得|好久|好多|切[哪什]"
    "|得不"
)


def standard(text: str) -> str:
    """A normalised text with the dialect's question words in standard Chinese."""
    if not _ANY.search(text):
        return text
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text
