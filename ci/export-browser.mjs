// Opens exported sessions in a headless Chromium and looks at what happens: nothing of a transcript runs, no request leaves
// the page, the console stays silent, the map is walked with real key presses, 5,000 entries open in under two seconds.
//
//     node ci/export-browser.mjs PROGRAM CHROMIUM OUT [TRANSCRIPT…]
//
// With GJC_FSCK_UNTIMED set the page of 5,000 entries is left out, the one thing here that a clock decides.
//
// Speaks the DevTools protocol over a pipe; needs no package. Pictures of the pages are left in OUT.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { loadavg, tmpdir } from 'node:os';
import { deflateSync } from 'node:zlib';

const [program, chromium, out, ...transcripts] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const OPEN_MS = 2000;
const PATIENCE_MS = 60_000;

const failures = [];
const expect = (fact, what) => {
  if (!fact) failures.push(what);
};

// --- Chromium on a pipe -----------------------------------------------------------------------------------------------

const profile = join(tmpdir(), `gjc-fsck-chromium-${process.pid}`);
const browser = spawn(
  chromium,
  ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
);
const waiting = new Map();
const listeners = new Set();
let last = 0;
let held = '';
browser.stdio[4].setEncoding('utf8');
browser.stdio[4].on('data', chunk => {
  held += chunk;
  const messages = held.split('\0');
  held = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id) {
      const [done, failed] = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) failed(new Error(`${message.error.message} ${message.error.data ?? ''}`));
      else done(message.result);
    } else {
      for (const listener of listeners) listener(message);
    }
  }
});
const send = (method, params = {}, sessionId) =>
  new Promise((done, failed) => {
    last += 1;
    const late = setTimeout(() => failed(new Error(`${method} is not answered`)), PATIENCE_MS);
    const answered = settle => value => {
      clearTimeout(late);
      settle(value);
    };
    waiting.set(last, [answered(done), answered(failed)]);
    browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });

const TWO_FRAMES = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))';

/// A page that is watched while it is open.
class Tab {
  static async open(file, { width = 1280, height = 900, mobile = false, dark = false } = {}) {
    const tab = new Tab();
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
    tab.target = targetId;
    tab.session = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    Object.assign(tab, { requests: [], said: [], dialogs: 0, popups: 0 });
    let loaded;
    const load = new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Error(`${file} does not load`)), PATIENCE_MS);
      loaded = () => {
        clearTimeout(late);
        done();
      };
    });
    tab.listener = ({ method, params, sessionId }) => {
      if (method === 'Target.targetCreated' && params.targetInfo.openerId === targetId) tab.popups += 1;
      if (sessionId !== tab.session) return;
      if (method === 'Page.loadEventFired') loaded();
      if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith('data:')) tab.requests.push(params.request.url);
      if (method === 'Runtime.consoleAPICalled') tab.said.push(`console.${params.type}`);
      if (method === 'Runtime.exceptionThrown') tab.said.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === 'Log.entryAdded') tab.said.push(`${params.entry.level}: ${params.entry.text}`);
      if (method === 'Page.javascriptDialogOpening') {
        tab.dialogs += 1;
        tab.send('Page.handleJavaScriptDialog', { accept: false });
      }
    };
    listeners.add(tab.listener);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'DOM']) await tab.send(`${domain}.enable`);
    await tab.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
    await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    // Time of the page's own thread, whatever else the machine does.
    await tab.send('Performance.enable', { timeDomain: 'threadTicks' });
    const began = performance.now();
    await tab.send('Page.navigate', { url: `file://${resolve(file)}` });
    await load;
    // Two frames after the load event something is on the screen.
    await tab.evaluate(TWO_FRAMES);
    tab.opened = performance.now() - began;
    const { metrics } = await tab.send('Performance.getMetrics');
    tab.worked = metrics.find(metric => metric.name === 'TaskDuration').value * 1000;
    await tab.send('Performance.disable');
    tab.name = basename(file);
    return tab;
  }
  send(method, params) {
    return send(method, params, this.session);
  }
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async press(key, code = key) {
    const keys = { Enter: 13, Tab: 9, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
    const event = { key, code, windowsVirtualKeyCode: keys[key], text: key === 'Enter' ? '\r' : undefined };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }
  async picture(name, full = false) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: full });
    writeFileSync(join(out, `${name}.png`), Buffer.from(data, 'base64'));
  }
  async print(name) {
    const { data } = await this.send('Page.printToPDF', { printBackground: true });
    writeFileSync(join(out, `${name}.pdf`), Buffer.from(data, 'base64'));
  }
  /// What must hold of every page once it was used.
  quiet() {
    expect(this.dialogs === 0 && this.popups === 0, `${this.name}: ${this.dialogs} dialogs, ${this.popups} windows`);
    expect(this.said.length === 0, `${this.name}: the console says ${JSON.stringify(this.said.slice(0, 3))}`);
    const foreign = this.requests.slice(1);
    expect(this.requests.length >= 1 && foreign.length === 0, `${this.name}: requests ${JSON.stringify(foreign.slice(0, 3))}`);
  }
  async close() {
    this.quiet();
    listeners.delete(this.listener);
    await send('Target.closeTarget', { targetId: this.target });
  }
}

// --- What is looked at ------------------------------------------------------------------------------------------------

/// Nothing in the page but its own elements can do anything.
const HARMLESS = `(() => {
  const wrong = [];
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) wrong.push(name + ' on ' + element.localName);
      if (name === 'style') wrong.push('style on ' + element.localName);
      if (['href', 'src', 'action', 'xlink:href'].includes(name) && !/^(#|https?:\\/\\/|mailto:|data:image\\/(png|jpeg|gif|webp|avif|bmp);base64,)/.test(value)) wrong.push(name + '=' + value.slice(0, 40));
    }
    if (['iframe', 'object', 'embed', 'form', 'base', 'link', 'audio', 'video', 'template', 'foreignobject'].includes(element.localName)) wrong.push(element.localName);
  }
  if (document.querySelectorAll('svg').length !== 1) wrong.push('another svg');
  if (document.scripts.length !== 2) wrong.push(document.scripts.length + ' scripts');
  if (document.querySelectorAll('style').length !== 1) wrong.push('another style');
  if (window.ran) wrong.push('script of the transcript ran');
  return wrong;
})()`;

const FOCUSED = 'document.activeElement.id';

/// Walks the map with real key presses.
async function walk(tab) {
  const rows = await tab.evaluate('[...document.querySelectorAll("#tree [role=treeitem]")].map(row => [row.id, Number(row.getAttribute("aria-level"))])');
  let tabs = 0;
  do {
    await tab.press('Tab');
    tabs += 1;
  } while (tabs < 10 && !(await tab.evaluate('document.activeElement.matches("[role=treeitem]")')));
  expect(tabs < 10, `${tab.name}: Tab does not reach the map`);
  await tab.press('Home');
  expect((await tab.evaluate(FOCUSED)) === rows[0][0], `${tab.name}: Home is not the first row`);
  const steps = Math.min(rows.length - 1, 40);
  for (let step = 1; step <= steps; step += 1) {
    await tab.press('ArrowDown');
    expect((await tab.evaluate(FOCUSED)) === rows[step][0], `${tab.name}: ArrowDown does not reach row ${step}`);
  }
  for (let step = steps - 1; step >= 0; step -= 1) await tab.press('ArrowUp');
  expect((await tab.evaluate(FOCUSED)) === rows[0][0], `${tab.name}: ArrowUp does not come back`);
  const branch = rows.findIndex(([, level], at) => at > 0 && at <= 40 && level > rows[at - 1][1]);
  if (branch > 0) {
    for (let step = 0; step < branch - 1; step += 1) await tab.press('ArrowDown');
    await tab.press('ArrowRight');
    expect((await tab.evaluate(FOCUSED)) === rows[branch][0], `${tab.name}: ArrowRight does not enter the branch`);
    expect(await tab.evaluate(`!document.getElementById('e${rows[branch][0].slice(1)}').closest('details:not([open])')`), `${tab.name}: the entry of the branch is folded`);
    await tab.press('ArrowLeft');
    expect((await tab.evaluate(FOCUSED)) === rows[branch - 1][0], `${tab.name}: ArrowLeft does not leave the branch`);
  }
  await tab.press('End');
  expect((await tab.evaluate(FOCUSED)) === rows.at(-1)[0], `${tab.name}: End is not the last row`);
  await tab.press('Enter');
  expect((await tab.evaluate(FOCUSED)) === `e${rows.at(-1)[0].slice(1)}`, `${tab.name}: Enter does not go to the entry`);
  const shown = await tab.evaluate(`(() => { const box = document.activeElement.getBoundingClientRect(); return box.top < innerHeight && box.bottom > 0 && box.height > 0; })()`);
  expect(shown, `${tab.name}: the entry is not on the screen`);
  return rows.length;
}

/// What a screen reader is told of the map. Chromium tells it of rows off the screen when it comes to it: asked again for a
/// while.
async function told(tab, rows) {
  await tab.send('Accessibility.enable');
  let nodes = [];
  const of = role => nodes.filter(node => !node.ignored && node.role?.value === role);
  for (let left = 50; left > 0 && of('treeitem').length !== rows; left -= 1) {
    if (nodes.length > 0) await new Promise(done => setTimeout(done, 100));
    ({ nodes } = await tab.send('Accessibility.getFullAXTree'));
  }
  await tab.send('Accessibility.disable');
  expect(of('tree').length === 1, `${tab.name}: ${of('tree').length} trees for a screen reader`);
  expect(of('treeitem').length === rows, `${tab.name}: ${of('treeitem').length} of ${rows} rows for a screen reader`);
  expect(of('treeitem').every(node => node.name?.value), `${tab.name}: a row without a name`);
}

// --- Transcripts ------------------------------------------------------------------------------------------------------

const at = number => new Date(Date.UTC(2026, 0, 2, 3, 0, number)).toISOString();
/// A picture of points: a slope of colours.
function png(width, height) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) rows.set([60 + ((x * 150) / width), 90 + ((y * 120) / height), 170], y * (width * 3 + 1) + 1 + x * 3);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
const PIXEL = png(320, 140).toString('base64');
const header = more => ({ type: 'session', version: 5, id: '0190aaaa-0000-7000-8000-00000000000a', timestamp: at(0), cwd: '/w/demo', ...more });
const lines = records => `${records.map(record => JSON.stringify(record)).join('\n')}\n`;

/// Everything of a transcript tries to run something.
function hostile() {
  const attacks = [
    '<script>window.ran=1;alert(1)</script>',
    '</script><script>window.ran=1</script>',
    '<img src=x onerror="window.ran=1">',
    '<svg onload=window.ran=1><script>window.ran=1</script></svg>',
    '"><iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
    "' onmouseover='window.ran=1' x='",
    '[click](javascript:window.ran=1) <javascript:window.ran=1> [d](data:text/html,<script>window.ran=1</script>)',
    '![x](http://127.0.0.1:9/pixel.png) ![x](//127.0.0.1:9/pixel.png) <link rel=stylesheet href=http://127.0.0.1:9/a.css>',
    '<style>@import "http://127.0.0.1:9/x.css";*{background:url(http://127.0.0.1:9/y.png)}</style>',
    '<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">',
    '```html" onclick="window.ran=1\n</pre><script>window.ran=1</script>\n```',
    '<!-- --><base href="http://127.0.0.1:9/"><form action=http://127.0.0.1:9/><button autofocus onfocus=window.ran=1>',
    '\u202e\u0000\u001b]8;;http://127.0.0.1:9/\u0007 </title><script>window.ran=1</script> \ud800',
  ];
  const records = [header({ title: attacks.join(' '), cwd: attacks[0], parentSession: attacks[2] })];
  let parent = null;
  const add = record => {
    const id = `<img src=x onerror=window.ran=1 id=${records.length}>`;
    records.push({ ...record, id, parentId: parent, timestamp: at(records.length) });
    parent = id;
  };
  for (const attack of attacks) {
    add({ type: 'message', message: { role: 'user', content: attack, timestamp: 1 } });
    add({
      type: 'message',
      message: {
        role: 'assistant', api: attack, provider: attack, model: attack, stopReason: attack, errorMessage: attack, timestamp: 1,
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 } },
        content: [{ type: 'text', text: attack }, { type: 'thinking', thinking: attack }, { type: attack, text: attack }, { type: 'toolCall', id: attack + parent, name: attack, arguments: { [attack]: attack, nested: [attack] } }],
      },
    });
    add({ type: 'message', message: { role: 'toolResult', toolCallId: attack + records.at(-1).parentId, toolName: attack, isError: true, content: [{ type: 'text', text: attack }, { type: 'image', mimeType: 'image/svg+xml', data: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64') }, { type: 'image', mimeType: `image/png"${attack}`, data: `"${attack}` }, { type: 'image_url', image_url: { url: 'http://127.0.0.1:9/z.png' } }], timestamp: 1 } });
    add({ type: 'message', message: { role: 'bashExecution', command: attack, output: attack, exitCode: 1, timestamp: 1 } });
    add({ type: 'message', message: { role: 'fileMention', files: [{ path: attack, content: attack }], timestamp: 1 } });
    add({ type: 'custom_message', customType: attack, content: attack, display: true });
    add({ type: 'custom', customType: attack, data: { [attack]: attack } });
    add({ type: 'label', targetId: records.at(-2).id, label: attack });
    add({ type: 'model_change', model: attack, role: attack });
    add({ type: attack, payload: attack });
  }
  add({ type: 'compaction', summary: attacks.join('\n\n'), firstKeptEntryId: attacks[0], tokensBefore: 5 });
  add({ type: 'branch_summary', fromId: attacks[0], summary: attacks.join('\n\n') });
  return lines(records);
}

/// A conversation with everything that a page can show: branches, labels, a compaction, thinking, tools, an image.
function rich() {
  const records = [header({ title: 'Make the importer survive torn files' })];
  const add = (parentId, record) => {
    const id = `a${String(records.length).padStart(7, '0')}`;
    records.push({ ...record, id, parentId, timestamp: at(records.length * 17) });
    return id;
  };
  const usage = { input: 1240, output: 318, cacheRead: 20480, cacheWrite: 0, totalTokens: 22038, cost: { input: 0.01, output: 0.02, cacheRead: 0, cacheWrite: 0, total: 0.0312 } };
  const user = (parent, content) => add(parent, { type: 'message', message: { role: 'user', content, timestamp: 1 } });
  const assistant = (parent, content, stopReason = 'stop') => add(parent, { type: 'message', message: { role: 'assistant', content, api: 'x', provider: 'anthropic', model: 'claude-sonnet-4-5', usage, stopReason, timestamp: 1 } });
  const result = (parent, id, toolName, text, isError = false) => add(parent, { type: 'message', message: { role: 'toolResult', toolCallId: id, toolName, content: [{ type: 'text', text }], isError, timestamp: 1 } });
  let leaf = add(null, { type: 'model_change', model: 'anthropic/claude-sonnet-4-5' });
  leaf = add(leaf, { type: 'thinking_level_change', thinkingLevel: 'high' });
  leaf = user(leaf, 'The importer dies when the last line of a file is torn.\nPlease make it skip that line and say so.');
  leaf = assistant(leaf, [{ type: 'thinking', thinking: 'First I should see how lines are read. The reader may split at LF and parse each one.' }, { type: 'text', text: 'Let me look at the reader first.' }, { type: 'toolCall', id: 'call_1', name: 'read', arguments: { path: 'src/import.rs' } }], 'toolUse');
  leaf = result(leaf, 'call_1', 'read', 'pub fn import(text: &str) -> Result<Vec<Record>> {\n    text.lines().map(parse).collect()\n}\n');
  const fork = assistant(leaf, [{ type: 'text', text: '`collect` stops at the first error. Two ways:\n\n1. **Skip** every line that does not parse.\n2. Skip only the *last* one, when the file does not end with a line end.\n\n| way | keeps | hides damage |\n|---|---:|---|\n| 1 | 99 % | yes |\n| 2 | 100 % | no |\n\nI would take the second, because damage in the middle should be **seen**.\n\n```rust\nlet (whole, torn) = match text.rsplit_once(\'\\n\') {\n    Some((whole, "")) => (whole, None),\n    Some((whole, torn)) => (whole, Some(torn)),\n    None => ("", Some(text)),\n};\n```\n\nSee [the format](https://example.org/jsonl).' }]);
  let other = user(fork, 'Try the first way.');
  other = assistant(other, [{ type: 'text', text: 'Done, but a line in the middle vanishes without a word now.' }]);
  other = add(other, { type: 'label', targetId: other, label: 'dead end' });
  const second = user(other, 'And if you count them?');
  assistant(second, [{ type: 'text', text: 'Then at least the number is known.' }]);
  leaf = add(fork, { type: 'branch_summary', fromId: other, summary: 'Skipping every bad line was tried: damage in the middle became invisible. The branch was left.' });
  leaf = user(leaf, [{ type: 'text', text: 'The second, yes. This is what the user sees now:' }, { type: 'image', mimeType: 'image/png', data: PIXEL }]);
  leaf = assistant(leaf, [{ type: 'toolCall', id: 'call_2', name: 'edit', arguments: { path: 'src/import.rs', oldText: 'text.lines()', newText: 'whole.lines()' } }, { type: 'toolCall', id: 'call_3', name: 'bash', arguments: { command: 'cargo test -q import' } }], 'toolUse');
  leaf = result(leaf, 'call_2', 'edit', 'Replaced 1 occurrence.');
  leaf = result(leaf, 'call_3', 'bash', 'error[E0425]: cannot find value `whole` in this scope\n --> src/import.rs:2:5\n', true);
  leaf = add(leaf, { type: 'label', targetId: fork, label: 'the plan' });
  const kept = user(leaf, 'You forgot the split.');
  leaf = add(kept, { type: 'compaction', summary: '## Goal\nThe importer must survive a torn last line.\n\n## So far\n- The second way was chosen: skip only the torn last line.\n- `whole` is not yet defined.', firstKeptEntryId: kept, tokensBefore: 48213 });
  leaf = assistant(leaf, [{ type: 'text', text: 'Right. I add it above the loop and test again.' }, { type: 'toolCall', id: 'call_4', name: 'bash', arguments: { command: 'cargo test -q import' } }], 'toolUse');
  leaf = result(leaf, 'call_4', 'bash', 'running 12 tests\n............\ntest result: ok. 12 passed; 0 failed\n');
  leaf = add(leaf, { type: 'message', message: { role: 'bashExecution', command: 'git diff --stat', output: ' src/import.rs | 9 ++++++---\n', exitCode: 0, timestamp: 1 } });
  assistant(leaf, [{ type: 'text', text: 'All twelve tests pass. The torn line is now skipped, and its bytes are named in the warning.' }]);
  return lines(records);
}

/// 5,000 entries with a branch every fifty.
function large() {
  const records = [header({ title: 'Five thousand entries' })];
  let leaf = null;
  for (let number = 1; number <= 5000; number += 1) {
    const id = number.toString(16).padStart(8, '0');
    const text = `Entry **${number}** says something of ordinary length, with \`code\` and a list:\n\n- one\n- two\n\nand it ends here.`;
    const role = number % 4 === 1 ? { role: 'user', content: text } : number % 4 === 3 ? { role: 'toolResult', toolCallId: `c${number}`, toolName: 'bash', isError: false, content: [{ type: 'text', text: 'output\n'.repeat(20) }] } : { role: 'assistant', api: 'x', provider: 'p', model: 'm', stopReason: 'stop', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }, content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text }, { type: 'toolCall', id: `c${number + 1}`, name: 'bash', arguments: { command: 'make' } }] };
    records.push({ type: 'message', id, parentId: leaf, timestamp: at(number), message: { ...role, timestamp: 1 } });
    if (number % 50 !== 0) leaf = id;
  }
  return lines(records);
}

// --- The run ----------------------------------------------------------------------------------------------------------

function exported(name, transcript) {
  const page = join(out, `${name}.html`);
  rmSync(page, { force: true });
  try {
    execFileSync(program, ['export', '--quiet', transcript, page], { stdio: ['ignore', 'ignore', 'pipe'] });
    return page;
  } catch (error) {
    // What gjc loads nothing of has no page.
    if (error.status === 4) return null;
    throw error;
  }
}
function made(name, text) {
  const transcript = join(out, `${name}.jsonl`);
  writeFileSync(transcript, text);
  return exported(name, transcript);
}

// A page of 5,000 entries opens in time.
async function largeOpensFast() {
  const page = made('large', large());
  const [times, work] = [[], []];
  for (let round = 0; round < 3; round += 1) {
    const tab = await Tab.open(page);
    times.push(Math.round(tab.opened));
    work.push(Math.round(tab.worked));
    if (round === 0) expect((await walk(tab)) === 5000, 'large.html: not 5,000 rows');
    await tab.close();
  }
  // The best of three counts. On a machine that does other work at the same time the page is not to blame for waiting: there
  // its own work counts.
  const busy = loadavg()[0] > 1;
  const [best, least] = [Math.min(...times), Math.min(...work)];
  console.log(`   5,000 entries: opened in ${times.join(', ')} ms, of which the page worked ${work.join(', ')} ms (load ${loadavg()[0].toFixed(1)}; at most ${OPEN_MS})`);
  expect((busy ? Math.min(best, least) : best) < OPEN_MS, `5,000 entries open in ${best} ms`);
}

let status = 1;
try {
  await send('Target.setDiscoverTargets', { discover: true });
  const pages = [made('rich', rich()), made('hostile', hostile())];
  for (const transcript of transcripts) {
    const page = exported(basename(transcript, '.jsonl'), transcript);
    if (page) pages.push(page);
    else console.log(`   no page: gjc loads nothing of ${basename(transcript)}`);
  }
  for (const page of pages) {
    const tab = await Tab.open(page);
    const wrong = await tab.evaluate(HARMLESS);
    expect(wrong.length === 0, `${tab.name}: ${JSON.stringify(wrong.slice(0, 5))}`);
    const rows = await walk(tab);
    if (rows < 300) await told(tab, rows);
    await tab.evaluate('document.getElementById("unfold").click()');
    expect((await tab.evaluate('document.querySelectorAll("main details:not([open])").length')) === 0, `${tab.name}: not everything is unfolded`);
    await tab.evaluate('document.getElementById("theme").click()');
    await tab.evaluate('for (const box of document.querySelectorAll(".tools input")) box.click()');
    expect((await tab.evaluate('window.ran')) === undefined, `${tab.name}: script of the transcript ran`);
    console.log(`   ${tab.name}: ${rows} rows walked, opened in ${Math.round(tab.opened)} ms`);
    await tab.close();
  }

  const [rich_, hostile_] = [join(out, 'rich.html'), join(out, 'hostile.html')];
  for (const [name, how] of [['desktop', {}], ['dark', { dark: true }], ['phone', { width: 390, height: 844, mobile: true }], ['phone-dark', { width: 390, height: 844, mobile: true, dark: true }]]) {
    for (const page of [rich_, hostile_, ...pages.slice(2).filter(page => existsSync(page)).slice(0, 12)]) {
      const tab = await Tab.open(page, how);
      await tab.picture(`${basename(page, '.html')}-${name}`);
      const wide = await tab.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(wide <= 0, `${tab.name}, ${name}: ${wide} pixels wider than the screen`);
      await tab.close();
    }
  }
  for (const page of [rich_, hostile_]) {
    const tab = await Tab.open(page);
    const folded = 'document.querySelectorAll("main details:not([open])").length';
    await tab.evaluate(`addEventListener('beforeprint', () => { window.foldedOnPaper = ${folded}; })`);
    const before = await tab.evaluate(folded);
    await tab.print(`${basename(page, '.html')}-print`);
    expect((await tab.evaluate('window.foldedOnPaper')) === 0, `${tab.name}: something is folded on paper`);
    expect(before > 0 && (await tab.evaluate(folded)) === before, `${tab.name}: printing changes what is folded`);
    // Without script it is the style that unfolds.
    await tab.send('Emulation.setEmulatedMedia', { media: 'print' });
    await tab.evaluate(TWO_FRAMES);
    const hidden = '[...document.querySelectorAll("main details:not([open]) > :not(summary)")].filter(inside => !inside.checkVisibility({ contentVisibilityAuto: true })).length';
    expect((await tab.evaluate(hidden)) === 0, `${tab.name}: something is hidden on paper without script`);
    await tab.close();
  }

  if (!process.env.GJC_FSCK_UNTIMED) await largeOpensFast();
  status = failures.length === 0 ? 0 : 1;
} catch (error) {
  failures.push(error.stack);
} finally {
  // Chromium is a family of processes, in a group of its own.
  await send('Browser.close').catch(() => {});
  try {
    process.kill(-browser.pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
for (const failure of failures) console.error(`   FAILED ${failure}`);
console.log(failures.length === 0 ? `   ${transcripts.length} real transcripts, a rich and a hostile one: nothing ran, nothing was asked of the network` : `   ${failures.length} failures`);
process.exit(status);
