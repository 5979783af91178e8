#!/usr/bin/env python3
"""A naive reader of gjc sessions behind the adapter protocol (src/corpus/protocol.rs): JSON lines on stdin and stdout.

It reads a transcript line by line, as most tools do, and is wrong wherever gjc does more than that. The list of cases in
which it is wrong is naive.py.expected: `gjc-fsck corpus run corpus --adapter 'python3 ci/adapters/naive.py'
--expected-failures ci/adapters/naive.py.expected`.
"""
import glob, json, os, sys

def values(path):
    """Every line that is JSON; and whether all were."""
    good, clean = [], True
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().split("\n"):
            if line.strip():
                try:
                    good.append(json.loads(line))
                except ValueError:
                    clean = False
    return good, clean

def is_session(values):
    return bool(values) and isinstance(values[0], dict) and values[0].get("type") == "session" and isinstance(values[0].get("id"), str)

def load(request):
    entries, _ = values(request["path"])
    return {"entries": entries if is_session(entries) else []}

def check(request):
    entries, clean = values(request["path"])
    if not clean or not is_session(entries):
        return {"verdicts": {"S": "malformed"}}
    last = entries[-1].get("message") if isinstance(entries[-1], dict) else None
    ended = isinstance(last, dict) and last.get("role") == "assistant"
    return {"verdicts": {"S": "terminal" if ended else "resumable"}}

def sessions(request):
    found = []
    for path in sorted(glob.glob(os.path.join(request["agentDir"], "sessions", "*", "*.jsonl"))):
        entries, _ = values(path) if os.path.isfile(path) else ([], False)
        if is_session(entries) and entries[0].get("cwd") == request["cwd"]:
            found.append({"id": entries[0]["id"], "path": os.path.relpath(path, request["agentDir"])})
    return {"sessions": found}

ANSWERS = {"load": load, "check": check, "list": sessions}

for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "stop":
        break
    reply = {"id": request["id"]}
    if request["op"] == "start":
        reply.update(name="naive.py", operations=sorted(ANSWERS), releases=["0.17"])
    else:
        try:
            reply["answer"] = ANSWERS[request["op"]](request)
        except Exception as error:
            reply["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(reply), flush=True)
