// Times of the algorithms: lines over the last frames, bars by stage, and a table.

const SPAN = 150;      // frames in the chart
const MEDIAN = 60;     // frames in the bars
const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "12 4"];
const STAGES = [["update", "update"], ["join", "find pairs"], ["events", "started and ended"]];

class Measures {
  constructor() {
    this.series = new Map();
  }

  // Takes the measurements of a frame.
  take(head) {
    const names = head.algorithms.map(one => one.name);
    for (const name of [...this.series.keys()]) if (!names.includes(name)) this.series.delete(name);
    for (const { name, measured } of head.algorithms) {
      if (!this.series.has(name)) this.series.set(name, []);
      const list = this.series.get(name);
      const fresh = measured && (!list.length || list[list.length - 1].frame !== measured.frame);
      if (fresh) list.push(measured);
      if (list.length > SPAN) list.shift();
    }
  }

  clear() {
    this.series.clear();
  }

  // Medians over the last frames.
  median(name, pick) {
    const values = (this.series.get(name) || []).slice(-MEDIAN).map(pick).sort((a, b) => a - b);
    return values.length ? values[values.length >> 1] : null;
  }
}

const totalOf = one => one.update + one.join + one.events;

// A step of 1, 2 or 5 that cuts a length into about four.
function niceStep(length) {
  const rough = length / 4, power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find(m => m * power >= rough) || 10);
}

function timeScale(most, least) {
  const log = most > 12 * least && least > 0;
  if (!log) {
    const top = most * 1.12 || 1, step = niceStep(top), ticks = [];
    for (let at = 0; at <= top; at += step) ticks.push(at);
    return { log, ticks, place: ms => ms / top };
  }
  const [low, high] = [Math.log10(least * 0.7), Math.log10(most * 1.4)], ticks = [];
  for (let power = Math.ceil(low); power <= high; power++) ticks.push(10 ** power);
  return { log, ticks, place: ms => (Math.log10(Math.max(ms, least * 0.7)) - low) / (high - low) };
}

function drawTimes(element, measures, width) {
  const height = 170, left = 44, right = 8, top = 8, bottom = 20;
  const rows = [...measures.series].filter(([, list]) => list.length);
  const all = rows.flatMap(([, list]) => list.map(totalOf));
  if (!all.length) { element.innerHTML = ""; return false; }
  const scale = timeScale(Math.max(...all), Math.min(...all));
  const x = k => left + (width - left - right) * k / (SPAN - 1), y = ms => height - bottom - (height - top - bottom) * scale.place(ms);
  const grid = scale.ticks.map(ms => `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(ms)}" y2="${y(ms)}"/>` +
    `<text x="${left - 6}" y="${y(ms) + 4}" text-anchor="end">${short(ms)}</text>`).join("");
  const lines = rows.map(([name, list], k) => {
    const index = [...measures.series.keys()].indexOf(name), first = SPAN - list.length;
    const path = list.map((one, at) => `${at ? "L" : "M"}${x(first + at).toFixed(1)} ${y(totalOf(one)).toFixed(1)}`).join("");
    const dot = list.length === 1 ? `<circle cx="${x(SPAN - 1)}" cy="${y(totalOf(list[0]))}" r="3" fill="${SERIES[index % 7]}"/>` : "";
    return `<path d="${path}" fill="none" stroke="${SERIES[index % 7]}" stroke-width="2" stroke-dasharray="${DASHES[index % 7]}"/>${dot}`;
  }).join("");
  const said = rows.map(([name, list]) => `${name} ${millis(totalOf(list[list.length - 1]))} ms`).join(", ");
  element.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Time per frame over the last ${SPAN} frames: ${escapeText(said)}">` +
    `${grid}${lines}<text x="${left}" y="${height - 4}">${SPAN} frames ago</text><text x="${width - right}" y="${height - 4}" text-anchor="end">now</text></svg>`;
  return scale.log;
}

function drawStages(element, measures, width) {
  const names = [...measures.series.keys()], row = 40, top = 24;
  const medians = names.map(name => STAGES.map(([key]) => measures.median(name, one => one[key])));
  const most = Math.max(...medians.map(list => list.reduce((sum, ms) => sum + ms, 0)), 1e-9);
  const keys = STAGES.map(([key, text], k) => `<rect x="${[0, 68, 150][k]}" y="4" width="10" height="10" rx="2" style="fill:var(--${key})"/><text x="${[14, 82, 164][k]}" y="13">${text}</text>`).join("");
  const bars = names.map((name, at) => {
    const y = top + at * row, total = medians[at].reduce((sum, ms) => sum + ms, 0);
    let x = 0;
    const parts = medians[at].map((ms, k) => {
      const wide = Math.max(0, ms / most * (width - 4)), part = `<rect x="${x.toFixed(1)}" y="${y + 17}" width="${wide.toFixed(1)}" height="12" style="fill:var(--${STAGES[k][0]})"/>`;
      x += wide;
      return part;
    }).join("");
    const time = medians[at][0] === null ? "no time yet" : `${millis(total)} ms`;
    return `<text class="name" x="0" y="${y + 12}">${escapeText(name)}</text><text x="${width - 4}" y="${y + 12}" text-anchor="end">${time}</text>${parts}`;
  }).join("");
  const said = names.map((name, at) => `${name}: ${STAGES.map(([, text], k) => `${text} ${millis(medians[at][k])} ms`).join(", ")}`).join("; ");
  element.innerHTML = `<svg viewBox="0 0 ${width} ${top + names.length * row}" role="img" aria-label="${escapeText(said)}">${keys}${bars}</svg>`;
}

function drawTable(table, head) {
  const columns = ["algorithm", "ms", "times the drawn", "tests", "tests per pair", "pairs", "memory", "frames missed"];
  const first = head.algorithms[0].measured, base = totalOf(first);
  const rows = head.algorithms.map(({ name, measured, missed, fault, differs }, k) => {
    const swatch = `<i style="background:${SERIES[k % 7]}"></i>`;
    if (fault) return `<tr><td>${swatch}${escapeText(name)}</td><td class="fault" colspan="7">${escapeText(fault)}</td></tr>`;
    if (!measured) return `<tr><td>${swatch}${escapeText(name)}</td><td colspan="7" style="text-align:left">running its first frame&hellip;</td></tr>`;
    const alarm = differs ? `<td class="fault">${thousands(measured.pairs)}: WRONG</td>` : `<td>${thousands(measured.pairs)}</td>`;
    return `<tr><td>${swatch}${escapeText(name)}</td><td>${millis(totalOf(measured))}</td><td>${k ? (totalOf(measured) / base).toPrecision(3) : "1"}</td>` +
      `<td>${thousands(measured.tests)}</td><td>${measured.pairs ? (measured.tests / measured.pairs).toPrecision(3) : ""}</td>${alarm}` +
      `<td>${bytesText(measured.bytes)}</td><td>${missed ? thousands(missed) : "0"}</td></tr>`;
  }).join("");
  table.innerHTML = `<caption>Algorithms side by side, in this frame</caption><thead><tr>${columns.map(name => `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody>${rows}</tbody>`;
}
