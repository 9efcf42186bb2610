'use strict';
const D = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const element = (tag, className, text) => {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
};

// Formats and numbers -----------------------------------------------------------------------------
const FORMATS = ['f64', 'f32', 'tf32', 'bf16', 'f16', 'f8', 'none'];
const family = f => !f || f === '_' ? 'none' : f.startsWith('f8') ? 'f8' : /x\d$/.test(f) ? f.slice(0, -2) : FORMATS.includes(f) ? f : 'none';
const styles = getComputedStyle(document.documentElement);
const colourOf = f => styles.getPropertyValue('--f-' + family(f)).trim();
const widths = {f64: 8, f32: 4, tf32: 4, bf16: 2, f16: 2, f8: 1};
function bytesText(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let u = 0;
  while (n >= 1000 && u < 4) { n /= 1000; ++u; }
  return (u && n < 100 ? n.toFixed(1) : Math.round(n)) + ' ' + units[u];
}
function timeText(ps) {
  const units = ['ps', 'ns', 'µs', 'ms', 's'];
  let u = 0;
  while (ps >= 1000 && u < 4) { ps /= 1000; ++u; }
  return ps.toPrecision(3) + ' ' + units[u];
}
// tensor<4x?xf32>: elements, dynamic sizes as assumed, and the format.
function parseType(type) {
  const match = /^(?:tensor|vector)<(.*)>$/.exec(type);
  const parts = (match ? match[1] : type).split(',')[0].split('x');
  const format = parts.pop();
  return {shape: parts.join('×'), format,
          elements: match ? parts.reduce((n, s) => n * (s === '?' ? D.assumed_dim : +s), 1) : 1};
}
const CLASSES = {T: 'contractions', F: 'sums, bounded functions', E: 'moves and selections', D: 'comparisons and steps',
                 A: 'reductions', K: 'softmax, norms, powers', R: 'products, quotients, exp', B: 'others'};

// Rows know their function's rows, who reads them, and how each operand arrives.
const functions = new Map();
const argumentsOf = new Map(D.functions.map(f => [f.name, f.arguments]));
D.ops.forEach((row, index) => {
  row.index = index;
  row.readers = [];
  row.parsed = parseType(row.type || '');
  row.stored = row.out.find(f => f !== '_') || '';
  row.before = row.parsed.format;
  row.label = row.body || row.op.replace(/^\w+\./, '');
  row.precision = row.class === 'T' ? row.compute : row.stored || row.compute;
  if (!functions.has(row.function)) functions.set(row.function, []);
  functions.get(row.function).push(row);
});
for (const rows of functions.values())
  for (const row of rows) {
    const formats = row.in.filter(f => f !== '_');
    row.operands = row.reads.map((from, k) => {
      const op = /^op (\d+)$/.exec(from);
      const source = op ? rows[+op[1]] : null;
      const argument = /^argument (\d+)$/.exec(from);
      const stored = source ? source.stored : argument ? argumentsOf.get(row.function)[+argument[1]] : '';
      const operand = {from, source, read: formats[k] || '', stored};
      operand.cast = !!operand.read && !!stored && operand.read !== stored;
      if (source) source.readers.push(row);
      return operand;
    });
  }

// Totals ------------------------------------------------------------------------------------------
const T = D.totals;
$('summary').textContent = `${D.format} for ${D.target}: ${T.narrowed} of ${T.contractions} contractions compute in ${D.format} ` +
  `with f32 accumulation, in ${functions.size === 1 ? 'function @' + [...functions.keys()][0] : functions.size + ' functions'}.`;
const about = JSON.parse($('aboutData').textContent);
const subject = about.model || '@' + [...functions.keys()].slice(0, 1);
document.title = `${subject} in ${D.format}: mixed precision`;
$('title').textContent = `${subject} in ${D.format}`;
$('about').textContent = `${about.command}; ${about.version}`;
$('letters').textContent = 'Contractions come first. Classes: ' + Object.entries(CLASSES).map(([letter, what]) => `${letter} ${what}`).join('; ') + '.';
function tile(value, label) {
  const t = element('div', 'tile');
  t.append(element('b', '', value), element('span', '', label));
  $('tiles').append(t);
}
tile(`${T.narrowed} / ${T.contractions}`, 'contractions narrow');
tile(T.ops.toLocaleString('en'), 'ops decided');
tile(`${bytesText(T.bytes_before)} → ${bytesText(T.bytes_after)}`, 'read and written, casts fused');
tile(T.casts.toLocaleString('en'), `casts, ${D.casts.filter(c => c.of_argument).length} of arguments`);
tile(bytesText(T.cast_bytes), 'read by casts');
if (D.placement && D.placement.length)
  tile(D.placement.every(p => p.proven_optimal) ? 'proven' : 'bounded', 'placement of storage and casts');
const estimates = (D.placement || []).map(p => p.modelled_error).filter(e => e > 0);
if (estimates.length) tile(Math.max(...estimates).toPrecision(2), 'error of the results in norm, estimated');
const measured = D.ops.reduce((most, row) => row.error ? Math.max(most, row.error.relative_norm) : most, -1);
const ofResults = D.ops.reduce((most, row) => row.error && !row.readers.length ? Math.max(most, row.error.relative_norm) : most, -1);
if (ofResults >= 0) tile(ofResults.toPrecision(2), 'error of the results in norm, measured');
if (measured >= 0) tile(measured.toPrecision(2), 'largest error of an op in norm, measured');
tile(Object.entries(T.by).map(([k, n]) => `${n} by ${k}`).join(', '), 'what decided each op');

// Bars --------------------------------------------------------------------------------------------
function stackRow(parent, label, counts, total, scale, text) {
  const row = element('div', 'row'), stack = element('div', 'stack');
  stack.style.width = Math.max(1, 100 * total / scale) + '%';
  for (const f of FORMATS)
    if (counts[f]) {
      const part = element('i');
      part.style.width = 100 * counts[f] / total + '%';
      part.style.background = colourOf(f);
      part.title = `${f}: ${text(counts[f])}`;
      stack.append(part);
    }
  row.append(element('span', '', label), stack, element('span', 'n', text(total)));
  parent.append(row);
}
const byClass = {};
for (const row of D.ops) {
  const counts = byClass[row.class] = byClass[row.class] || {};
  const f = family(row.compute);
  counts[f] = (counts[f] || 0) + 1;
}
const sumOf = counts => Object.values(counts).reduce((a, b) => a + b, 0);
const most = Math.max(1, ...Object.values(byClass).map(sumOf));
for (const c of Object.keys(CLASSES))
  if (byClass[c]) stackRow($('classes'), `${c}  ${CLASSES[c]}`, byClass[c], sumOf(byClass[c]), most, n => n.toLocaleString('en'));
const before = {}, after = {};
for (const row of D.ops) {
  if (!row.type) continue;
  const b = family(row.before), a = family(row.stored);
  before[b] = (before[b] || 0) + row.parsed.elements * (widths[b] || 4);
  after[a] = (after[a] || 0) + row.parsed.elements * (widths[a] || 4);
}
const scale = Math.max(1, sumOf(before), sumOf(after));
stackRow($('storage'), 'before', before, sumOf(before), scale, bytesText);
stackRow($('storage'), 'after', after, sumOf(after), scale, bytesText);
const present = new Set(D.ops.flatMap(row => [family(row.compute), family(row.stored), family(row.before)]));
for (const f of FORMATS)
  if (present.has(f)) {
    const entry = element('span'), swatch = element('span', 'swatch');
    swatch.style.background = colourOf(f);
    entry.append(swatch, f === 'none' ? 'control flow' : f);
    $('legend').append(entry);
  }
// The cost model's expectation, beside what painting compilers would make of the same graph.
if (D.placement && D.placement.length && D.placement.every(p => p.unit === D.placement[0].unit)) {
  const sum = pick => D.placement.reduce((n, p) => n + pick(p) * p.calls, 0), first = D.placement[0];
  const amounts = [['before', sum(p => p.before)], ['after', sum(p => p.after)],
                   ...Object.keys(first.painted || {}).map(name => [`painted as ${name}`, sum(p => p.painted[name])])];
  const text = first.unit === 'ps' ? timeText : bytesText, top = Math.max(1, ...amounts.map(a => a[1]));
  $('placement').append(element('h2', '', `Modelled ${first.objective} on ${first.part}`));
  for (const [name, amount] of amounts)
    stackRow($('placement'), name, {[name === 'before' ? 'f32' : name === 'after' ? family(D.format) : 'none']: amount}, amount, top, text);
}
const reasons = new Map();
for (const row of D.ops)
  if (row.class === 'T' && !row.narrowed && !row.split) {
    const key = `${row.by}: ${row.reason}`;
    reasons.set(key, (reasons.get(key) || 0) + 1);
  }
if (!reasons.size) $('reasons').append(element('p', 'hint', 'Every contraction computes in the narrow format.'));
for (const [reason, n] of [...reasons].sort((a, b) => b[1] - a[1])) {
  const line = element('div', 'reason');
  line.append(element('b', '', n), element('span', '', reason));
  line.onclick = () => { $('filter').value = reason.replace(/^\w+: /, ''); applyFilter(); $('ops').scrollIntoView({block: 'center'}); };
  $('reasons').append(line);
}
// The same words as on a terminal; what one could do stands by itself.
$('table').textContent = about.table.replace(/^  /gm, '').trimEnd();
const advice = about.table.split('\n').filter(line => /^  (suggestion: |the model expects no gain|\d+ ops? compute in f64)/.test(line));
if (!advice.length) $('advice').append(element('p', 'hint', 'There is none.'));
for (const line of advice) $('advice').append(element('div', 'reason', line.trim().replace(/^suggestion: /, '')));
