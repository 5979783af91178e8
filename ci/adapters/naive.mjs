// A naive reader of gjc sessions in some forty lines, behind the adapter protocol (src/corpus/protocol.rs): it loads a transcript
// line by line with JSON.parse, and calls it sound when every line is JSON and the first one is a header. To migrate means to it
// to number the entries of version 1, and the context is every message from the last record up to the root.
// Where it is wrong: naive.mjs.expected.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

function load(path) {
  const entries = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    try {
      entries.push(JSON.parse(line));
    } catch {
      // What is no JSON is dropped.
    }
  }
  return entries[0]?.type === "session" ? entries : [];
}

function migrate(path) {
  const entries = load(path);
  if (entries.length && (entries[0].version ?? 1) < 2)
    entries.slice(1).forEach((entry, n) => Object.assign(entry, { id: `#${n}`, parentId: n ? `#${n - 1}` : null }));
  if (entries.length) entries[0].version = 5;
  return entries;
}

function context(path) {
  const entries = migrate(path).slice(1);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const said = new Set();
  for (let entry = entries.at(-1); entry && !said.has(entry); entry = byId.get(entry.parentId)) said.add(entry);
  const messages = [...said].reverse().filter((entry) => entry.type === "message");
  const models = {}, configuredModelChains = {};
  for (const { message } of messages) if (message.role === "assistant") models.default = `${message.provider}/${message.model}`;
  for (const [role, model] of Object.entries(models))
    configuredModelChains[role] = { role, entries: [model], origin: "legacy_session", explicitHead: true };
  const none = { injectedTtsrRules: [], injectedTtsrRuleRecords: [], ttsrMessageCount: 0, selectedMCPToolNames: [],
    hasPersistedMCPToolSelection: false, hasPersistedDiscoveredBuiltinToolSelection: false, mode: "none" };
  return { context: { messages: messages.map((entry) => entry.message), thinkingLevel: "off", models, configuredModelChains, ...none },
    message_entry_ids: messages.map((entry) => entry.id) };
}

function check(path) {
  const lines = readFileSync(path, "utf8").split("\n").filter((line) => line.trim() !== "");
  const isJson = (line) => { try { JSON.parse(line); return true; } catch { return false; } };
  if (!lines.every(isJson) || JSON.parse(lines[0] ?? "null")?.type !== "session") return { verdicts: { S: "malformed" } };
  return { verdicts: { S: JSON.parse(lines.at(-1))?.message?.role === "assistant" ? "terminal" : "resumable" } };
}

function answer({ op, path }) {
  if (op === "load") return { entries: load(path) };
  if (op === "migrate") return { entries: migrate(path) };
  if (op === "context") return context(path);
  if (op === "check") return check(path);
  throw new Error(`${op} is not answered`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "stop") break;
  const reply = { id: request.id };
  try {
    if (request.op === "start") Object.assign(reply, { name: "naive.mjs", operations: ["load", "migrate", "context", "check"], releases: ["0.17"] });
    else reply.answer = answer(request);
  } catch (error) {
    reply.error = error.name;
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
