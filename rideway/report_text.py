"""Scores and comparisons as text for people at a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from rideway.compare import Comparison, Difference
from rideway.render import interval, number, pairs, percent, plural, shorten, table
from rideway.score import Score

_WIDTH = 96
_TASK = 44  # cells for a task id


def score_text(score: Score, *, most_tasks: int = 20) -> str:
    """What a person wants to know of a score, widest view first."""
    blocks = [
        _headline(score),
        _summary(score),
        _passes(score.pass_table()),
        _models(score.by_model()),
        _tasks(score.by_task(), most_tasks),
        _counting(score),
        _unscored(score),
    ]
    return "\n\n".join(block for block in blocks if block)


def comparison_text(compared: Comparison, score: Score, *, most_tasks: int = 10) -> str:
    """Paired differences, what they are made of, and the tasks that differ most."""
    a, b = compared.labels
    level = f"{100 * compared.level:.0f} %"
    head = f"A = {a}\nB = {b}\nDifferences are B - A, mean over tasks; {level} intervals by "
    head += f"{compared.draws} resamples of the tasks.\n{_floors(score)}"
    names = {
        "efficiency_utility": "Efficiency Utility",
        "success_rate": "success rate",
        "conditional_efficiency_utility": "U of successes",
        "excess_tool_calls": "excess tool calls of successes",
        "excess_turns": "excess turns of successes",
    }
    rows = [_difference_row(label, compared.differences[name]) for name, label in names.items()]
    rows.insert(1, _difference_row("  from success", compared.parts["success"]))
    rows.insert(2, _difference_row("  from efficiency", compared.parts["efficiency"]))
    header = ("measure", "B - A", "interval", "tasks", "B higher", "equal", "B lower")
    blocks = [head, table(header, rows)]
    if compared.by_task:
        shown = [
            (
                shorten(row["task_id"], _TASK),
                row["efficiency_utility_a"],
                row["efficiency_utility_b"],
                row["difference"],
                row["success_rate_a"],
                row["success_rate_b"],
            )
            for row in compared.by_task[:most_tasks]
        ]
        columns = ("task", "U of A", "U of B", "B - A", "success A", "success B")
        blocks.append(f"Tasks that differ most\n{table(columns, shown)}")
    for label, only in (("A", compared.only_a), ("B", compared.only_b)):
        if only:
            ran = "was" if len(only) == 1 else "were"
            blocks.append(f"{plural(len(only), 'task')} {ran} run by {label} alone: left out.")
    if compared.unscored:
        n = plural(len(compared.unscored), "task")
        blocks.append(f"{n} that both ran have no scored run on one side: left out.")
    return "\n\n".join(blocks)


def _headline(score: Score) -> str:
    runs = score.runs
    formats = ", ".join(f"{name} ({n})" for name, n in runs.formats.items())
    tasks, models = len(runs.task_names), len(runs.model_names)
    counts = f"{plural(len(runs), 'run')} · {plural(tasks, 'task')} · {plural(models, 'model')}"
    head = f"{counts} · format {formats or 'none'}"
    return f"{head}\n{_floors(score)}"


def _floors(score: Score) -> str:
    text = f"floors: {score.floors.source} - {score.floors.meaning}"
    lines = [text, *(f"        {note}" for note in score.floors.notes)]
    return "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="        ") for line in lines)


def _summary(score: Score) -> str:
    summary = score.summary()
    of = summary["successes"]
    rate = f"{percent(summary['success_rate'])} of {plural(summary['judged'], 'judged run')}"
    if not summary["n"]:
        return f"No run could be scored. Success rate: {rate}."
    penalties = f"lambda {score.penalties.lambda_tool:g} / {score.penalties.lambda_turn:g}"
    excess = f"{number(of['mean_excess_tool_calls'], 2)} tool calls, "
    excess += f"{number(of['mean_excess_turns'], 2)} turns"
    shares = f"tool calls {percent(of['zero_excess_tool_calls'])}, "
    shares += f"turns {percent(of['zero_excess_turns'])}, both {percent(of['zero_excess'])}"
    rows = [
        ("success rate", rate),
        ("Efficiency Utility", _utility_text(summary, penalties)),
        ("  of successes", number(summary["conditional_efficiency_utility"])),
        ("  their mean excess", excess),
        ("  with zero excess", shares),
    ]
    return pairs(rows)


def _utility_text(summary: dict[str, Any], penalties: str) -> str:
    n, judged = summary["n"], summary["judged"]
    of = f"over the {n} of them that have a floor; " if n < judged else ""
    return f"{number(summary['efficiency_utility'])}   ({of}{penalties})"


def _passes(passes: Sequence[dict[str, Any]]) -> str:
    if len(passes) < 2:
        return ""
    rows = [
        (
            f"k = {row['k']}",
            number(row["pass_at_k"]),
            number(row["pass_hat_k"]),
            row["tasks"],
            row["tasks_short"],
            f"{row['trials_seen']} of {row['trials_expected']}",
        )
        for row in passes
    ]
    header = ("", "pass@k", "pass^k", "model-tasks", "too few trials", "trials seen")
    return table(header, rows)


def _models(models: Sequence[dict[str, Any]]) -> str:
    if len(models) < 2:
        return ""
    rows = [
        (
            m["model"],
            m["n"],
            percent(m["success_rate"]),
            number(m["efficiency_utility"]),
            number(m["conditional_efficiency_utility"]),
            *_last_pass(m["pass"]),
        )
        for m in models
    ]
    header = ("model", "runs", "success", "U", "U of successes", "k", "pass@k", "pass^k")
    return table(header, rows)


def _last_pass(passes: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
    if not passes:
        return "-", "-", "-"
    last = passes[-1]
    return str(last["k"]), number(last["pass_at_k"]), number(last["pass_hat_k"])


def _tasks(tasks: Sequence[dict[str, Any]], most: int) -> str:
    named = [t for t in tasks if t["task_id"] is not None]
    if not named or most <= 0:
        return ""
    worst = sorted(named, key=lambda t: (t["n"] == 0, t["efficiency_utility"] or 0.0))
    rows = [
        (
            shorten(t["task_id"], _TASK),
            t["n"],
            percent(t["success_rate"]),
            number(t["efficiency_utility"]),
            number(t["conditional_efficiency_utility"]),
            t["tool_floor"],
            t["turn_floor"],
            number(t["successes"]["mean_excess_tool_calls"], 1),
            number(t["successes"]["mean_excess_turns"], 1),
        )
        for t in worst[:most]
    ]
    header = ("task", "runs", "success", "U", "U of successes", "tool floor", "turn floor")
    text = table((*header, "excess tools", "excess turns"), rows)
    left = len(named) - len(rows)
    return f"{text}\n… {left} more tasks: --records N shows N" if left else text


def _counting(score: Score) -> str:
    counting = score.counting()
    if not len(score.runs):
        return ""
    total = sum(v for v in score.runs.column("turns").tolist() if v > 0)
    lines = [
        f"Counted: text beside a tool call is {counting['text_beside_calls']}.",
        f"Turns in all runs {total}; "
        f"without any text beside calls {counting['turns_excluding_text_beside_calls']}, "
        f"with all of it {counting['turns_including_text_beside_calls']}.",
    ]
    if counting["sub_agent_tool_calls"]:
        lines.append(
            f"Sub-agents' calls are {counting['sub_agent_calls']}: tool calls in all runs without "
            f"them {counting['tool_calls_excluding_sub_agents']}, "
            f"with them {counting['tool_calls_including_sub_agents']}."
        )
    labels = {
        "greeting_before_user": "greetings before the user spoke (counted as turns)",
        "parallel_messages": "messages with parallel calls",
        "think_calls": "think calls (counted)",
        "terminal_calls": "transfer and finish calls (counted)",
        "handoff_calls": "hand-off calls (counted)",
        "sub_agent_tool_calls": f"sub-agents' calls ({counting['sub_agent_calls']})",
        "user_side_tool_calls": "calls of the simulated user (not counted)",
        "empty_assistant_messages": "empty assistant messages (neither)",
        "control_only_messages": "control markers alone (no turn)",
    }
    parts = [f"{counting[name]} {label}" for name, label in labels.items() if counting[name]]
    if parts:
        lines.append("Apart: " + "; ".join(parts) + ".")
    lines += [f"Note: {note} ({n})" for note, n in score.runs.notes.most_common(5)]
    return "\n".join(
        textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for line in lines
    )


def _unscored(score: Score) -> str:
    reasons: dict[str, list[str]] = {}
    for row, reason in sorted(score.unscored.items()):
        reasons.setdefault(reason, []).append(score.runs.ids[row])
    if not reasons:
        return ""
    lines = [f"  {len(ids):>5}  {reason} (first: {ids[0][:40]})" for reason, ids in reasons.items()]
    return "\n".join([f"Not scored: {plural(len(score.unscored), 'run')}", *lines])


def _difference_row(label: str, d: Difference) -> tuple[str, str, str, int, int, int, int]:
    mean = "-" if d.mean is None else f"{d.mean:+.3f}"
    return (label, mean, interval(d.interval), d.tasks, d.higher, d.equal, d.lower)
