// What is known about the frame, in words and figures.

const REGION_NAMES = { tile: "tiles", node: "nodes", cell: "cells", box: "boxes" };

function showHeadline(head) {
  const { algorithms: [first] } = head;
  $("headline").innerHTML = `<b>${escapeText(head.scene)}</b> &middot; ${thousands(head.n)} objects in ${head.dim}D &middot; <b id="pairCount">${thousands(head.pairs)}</b> pairs by <b>${escapeText(first.name)}</b> in ${millis(totalOf(first.measured))} ms`;
  $("headline").dataset.pairs = head.pairs;
  $("headline").dataset.frame = head.frame;
}

function showFigures(head, page) {
  const one = head.algorithms[0].measured;
  const figures = [
    [millis(totalOf(one)) + " ms", "this frame"],
    [thousands(head.pairs), "pairs"],
    [`+${compact(head.fresh)}`, `started, ${compact(head.ended)} ended`],
    [one.pairs ? (one.tests / one.pairs).toPrecision(3) : thousands(one.tests), one.pairs ? "tests per pair" : "tests, no pair"],
    [head.moving === null ? "\u2013" : `${Math.round(head.moving * 100)} %`, "objects moving"],
    [bytesText(one.bytes), "memory"],
    [bytesText(page.bytes), "sent per frame"],
    [`${page.ms.toFixed(1)} ms`, "work of this page"],
    [thousands(head.stream.dropped), "frames dropped"],
  ];
  $("figures").innerHTML = figures.map(([value, text]) => `<div class="tile"><b>${value}</b><span>${text}</span></div>`).join("");
}

function showChoice(head) {
  const { measured: one, name } = head.algorithms[0];
  const extra = Object.entries(one.extra).map(([key, value]) => `${short(value)} ${key}`).join(", ");
  $("choice").textContent = one.choice ? `${name} chose ${one.choice}${extra ? ` (${extra})` : ""}` : extra;
}

function showCost(head) {
  const { cost } = head, one = head.algorithms[0].measured;
  const perObject = head.n ? ` ${short(one.tests / head.n)} tests per object.` : "";
  if (!cost) {
    $("costText").textContent = `${head.algorithms[0].name} has no regions to show.${perObject}`;
    return;
  }
  if (cost.total < 10) {
    $("costText").textContent = `${thousands(cost.total)} ${cost.total === 1 ? cost.kind : REGION_NAMES[cost.kind]}, too few to tell where the cost is.${perObject}`;
    return;
  }
  const names = REGION_NAMES[cost.kind], share = Math.round(cost.share * 100);
  const spread = share > 40 ? "The cost is concentrated: look at the bright ones." : share > 20 ? "The cost is a little uneven." : "The cost is even.";
  const what = cost.unit === "tests" ? "tests" : "objects (it does not count tests by region)";
  $("costText").textContent = `${thousands(cost.tenth)} of ${thousands(cost.total)} ${names} hold ${share} % of the ${what}. ${spread}${perObject}`;
}

function showNotice(head, frame) {
  const said = [];
  if (frame.count < head.reached) said.push(`${thousands(frame.count)} of ${thousands(head.reached)} boxes drawn: zoom in to see all`);
  if (head.counts.regions && head.cost && head.counts.regions < head.cost.total) said.push(`${thousands(head.counts.regions)} of ${thousands(head.cost.total)} ${REGION_NAMES[head.cost.kind]} drawn`);
  if (head.counts.listed && head.counts.listed < head.pairs && frame.count === head.n) said.push(`${thousands(head.counts.listed)} of ${thousands(head.pairs)} pairs drawn`);
  if (!head.n) said.push("no objects");
  const text = said.join("; ");
  if ($("notice").textContent !== text) $("notice").textContent = text;
}

function showLegend(head, look) {
  const stops = STOPS[look.theme].join(", ");
  const titles = { pairs: "pairs of an object", size: "longest edge", speed: "way since the last frame" };
  let bar = "";
  if (look.color === "place") bar = `<div>color: ${head.cost ? `the ${head.cost.kind} it is in` : "no regions here"}</div>`;
  else if (look.color === "cost") bar = `<div>color: cost of ${head.cost ? `its ${head.cost.kind}` : "regions (none here)"}</div><div class="bar" style="background:linear-gradient(90deg, ${stops})"></div><div class="ends"><span>0</span><span>${head.cost ? `${thousands(head.cost.most)} ${head.cost.unit}` : ""}</span></div>`;
  else {
    const { range, log } = head.legend[look.color];
    bar = `<div>color: ${titles[look.color]}${log ? " (log scale)" : ""}</div><div class="bar" style="background:linear-gradient(90deg, ${stops})"></div><div class="ends"><span>${short(range[0])}</span><span>${short(range[1])}</span></div>`;
  }
  const css = color => `rgb(${color.slice(0, 3).map(c => Math.round(c * 255)).join(" ")})`, inks = INKS[look.theme];
  const keys = [];
  if (look.pairs) keys.push([css(inks.pair), "pair"], [css(inks.fresh), "started now"]);
  if (look.regions && head.cost && !look.cost) keys.push([css(inks.region), head.cost.kind]);
  if (head.pick) keys.push([MARKS[0], "picked"], [MARKS[1], "touches it"]);
  if (head.query && !head.query.fault) keys.push([MARKS[2], "answers"]);
  const text = bar + `<div class="keys">${keys.map(([color, name]) => `<span><i style="background:${color}"></i>${name}</span>`).join("")}</div>`;
  if ($("legend").dataset.text !== text) { $("legend").dataset.text = text; $("legend").innerHTML = text; }
}

const corner = at => at.map(c => typeof c === "number" ? short(c) : c ?? "\u221E").join(", ");
const objectLinks = ids => ids.map(id => `<button type="button" class="link" data-id="${id}">${id}</button>`).join("");

function showSelection(app, head) {
  const parts = [];
  if (head.pick) {
    const { pick } = head, more = pick.pairs - pick.neighbors.length;
    const region = pick.region && head.cost ? `<dt>${head.cost.kind}</dt><dd>number ${pick.region.number}, ${thousands(pick.region.cost)} ${head.cost.unit}</dd>` : "";
    parts.push(`<dl data-picked="${pick.id}" data-pairs="${pick.pairs}"><dt>object</dt><dd><b>${pick.id}</b></dd><dt>from</dt><dd>${corner(pick.min)}</dd><dt>to</dt><dd>${corner(pick.max)}</dd>` +
      `${pick.speed === null ? "" : `<dt>moved</dt><dd>${short(pick.speed)}</dd>`}${region}<dt>touches</dt><dd>${pick.pairs ? objectLinks(pick.neighbors) + (more > 0 ? ` and ${thousands(more)} more` : "") : "nothing"}</dd></dl>`);
  }
  if (head.query) {
    const { query } = head;
    const title = { ray: "on the ray", box: "overlap the box", nearest: "nearest" }[query.kind];
    parts.push(query.fault ? `<p class="note">${escapeText(query.fault)}</p>` : `<dl data-answers="${query.count}"><dt>${title}</dt><dd><b>${thousands(query.count)}</b> in ${short(query.micros)} \u00b5s by ${escapeText(query.asked)}</dd><dt>first</dt><dd>${query.listed.length ? objectLinks(query.listed.map(([id]) => id)) : "none"}</dd></dl>`);
  }
  if (parts.length) parts.push(`<button type="button" id="clear">Clear (Esc)</button>`);
  else parts.push(`<p class="note">Click an object. Or ask with Ray, Box and Nearest.</p>`);
  const text = parts.join("");
  if (app.selectionText === text) return;
  app.selectionText = text;
  const kept = document.activeElement && document.activeElement.dataset.id;
  $("selection").innerHTML = text;
  $("selection").querySelectorAll(".link").forEach(link => { link.onclick = () => app.pick(Number(link.dataset.id)); });
  if ($("clear")) $("clear").onclick = () => app.clear();
  if (kept) $("selection").querySelector(`[data-id="${kept}"]`)?.focus();
}
