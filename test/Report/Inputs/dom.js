// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the script of a report page on stubs of a DOM, and prints what it wrote: node dom.js PAGE.
const html = require('fs').readFileSync(process.argv[2], 'utf8');
const dataOf = id => new RegExp(`<script type="application/json" id="${id}">([\\s\\S]*?)</script>`).exec(html)[1];
const script = /<script>([\s\S]*?)<\/script>\s*<\/body>/.exec(html)[1];
const canvas = new Proxy({}, {get: (target, key) => key === 'measureText' ? () => ({width: 1}) : () => {}, set: () => true});

class Node {
  children = [];
  style = {setProperty() {}};
  classList = {add() {}, remove() {}, toggle() {}};
  dataset = {};
  textContent = '';
  value = '';
  hidden = true;
  clientHeight = 400;
  clientWidth = 600;
  scrollTop = 0;
  append(...nodes) { this.children.push(...nodes); }
  replaceChildren(...nodes) { this.children = nodes; }
  addEventListener() {}
  setAttribute() {}
  scrollIntoView() {}
  focus() {}
  getContext() { return canvas; }
  getBoundingClientRect() { return {left: 0, top: 0, width: 600, height: 600}; }
}

const nodes = {};
for (const match of html.matchAll(/id="(\w+)"/g)) nodes[match[1]] = new Node();
for (const id of ['data', 'aboutData']) nodes[id].textContent = dataOf(id);
Object.assign(globalThis, {
  document: {getElementById: id => nodes[id] || null, createElement: () => new Node(), documentElement: {}, title: '', addEventListener() {}},
  getComputedStyle: () => ({getPropertyValue: () => '#123456'}),
  matchMedia: () => ({addEventListener() {}, matches: false}),
  Option: function(text) { return Object.assign(new Node(), {textContent: text}); },
  ResizeObserver: class { observe() {} },
  requestAnimationFrame: draw => draw(),
  addEventListener() {},
  location: {hash: ''},
  devicePixelRatio: 1,
  innerHeight: 800,
  window: globalThis,
});
eval(script);
const textOf = node => typeof node === 'string' ? node : [node.textContent, ...node.children.map(textOf)].filter(Boolean).join(' | ');
console.log(`document: ${document.title}`);
for (const id of ['title', 'summary', 'about', 'letters', 'tiles', 'layers', 'ops', 'count', 'castHint', 'changeTitle', 'changeHint', 'changes', 'textHint', 'text'])
  console.log(`${id}: ${textOf(nodes[id])}`);
for (const [what, id] of [['layers', 'layerSection'], ['changes', 'changeSection']]) console.log(`${what} ${nodes[id].hidden ? 'hidden' : 'shown'}`);
