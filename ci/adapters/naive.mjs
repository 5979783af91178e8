// A naive reader of gjc sessions in forty lines, behind the adapter protocol (src/corpus/protocol.rs): it loads a transcript
// line by line with JSON.parse, and calls it sound when every line is JSON and the first one is a header.
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

function check(path) {
  const lines = readFileSync(path, "utf8").split("\n").filter((line) => line.trim() !== "");
  const isJson = (line) => { try { JSON.parse(line); return true; } catch { return false; } };
  if (!lines.every(isJson) || JSON.parse(lines[0] ?? "null")?.type !== "session") return { verdicts: { S: "malformed" } };
  return { verdicts: { S: JSON.parse(lines.at(-1))?.message?.role === "assistant" ? "terminal" : "resumable" } };
}

function answer({ op, path }) {
  if (op === "load") return { entries: load(path) };
  if (op === "check") return check(path);
  throw new Error(`${op} is not answered`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "stop") break;
  const reply = { id: request.id };
  try {
    if (request.op === "start") Object.assign(reply, { name: "naive.mjs", operations: ["load", "check"], releases: ["0.17"] });
    else reply.answer = answer(request);
  } catch (error) {
    reply.error = String(error);
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
