#!/usr/bin/env python3
"""Checks one stream of `otaflash --json` on standard input against the rules and the schema.

usage: check-events.py SCHEMA EXIT-CODE < stream
Exit 0: no problem; 1: problems, on standard error. Without the jsonschema module only the rules of the
stream are checked.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None


def main() -> None:
    schema_path, exit_code = sys.argv[1], int(sys.argv[2])
    events = [json.loads(line) for line in sys.stdin]
    problems = []
    if not events or events[0]["type"] != "hello":
        problems.append("the first line is not a hello")
    if [e["type"] for e in events].count("result") != 1 or events[-1]["type"] != "result":
        problems.append("the stream does not have exactly one result, at the end")
    elif events[-1]["exit"] != exit_code:
        problems.append(f"result.exit is {events[-1]['exit']}, the process ended with {exit_code}")
    if [e["seq"] for e in events] != list(range(len(events))):
        problems.append("seq has gaps")
    tasks_of = {}
    for event in events:
        open_tasks = tasks_of.setdefault(event.get("device"), [])
        if event["type"] == "task_begin":
            open_tasks.append(event["task"])
        elif event["type"] == "task_end" and (not open_tasks or open_tasks.pop() != event["task"]):
            problems.append(f"line {event['seq']}: ends a task that is not the innermost")
    for device, open_tasks in tasks_of.items():
        if open_tasks:
            problems.append(f"tasks never ended: {open_tasks} of {device}")
    if Draft202012Validator:
        with open(schema_path, encoding="utf-8") as file:
            validator = Draft202012Validator(json.load(file))
        for event in events:
            for error in validator.iter_errors(event):
                problems.append(f"line {event.get('seq')}: {error.message[:300]}")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
