"use strict";
/* The script of an exported page: draws the scene in the page's data, and computes the relations of its
 * events. It fetches nothing, and inserts texts of the trace as text only, never as HTML. */
const D = JSON.parse(document.getElementById("data").textContent);
const N = D.num.length, ROWS = D.rows.length;
D.time0 = 0;
const $ = id => document.getElementById(id);
const svg = $("svg"), card = $("card"), statusLine = $("status"), pageBox = $("page");
const SVGNS = "http://www.w3.org/2000/svg";
const dark = matchMedia("(prefers-color-scheme: dark)");
const PAST = "#0072b2", FUTURE = "#d65f00", SAME = "#cc78a6", UNKNOWN = "#009e73", OTHER = "#8a8a8a", AMBER = "#e69f00", RED = "#bf001a";
const RELATION_COLORS = { before: PAST, after: FUTURE, same: SAME, unknown: UNKNOWN, concurrent: OTHER };

/* ---- the page's data, by index of the mark; increasing numbers are stored as differences ---- */
const prefixSums = list => { let sum = 0; return list.map(v => (sum += v)); };
const columnX = prefixSums(D.cols).map(v => v / 10), time = prefixSums(D.time), row = D.row;
const correctedTime = Float64Array.from(time, (t, i) => t + (D.moved[i] || 0)); // not before its causes
const number = (() => { const last = []; return D.num.map((v, i) => (last[D.lines_of[i]] = (last[D.lines_of[i]] || 0) + v)); })();
const id = i => D.lines_of[i] + ":" + number[i];
const byId = new Map(D.num.map((_, i) => [id(i), i]));
const slot = i => D.slot[i] || 0, stateOf = i => D.state[i] || 0;
const orderX = Float64Array.from(D.num, (_, i) => columnX[D.col[i]] + slot(i) * D.slot_pt);
const label = line => D.labels[line] ?? "line " + line;
const typeOf = i => D.types[D.type[i]];
const textsOf = i => (D.texts_of[i] || []).map(t => D.strings[t]);
const siteOf = i => (D.site[i] ? D.strings[D.site[i] - 1] : "");
/* Deadlocks: from the event by which a thread waits to the one by which the holder acquired the lock. */
const deadlocked = new Map(D.stuck.map(([waits, held]) => [byId.get(waits), byId.get(held)]).filter(p => p[0] !== undefined));
const ns = v => {
  const a = Math.abs(v);
  return a < 1e3 ? v + " ns" : a < 1e6 ? +(v / 1e3).toPrecision(6) + " µs" : a < 1e9 ? +(v / 1e6).toPrecision(6) + " ms" : +(v / 1e9).toPrecision(7) + " s";
};

/* ---- order: vector clocks, with an entry for each chain, the events of one thread ---- */
/* point: the first mark of the same synchronization point; chain: -1 if the event is not ordered. */
const causes = (() => { let at = 0; return D.cause_count.map(n => D.causes.slice(at, (at += n))); })();
const point = D.point, chain = D.chain, chainPlace = new Uint32Array(N);
const CHAIN_COUNT = chain.reduce((most, c) => Math.max(most, c + 1), 0);
let vectors = null;
(() => {
  const count = new Uint32Array(CHAIN_COUNT);
  for (let i = 0; i < N; i++) chainPlace[i] = chain[i] < 0 ? 0 : point[i] === i ? ++count[chain[i]] : chainPlace[point[i]];
  if (N * CHAIN_COUNT > 4e7) return; // 160 MB: isBefore() uses causalPast() instead
  vectors = new Uint32Array(N * CHAIN_COUNT);
  for (let i = 0; i < N; i++) {
    if (chain[i] < 0) continue;
    if (point[i] !== i) { vectors.copyWithin(i * CHAIN_COUNT, point[i] * CHAIN_COUNT, (point[i] + 1) * CHAIN_COUNT); continue; }
    for (const c of causes[i])
      for (let k = 0; k < CHAIN_COUNT; k++) {
        const v = vectors[c * CHAIN_COUNT + k];
        if (v > vectors[i * CHAIN_COUNT + k]) vectors[i * CHAIN_COUNT + k] = v;
      }
    vectors[i * CHAIN_COUNT + chain[i]] = chainPlace[i];
  }
})();
let pastPoint = -1, pastSet = null;
/* Returns which points happened before a point, if there are too many chains for vector clocks. */
function causalPast(p) {
  if (pastPoint === p) return pastSet;
  pastPoint = p;
  pastSet = new Uint8Array(N);
  pastSet[p] = 1;
  for (let i = p; i >= 0; i--) if (pastSet[i]) for (const c of causes[i]) pastSet[c] = 1;
  return pastSet;
}
const isBefore = (a, b) => (vectors ? vectors[b * CHAIN_COUNT + chain[a]] >= chainPlace[a] : point[a] < point[b] && !!causalPast(point[b])[point[a]]);

/* Returns the relation of event a to event b, as `poet order` does. */
function relation(a, b) {
  if (a === b) return "same";
  if (chain[a] < 0 || chain[b] < 0) return "unknown";
  if (point[a] === point[b]) return "same";
  if (isBefore(a, b)) return "before";
  if (isBefore(b, a)) return "after";
  return D.hiding || D.doubts[a] !== D.doubts[b] || D.doubts[a] < 0 ? "unknown" : "concurrent";
}

/* Returns a shortest causal chain from event a to the later event b, both included. */
function witnessBetween(a, b) {
  const from = point[a], next = new Map([[point[b], -1]]), queue = [point[b]];
  for (let i = 0; i < queue.length && !next.has(from); i++)
    for (const c of causes[queue[i]]) if (c >= from && !next.has(c)) { next.set(c, queue[i]); queue.push(c); }
  const witness = [];
  for (let p = next.has(from) ? from : -1; p >= 0; p = next.get(p)) witness.push(p);
  if (witness.length) { witness[0] = a; witness[witness.length - 1] = b; }
  return witness;
}

/* ---- view state, places of rows and marks ---- */
const see = { selected: -1, second: -1, hidden: new Set(), order: D.rows.map((_, r) => r), zoom: 4 / 3, x: 0, y: 0, byTime: false,
  isColored: true, hiddenRelations: { before: false, after: false, concurrent: false }, found: [], hit: -1, witness: [] };
const when = i => (see.byTime ? correctedTime[i] : time[i]);
let shown = [], rank = [], X = orderX, width = D.width, names = D.names, rowMarks = [], timeScale = 1, timeZero = 0, relations = null;
const rowY = r => D.top + rank[r] * D.row_pt + D.line_pt;

/* Computes the x of each mark by time; marks that are ordered or in one row are MIN_GAP pt apart. */
const MIN_GAP = 1;
function computeTimeX() {
  let low = Infinity, high = -Infinity;
  for (const t of correctedTime) { low = Math.min(low, t); high = Math.max(high, t); }
  timeScale = Math.max(600, D.width - D.names) / Math.max(1, high - low);
  timeZero = D.names + 14 + (D.time0 - low) * timeScale;
  X = new Float64Array(N);
  const members = new Map(), lastX = new Array(ROWS).fill(-Infinity);
  for (let i = 0; i < N; i++) members.has(point[i]) ? members.get(point[i]).push(i) : members.set(point[i], [i]);
  for (const p of [...members.keys()].sort((a, b) => correctedTime[a] - correctedTime[b] || a - b)) {
    let x = timeZero + (correctedTime[p] - D.time0) * timeScale;
    for (const c of causes[p]) x = Math.max(x, X[c] + MIN_GAP);
    for (const i of members.get(p)) x = Math.max(x, lastX[row[i]] + MIN_GAP);
    for (const i of members.get(p)) X[i] = lastX[row[i]] = x;
  }
  width = X.reduce((most, x) => Math.max(most, x), 0) + 46;
}

/* Updates everything that follows from hidden rows, the order of rows and the scale. */
function layOutRows() {
  shown = see.order.filter(r => !see.hidden.has(r));
  rank = new Array(ROWS).fill(-1);
  shown.forEach((r, i) => (rank[r] = i));
  if (see.byTime && N) {
    computeTimeX();
  } else {
    X = orderX;
    width = D.width;
  }
  rowMarks = D.rows.map(() => []);
  for (let i = 0; i < N; i++) rowMarks[row[i]].push(i);
  for (const list of rowMarks) list.sort((a, b) => X[a] - X[b] || a - b);
}

/* ---- painting ---- */
const make = (name, attributes, parent, text) => {
  const e = document.createElementNS(SVGNS, name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
};
const el = (name, text, parent, attributes) => {
  const e = document.createElement(name);
  if (text !== undefined && text !== null) e.textContent = text;
  for (const k in attributes || {}) e.setAttribute(k, attributes[k]);
  if (parent) parent.appendChild(e);
  return e;
};
let printing = false;
/* Returns a color of the scene, on a dark background lighter, with the same hue. */
function themeColor(hex) {
  if (printing || !dark.matches) return hex;
  const c = [1, 3, 5].map(i => parseInt(hex.substr(i, 2), 16) / 255);
  const gray = 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2];
  const flat = Math.abs(c[0] - c[1]) < 0.05 && Math.abs(c[1] - c[2]) < 0.05;
  return "#" + c.map(v => Math.round((flat ? 0.9 - 0.6 * gray : 0.45 + 0.55 * v) * 255).toString(16).padStart(2, "0")).join("");
}
const backgroundColor = () => (printing || !dark.matches ? "#ffffff" : "#212121");

/* Returns the index of the first mark of a row at x or to the right of it. */
function firstMarkAt(list, x) {
  let low = 0, high = list.length;
  while (low < high) { const m = (low + high) >> 1; X[list[m]] < x ? (low = m + 1) : (high = m); }
  return low;
}

/* Width and dashes of lines (enum scene_style) and arrows (enum scene_arrow). D.legend has their texts. */
const STYLES = [[0], [1, "3.5 2.5"], [0.6, ""], [1.8, ""], [0.9, "0.9 2.7"], [1.7, "5 2.5"], [1.8, ""]];
const ARROWS = [[0.9, ""], [0.9, ""], [2.2, ""], [0.9, ""], [0.9, ""], [0.9, "2.5 2.5"], [1.1, "0.1 2.1"]];
const STYLE_ELSEWHERE = 4, STYLE_END = 6, ARROW_ORDER = 6;
function drawLine(g, x0, x1, y, style, color, isLong) {
  if (!style || x1 <= x0) return;
  if (isLong) make("rect", { x: x0, y: y + 3.5, width: x1 - x0, height: 2.5, fill: AMBER }, g);
  const a = { x1: x0, x2: x1, y1: y, y2: y, stroke: themeColor(color), "stroke-width": STYLES[style][0] };
  if (STYLES[style][1]) a["stroke-dasharray"] = STYLES[style][1];
  if (style === STYLE_ELSEWHERE) a.opacity = 0.62;
  make("line", a, g);
}

/* A segment: [row, style | is_long << 4, color, from, to, right of from, right of to]; the last two in
 * tenths of a point, and often omitted. from, to: a mark; -1: the left edge; -2: the right edge. */
const segmentX = (e, right) => (e === -1 ? D.names : e === -2 ? width - 4 : X[e]) + (right || 0) / 10;
function paintSegment(g, segment, left, right) {
  if (rank[segment[0]] < 0) return;
  const x0 = Math.max(segmentX(segment[3], segment[5]), left), end = segmentX(segment[4], segment[6]), x1 = Math.min(end, right), y = rowY(segment[0]), style = segment[1] & 15;
  drawLine(g, x0, x1, y, style, D.palette[segment[2]], segment[1] & 16);
  if (style === STYLE_END && end <= right && end > left) make("line", { x1: end, x2: end, y1: y - 2.8, y2: y + 2.8, stroke: themeColor(D.palette[segment[2]]), "stroke-width": 1.8 }, g);
}

const endX = e => (e < 0 ? (see.byTime ? NaN : D.ends[-1 - e][0] / 10) : X[e]);
function endY(e) {
  if (e >= 0) return rank[row[e]] < 0 ? NaN : rowY(row[e]);
  const [, r, dy] = D.ends[-1 - e];
  return rank[r] < 0 ? NaN : rowY(r) + dy / 10;
}
function drawArrowHead(g, x, y, ux, uy, size, fill) {
  const halfWidth = size * 0.48, bx = x - ux * size, by = y - uy * size;
  make("path", { d: `M${x} ${y}L${bx - uy * halfWidth} ${by + ux * halfWidth}L${bx + uy * halfWidth} ${by - ux * halfWidth}Z`, fill }, g);
}
function paintLink(g, link, left, right) {
  let x0 = endX(link[2]), x1 = endX(link[3]);
  if (see.byTime && isNaN(x0) && link[3] >= 0) x0 = x1 - 12;
  if (see.byTime && isNaN(x1) && link[2] >= 0) x1 = x0 + 12;
  if (!(Math.max(x0, x1) >= left && Math.min(x0, x1) <= right)) return;
  const y0 = endY(link[2]), y1 = endY(link[3]), dx = x1 - x0, dy = y1 - y0, length = Math.hypot(dx, dy);
  if (!(length >= 1)) return;
  const ux = dx / length, uy = dy / length, end = link[1] & 1 ? D.mark_pt / 2 + 1.2 : 0, hx = x1 - ux * end, hy = y1 - uy * end;
  const style = ARROWS[link[0]] || ARROWS[0], color = link[1] & 2 ? RED : themeColor(D.palette[link[4]]);
  const a = { stroke: color, "stroke-width": style[0], fill: "none" }, size = link[0] === ARROW_ORDER ? 3.4 : 5;
  if (style[1]) a["stroke-dasharray"] = style[1];
  if (link[0] === ARROW_ORDER) a["stroke-linecap"] = "round";
  if (link[5]) { // between marks of one row: a curve below it
    const reach = Math.min(length / 3, 14), low = y0 + link[5] * 0.12, tx = x1 - 6.5, ty = y1 + 3.7;
    make("path", { ...a, d: `M${x0} ${y0}C${x0 + reach} ${low} ${tx - reach} ${low} ${tx} ${ty}` }, g);
    return drawArrowHead(g, x1 - 3.6, y1 + 2, 0.87, -0.5, size, color);
  }
  make("line", { ...a, x1: x0, y1: y0, x2: hx - (link[0] === ARROW_ORDER ? ux * size : 0), y2: hy - (link[0] === ARROW_ORDER ? uy * size : 0) }, g);
  if (link[1] & 1) drawArrowHead(g, hx, hy, ux, uy, size, color);
}

function paintMark(g, i) {
  const t = typeOf(i), x = X[i], y = rowY(row[i]), r = see.isColored && relations ? relations[i] : null;
  if (r && see.hiddenRelations[r]) return;
  const color = stateOf(i) === 2 ? RED : r && r !== "same" ? RELATION_COLORS[r] : r ? SAME : D.palette[t.c];
  const half = D.mark_pt / 2, shape = stateOf(i) && !t.s ? 1 : t.s;
  if (shape) {
    const u = make("use", { href: `#${shape === 2 ? "q" : "c"}${t.f ? 1 : 0}`, x, y, color: themeColor(color), "data-e": id(i) }, g);
    if (r === "concurrent") u.setAttribute("opacity", 0.5);
  }
  if (D.unheard[i]) {
    const k = half + 1.5;
    make("path", { d: `M${x - k} ${y + k}L${x + k} ${y - k}`, stroke: themeColor(color), "stroke-width": 1.2 }, g);
  }
  if (deadlocked.has(i)) make("circle", { cx: x, cy: y, r: half + 2, fill: "none", stroke: RED, "stroke-width": 2 }, g);
  if (stateOf(i) === 1) {
    const k = half + 2;
    make("path", { d: `M${x - k} ${y - k}L${x + k} ${y + k}M${x - k} ${y + k}L${x + k} ${y - k}`, stroke: RED, "stroke-width": 1 }, g);
  }
  for (const side of [-1, 1])
    if (r === "unknown" || (r === "before" && side < 0) || (r === "after" && side > 0))
      make("rect", { x: x + side * (half + 2.3) - 0.8, y: y - half - 1.5, width: 1.6, height: 2 * half + 3, fill: themeColor(color) }, g);
  if (see.isFound && see.isFound[i]) make("circle", { cx: x, cy: y, r: half + 3, fill: "none", stroke: "var(--hit)", "stroke-width": 2 }, g);
  if (i === see.selected || i === see.second) make("circle", { cx: x, cy: y, r: half + 4, fill: "none", stroke: AMBER, "stroke-width": 2 }, g);
}

function paintTicks(g, left, right, top) {
  const every = [1, 2, 5].flatMap(m => [...Array(14).keys()].map(p => m * 10 ** p)).sort((a, b) => a - b).find(v => v * timeScale > 80) || 1e14;
  const zero = timeZero;
  for (let t = Math.max(0, Math.ceil((left - zero) / timeScale / every)) * every; zero + t * timeScale < right; t += every) {
    const x = zero + t * timeScale;
    make("line", { x1: x, x2: x, y1: top, y2: top + 8, stroke: themeColor("#666666"), "stroke-width": 0.6 }, g);
    make("text", { x: x + 3, y: top + 8, "font-size": 7.5 }, g, ns(t));
  }
}

/* Paints the part of the diagram within these bounds into an SVG element, at (dx, dy). Returns a group
 * for the names, and the rows painted. */
function paint(target, left, right, top, bottom, scale, dx, dy) {
  target.replaceChildren();
  const defs = make("defs", {}, target), half = D.mark_pt / 2, bg = backgroundColor();
  const symbols = [["c0", "circle", half, bg], ["c1", "circle", half, "currentColor"], ["q0", "rect", half, bg], ["q1", "rect", half, "currentColor"]];
  for (const [name, kind, h, fill] of symbols) {
    const s = make("g", { id: name }, defs);
    const shape = (k, a) => make(kind, kind === "circle" ? { r: k, ...a } : { x: -k, y: -k, width: 2 * k, height: 2 * k, ...a }, s);
    shape(h + 1.6, { fill: bg });
    shape(h, { fill, stroke: "currentColor", "stroke-width": 1.2 });
  }
  const clip = "k" + target.id;
  const cp = make("clipPath", { id: clip }, defs);
  make("rect", { x: left, y: top, width: Math.max(0, right - left), height: bottom - top }, cp);
  const g = make("g", { transform: `translate(${dx} ${dy}) scale(${scale})` }, target);
  const c = make("g", { "clip-path": `url(#${clip})` }, g);
  const rows = shown.filter(r => rowY(r) > top - D.row_pt && rowY(r) < bottom + D.row_pt);
  for (const r of rows)
    if (rank[r] % 4 === 0) make("rect", { x: left, y: rowY(r) - D.line_pt, width: right - left, height: D.row_pt, fill: "#3366cc", opacity: dark.matches && !printing ? 0.16 : 0.06 }, c);
  for (const l of D.lines) paintSegment(c, l, left, right);
  for (const l of D.links) paintLink(c, l, left, right);
  for (const gap of see.byTime ? [] : D.gaps)
    if (rank[gap[1]] >= 0 && gap[0] / 10 >= left && gap[0] / 10 <= right) {
      const x = gap[0] / 10, y = rowY(gap[1]);
      make("rect", { x: x - 4, y: y - 3, width: 8, height: 6, fill: bg }, c);
      make("path", { d: `M${x - 4.5} ${y + 4}L${x - 1.5} ${y - 4}M${x + 1.5} ${y + 4}L${x + 4.5} ${y - 4}`, stroke: RED, "stroke-width": 1 }, c);
    }
  for (let k = 1; k < see.witness.length; k++) {
    const [a, b] = [see.witness[k - 1], see.witness[k]];
    if (rank[row[a]] >= 0 && rank[row[b]] >= 0)
      make("line", { x1: X[a], y1: rowY(row[a]), x2: X[b], y2: rowY(row[b]), stroke: AMBER, "stroke-opacity": 0.45, "stroke-width": 6 }, c);
  }
  for (const [a, b] of deadlocked)
    if (b !== undefined && rank[row[a]] >= 0 && rank[row[b]] >= 0)
      make("line", { x1: X[a], y1: rowY(row[a]), x2: X[b], y2: rowY(row[b]), stroke: RED, "stroke-width": 1.4, "stroke-dasharray": "5 3" }, c);
  for (const r of rows) {
    const list = rowMarks[r];
    for (let k = firstMarkAt(list, left - 10); k < list.length && X[list[k]] <= right + 10; k++) paintMark(c, list[k]);
  }
  if (scale > 0.45 && !see.byTime)
    for (const [m, dx, y, s, size, color] of D.words) {
      const r = m < 0 ? -1 - m : row[m], x = (m < 0 ? 0 : X[m]) + dx / 10;
      if (rank[r] < 0 || x > right || x < left - 240) continue;
      const t = make("text", { x, y: rowY(r) + y / 10 + size * 0.93, "font-size": size }, c, D.strings[s]);
      t.style.fill = themeColor(D.palette[color]);
    }
  if (see.byTime) paintTicks(c, left, right, Math.max(top, -dy / scale));
  const n = make("g", {}, g);
  return { g: n, rows };
}

function paintNames(painted, x, scale) {
  make("rect", { x, y: -1e5, width: names, height: 2e5, fill: backgroundColor(), opacity: 0.94 }, painted.g);
  for (const r of painted.rows) {
    const t = make("text", { x: x + 8, y: rowY(r) + 3.2, "font-size": 9, fill: themeColor(D.palette[D.rows[r].c]), "data-r": r }, painted.g, D.rows[r].n);
    t.style.fill = themeColor(D.palette[D.rows[r].c]);
  }
}

let frame = 0;
function redraw() {
  frame = 0;
  const box = svg.getBoundingClientRect(), z = see.zoom;
  const height = D.top + shown.length * D.row_pt + 8;
  see.x = Math.max(0, Math.min(see.x, Math.max(0, width - (box.width / z) + 20)));
  see.y = Math.max(0, Math.min(see.y, Math.max(0, height - box.height / z)));
  const left = Math.max(D.names, see.x + names), right = Math.min(width, see.x + box.width / z);
  const painted = paint(svg, left, right, see.y, see.y + box.height / z, z, -see.x * z, -see.y * z);
  paintNames(painted, see.x, z);
}
const refresh = () => { frame = frame || requestAnimationFrame(redraw); };

/* ---- selection ---- */
function eventText(i) {
  const t = typeOf(i), thread = D.thread[i], object = D.about[i];
  return t.l + (object ? " " + label(object) : "") + (thread && thread !== D.lines_of[i] ? ", thread " + label(thread) : "") + (D.unheard[i] ? ", " + t.u : "") + (deadlocked.has(i) ? ", " + D.legend.deadlock : "") + (siteOf(i) ? ", " + siteOf(i) : "");
}
const describe = i => `${id(i)} ${label(D.lines_of[i])}: ${eventText(i)}`;
const RELATIONS = ["before", "after", "concurrent", "same", "unknown"]; // in the order of D.legend
const UNCERTAIN_PREFIX = "Untraced synchronization may order them: ";
function comparisonText() {
  const a = see.selected, b = see.second, r = relation(a, b);
  const hops = see.witness.length ? `, ${see.witness.length - 1} hop${see.witness.length === 2 ? "" : "s"}` : "";
  return `${id(a)} ${D.legend.verbs[RELATIONS.indexOf(r)]} ${id(b)} — ${ns(Math.abs(when(b) - when(a)))}${hops}`;
}
/* Returns the reasons, as bits, for which `poet order` calls the relation of events a and b unknown. */
function uncertaintyBits(a, b) {
  if (chain[a] < 0 || chain[b] < 0) return (chain[a] < 0 ? D.doubts[a] : 0) | (chain[b] < 0 ? D.doubts[b] : 0);
  if (D.doubts[a] < 0 || D.doubts[b] < 0) return D.any;
  if (D.doubts[a] === D.doubts[b]) return D.hiding;
  const kindsA = D.kinds[D.doubts[a]], kindsB = D.kinds[D.doubts[b]];
  let bits = 0, k = 0;
  D.reasons.forEach((_, reason) => { if (D.kinds_for >> reason & 1 && kindsA[k] !== kindsB[k++]) bits |= 1 << reason; });
  return bits;
}
function reasonText(a, b) {
  const r = relation(a, b), bits = r === "concurrent" ? D.mechanisms : r === "unknown" ? uncertaintyBits(a, b) : 0;
  const texts = D.reasons.filter((_, reason) => bits >> reason & 1).join("; ");
  return texts && (r === "concurrent" ? "Considering traced synchronization: " : UNCERTAIN_PREFIX) + texts + ".";
}
function select(i, second) {
  if (second && see.selected >= 0) see.second = i;
  else { see.selected = i; see.second = -1; }
  see.witness = [];
  if (see.second >= 0) {
    const r = relation(see.selected, see.second);
    if (r === "before") see.witness = witnessBetween(see.selected, see.second);
    if (r === "after") see.witness = witnessBetween(see.second, see.selected);
  }
  relations = see.selected < 0 ? null : D.num.map((_, k) => relation(k, see.selected));
  statusLine.textContent = see.selected < 0 ? "" : see.second >= 0 ? comparisonText() : describe(see.selected);
  if (i >= 0 && (tab === "event" || !tab)) showPage("event");
  else if (tab) showPage(tab);
  saveView();
  refresh();
}
function reveal(i) {
  if (see.hidden.delete(row[i])) layOutRows();
  const box = svg.getBoundingClientRect(), w = box.width / see.zoom, h = box.height / see.zoom, y = rowY(row[i]);
  if (X[i] < see.x + names + 20 || X[i] > see.x + w - 20) see.x = X[i] - names - (w - names) / 2;
  if (y < see.y + 10 || y > see.y + h - 10) see.y = y - h / 2;
}
function goTo(i) { if (i >= 0) { reveal(i); select(i, false); } }

/* ---- tabs of the side panel ---- */
let tab = "event";
function addEventItem(parent, i, text) {
  const li = el("li", text, parent, { tabindex: 0 });
  if (i === see.selected) li.className = "now";
  li.onclick = () => goTo(i);
  li.onkeydown = e => { if (e.key === "Enter") { goTo(i); e.stopPropagation(); } };
}
const pages = {
  event() {
    const i = see.selected;
    if (i < 0) { el("p", "Click an event for its causal past, its future and concurrent events. Ctrl+click a second event for the causal chain between the two.", pageBox, { class: "hint" }); return; }
    el("h2", label(D.lines_of[i]) + ": " + typeOf(i).n, pageBox);
    const dl = el("dl", null, pageBox), put = (k, v) => { if (v) { el("dt", k, dl); el("dd", v, dl); } };
    put("Event", id(i) + ["", " (pending)", " (inconsistent)"][stateOf(i)]);
    put("Meaning", typeOf(i).l + (D.unheard[i] ? ", " + typeOf(i).u : ""));
    put("Object", D.about[i] && label(D.about[i]));
    put("Thread", D.thread[i] && label(D.thread[i]));
    put("Call site", siteOf(i));
    put("Time", ns(when(i) - D.time0) + " after the first event of this page");
    put("Annotation", textsOf(i).join("; "));
    put("Uncertain order", D.doubt[i] !== undefined ? D.reasons[D.doubt[i]] : "");
    const note = D.notes.filter(n => n.event === id(i)).map(n => n.text).join("; ");
    put("Note", note);
    const counts = {}, p = el("p", null, pageBox, { class: "counts" });
    for (const r of relations) counts[r] = (counts[r] || 0) + 1;
    for (const r of RELATIONS) {
      if (!counts[r] || (r === "same" && counts[r] < 2)) continue;
      const s = el("span", null, p);
      el("i", null, s).style.background = RELATION_COLORS[r];
      s.append(`${D.legend.relations[RELATIONS.indexOf(r)]} ${r === "same" ? counts[r] - 1 : counts[r]}`);
    }
    el("p", `Counted among the ${N} events of this page.`, pageBox, { class: "faint" });
    if (see.second >= 0) {
      el("h2", comparisonText(), pageBox);
      const why = reasonText(i, see.second);
      if (why) el("p", why, pageBox);
      const ol = el("ol", null, pageBox);
      for (const k of see.witness) addEventItem(ol, k, describe(k));
    }
    source(i);
  },
  waiting() {
    const b = D.blocked;
    if (!b.blocked || !b.blocked.length) el("p", "No thread is blocked at the end of the trace.", pageBox);
    for (const c of b.cycles || []) el("p", "DEADLOCK: " + c.map(l => l.label || JSON.stringify(l)).concat(c[0].label || "").join(" waits for "), pageBox);
    for (const v of b.diagnoses || []) el("p", typeof v === "string" ? v : v.text || "", pageBox, { class: "said" });
    const ol = el("ol", null, pageBox);
    for (const w of b.blocked || []) {
      const held = (w.held_by || []).map(h => "held by " + h.label + (h.acquired_event ? " (acquired at event " + h.acquired_event + ")" : "")).join("; ");
      const li = el("li", `${w.thread.label}: ${w.type} ${w.waits_for ? w.waits_for.label : ""}${w.site ? " at " + w.site : ""}, event ${w.event}${held ? " — " + held : ""}`, ol, { tabindex: 0 });
      const i = byId.get(w.event);
      if (i !== undefined) li.onclick = () => goTo(i);
    }
  },
  events() {
    const ol = el("ol", null, pageBox, { "aria-label": "Events in topological order" });
    for (let i = 0; i < N; i++) addEventItem(ol, i, `${ns(when(i) - D.time0)}  ${describe(i)}${textsOf(i).length ? " “" + textsOf(i).join("; ") + "”" : ""}`);
  },
  rows() {
    const ul = el("ul", null, pageBox, { class: "rows" });
    for (const r of see.order) {
      const li = el("li", null, ul), box = el("input", null, null, { type: "checkbox" }), l = el("label", null, li);
      box.checked = !see.hidden.has(r);
      box.onchange = () => { hideRow(r, !box.checked); };
      l.append(box, " " + D.rows[r].n);
      el("button", "↑", li, { "aria-label": "up" }).onclick = () => { moveRow(r, -1); };
      el("button", "↓", li, { "aria-label": "down" }).onclick = () => { moveRow(r, 1); };
    }
  },
  notes() {
    if (!D.notes.length) el("p", "No notes.", pageBox);
    const ol = el("ol", null, pageBox);
    for (const n of D.notes) {
      const i = byId.get(n.event);
      addEventItem(ol, i === undefined ? -1 : i, `${n.event} ${n.text}`);
    }
  },
  help() {
    const dl = el("dl", null, pageBox);
    for (const [k, v] of KEYS_HELP) { el("dt", k, dl); el("dd", v, dl); }
    el("p", "Drag to move, wheel to scroll, Ctrl+wheel to zoom. The URL stores the view: send it with the file.", pageBox);
  },
};
function source(i) {
  const s = D.source[D.site[i]];
  if (!s) return;
  el("h2", "Source", pageBox);
  const pre = el("pre", null, pageBox);
  s.lines.forEach((text, k) => el(s.first + k === s.line ? "b" : "span", String(s.first + k).padStart(5) + "  " + text + "\n", pre));
}
function showPage(name) {
  tab = name;
  for (const b of document.querySelectorAll("[data-tab]")) b.setAttribute("aria-selected", b.dataset.tab === name);
  pageBox.replaceChildren();
  pages[name]();
}

/* ---- rows ---- */
function hideRow(r, hide) {
  if (r < 0 || r === undefined) return;
  hide ? see.hidden.add(r) : see.hidden.delete(r);
  rowsChanged();
}
function moveRow(r, by) {
  const from = see.order.indexOf(r), to = from + by;
  if (to < 0 || to >= ROWS) return;
  see.order.splice(from, 1);
  see.order.splice(to, 0, r);
  rowsChanged();
}
function rowsChanged() {
  layOutRows();
  if (tab === "rows") showPage("rows");
  saveView();
  refresh();
}
/* Hides all rows but those of direct causes and effects of the selected event. */
function showRelatedRows() {
  if (see.selected < 0) return;
  const keep = new Set([row[see.selected]]);
  for (let i = 0; i < N; i++) {
    const near = causes[point[i]];
    if (near.includes(point[see.selected]) || point[i] === point[see.selected]) keep.add(row[i]);
  }
  for (const c of causes[point[see.selected]]) keep.add(row[c]);
  see.hidden = new Set(D.rows.map((_, r) => r).filter(r => !keep.has(r)));
  rowsChanged();
}

/* ---- search ---- */
function find(text) {
  const wanted = text.toLowerCase();
  see.found = [];
  see.isFound = new Uint8Array(N);
  for (let i = 0; wanted && i < N; i++)
    if ([id(i), typeOf(i).n, eventText(i), label(D.lines_of[i]), ...textsOf(i)].some(s => s.toLowerCase().includes(wanted))) { see.found.push(i); see.isFound[i] = 1; }
  see.hit = -1;
  $("find").setAttribute("aria-invalid", !!wanted && !see.found.length);
  statusLine.textContent = wanted ? `${see.found.length} matches` : "";
  refresh();
}
function nextHit(by) {
  if (!see.found.length) return;
  if (see.hit < 0 && see.selected >= 0) see.hit = by > 0 ? see.found.findIndex(i => i > see.selected) - 1 : see.found.length;
  see.hit = (see.hit + by + see.found.length) % see.found.length;
  goTo(see.found[see.hit]);
  statusLine.textContent = `Match ${see.hit + 1} of ${see.found.length}: ` + describe(see.found[see.hit]);
}

/* ---- scrolling, zooming, moving the selection ---- */
function zoomBy(factor, cx, cy) {
  const box = svg.getBoundingClientRect(), px = (cx ?? box.width / 2) / see.zoom, py = (cy ?? box.height / 2) / see.zoom;
  const z = Math.max(0.02, Math.min(8, see.zoom * factor));
  see.x += px - (px * see.zoom) / z;
  see.y += py - (py * see.zoom) / z;
  see.zoom = z;
  saveView();
  refresh();
}
function fit() {
  const box = svg.getBoundingClientRect();
  see.zoom = Math.max(0.2, Math.min(2, box.width / width, box.height / (D.top + shown.length * D.row_pt + 8)));
  see.x = see.y = 0;
  saveView();
  refresh();
}
function scroll(dx, dy) { see.x += dx; see.y += dy; saveView(); refresh(); }
function selectOnRow(by) {
  if (see.selected < 0) return goTo(firstVisible());
  const list = rowMarks[row[see.selected]], k = list.indexOf(see.selected) + by;
  if (list[k] !== undefined) goTo(list[k]);
}
function firstVisible() {
  for (const r of shown) { const k = firstMarkAt(rowMarks[r], see.x + names); if (rowMarks[r][k] !== undefined) return rowMarks[r][k]; }
  return N ? 0 : -1;
}
function selectOnOtherRow(by) {
  if (see.selected < 0) return goTo(firstVisible());
  for (let k = rank[row[see.selected]] + by; k >= 0 && k < shown.length; k += by) {
    const list = rowMarks[shown[k]];
    if (!list.length) continue;
    let best = list[0];
    for (const m of list) if (Math.abs(X[m] - X[see.selected]) < Math.abs(X[best] - X[see.selected])) best = m;
    return goTo(best);
  }
}
function selectInTraceOrder(by) {
  const i = see.selected < 0 ? firstVisible() : see.selected + by;
  if (i >= 0 && i < N) goTo(i);
}
function selectPartner() {
  const i = see.selected;
  for (let k = 0; i >= 0 && k < N; k++) if (k !== i && point[k] === point[i] && chain[k] >= 0) return goTo(k);
  const l = D.links.find(l => (l[2] === i || l[3] === i) && l[2] >= 0 && l[3] >= 0);
  if (l) goTo(l[2] === i ? l[3] : l[2]);
}
/* Selects the nearest cause, or effect, on another line. */
function selectNearestRelated(future) {
  const i = see.selected;
  if (i < 0) return;
  if (!future) for (let p = i; p >= 0; p--) { if (row[p] !== row[i] && relation(p, i) === "before") return goTo(p); }
  else for (let p = i; p < N; p++) if (row[p] !== row[i] && relation(p, i) === "after") return goTo(p);
}
function toggleRelation(what) { see.hiddenRelations[what] = !see.hiddenRelations[what]; refresh(); }
function setTime(on) {
  see.byTime = on;
  $("time").setAttribute("aria-pressed", on);
  layOutRows();
  if (see.selected >= 0) reveal(see.selected);
  saveView();
  refresh();
}
function showBlocked() {
  openSide(true);
  showPage("waiting");
  const w = (D.blocked.blocked || [])[0], i = w && byId.get(w.event);
  if (i !== undefined) goTo(i);
}
function openSide(open) { $("side").hidden = !open; refresh(); }

/* ---- view in the URL, undo ---- */
const undoStack = [];
let isRestoring = false;
function viewHash() {
  const parts = [];
  if (see.selected >= 0) parts.push("e=" + id(see.selected));
  if (see.second >= 0) parts.push("s=" + id(see.second));
  if (see.hidden.size) parts.push("hide=" + [...see.hidden].map(r => D.rows[r].l).join(","));
  if (see.order.some((r, i) => r !== i)) parts.push("rows=" + see.order.map(r => D.rows[r].l).join(","));
  if (see.byTime) parts.push("time=1");
  if (Math.abs(see.zoom - 4 / 3) > 0.01 || see.x || see.y) parts.push("at=" + [see.x, see.y, see.zoom].map(v => +v.toFixed(2)).join(","));
  return "#" + parts.join("&");
}
let saveTimer = 0;
function saveView() {
  if (isRestoring) return;
  clearTimeout(saveTimer);
  saveTimer = setTimeout(() => {
    const now = viewHash();
    if (undoStack[undoStack.length - 1] !== now) undoStack.push(now);
    if (undoStack.length > 200) undoStack.shift();
    try { history.replaceState(null, "", now); } catch { location.replace(now); }
  }, 120);
}
function undo() {
  clearTimeout(saveTimer);
  if (undoStack[undoStack.length - 1] === viewHash()) undoStack.pop();
  if (undoStack.length) restore(undoStack.pop());
  saveView();
}
function restore(hash) {
  const q = new Map(hash.slice(1).split("&").map(p => { const k = p.indexOf("="); return [p.slice(0, k), p.slice(k + 1)]; }));
  const rowOf = new Map(D.rows.map((r, i) => [String(r.l), i])), rows = s => (s || "").split(",").map(l => rowOf.get(l)).filter(r => r !== undefined);
  isRestoring = true;
  see.hidden = new Set(rows(q.get("hide")));
  const order = rows(q.get("rows"));
  see.order = [...new Set([...order, ...D.rows.keys()])];
  see.byTime = q.get("time") === "1";
  $("time").setAttribute("aria-pressed", see.byTime);
  const at = (q.get("at") || "0,0,1.3333").split(",").map(Number);
  [see.x, see.y, see.zoom] = at.every(Number.isFinite) && at.length === 3 && at[2] >= 0.02 && at[2] <= 8 ? at : [0, 0, 4 / 3];
  layOutRows();
  const e = byId.get(q.get("e")), s = byId.get(q.get("s"));
  select(e === undefined ? -1 : e, false);
  if (e !== undefined && s !== undefined) select(s, true);
  if (e !== undefined && !q.has("at")) reveal(e);
  isRestoring = false;
  refresh();
}

/* ---- keys, the same as in the viewer ---- */
const step = 15;
const KEYS = {
  ArrowLeft: () => selectOnRow(-1), ArrowRight: () => selectOnRow(1), ArrowUp: () => selectOnOtherRow(-1), ArrowDown: () => selectOnOtherRow(1),
  "S-ArrowLeft": () => scroll(-step, 0), "S-ArrowRight": () => scroll(step, 0), "S-ArrowUp": () => scroll(0, -D.row_pt), "S-ArrowDown": () => scroll(0, D.row_pt),
  Enter: selectPartner, "[": () => selectNearestRelated(false), "]": () => selectNearestRelated(true), p: () => selectInTraceOrder(-1), Backspace: () => selectInTraceOrder(-1), n: () => selectInTraceOrder(1), " ": () => selectInTraceOrder(1),
  PageUp: () => scroll(-0.9 * (svg.clientWidth / see.zoom - names), 0), PageDown: () => scroll(0.9 * (svg.clientWidth / see.zoom - names), 0),
  Home: () => scroll(-1e12, 0), End: () => scroll(1e12, 0), f: () => scroll(1e12, 0),
  "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => { see.zoom = 4 / 3; scroll(0, 0); }, "*": fit, t: () => setTime(!see.byTime),
  "/": () => $("find").select(), "C-f": () => $("find").select(), F3: () => nextHit(1), "S-F3": () => nextHit(-1), w: showBlocked,
  c: () => { see.isColored = !see.isColored; refresh(); }, "A-1": () => toggleRelation("before"), "A-2": () => toggleRelation("after"), "A-3": () => toggleRelation("concurrent"),
  Escape: () => { find($("find").value = ""); select(-1, false); svg.focus(); }, h: () => see.selected >= 0 && hideRow(row[see.selected], true),
  "C-S-h": () => { see.hidden.clear(); rowsChanged(); }, o: showRelatedRows, "A-ArrowUp": () => see.selected >= 0 && moveRow(row[see.selected], -1), "A-ArrowDown": () => see.selected >= 0 && moveRow(row[see.selected], 1),
  "C-z": undo, F2: () => { $("legend").hidden = !$("legend").hidden; refresh(); }, F9: () => openSide($("side").hidden), "?": () => { openSide(true); showPage("help"); }, F1: () => { openSide(true); showPage("help"); },
};
const KEYS_HELP = [["← →", "previous, next event on the line"], ["↑ ↓", "event on the line above, below"], ["Enter", "partner event"], ["[ ]", "nearest cause, effect on another line"], ["p n", "previous, next event in trace order"],
  ["Shift+arrows", "scroll"], ["PgUp PgDn", "scroll one page"], ["Home End", "start, end"], ["+ − 0 *", "zoom in, out, reset, to fit"], ["t", "logical order or time scale"], ["/ or Ctrl+F", "find; F3 next match"],
  ["w", "blocked threads"], ["c", "color causal past and future"], ["Alt+1 2 3", "hide past, future, concurrent"], ["h", "hide the line; Ctrl+Shift+H shows all"], ["o", "only lines related to the event"],
  ["Alt+↑ ↓", "move the line"], ["Ctrl+Z", "undo"], ["F2 F9", "legend, side panel"], ["Esc", "clear selection"]];
document.addEventListener("keydown", e => {
  const entry = e.target.tagName === "INPUT" && e.target.type === "search";
  if (entry && e.key === "Enter") { e.preventDefault(); nextHit(e.shiftKey ? -1 : 1); return; }
  const letter = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  const plain = e.key.length === 1 && !e.ctrlKey && !e.altKey && !e.metaKey;
  if (entry && plain) return;
  if (entry && !["Escape", "F3"].includes(e.key) && !e.ctrlKey) return;
  if (plain && e.target.tagName === "BUTTON" && e.key === " ") return;
  if (e.key === "Enter" && e.target.tagName === "BUTTON") return;
  const shift = e.shiftKey && (e.key.length > 1 || e.ctrlKey);
  const action = KEYS[(e.ctrlKey || e.metaKey ? "C-" : "") + (e.altKey ? "A-" : "") + (shift ? "S-" : "") + letter];
  if (!action) return;
  e.preventDefault();
  action();
});

/* ---- pointer ---- */
let press = null;
const pointerPosition = e => { const box = svg.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
function markAt(e) {
  const [px, py] = pointerPosition(e), x = px / see.zoom + see.x, y = py / see.zoom + see.y, reach = Math.max(7, 6 / see.zoom);
  if (px / see.zoom < names) return -1;
  let best = -1, nearest = reach * reach;
  for (const r of shown) {
    if (Math.abs(rowY(r) - y) > reach) continue;
    for (let k = firstMarkAt(rowMarks[r], x - reach); k < rowMarks[r].length && X[rowMarks[r][k]] <= x + reach; k++) {
      const m = rowMarks[r][k], d = (X[m] - x) ** 2 + (rowY(r) - y) ** 2;
      if (d < nearest) { nearest = d; best = m; }
    }
  }
  return best;
}
const rowOfNameAt = e => { const [px, py] = pointerPosition(e); return px / see.zoom < names ? shown[Math.floor((py / see.zoom + see.y - D.top) / D.row_pt)] : undefined; };
svg.addEventListener("pointerdown", e => {
  svg.focus();
  if (e.button) return;
  press = { x: e.clientX, y: e.clientY, sx: see.x, sy: see.y, isDragged: false, name: rowOfNameAt(e) };
  svg.setPointerCapture(e.pointerId);
});
svg.addEventListener("pointermove", e => {
  if (press) {
    press.isDragged ||= Math.hypot(e.clientX - press.x, e.clientY - press.y) > 4;
    if (!press.isDragged) return;
    card.hidden = true;
    if (press.name !== undefined) {
      const to = rowOfNameAt(e);
      if (to !== undefined && to !== press.name) moveRow(press.name, see.order.indexOf(to) - see.order.indexOf(press.name));
      return;
    }
    $("picture").classList.add("drag");
    see.x = press.sx - (e.clientX - press.x) / see.zoom;
    see.y = press.sy - (e.clientY - press.y) / see.zoom;
    refresh();
    return;
  }
  const i = markAt(e);
  card.hidden = i < 0;
  if (i < 0) return;
  const texts = textsOf(i), r = see.selected >= 0 && see.selected !== i ? `\n${relation(i, see.selected)} ${id(see.selected)}` : "";
  card.textContent = `${describe(i)}\n${ns(when(i) - D.time0)}${texts.length ? "\n" + texts.join("; ") : ""}${r}`;
  const [px, py] = pointerPosition(e), box = $("picture").getBoundingClientRect();
  card.style.left = Math.min(px + 14, box.width - card.offsetWidth - 6) + "px";
  card.style.top = Math.min(py + 14, box.height - card.offsetHeight - 6) + "px";
});
svg.addEventListener("pointerup", e => {
  const released = press;
  press = null;
  $("picture").classList.remove("drag");
  if (released && !released.isDragged) {
    const i = markAt(e);
    if (i >= 0) select(i, e.ctrlKey || e.metaKey);
    else if (released.name !== undefined) { openSide(true); showPage("rows"); }
  } else saveView();
});
svg.addEventListener("pointerleave", () => { card.hidden = true; });
svg.addEventListener("wheel", e => {
  e.preventDefault();
  const [px, py] = pointerPosition(e);
  if (e.ctrlKey || e.metaKey) zoomBy(Math.exp(-e.deltaY / 300), px, py);
  else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) scroll((e.deltaX || e.deltaY) / see.zoom, 0);
  else if (D.top + shown.length * D.row_pt + 8 > svg.clientHeight / see.zoom) scroll(0, e.deltaY / see.zoom);
  else scroll(e.deltaY / see.zoom, 0);
}, { passive: false });

/* ---- printing: the whole diagram in bands; if it is too long, bands from the visible part on ---- */
const MAX_BANDS = 40; // a browser paints these in about ten seconds
function paintPages() {
  const paper = $("paper"), band = Math.max(names + 200, 1000), high = D.top + shown.length * D.row_pt + 8;
  paper.replaceChildren();
  printing = true;
  const step = band - names;
  const begin = (width - D.names) / step <= MAX_BANDS ? D.names : see.x + D.names;
  let x = begin, k = 0;
  for (; x < width && k < MAX_BANDS; x += step, k++) {
    const s = make("svg", { id: "paper" + k, viewBox: `0 0 ${band} ${high}` }, paper);
    paintNames(paint(s, x, Math.min(width, x + step), 0, high, 1, names - x, 0), x - names, 1);
  }
  if (begin > D.names || x < width) el("p", "Part of the diagram; poet export writes a PDF of all of it.", paper);
  printing = false;
}
addEventListener("beforeprint", paintPages);
addEventListener("afterprint", () => $("paper").replaceChildren());

/* ---- legend, event handlers, start ---- */
function legend() {
  const box = $("legend"), added = new Set(), drawn = new Set(D.type);
  box.replaceChildren();
  const add = (words, draw) => { const s = el("span", null, box), i = make("svg", { width: 20, height: 14, viewBox: "-10 -7 20 14" }, s); draw(i); s.append(words); };
  D.types.forEach((t, k) => {
    const key = `${t.s} ${t.f} ${t.c} ${t.l}`;
    if (!t.s || !drawn.has(k) || added.has(key)) return;
    added.add(key);
    const a = { fill: t.f ? themeColor(D.palette[t.c]) : "none", stroke: themeColor(D.palette[t.c]), "stroke-width": 1.2 };
    add(t.l, i => make(t.s === 2 ? "rect" : "circle", t.s === 2 ? { x: -3.5, y: -3.5, width: 7, height: 7, ...a } : { r: 3.5, ...a }, i));
  });
  const undelivered = D.types.findIndex((t, k) => t.u && D.type.some((v, i) => v === k && D.unheard[i]));
  if (undelivered >= 0)
    add(D.types[undelivered].u, i => {
      const color = themeColor(D.palette[D.types[undelivered].c]);
      make("circle", { r: 3.5, fill: "none", stroke: color, "stroke-width": 1.2 }, i);
      make("path", { d: "M-5 5L5 -5", stroke: color, "stroke-width": 1.2 }, i);
    });
  if (deadlocked.size) add(D.legend.deadlock, i => make("circle", { r: 5, fill: "none", stroke: RED, "stroke-width": 2 }, i));
  for (const style of [3, 2, 1, 4, 5, 6])
    if (D.lines.some(l => (l[1] & 15) === style))
      add(D.legend.styles[style], i => { drawLine(i, -9, 7, 0, style, "#000000", false); if (style === STYLE_END) make("line", { x1: 7, x2: 7, y1: -3, y2: 3, stroke: "currentColor" }, i); });
  ARROWS.forEach(([w, dashes], kind) => {
    if (!D.links.some(l => l[0] === kind)) return;
    add(D.legend.arrows[kind], i => { make("line", { x1: -9, x2: 4, y1: 0, y2: 0, stroke: themeColor("#595959"), "stroke-width": w, "stroke-dasharray": dashes || "none" }, i); drawArrowHead(i, 9, 0, 1, 0, 5, themeColor("#595959")); });
  });
  for (const [k, r, look] of [[0, "before", "bar on the left"], [1, "after", "bar on the right"], [2, "concurrent", "faint"], [4, "unknown", "two bars"]])
    add(`${D.legend.relations[k]} (${look})`, i => make("circle", { r: 3.5, fill: RELATION_COLORS[r] }, i));
  for (const note of D.footnotes) el("span", note, box);
}
for (const b of document.querySelectorAll("[data-tab]")) b.onclick = () => { openSide(true); showPage(b.dataset.tab); };
$("find").addEventListener("input", e => find(e.target.value));
$("time").onclick = () => { setTime(!see.byTime); svg.focus(); };
$("in").onclick = () => { zoomBy(1.25); svg.focus(); };
$("out").onclick = () => { zoomBy(0.8); svg.focus(); };
$("fit").onclick = () => { fit(); svg.focus(); };
dark.addEventListener("change", () => { legend(); refresh(); });
addEventListener("resize", refresh);
addEventListener("hashchange", () => restore(location.hash));
svg.setAttribute("aria-label", `Event diagram: ${N} events on ${ROWS} lines; the tab "Events" lists them`);
legend();
showPage("event");
restore(location.hash || D.open);
if (!location.hash && !D.open && (D.blocked.blocked || []).length) { // a hang: show the end and the blocked threads
  see.x = 1e12;
  showPage("waiting");
}
window.poet = { relation: (a, b) => relation(byId.get(a), byId.get(b)), x: a => X[byId.get(a)], ids: () => D.num.map((_, i) => id(i)), see, id, select: a => goTo(byId.get(a)) };
