// Colours of the graph ----------------------------------------------------------------------------
const logError = row => row.error ? Math.log10(Math.max(1e-12, row.error.relative_norm)) : null;
const worst = D.ops.reduce((most, row) => row.error ? Math.max(most, logError(row)) : most, -12);
const LAYERS = {pin: '#c2255c', policy: '#e8590c', class: '#2f6fb7', range: '#e0a100', cost: '#2a9d78'};
const colourings = {
  'precision': row => colourOf(row.precision),
  'stored format': row => colourOf(row.stored || row.compute),
  'compute format': row => colourOf(row.compute),
  'deciding layer': row => LAYERS[row.by] || colourOf('none'),
};
if (D.ops.some(row => row.error))
  colourings['error'] = row => {
    const e = logError(row);
    if (e === null) return colourOf('none');
    const t = Math.min(1, Math.max(0, (e + 7) / Math.max(1, worst + 7)));
    return `hsl(${60 - 60 * t} 85% ${62 - 14 * t}%)`;
  };
for (const name of Object.keys(colourings)) $('colour').append(new Option(name));
for (const name of functions.keys()) $('function').append(new Option('@' + name, name));

// Layout: ranks by longest path, columns of ranks as on a page ------------------------------------
const W = 132, H = 30, GX = 14, GY = 20, COLUMN_GAP = 70;
function layOut(rows, withConstants) {
  const nodes = [], nodeOf = new Map();
  for (const row of rows) {
    const parents = row.operands.map(o => o.source && nodeOf.get(o.source)).filter(Boolean);
    const fromArgument = row.operands.some(o => !o.source);
    if (!withConstants && row.class === 'E' && !parents.length && !fromArgument && row.compute) continue;
    const node = {row, parents, children: [], rank: 0, slot: 0};
    for (const p of parents) { p.children.push(node); node.rank = Math.max(node.rank, p.rank + 1); }
    nodes.push(node);
    nodeOf.set(row, node);
  }
  // Sources stand right above their first reader.
  for (let i = nodes.length; i--;)
    if (!nodes[i].parents.length && nodes[i].children.length)
      nodes[i].rank = Math.max(0, nodes[i].children.reduce((least, c) => Math.min(least, c.rank), Infinity) - 1);
  const ranks = [];
  for (const node of nodes) (ranks[node.rank] = ranks[node.rank] || []).push(node);
  const place = (rank, near) => {
    for (const node of rank) {
      const around = near(node);
      node.want = around.length ? around.reduce((s, n) => s + n.slot, 0) / around.length : node.slot;
    }
    rank.sort((a, b) => a.want - b.want || a.row.index - b.row.index);
    let last = -Infinity, shift = 0;
    for (const node of rank) { node.slot = Math.max(node.want, last + 1); last = node.slot; shift += node.want - node.slot; }
    for (const node of rank) node.slot += shift / rank.length;
  };
  for (const rank of ranks) if (rank) place(rank, n => n.parents);
  for (let r = ranks.length; r--;) if (ranks[r]) place(ranks[r], n => n.children);
  for (const rank of ranks) if (rank) place(rank, n => n.parents);
  // As many ranks per column as make the whole about twice as wide as high.
  let perColumn = Math.max(1, ranks.length), columns;
  for (let count = 1; ; count = Math.ceil(count * 1.15)) {
    perColumn = Math.ceil(ranks.length / count) || 1;
    columns = [];
    for (let r = 0; r < ranks.length; ++r) {
      const column = columns[Math.floor(r / perColumn)] = columns[Math.floor(r / perColumn)] || {lo: Infinity, hi: -Infinity};
      for (const node of ranks[r] || []) { column.lo = Math.min(column.lo, node.slot); column.hi = Math.max(column.hi, node.slot); }
    }
    const width = columns.reduce((s, c) => s + (c.hi - c.lo + 1) * (W + GX) + COLUMN_GAP, 0);
    if (width >= 1.7 * perColumn * (H + GY) || perColumn === 1) break;
  }
  let x = 0;
  for (const column of columns) { column.x = x - column.lo * (W + GX); x += (column.hi - column.lo + 1) * (W + GX) + COLUMN_GAP; }
  for (const node of nodes) {
    node.x = columns[Math.floor(node.rank / perColumn)].x + node.slot * (W + GX);
    node.y = (node.rank % perColumn) * (H + GY);
  }
  const edges = [];
  for (const node of nodes)
    for (const o of node.row.operands) {
      const from = o.source && nodeOf.get(o.source);
      if (from) edges.push({from, to: node, cast: o.cast});
    }
  return {nodes, edges, nodeOf, width: x - COLUMN_GAP, height: perColumn * (H + GY)};
}

// Drawing -----------------------------------------------------------------------------------------
const canvas = $('canvas'), context = canvas.getContext('2d');
let graph = {nodes: [], edges: [], width: 1, height: 1}, view = {x: 0, y: 0, k: 1}, selected = null, queued = false;
const draw = () => { if (!queued) { queued = true; requestAnimationFrame(paint); } };
function curve(a, b) {
  const x0 = a.x + W / 2, y0 = a.y + H, x1 = b.x + W / 2, y1 = b.y;
  context.moveTo(x0, y0);
  if (y1 > y0) context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
  else context.bezierCurveTo(x0, y0 + 30, x1, y1 - 30, x1, y1);
}
function paint() {
  queued = false;
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== width * ratio || canvas.height !== height * ratio) { canvas.width = width * ratio; canvas.height = height * ratio; }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  const left = -view.x / view.k - W, right = (width - view.x) / view.k, top = -view.y / view.k - H, bottom = (height - view.y) / view.k;
  const sees = n => n.x > left && n.x < right && n.y > top && n.y < bottom;
  const ink = styles.getPropertyValue('--soft').trim(), accent = styles.getPropertyValue('--accent').trim();
  const strokeEdges = (wanted, colour, alpha, thickness) => {
    context.beginPath();
    for (const e of graph.edges) if (wanted(e) && (sees(e.from) || sees(e.to))) curve(e.from, e.to);
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = thickness / Math.min(1, Math.max(view.k, 0.25));
    context.stroke();
    context.globalAlpha = 1;
  };
  const dim = graph.nodes.length > 2000 && view.k < 0.3 ? 0.25 : 0.55;
  strokeEdges(e => !e.cast, ink, dim, 0.8);
  strokeEdges(e => e.cast, accent, 0.85, 1.1);
  if (selected) strokeEdges(e => e.from === selected || e.to === selected, styles.getPropertyValue('--select').trim(), 1, 2);
  const colour = colourings[$('colour').value], labels = view.k > 0.42;
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  for (const node of graph.nodes) {
    if (!sees(node)) continue;
    context.fillStyle = colour(node.row);
    context.beginPath();
    if (labels) context.roundRect(node.x, node.y, W, H, 5); else context.rect(node.x, node.y, W, H);
    context.fill();
    if (node.row.operands.some(o => o.cast && !o.source)) { // an argument is cast for this op
      context.fillStyle = accent;
      context.fillRect(node.x + 8, node.y - 4, 16, 4);
    }
    if (node.row.class === 'T') { context.strokeStyle = styles.getPropertyValue('--ink').trim(); context.lineWidth = 2; context.stroke(); }
    if (node === selected) { context.strokeStyle = accent; context.lineWidth = 4; context.stroke(); }
    if (!labels) continue;
    context.fillStyle = '#fff';
    context.fillText(shorten(node.row.label, 17), node.x + 8, node.y + 10.5);
    context.globalAlpha = 0.85;
    context.fillText(shorten(node.row.parsed.shape || 'scalar', 17), node.x + 8, node.y + 22);
    context.globalAlpha = 1;
  }
}
const shorten = (text, n) => text.length > n ? text.slice(0, n - 1) + '…' : text;
function fit() {
  const width = canvas.clientWidth, height = canvas.clientHeight, margin = 24;
  view.k = Math.min(1.2, (width - 2 * margin) / graph.width, (height - 2 * margin) / graph.height);
  view.x = (width - graph.width * view.k) / 2;
  view.y = (height - graph.height * view.k) / 2;
  draw();
}
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const k = Math.min(3, Math.max(0.01, view.k * factor));
  view.x = x - (x - view.x) * k / view.k;
  view.y = y - (y - view.y) * k / view.k;
  view.k = k;
  draw();
}
function nodeAt(x, y) {
  const gx = (x - view.x) / view.k, gy = (y - view.y) / view.k;
  return graph.nodes.find(n => gx >= n.x && gx <= n.x + W && gy >= n.y && gy <= n.y + H);
}
function showFunction() {
  selected = null;
  graph = layOut(functions.get($('function').value) || [], $('constants').checked);
  describe(null);
  fit();
}
canvas.addEventListener('wheel', e => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY); }, {passive: false});
let drag = null;
const fingers = new Map(); // pointers that are down
canvas.addEventListener('pointerdown', e => {
  drag = {x: e.clientX, y: e.clientY, moved: fingers.size > 0};
  fingers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
  canvas.setPointerCapture(e.pointerId);
});
// Two fingers zoom about their middle by the change of their distance.
function pinch(e) {
  const [a, b] = [...fingers.values()], before = Math.hypot(a.x - b.x, a.y - b.y);
  fingers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
  const [c, d] = [...fingers.values()], after = Math.hypot(c.x - d.x, c.y - d.y);
  if (before > 0 && after > 0) zoom(after / before, (c.x + d.x) / 2, (c.y + d.y) / 2);
}
canvas.addEventListener('pointermove', e => {
  if (fingers.size === 2 && fingers.has(e.pointerId)) { pinch(e); return; }
  if (!drag) { const n = nodeAt(e.offsetX, e.offsetY); canvas.title = n ? `${n.row.op} — ${n.row.by} ${n.row.reason}` : ''; return; }
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
  drag = {x: e.clientX, y: e.clientY, moved: true};
  canvas.classList.add('moving');
  view.x += dx; view.y += dy;
  draw();
});
const lift = e => { fingers.delete(e.pointerId); drag = null; canvas.classList.remove('moving'); };
canvas.addEventListener('pointercancel', lift);
canvas.addEventListener('pointerup', e => {
  if (drag && !drag.moved) { const n = nodeAt(e.offsetX, e.offsetY); select(n ? n.row : null, false); }
  lift(e);
});
canvas.addEventListener('keydown', e => { if (e.key === '+') zoom(1.25); else if (e.key === '-') zoom(0.8); else if (e.key === '0') fit(); });
$('zoomIn').onclick = () => zoom(1.4);
$('zoomOut').onclick = () => zoom(1 / 1.4);
$('fit').onclick = fit;
$('colour').onchange = draw;
$('function').onchange = $('constants').onchange = showFunction;
new ResizeObserver(draw).observe(canvas);

// One op in words ---------------------------------------------------------------------------------
function link(row) {
  const a = element('a', 'op', `#${row.ordinal} ${row.op}`);
  a.onclick = () => select(row, true);
  return a;
}
function describe(row) {
  const panel = $('details');
  panel.replaceChildren();
  if (!row) {
    panel.append(element('p', 'hint', 'Click an op: what it reads and writes, who decided, and why. A dark frame marks contractions.'));
    return;
  }
  panel.append(element('h3', '', `#${row.ordinal} ${row.op}`),
               element('p', 'where', row.location === 'unknown' ? `@${row.function}` : `${row.location}, @${row.function}`));
  const facts = element('table');
  const fact = (name, value) => { const tr = element('tr'); tr.append(element('td', '', name), element('td', '', value)); facts.append(tr); };
  fact('class', `${row.class}, ${CLASSES[row.class]}`);
  if (row.body) fact('body', row.body);
  fact('computes in', row.compute || 'carries values');
  fact('decided by', row.by);
  fact('because', row.reason);
  if (row.evidence) fact('ranges', row.evidence);
  for (const o of row.suggestions || [])
    fact('suggestion', `${o.rewrite} (${o.option}): ${o.of} ${o.found === null ? 'has no bound' : 'may reach ' + o.found}, ${o.format} ends at ${o.limit}`);
  fact('bytes', `${bytesText(row.bytes_before)} → ${bytesText(row.bytes_after)}`);
  if (row.error) {
    fact('error', `${row.error.relative_norm.toExponential(2)} in norm, ${row.error.max_abs.toExponential(2)} at most`);
  }
  panel.append(facts);
  const list = (title, entries) => {
    if (!entries.length) return;
    panel.append(element('h4', '', title));
    const table = element('table');
    for (const entry of entries) table.append(entry);
    panel.append(table);
  };
  list('reads', row.operands.map(o => {
    const tr = element('tr'), from = element('td'), how = element('td');
    from.append(o.source ? link(o.source) : o.from);
    how.append(o.cast ? element('span', 'cast', `${o.stored} → ${o.read}`) : o.read);
    tr.append(from, how);
    return tr;
  }));
  list('writes', row.out.filter(f => f !== '_').map((f, k) => {
    const tr = element('tr');
    tr.append(element('td', '', k ? '' : row.type), element('td', '', `stored in ${f}`));
    return tr;
  }));
  list('read by', [...new Set(row.readers)].slice(0, 40).map(r => {
    const tr = element('tr'), to = element('td');
    to.append(link(r));
    tr.append(to, element('td', '', r.compute));
    return tr;
  }));
}
// R.html#FUNCTION:ORDINAL opens the page at an op.
function selectFromAddress() {
  const match = /^#(.*):(\d+)$/.exec(location.hash);
  const rows = match && functions.get(decodeURIComponent(match[1]));
  if (rows && rows[+match[2]]) select(rows[+match[2]], true);
}
function select(row, centre) {
  if (row && row.function !== $('function').value) { $('function').value = row.function; showFunction(); }
  selected = row ? graph.nodeOf.get(row) || null : null;
  if (selected && centre) {
    view.k = Math.max(view.k, 0.7);
    view.x = canvas.clientWidth / 2 - (selected.x + W / 2) * view.k;
    view.y = canvas.clientHeight / 2 - (selected.y + H / 2) * view.k;
  }
  describe(row);
  opTable.mark(row);
  history.replaceState(null, '', row ? `#${encodeURIComponent(row.function)}:${row.ordinal}` : location.pathname);
  draw();
}

