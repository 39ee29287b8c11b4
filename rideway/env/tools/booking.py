"""The 8 write tools: everything is checked first, then one order is put into the state."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Annotated, Any

from rideway.env.arguments import Between, Length
from rideway.env.clock import canonical, spoken
from rideway.env.market import Driver
from rideway.env.orders import (
    LONGEST_REMINDER,
    NO_NEEDS,
    STATUS_TEXT,
    Order,
    OrderKind,
    Status,
)
from rideway.env.refusal import conflict, invalid, unavailable
from rideway.env.routing import Preference
from rideway.env.tools.fares import CarTypeName
from rideway.env.tools.history import AFTER_LAPSE, OrderId, lapse
from rideway.env.tools.maps import PlaceId, Waypoints
from rideway.env.tools.needs import Needs, check_needs
from rideway.env.world import DEFAULT_CAR_TYPE, World, candidate_document

MOST_NOTES = 10
_BEFORE_TRIP = (Status.PENDING, Status.CONFIRMED, Status.ARRIVING)
_UNFINISHED = (*_BEFORE_TRIP, Status.ON_TRIP)


def select_car_type(world: World, order_id: OrderId, car_type: CarTypeName) -> dict[str, Any]:
    """更换待确认订单的车型，并重新计价。

    Args:
        order_id: 订单编号。
        car_type: 新的车型名称。
    """
    order = _changeable(world, order_id, (Status.PENDING,), "更换车型")
    if order.car_type == car_type:
        raise conflict(f"订单 {order_id} 的车型已经是{car_type}，无需更换。")
    departure = order.departure_time
    world.car_type(car_type, departure)
    check_needs(world, car_type, order.needs, departure)
    route = world.route(
        order.origin_id,
        order.destination_id,
        order.waypoint_ids,
        order.route_preference,
        departure,
    )
    quote = world.quote(car_type, route)
    return _put(world, order._replace(car_type=car_type, price=quote.price_yuan))


def create_immediate_ride(
    world: World,
    destination_id: PlaceId,
    origin_id: PlaceId | None = None,
    car_type: CarTypeName | None = None,
    waypoint_ids: Waypoints | None = None,
    route_preference: Preference = "fastest",
    needs: Needs | None = None,
) -> dict[str, Any]:
    """创建即时用车订单（现在出发）。订单为待确认状态，需再用 confirm_ride 确认并指派司机。

    Args:
        destination_id: 终点的地点编号。
        origin_id: 起点的地点编号；不填为用户当前位置。
        car_type: 车型名称；不填为用户默认车型。
        waypoint_ids: 途经点的地点编号，按到访顺序排列。
        route_preference: 路线偏好：fastest 最快，shortest 最短，no_toll 不走收费路，
            smooth 平稳少弯。
        needs: 乘车需求：人数、行李、宠物、儿童座椅、轮椅、乘车人。
    """
    return _create(
        world,
        "immediate",
        world.state.now,
        (origin_id, destination_id, waypoint_ids),
        car_type,
        route_preference,
        needs,
    )


def create_scheduled_ride(
    world: World,
    destination_id: PlaceId,
    departure_time: datetime,
    origin_id: PlaceId | None = None,
    car_type: CarTypeName | None = None,
    waypoint_ids: Waypoints | None = None,
    route_preference: Preference = "fastest",
    needs: Needs | None = None,
) -> dict[str, Any]:
    """创建预约用车订单。订单为待确认状态，需再用 confirm_ride 确认并指派司机。

    Args:
        destination_id: 终点的地点编号。
        departure_time: 出发时间，ISO 8601，如 2026-04-17T19:30:00+08:00，须晚于现在。
        origin_id: 起点的地点编号；不填为用户当前位置。
        car_type: 车型名称；不填为用户默认车型。
        waypoint_ids: 途经点的地点编号，按到访顺序排列。
        route_preference: 路线偏好：fastest 最快，shortest 最短，no_toll 不走收费路，
            smooth 平稳少弯。
        needs: 乘车需求：人数、行李、宠物、儿童座椅、轮椅、乘车人。
    """
    return _create(
        world,
        "scheduled",
        world.booking_time(departure_time),
        (origin_id, destination_id, waypoint_ids),
        car_type,
        route_preference,
        needs,
    )


def confirm_ride(
    world: World, order_id: OrderId, driver_id: Annotated[str, Length(1, 60)] | None = None
) -> dict[str, Any]:
    """确认待确认的订单并指派司机；即时订单须在下单后 30 分钟内确认，预约订单须在出发前确认。

    Args:
        order_id: 订单编号。
        driver_id: 司机编号，取自 match_drivers；不填则指派最近的在线司机。
    """
    order = _changeable(world, order_id, (Status.PENDING,), "确认")
    now = world.state.now
    if driver_id is None:
        return _put(world, _nearest(world, order))
    driver = world.driver_of(order, driver_id)
    if not driver.on_duty:
        raise unavailable(
            f"{driver.name}当前不在线，无法接单。请用 match_drivers 选择 on_duty 为 true 的司机。"
        )
    confirmed = _with_driver(order, driver, now)
    if other := world.engagement(driver_id, confirmed):
        raise conflict(f"{driver.name}在该时段已接您的订单 {other.order_id}，请另选一位司机。")
    return _put(world, confirmed)


def cancel_ride(
    world: World, order_id: OrderId, reason: Annotated[str, Length(1, 100)] | None = None
) -> dict[str, Any]:
    """取消尚未开始行程的订单。待确认的订单、确认后 2 分钟内、以及预约单出发前 30 分钟以上免费；
    其余情况收取预估价 10% 的取消费（最低 5 元，最高 30 元）。

    Args:
        order_id: 订单编号。
        reason: 取消原因。
    """
    order = _changeable(world, order_id, _BEFORE_TRIP, "取消", lapsed=True)
    now = world.state.now
    return _put(
        world,
        order._replace(
            cancelled_at=now,
            cancel_reason=reason,
            cancellation_fee=order.fee_at(now),
            reminder_minutes=None,
        ),
    )


def update_destination(
    world: World,
    order_id: OrderId,
    destination_id: PlaceId,
    waypoint_ids: Waypoints | None = None,
) -> dict[str, Any]:
    """修改未结束订单的终点或途经点，并重新计价；车型、司机、备注等不变。

    Args:
        order_id: 订单编号。
        destination_id: 终点的地点编号；只改途经点时填原终点。
        waypoint_ids: 途经点的地点编号，按到访顺序排列；不填则保留原途经点，[] 为全部取消。
    """
    order = _changeable(world, order_id, _UNFINISHED, "修改终点")
    stops = order.waypoint_ids if waypoint_ids is None else tuple(waypoint_ids)
    if (destination_id, stops) == (order.destination_id, order.waypoint_ids):
        raise conflict(f"订单 {order_id} 的终点和途经点与原来相同，无需修改。")
    departure = order.departure_time
    route = world.route(order.origin_id, destination_id, stops, order.route_preference, departure)
    quote = world.quote(order.car_type, route)
    minutes = quote.minutes
    if order.status_at(world.state.now) is Status.ON_TRIP:
        driven = world.state.now - order.milestones().start
        minutes = max(minutes, int(driven / timedelta(minutes=1)) + 1)
    moved = order._replace(
        destination_id=destination_id,
        waypoint_ids=stops,
        price=quote.price_yuan,
        km=quote.km,
        minutes=minutes,
        toll=quote.toll,
    )
    if moved.driver and (other := world.engagement(moved.driver["driver_id"], moved)):
        raise conflict(
            f"修改后行程约 {minutes} 分钟，{moved.driver['name']}会赶不上您的订单 "
            f"{other.order_id}。请先取消其中一单，再另选司机。"
        )
    return _put(world, moved)


def set_ride_reminder(
    world: World, order_id: OrderId, minutes_before: Annotated[int, Between(1, LONGEST_REMINDER)]
) -> dict[str, Any]:
    """为预约订单设置出发提醒；每个订单一个提醒，再次设置会替换原来的。

    Args:
        order_id: 订单编号。
        minutes_before: 出发前多少分钟提醒，最多 1440 分钟（24 小时）。
    """
    order = _changeable(world, order_id, _BEFORE_TRIP, "设置提醒")
    if order.kind == "immediate":
        raise conflict(f"订单 {order_id} 是即时订单，现在就出发，不需要提醒。")
    if order.reminder_minutes == minutes_before:
        raise conflict(f"订单 {order_id} 已设置出发前 {minutes_before} 分钟提醒。")
    now, departure = world.state.now, order.departure_time
    if departure <= now:
        raise conflict(f"订单 {order_id} 的出发时间 {spoken(departure)} 已过，不能再设提醒。")
    latest = math.ceil((departure - now) / timedelta(minutes=1)) - 1
    if minutes_before > latest:
        choice = f"minutes_before 最大可填 {latest}" if latest else "已经来不及设提醒"
        raise invalid(
            f"提醒时间已经过去：{spoken(departure)}出发，现在是 {canonical(now)}，{choice}。"
        )
    return _put(world, order._replace(reminder_minutes=minutes_before))


def add_ride_note(
    world: World, order_id: OrderId, note: Annotated[str, Length(1, 100)]
) -> dict[str, Any]:
    """给订单添加一条司机可见的备注。

    Args:
        order_id: 订单编号。
        note: 备注内容，不超过 100 个字。
    """
    order = _changeable(world, order_id, _UNFINISHED, "添加备注")
    if note in order.notes:
        raise conflict(f"订单 {order_id} 已有相同的备注。")
    if len(order.notes) >= MOST_NOTES:
        raise conflict(f"订单 {order_id} 已有 {MOST_NOTES} 条备注，不能再添加。")
    return _put(world, order._replace(notes=(*order.notes, note)))


def _create(
    world: World,
    kind: OrderKind,
    departure: datetime,
    way: tuple[str | None, str, list[str] | None],
    car_type: str | None,
    preference: Preference,
    needs: Needs | None,
) -> dict[str, Any]:
    state = world.state
    origin_id, destination_id, waypoint_ids = way[0] or state.current_place, way[1], way[2] or []
    route = world.route(origin_id, destination_id, waypoint_ids, preference, departure)
    name = world.car_type(car_type or default_car_type(world), departure)
    complete = {**NO_NEEDS, **(needs or {})}
    check_needs(world, name, complete, departure)
    quote = world.quote(name, route)
    return _put(
        world,
        Order(
            order_id=state.next_order_id(),
            kind=kind,
            created_at=state.now,
            departure_time=departure,
            origin_id=origin_id,
            destination_id=destination_id,
            waypoint_ids=tuple(waypoint_ids),
            car_type=name,
            route_preference=preference,
            needs=complete,
            price=quote.price_yuan,
            km=quote.km,
            minutes=quote.minutes,
            toll=quote.toll,
        ),
    )


def default_car_type(world: World) -> str:
    """The car type of a ride that names none: the user's usual one, else 快车."""
    preferred = (world.state.user.get("preferences") or {}).get("car_type")
    return str(preferred) if preferred in world.city.car_types else DEFAULT_CAR_TYPE


def _changeable(
    world: World,
    order_id: str,
    allowed: tuple[Status, ...],
    action: str,
    *,
    lapsed: bool = False,
) -> Order:
    """The order, if its status allows the action; `lapsed`: also when it can only be cancelled."""
    order = world.order(order_id)
    now = world.state.now
    status = order.status_at(now)
    if status in allowed:
        if not lapsed and order.has_lapsed(now):
            raise conflict(f"订单 {order_id} {lapse(order)}，不能{action}。{AFTER_LAPSE}。")
        return order
    if status is Status.CANCELLED or status is Status.FINISHED:
        advice = "如需用车请新建订单"
    elif status is Status.ON_TRIP:
        advice = "行程已经开始，只能用 update_destination 修改终点或用 add_ride_note 添加备注"
    else:
        advice = "如需变更，请用 cancel_ride 取消后重新下单"
    raise conflict(f"订单 {order_id} {STATUS_TEXT[status]}，不能{action}。{advice}。")


def _nearest(world: World, order: Order) -> Order:
    """The order confirmed with the nearest driver who is on duty and free."""
    origin = world.place(order.origin_id, "origin_id")
    now = world.state.now
    candidates = world.candidates(origin, order.car_type, order.departure_time)
    for driver in sorted(candidates, key=lambda one: one.distance_m):
        if driver.on_duty:
            confirmed = _with_driver(order, driver, now)
            if world.engagement(driver.id, confirmed) is None:
                return confirmed
    raise unavailable(
        f"{spoken(order.departure_time)}上车点附近暂无可接单的{order.car_type}司机。"
        "请换车型，或取消后改约其他时间。"
    )


def _with_driver(order: Order, driver: Driver, now: datetime) -> Order:
    return order._replace(driver=candidate_document(driver), confirmed_at=now)


def _put(world: World, order: Order) -> dict[str, Any]:
    world.state.put(order)
    return world.state.order_document(order)
