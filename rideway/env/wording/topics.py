"""What an agent can ask a rider about, and the wordings that ask about it in Chinese.

The wordings are applied to clauses that are known to ask (`understanding` finds them), so that a
word here means "asks about" and never just "mentions". Text is normalised: half-width punctuation,
simplified characters.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from rideway.env.wording.whereabouts import ends_asked


class Topic(StrEnum):
    """What a question is about; `OTHER` is a question about anything else."""

    PEOPLE = "people"
    LUGGAGE = "luggage"
    CHILD = "child"
    PET = "pet"
    ORIGIN = "origin"
    DESTINATION = "destination"
    WAYPOINT = "waypoint"
    TIME = "time"
    CAR_TYPE = "car_type"
    CAR_NEEDS = "car_needs"
    DRIVER = "driver"
    ROUTE = "route"
    BUDGET = "budget"
    FLIGHT = "flight"
    NOTES = "notes"
    REMINDER = "reminder"
    CONTACT = "contact"
    PURPOSE = "purpose"
    OTHER = "other"


CAR_TYPES = (
    "特惠快车",
    "快车",
    "出租车",
    "优享",
    "无障碍车",
    "宠物车",
    "专车",
    "小货车",
    "六座商务",
    "豪华车",
)
"""Names of the car types of all cities (a test holds them to the cities' own)."""

WHEN = (
    "(?:几点|几时|何时|多会儿?|什么(?:时候|时间|时段|点儿?|日子)|啥(?:时候|时间|点儿?|时段)"
    "|哪(?:[一几]?天|些(?:天|日子)|个时间|个点(?!钟?[接上])|个时段|会儿)|几号(?![线门楼])|星期几|周几|礼拜几|几月)"
)
_STAY = (
    "(?:逛|玩|(?<!等)待|呆|停|坐(?!车)|吃|看|聊|办|拍|买|歇|参观|游览|用餐|吃饭|办事)(?:完|的|上|要|得|个|一会|时间|大概|大约|需要|想)*"
    "(?:多久|多长时间|多少时间|多长|几分钟|几个?(?:小时|钟头))"
    "|(?:停留|停靠|用餐|游览|参观|逗留)(?:的)?(?:时间|时长)"
)
"""How long a stop lasts, which is no departure time."""
_N = r"[\d一二两三四五六七八九十]+"
_MAN = "(?:司机师傅|司机|师傅|驾驶员|开车的)"
_CARS = "|".join(CAR_TYPES)

# verbose regular expressions: one kind of wording a line
_WORDINGS: dict[Topic, str] = {
    Topic.PEOPLE: rf"""
        几(?:位(?![^,几]{{1,8}}[里中](?:面|间)?有)|个(?:人|大人|乘客|客人|同伴|小伙伴|成人|朋友|座?位子?)|人|口|名)
        |多少(?:个|位|名)?(?:人|位|乘客|客人|座?位子?)|人数|满员|坐得下|坐几(?![座点号路时站班])
        |谁(?!的|家)|人头|人员|全家|一行|家属|[几多]大[几多]小|(?<![选定派挑择])哪(?:几|些)?位(?!司机|师傅)(?!更|最|合|比)|哪些人
        |(?:同|随)行|同乘|结伴|一(?:起|块儿?|道|同)(?:走|去|坐|的|出行|乘|出发|过去|上车)
        |有人(?:跟|和|陪|同|一)|(?:跟|和|同)谁|(?:也|都)(?:跟着)?(?:去|来|走|坐|一[起块道同](?!约|预|订|叫|安排|办|带上|加上|设|备注|写))(?!过|哪|什么|啥|几)
        |(?:一共|总共|拢共|统共|你们|算上您|加上您|[去来坐走])(?:有|是)?几个(?!箱|包|件|行李|东西|点|小时|钟|地|站)|作伴|做伴|有伴|俩人|仨
        |老伴|太太|爱人|别的?人(?!来|去接)|人多(?:不多|吗)|陪(?:同|着|您|你|他|她|老)
        |乘客(?!.{{0,2}}(?:有没有|是否|对|会|介意|的))|乘车人|坐车的?(?:人|是)|(?:给|替|帮|为)(?:别人|他人|家人|朋友)
        |(?:自己|本人|一个人|独自|单独(?!叫|订|约|下单|派|预))(?!.{{0,3}}(?:定|选|带|决定)|家|的)
        |{_N}(?:位|个人|人|口人)(?!座|[^,]{{0,10}}(?:师傅|司机))|大人|成年人|(?:有|带|位|个|是)老人(?!家)
        """,
    Topic.LUGGAGE: r"""
        行[李囊]|(?<!航空)(?<!冰)箱(?!型)|几(?:个|只)?(?:件|箱|包|袋|样|大件)|大件|要搬|搬的|东西.{0,3}拿|重物|后备[箱厢]|尾箱
        |行头|家私|架生|装备|用品|[要得会还]带(?!轮椅|路|人|孩|娃|宠|狗|猫|话|来|谁|几位|给|多少人|多少位)|带不带|怎么[放摆搁]|[放搁摆](?:哪|得下|不放)|家伙|器材|乐器|设备|道具|要[拎扛背]|[拎扛背]的|携带|包裹|物品|家[什当]|货(?!车|拉)|大包|小包|托运|随身|手提|重不重|沉不沉|占地方|体积
        |(?:带|拿|提|拎|扛|背|搬|运|拉|装|放)(?:着|了|上|的|些|过去|过来)*(?:什么|多少|哪些|啥|很多|不少|大|几(?!位|个人|人|口|名))(?!人|时候|车|孩|宠)
        |(?:带|拿|提|搬|运|拉|放|装).{0,4}东西|(?<!买)(?<!取)(?<!吃)东西
        """,
    Topic.CHILD: r"""
        (?<!毛)孩|儿童|宝宝|婴|娃|小朋友|幼儿|安全座椅|几岁|多大(?:了|年纪|年龄|岁)|未成年|小宝
        """,
    Topic.PET: r"""
        宠物|狗|猫|毛孩子|动物|航空箱|牵引绳|[带跟和](?:着|上)?它|它们?也?(?:一[起块道同]|[去来坐上])
        """,
    Topic.WAYPOINT: r"""
        途[经径中]|中[途间]|经停|停靠|停车|停留|停一?(?:下|会|(?<=停)[几多]少?分钟)|顺[路道便]|半[路道]|沿途|捎(?!.{0,3}话)
        |路上.{0,4}(?:停|去|接|买|办|要|需|有|经)|绕(?:一?下|道|到|去|过去|一圈|路去)|(?:也|还|都|再|需要|不用|要不?要?|用不?用?)(?:要|得|需要|去|来|一起)*接(?!送|机|您|你|受|单|电话|待|收)|拐(?!弯)
        |(?:再|还|另外?|也|先).{0,4}接(?:其他|别|另|上|个|谁|人)|接(?:其他|别的?|另外?|一?个人)|接送其他
        |(?:其他|别的|另外的?|多个|几个|第二个?|第三个?)(?:要去的)?(?:地方|站点?|上车点|目的地|地点|停靠点|停留点)
        |几站|一站(?:直达|到)|直达|直接(?:到|过去|去)|逗留|[待呆停]多|(?<![能可])等候?多|经过(?!.{0,4}同意)|加(?:个|一个)?(?:点|站|停)|(?<!从)(?<!在)站点|先(?:去|到)(?!.{0,3}接您)
        |第[一二三四五六七八九]站|依次|顺序|先后
        """
    f"|{_STAY}",
    Topic.TIME: rf"""
        {WHEN}|(?<!时)(?<!多长)(?<!多少)时间(?!长|优先|短)|(?<!到)时候|日期|时段|时刻|准点|钟点|立马|[哪何几]一?日|哪个(?:日子|钟头)|多咱|啥前儿|辰光|时辰|多[早晚](?!安|饭)|[早中]?班次时间
        |(?:现在|马上|立[即刻]|即[时刻]|这会儿|眼下|实时|这就|直接)(?:就|要|就要|要不要)?(?:走|出发|用车|叫|要车|动身|要(?!去)|上车|打车|出行).{{0,10}}(?:还是|吗|么|吧|\?|呢)
        |(?:即时|实时|立即|现在|马上).{{0,8}}(?:预约|预定|稍后)|(?:预约|稍后|以后|晚点|过会儿?).{{0,8}}还是
        |还是.{{0,6}}(?:预约|预定|约个?时间|提前|晚[点些]|稍后|过会)
        |多久(?:之?后|以后|内)|多长时间(?:之?后|以后)|(?<![别莫])(?<!不要)(?<!不用)(?<!先别)(?<!别着)着?急(?!刹|救|诊|哈|啊)|赶(?:时间|不赶)
        |\d\s*点|[二两三四五六七八九十]点|一点(?:钟|半|出发|走)|\d[:]\d\d
        """,
    Topic.CAR_TYPE: rf"""
        车型|车种|车(?:辆|子)?的?(?:类型|种类|级别|档次|大小|等级|款)|坐什么|(?<!不)舒服|舒坦|几座|[五六七四]座|舒适|豪华|商务
        |多大的?车|(?:什么|哪一?[种类款个档]|哪样|啥|怎样|怎么样|何种|什么样|啥样)(?:样|类型?|级别|档次?|等级|种|款)?的?车(?![牌站门库次里内上厢])
        |档次|什么档|哪一?档|经济(?:型|一?点|实惠)?|普通(?:的)?车|大一?[点些]的?车?(?!.{{0,3}}(?:师傅|司机))|(?:宽敞|省钱|高档|舒服|舒适|便宜|普通|一般|好|大|小)(?:一?点|一?些)?的.{{0,9}}车
        |车(?:子)?要?大(?!概|约)
        |{_CARS}|网约车|轿车|面包车|[Ss][Uu][Vv]|[Mm][Pp][Vv]|拼车
        |叫(?:哪|什么|啥)(?:一?[个种款类样])?的?车|(?:选|坐|要|用|乘)(?:哪|什么|啥)(?:个|种|款|一?种|一?款|类|样)?的?车|(?:[坐乘](?:哪|什么|啥)个?|(?:选|坐|要|用|乘)(?:哪|什么|啥)(?:种|款|一?种|一?款|类|样))的?(?:好|呢|\?|$|比较)
        """,
    Topic.CAR_NEEDS: r"""
        车(?:[上里内子厢辆])(?:您|你)?还?有(?:没有)?(?:什么|啥|哪些)?(?:特殊|特别|其[他它]|别)?的?需要
        |(?<![用乘叫打约坐])车(?:辆|内|里|上|子|厢|况)?(?:方面|环境|本身|这块)?(?:您|你|上)?
            还?(?:有|的)?(?:没有|无)?(?:什么|啥|哪些|何)?(?:特殊|特别|其[他它]|别的|额外|具体)?的?
            (?:要求|需求|偏好|讲究|条件|设备|设施|配置|喜好|需要注意)
        |无烟|烟味|[抽吸]烟|烟|轮椅|无障碍(?!车)|空调|温度|冷气|暖气|安静|静音|[异气香怪]味|味道|味儿|香[水薰氛]|晕车|充电
        |(?<!安全)(?<!儿童)座椅|通风|开窗|车窗|过敏|音乐(?![厅节会学])|平稳|开稳|车况|卫生|干净|整洁|宽敞|身体|健康|(?<!看)病(?!房)
        |环境|(?<!几个)(?<!多少)(?<!多少个)座位(?!数|够)|后排
        |[乘坐](?:车|坐|着|得)?(?:起来|上|方面|时候|的时候)?[^,]{0,6}(?:要求|讲究|偏好|注意)
       |空间|宽绰|呼吸|敏感|晕(?!倒)|颠|难受|车内|照[顾料]|坐车.{0,12}(?:注意|留意)|行动|腿脚|不方便|不便|不舒服|忌讳|介意|在意|怕(?!堵)|哮喘|气管
        """,
    Topic.DRIVER: rf"""
        {_MAN}|驾龄|性别|评[分价]|好评|星级|男的|女的|[男女][性士]|是男是女|会说|口音|方言|老手|经验|力气|性格|脾气|车技
        """,
    Topic.ROUTE: r"""
        路线|线路|怎么走|顺序|先后|先去哪[个家站处边]|走(?:哪|什么|啥|高速|高架|[内外中]环|小路|大路|地面|隧道|[^,]{0,3}桥|国道|快速路|收费|绕城|近路)
        |高速|高架|[过道]路费|路桥费|通行费|收费(?:路|站|公路|路段)?|过桥|绕(?:行|路|开|远)|避[开让免]|不走|拥?堵|抄近|近[路道]
        |最快|最短|少(?:弯|转|红绿灯)|哪一?条(?:路|线|道)?|哪一?座桥|隧道|(?:快|近|省时|省钱)(?:一?点|些)?的?路|时间优先|路况
        """,
    Topic.BUDGET: r"""
        预算|价位|价[格钱]|多少钱|费用|车费|花(?:多少|费|销|不)|便宜|[太别偏]贵|贵一?[点些]|实惠|控制在|上限|心理价|金额|省钱|钱(?!包)
        |最?(?:多|高)(?:能|愿意|可以)?(?:接受|出|花|付)|接受.{0,6}(?:范围|区间|价|元|块)|性价比|划算|开支
        """,
    Topic.FLIGHT: r"""
        航班|航空公司|飞机|起飞|落地|降落|班机|登机|机票|车次|哪一?[趟班](?:航班|飞机|火车|高铁|动车|船|轮渡)|(?:航班|飞机|火车|高铁|动车|船|轮渡)[^,]{0,6}哪一?[趟班]
        |高铁(?!站)|火车(?!站)|动车|列车|船班|轮渡|接机|赶飞|班次
        |船票|车票
        """,
    Topic.NOTES: rf"""
        备注|留言|(?:嘱咐|叮嘱|交代|转达|转告).{{0,4}}(?:的话|{_MAN})|[捎带留].{{0,3}}(?<!电)话|(?<!电)话.{{0,3}}[捎带留]|附言|嘱托
        |(?:告诉|转告|叮嘱|嘱咐|交[代待]|提醒|通知|告知|吩咐|传达|转达)(?:一?下|给)?(?:这?位)?{_MAN}
        |(?:给|跟|和|同|向|对|让|请|需要?){_MAN}(?:师傅)?[^要]{{0,4}}(?:说|讲|备注|留|带|转|捎|交[代待]|注意|知道|写|叮嘱|配合|传)
        |{_MAN}(?:有?[什啥]么?)?(?:需要?|要)?(?:特别)?(?:注意|知道|留意|提前知道|了解)
        """,
    Topic.REMINDER: rf"""
        提醒(?!.{{0,3}}{_MAN})|闹钟|叫醒|叫(?:您|你)(?:起床|一声)|提前.{{0,8}}(?:通知|打电话|叫|喊|告知|知会)|(?:通知|喊|知会)(?:您|你)
        """,
    Topic.CONTACT: r"""
        电话|手机|(?<!航班)号码|联[系络](?:方式|人|到|谁|哪|电话|乘客|上)|怎么联[系络]|姓名|[全大芳]名|名姓|称呼|贵姓|名字|尾号|(?<!地方)(?<!酒店)(?<!餐厅)(?<!店)叫什么(?!.{0,2}车)|姓什么|姓啥
        |谁的(?:名|电|手|号)|打(?:给)?谁|找谁
        """,
    Topic.PURPOSE: r"""
        用途|目的(?![地站])|干(?:什么|嘛|啥|吗)|做什么|做啥|办(?:什么|啥)|什么(?:事(?!项)|场合|活动|原因|性质)|啥(?:事|场合)|出差|旅游
        |看病|就[医诊]|上班|开会|面试|游玩|聚会|为什么|为啥|为了(?:什么|啥)|私事|公事|公务|因公|因私
        """,
}
"""Topic -> a verbose regular expression over a clause that asks; where to is `whereabouts`'."""

_COUNTS_PEOPLE = re.compile(
    r"""
    几(?:位|个人|人|口|个大人)|多少(?:个|位)?人|人数|谁|大人|成人|老人|乘客
    """,
    re.VERBOSE,
)
_HOW_MANY = re.compile("几(?:位|个人|口|人)|多少(?:个|位)?人|人数")
_WHEN = re.compile(WHEN)
_AIRLINE = re.compile("航空公司")
_ABOUT_FLIGHT = re.compile("航班|飞机|起飞|落地|降落|火车|高铁|动车|车次|登机")
_DRIVER_COMES = re.compile(
    rf"""
    ^(?!.*(?:什么样|怎样|啥样|哪样)的)(?!.*[男女]).*(?:{_MAN}(?:师傅)?(?:应?该|需要|要
    |能|可以|会|大概|直接|导航|开车|开)*(?:到|去|在|来|从|几点|什么时候|怎么走|怎么联系
    |给您|联系|提前|多久|等|接|走|送|停)|{_MAN}(?:师傅)?的?(?:电话|备注|留言)|(?:让|请
    |派|叫|安排){_MAN}(?:师傅)?(?:直接|再|顺便)?(?:去|到|来|在|几点|从|送|停|等
    |什么时候))
    """,
    re.VERBOSE,
)
_ATTITUDE = re.compile("^(?!.*(?:烟|味|座|空调|安静|轮椅|身体)).*(?:介意|在意|怕|忌讳)")
_MONEY = re.compile("预算|价|钱|费|元|块")
_BOOT = re.compile("后备|尾箱")
_CAR_TASTE = re.compile(
    "^[^,]{0,4}车(?:子|辆)?(?:方面)?(?:您|你)?(?:有|的)?(?:没有)?(?:什么|啥)?偏好"
)
_KIND_OF_CAR = re.compile("车型|什么车|哪种车")
_ALONG = re.compile("接|上车|上来")
_CABIN = re.compile("烟|味|轮椅|安静|空调|晕|无障碍设")
_SENT = re.compile("送(?:您|你|他|她|去|到|往|人|客人)*(?:哪|什么|何)")
_NAME_OF_PLACE = re.compile(
    "(?<!您的)(?<!你的)(?<!乘客的)(?:店|馆|地方|酒店|餐厅|楼|茶|公园|小区|那家|饭)[^您你]{0,6}(?:叫|名)"
)
_PLACE_OF = re.compile(
    "(?:看病|就[医诊]|上班|开会|面试|聚会|活动)的?(?:地点|地址|地方|场地|公司|在哪|具体在|医院)"
)
_CHILD_FETCHED = re.compile(
    r"""
    ^(?!.*(?:座|几岁|多大|年龄|几个|有没有|有无|[带跟]))
    .*(?:接|送|等|给|替|陪)(?:上|到|着|完|您|你|的|一下)*(?:小?孩|娃|宝|小朋友)
    """,
    re.VERBOSE,
)
"""A child that is fetched or waited for: nobody asks whether there is one."""
_ELSEWHERE = re.compile(
    "^(?!.*(?:停|途|顺|经)).*还是[^,]{0,6}(?:其他|别的|另外的?)(?:地方|地点|目的地)"
)
_CROSSES = re.compile(
    r"""
    从[^,]{0,8}(?:过关|通关|过境|出境|出关|起飞)|飞[^,]{1,6}从
    |^(?!.*(?:上下?车|出发|接)).*下车
    """,
    re.VERBOSE,
)
"""Where the ride ends, though 从 or 在 stands in front of it."""
_FETCH = re.compile("取|买|接|拿")
_PIECES = re.compile("行李|东西|件")
_SEAT = re.compile("座椅|座")
_ORDER = re.compile("顺序|先后|先去哪[个家站处边]")
_A_WAY = re.compile("路线|线路|的路|走")

_Hiding = tuple[Topic, frozenset[Topic], re.Pattern[str] | None, re.Pattern[str] | None]
_HIDES: tuple[_Hiding, ...] = (
    # (a topic, what then only stands beside it, where, where not)
    (Topic.FLIGHT, frozenset({Topic.TIME}), _ABOUT_FLIGHT, None),
    (Topic.FLIGHT, frozenset({Topic.DESTINATION}), _AIRLINE, None),
    (Topic.NOTES, frozenset({Topic.DRIVER, Topic.CAR_NEEDS, Topic.WAYPOINT}), None, None),
    (Topic.REMINDER, frozenset({Topic.TIME, Topic.CONTACT, Topic.DESTINATION}), None, None),
    (Topic.CONTACT, frozenset({Topic.PEOPLE}), None, _HOW_MANY),
    (Topic.CONTACT, frozenset({Topic.DRIVER}), None, None),
    (Topic.TIME, frozenset({Topic.PURPOSE}), _WHEN, None),
    (Topic.WAYPOINT, frozenset({Topic.TIME}), re.compile(_STAY), _WHEN),
    (Topic.PET, frozenset({Topic.PEOPLE}), None, _COUNTS_PEOPLE),
    (Topic.PET, frozenset({Topic.LUGGAGE}), None, _PIECES),
    (Topic.CHILD, frozenset({Topic.CAR_NEEDS}), _SEAT, None),
    (Topic.CHILD, frozenset({Topic.LUGGAGE}), None, _PIECES),
    (Topic.ROUTE, frozenset({Topic.BUDGET}), _A_WAY, None),
    (Topic.CHILD, frozenset({Topic.PEOPLE}), None, _COUNTS_PEOPLE),
    (Topic.CAR_NEEDS, frozenset({Topic.PEOPLE}), None, _COUNTS_PEOPLE),
    (Topic.PURPOSE, frozenset({Topic.DESTINATION}), None, None),
    (Topic.CAR_TYPE, frozenset({Topic.CAR_NEEDS}), None, _CABIN),
    (Topic.DESTINATION, frozenset({Topic.WAYPOINT}), _SENT, None),
    (Topic.WAYPOINT, frozenset({Topic.ROUTE, Topic.DESTINATION, Topic.ORIGIN}), None, _ORDER),
    (Topic.WAYPOINT, frozenset({Topic.LUGGAGE, Topic.PEOPLE}), _FETCH, None),
    (Topic.WAYPOINT, frozenset({Topic.PEOPLE}), _ALONG, None),
    (Topic.LUGGAGE, frozenset({Topic.PEOPLE}), None, _COUNTS_PEOPLE),
    (Topic.CAR_TYPE, frozenset({Topic.BUDGET}), None, _MONEY),
    (Topic.LUGGAGE, frozenset({Topic.CAR_TYPE}), _BOOT, _KIND_OF_CAR),
)


@cache
def _patterns() -> tuple[tuple[Topic, re.Pattern[str]], ...]:
    return tuple((topic, re.compile(text, re.VERBOSE)) for topic, text in _WORDINGS.items())


_WEAK_TIME = re.compile(
    r"""
    (?:周|星期|礼拜)[一二三四五六日天][^,]{0,6}还是
    |(?:今|明|后|当|大后)[天晚早日儿](?!.{0,3}[带跟和])(?!.{0,4}一[起块道同]).{0,12}(?:还是|吗|么|吧|对|\?)
    |(?:早上|上午|中午|下午|晚上|傍晚|凌晨).{0,8}(?:还是|吗|么|吧|\?)
    |多(?:长|少)时间|多久|几个?(?:小时|钟头)
    """,
    re.VERBOSE,
)
"""A day, or a span: asked about only where the clause asks about nothing else."""


def topics_in(clause: str) -> tuple[Topic, ...]:
    """The topics that an asking clause is about, each once, in the order of their words."""
    found: dict[Topic, int] = {}
    for topic, pattern in _patterns():
        if match := pattern.search(clause):
            found[topic] = match.start()
    for place, end in ends_asked(clause):
        found.setdefault(Topic(end), place)
    if Topic.CONTACT in found and _NAME_OF_PLACE.search(clause):
        found.setdefault(Topic.DESTINATION, found.pop(Topic.CONTACT))
    if Topic.PURPOSE in found and _PLACE_OF.search(clause):
        found.setdefault(Topic.DESTINATION, found.pop(Topic.PURPOSE))
    if Topic.CHILD in found and _CHILD_FETCHED.search(clause):
        del found[Topic.CHILD]
    if Topic.WAYPOINT in found and _ELSEWHERE.search(clause):
        found.setdefault(Topic.DESTINATION, found.pop(Topic.WAYPOINT))
    if Topic.ORIGIN in found and _CROSSES.search(clause):
        found.setdefault(Topic.DESTINATION, found.pop(Topic.ORIGIN))
    if Topic.DRIVER in found and _DRIVER_COMES.search(clause):
        del found[Topic.DRIVER]
    if not found and (match := _WEAK_TIME.search(clause)):
        found[Topic.TIME] = match.start()
    if len(found) > 1:
        _settle(clause, found)
    if Topic.CAR_NEEDS in found and _CAR_TASTE.search(clause):
        found.setdefault(Topic.CAR_TYPE, found[Topic.CAR_NEEDS])
    return tuple(sorted(found, key=found.__getitem__))


def _settle(clause: str, found: dict[Topic, int]) -> None:
    """Takes out the topics that only stand beside the one that is meant."""
    for topic, hidden, where, where_not in _HIDES:
        if topic in found and not hidden.isdisjoint(found):
            if where is not None and not where.search(clause):
                continue
            if where_not is not None and where_not.search(clause):
                continue
            for other in hidden:
                found.pop(other, None)
    if Topic.CAR_NEEDS in found and len(found) > 1 and _ATTITUDE.search(clause):
        del found[Topic.CAR_NEEDS]  # 过桥费您介意吗
