
// Changes against another report ------------------------------------------------------------------
if (about.changes) {
  const changed = about.changes.decisions;
  $('changeSection').hidden = false;
  $('changeTitle').textContent = `Changes against ${about.against}`;
  $('changeHint').textContent = `${changed.filter(c => c.before && c.after).length} of ${about.changes.compared} ops are decided otherwise, ` +
    `${changed.filter(c => !c.before).length} are new, ${changed.filter(c => !c.after).length} are gone; ` +
    `${about.changes.rereasoned} alike for another reason. ` +
    about.changes.totals.map(t => `${t.key}: ${t.before} → ${t.after}`).join('; ');
  makeTable($('changes'), [
    {name: 'op', width: 'minmax(180px, 1fr)', text: c => `@${c.function}:${c.ordinal} ${c.op}`},
    {name: 'name', width: 'minmax(120px, 1fr)', text: c => c.name},
    {name: 'before', width: 'minmax(260px, 2fr)', text: c => c.before || 'is not there'},
    {name: 'now', width: 'minmax(260px, 2fr)', text: c => c.after || 'is not there'},
  ], changed, c => { if (c.after && functions.has(c.function)) select(functions.get(c.function)[c.ordinal] || null, true); });
}

// Text before and after ---------------------------------------------------------------------------
// Lines are paired by the op they begin with: a conversion inserts ops of the mp dialect and changes types, and leaves the order as it is.
const opOfLine = line => (/^\s*(?:[%#!][^=]* = )?"?([^\s("<]+)/.exec(line) || ['', ''])[1];
const unnumbered = line => line.trim().replace(/%\d+/g, '%');
function pairLines(before, after) {
  const rows = [], b = before.map(opOfLine), ops = after.map(opOfLine);
  const known = new Set(b), isInserted = op => op.startsWith('mp.') && !known.has(op);
  const lines = [...after.keys()].filter(j => !isInserted(ops[j])), a = lines.map(j => ops[j]);
  const push = (kind, i, j) => rows.push({kind, i: i < 0 ? 0 : i + 1, j: j < 0 ? 0 : j + 1, before: i < 0 ? '' : before[i], after: j < 0 ? '' : after[j]});
  let written = 0; // lines of `after`
  const writeUpTo = end => { while (written < end) push('added', -1, written++); };
  const pair = (i, j) => {
    writeUpTo(lines[j]);
    push(unnumbered(before[i]) === unnumbered(after[lines[j]]) ? 'same' : 'changed', i, lines[j]);
    ++written;
  };
  // True if the next lines agree, three of them or up to an end.
  const agree = (i, j) => i === b.length && j === a.length ||
    i < b.length && j < a.length && [0, 1, 2].every(k => i + k >= b.length || j + k >= a.length || b[i + k] === a[j + k]);
  let i = 0, j = 0;
  while (i < b.length || j < a.length) {
    if (i < b.length && j < a.length && b[i] === a[j]) { pair(i++, j++); continue; }
    let skip = [b.length - i, a.length - j];
    search: for (let sum = 1; sum <= 300; ++sum)
      for (let d = 0; d <= sum; ++d)
        if (i + d <= b.length && j + sum - d <= a.length && agree(i + d, j + sum - d)) { skip = [d, sum - d]; break search; }
    for (let k = 0; k < skip[0]; ++k) push('gone', i++, -1);
    j += skip[1];
    writeUpTo(j < a.length ? lines[j] : after.length);
  }
  writeUpTo(after.length);
  return rows;
}
if (about.before && about.after) {
  const rows = pairLines(about.before.trimEnd().split('\n'), about.after.trimEnd().split('\n'));
  const near = rows.filter((_, k) => rows.slice(Math.max(0, k - 2), k + 3).some(r => r.kind !== 'same'));
  const count = kind => rows.filter(r => r.kind === kind).length;
  $('textHint').textContent = `${count('changed')} lines changed, ${count('added')} added, ${count('gone')} gone, ${count('same')} as they were. Large constants are elided.`;
  const table = makeTable($('text'), [
    {name: '#', width: '48px', number: true, text: r => r.i ? String(r.i) : ''},
    {name: 'before', width: 'minmax(420px, 1fr)', text: r => r.before},
    {name: '#', width: '48px', number: true, text: r => r.j ? String(r.j) : ''},
    {name: 'after', width: 'minmax(420px, 1fr)', text: r => r.after},
  ], near, () => {}, r => r.kind);
  $('textAll').onchange = () => table.show($('textAll').checked ? rows : near);
} else {
  $('textHint').textContent = 'The module has too many ops to be read as text.';
}
