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

def migrate(request):
    entries = load(request)["entries"]
    if entries and entries[0].get("version", 1) < 2:
        for number, entry in enumerate(entries[1:]):
            entry["id"], entry["parentId"] = f"#{number}", f"#{number - 1}" if number else None
    if entries:
        entries[0]["version"] = 5
    return {"entries": entries}

def context(request):
    entries = migrate(request)["entries"][1:]
    by_id = {entry.get("id"): entry for entry in entries}
    path, entry = [], entries[-1] if entries else None
    while entry is not None and entry not in path:
        path.insert(0, entry)
        entry = by_id.get(entry.get("parentId"))
    said = [entry for entry in path if entry.get("type") == "message"]
    models = {"default": f"{m['provider']}/{m['model']}" for m in (e["message"] for e in said) if m.get("role") == "assistant"}
    chains = {role: {"role": role, "entries": [model], "origin": "legacy_session", "explicitHead": True} for role, model in models.items()}
    return {"context": {"messages": [entry["message"] for entry in said], "thinkingLevel": "off", "models": models,
        "configuredModelChains": chains, "injectedTtsrRules": [], "injectedTtsrRuleRecords": [], "ttsrMessageCount": 0,
        "selectedMCPToolNames": [], "hasPersistedMCPToolSelection": False, "hasPersistedDiscoveredBuiltinToolSelection": False,
        "mode": "none"}, "message_entry_ids": [entry["id"] for entry in said]}

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

ANSWERS = {"load": load, "migrate": migrate, "context": context, "check": check, "list": sessions}

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
            reply["error"] = type(error).__name__
    print(json.dumps(reply), flush=True)
