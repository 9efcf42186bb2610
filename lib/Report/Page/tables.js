// Tables that render what is in sight ---------------------------------------------------------------
function makeTable(host, columns, rows, onClick, kindOf = () => '') {
  const template = columns.map(c => c.width).join(' ');
  let shown = rows.slice(), marked = null, order = null;
  const head = element('div', 'head'), body = element('div');
  head.style.gridTemplateColumns = template;
  columns.forEach(c => {
    const cell = element('span', c.number ? 'num' : '', c.name);
    cell.onclick = () => {
      order = order && order.column === c ? {column: c, sign: -order.sign} : {column: c, sign: c.number ? -1 : 1};
      sort();
      render();
    };
    head.append(cell);
  });
  host.append(head, body);
  body.style.position = 'relative';
  const key = (c, row) => c.key ? c.key(row) : c.text(row);
  function sort() {
    if (!order) return;
    shown.sort((a, b) => {
      const x = key(order.column, a), y = key(order.column, b);
      return order.sign * (typeof x === 'number' ? x - y : String(x).localeCompare(String(y)));
    });
  }
  function render() {
    body.style.height = shown.length * 28 + 'px';
    const first = Math.max(0, Math.floor(host.scrollTop / 28) - 4), last = Math.min(shown.length, first + Math.ceil(host.clientHeight / 28) + 8);
    const lines = [];
    for (let i = first; i < last; ++i) {
      const row = shown[i], line = element('div', `line ${row === marked ? 'on' : ''} ${kindOf(row)}`.trim());
      line.style.top = i * 28 + 'px';
      line.style.gridTemplateColumns = template;
      for (const c of columns) {
        const cell = element('span', c.number ? 'num' : '');
        const text = c.text(row);
        if (c.format && text) {
          const swatch = element('span', 'swatch');
          swatch.style.background = colourOf(text.split(' ')[0]);
          cell.append(swatch);
        }
        cell.append(text);
        cell.title = c.title ? c.title(row) : text;
        line.append(cell);
      }
      line.onclick = () => onClick(row);
      lines.push(line);
    }
    body.replaceChildren(...lines);
  }
  host.addEventListener('scroll', render);
  render();
  return {
    show(filtered) { shown = filtered.slice(); sort(); host.scrollTop = 0; render(); },
    mark(row) { marked = row; render(); },
  };
}
// A file without its folders, which every row would begin with; the title has the whole.
const placeText = row => row.location === 'unknown' ? '' : /:\d+$/.test(row.location) ? row.location.replace(/^.*\//, '').replace(/:0$/, '') : row.location;
const placeColumn = width => ({name: 'location', width, text: placeText, title: row => row.location});
const opColumns = [
  {name: '#', width: '56px', number: true, text: r => String(r.ordinal), key: r => r.index},
  {name: 'op', width: 'minmax(150px, 1.4fr)', text: r => r.body ? `${r.op}: ${r.body}` : r.op},
  {name: 'shape', width: 'minmax(80px, 0.8fr)', text: r => r.parsed.shape, key: r => r.parsed.elements},
  {name: 'class', width: '150px', text: r => `${r.class} ${CLASSES[r.class]}`},
  {name: 'computes', width: '84px', text: r => r.compute, format: true},
  {name: 'stores', width: '84px', text: r => r.stored, format: true},
  {name: 'by', width: '60px', text: r => r.by},
  {name: 'reason', width: 'minmax(160px, 2fr)', text: r => r.reason in CLASSES ? `its class: ${CLASSES[r.reason]}` : r.reason},
  {name: 'bytes', width: '130px', number: true, text: r => `${bytesText(r.bytes_before)} → ${bytesText(r.bytes_after)}`, key: r => r.bytes_before},
  placeColumn('minmax(90px, 1fr)'),
];
if (D.ops.some(r => r.name && r.name !== r.location))
  opColumns.splice(2, 0, {name: 'name', width: 'minmax(120px, 1.2fr)', text: r => r.name || ''});
if (D.ops.some(r => r.error))
  opColumns.splice(-1, 0, {name: 'error', width: '80px', number: true, text: r => r.error ? r.error.relative_norm.toExponential(1) : '',
                          key: r => r.error ? r.error.relative_norm : -1});
const byImportance = D.ops.filter(r => r.class === 'T').concat(D.ops.filter(r => r.class !== 'T'));
const opTable = makeTable($('ops'), opColumns, byImportance, row => select(row, true));
for (const row of D.ops)
  row.haystack = [row.op, row.body, row.name, row.function, row.type, row.class, row.compute, row.stored, row.by, row.reason, row.location,
                  row.narrowed ? 'narrowed' : ''].join(' ').toLowerCase();
function applyFilter() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = byImportance.filter(row => words.every(w => row.haystack.includes(w)));
  opTable.show(rows);
  $('count').textContent = `${rows.length.toLocaleString('en')} of ${D.ops.length.toLocaleString('en')} ops`;
}
$('filter').oninput = applyFilter;
applyFilter();
// Layers: names up to their last part, "blocks.0.attention" of "blocks.0.attention.query".
const layers = new Map();
for (const row of D.ops) {
  const path = (row.name || '').split(/[./]/).slice(0, -1).join('.');
  if (!path) continue;
  if (!layers.has(path)) layers.set(path, {path, ops: 0, contractions: 0, narrowed: 0, before: 0, after: 0, error: -1});
  const layer = layers.get(path);
  layer.ops += 1;
  layer.contractions += row.class === 'T';
  layer.narrowed += row.narrowed;
  layer.before += row.bytes_before;
  layer.after += row.bytes_after;
  if (row.error) layer.error = Math.max(layer.error, row.error.relative_norm);
}
if (layers.size) {
  $('layerSection').hidden = false;
  makeTable($('layers'), [
    {name: 'layer', width: 'minmax(220px, 3fr)', text: l => l.path},
    {name: 'ops', width: '70px', number: true, text: l => String(l.ops), key: l => l.ops},
    {name: 'contractions narrow', width: '150px', number: true, text: l => `${l.narrowed} of ${l.contractions}`, key: l => l.contractions},
    {name: 'bytes', width: '170px', number: true, text: l => `${bytesText(l.before)} → ${bytesText(l.after)}`, key: l => l.before},
    {name: 'error', width: '90px', number: true, text: l => l.error < 0 ? '' : l.error.toExponential(1), key: l => l.error},
  ], [...layers.values()], l => { $('filter').value = l.path; applyFilter(); $('ops').scrollIntoView({block: 'center'}); });
}
$('castHint').textContent = D.casts.length ? `${D.casts.length} casts read ${bytesText(T.cast_bytes)}, ${bytesText(T.cast_bytes_of_arguments)} of it arguments at every call.`
                                           : 'There are none.';
makeTable($('casts'), [
  {name: 'tensor', width: 'minmax(200px, 2fr)', text: c => c.tensor},
  {name: 'type', width: 'minmax(140px, 1fr)', text: c => c.type},
  {name: 'from', width: '90px', text: c => c.from, format: true},
  {name: 'to', width: '90px', text: c => c.to, format: true},
  {name: 'bytes read', width: '100px', number: true, text: c => bytesText(c.bytes), key: c => c.bytes},
  {name: 'users', width: '60px', number: true, text: c => String(c.users), key: c => c.users},
  {name: 'function', width: '140px', text: c => '@' + c.function},
  placeColumn('minmax(100px, 1fr)'),
], D.casts.slice().sort((a, b) => b.bytes - a.bytes), () => {});

// Errors ------------------------------------------------------------------------------------------
const known = D.ops.filter(row => row.error);
if (known.length) {
  $('errorSection').hidden = false;
  const zero = known.filter(row => row.error.relative_norm === 0).length;
  $('errorHint').textContent = `Relative error in norm against the reference, ${known.length} ops measured, ${zero} of them exact. Powers of ten:`;
  const bins = new Map();
  for (const row of known)
    if (row.error.relative_norm > 0) {
      const b = Math.max(-12, Math.floor(Math.log10(row.error.relative_norm))); // beyond f32's digits: one bar
      bins.set(b, (bins.get(b) || 0) + 1);
    }
  if (bins.size) {
    const lo = Math.min(...bins.keys()), hi = Math.max(...bins.keys()), top = Math.max(...bins.values());
    const bars = element('div', 'histogram'), axis = element('div', 'axis');
    for (let b = lo; b <= hi; ++b) {
      const bar = element('div');
      bar.style.height = 100 * (bins.get(b) || 0) / top + '%';
      bar.title = `${bins.get(b) || 0} ops`;
      bars.append(bar);
      axis.append(element('span', '', `${b === -12 ? '≤ ' : ''}1e${b} (${bins.get(b) || 0})`));
    }
    $('errors').append(bars, axis);
  }
}
showFunction();
selectFromAddress();
addEventListener('hashchange', selectFromAddress);
