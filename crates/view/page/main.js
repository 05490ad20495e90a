// The page: frames in, picture and figures out.

class App {
  constructor() {
    this.look = { color: "pairs", boxes: true, pairs: true, regions: true, cost: false };
    Object.assign(this, { mode: "pick", frame: null, picked: null, query: null, focus: null, flashed: 0, scrubbing: false });
    this.camera = new Camera();
    this.measures = new Measures();
    this.page = { bytes: 0, ms: 0, frames: 0 };
    this.wrote = -Infinity;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.panel = new Panel(this);
    this.theme(localStorageGet("theme"));
    matchMedia("(prefers-color-scheme: dark)").onchange = () => this.theme(localStorageGet("theme"));
    $("theme").onclick = () => this.shortcut("t");
    $("helpButton").onclick = () => $("help").showModal();
    $("fit").onclick = () => this.shortcut("f");
    document.querySelectorAll("[data-mode]").forEach(button => { button.onclick = () => this.setMode(button.dataset.mode); });
    this.setMode("pick");
    try {
      this.renderer = new Renderer($("canvas"));
    } catch (error) {
      this.fail(error.message);
    }
    this.pointer = new Pointer(this, $("canvas"));
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.resize();
    document.addEventListener("visibilitychange", () => this.hide(document.hidden));
    const handlers = {
      hello: said => { this.panel.fill(said); this.sendView(); }, error: text => this.fail(text),
      closed: () => this.fail("The stream has ended: broadphase view is not running any more. Start it again and open its new address."),
      frame: data => this.take(() => decodeFrame(data)), decoded: frame => this.take(() => frame),
    };
    const recorded = document.getElementById("recording");
    document.body.classList.toggle("recorded", Boolean(recorded));
    this.source = recorded ? new Offline(handlers) : new LiveStream(handlers);
  }

  send(command) {
    this.source.send(command);
  }

  // A frame arrives: everything but drawing, timed.
  take(decode) {
    const start = performance.now(), frame = decode(), { head } = frame;
    const fresh = !this.frame || head.scene !== this.frame.head.scene || head.n !== this.frame.head.n || head.dim !== this.frame.head.dim;
    this.frame = frame;
    if (fresh) { this.measures.clear(); this.camera.touched = false; }
    if (fresh || !this.camera.touched) { this.camera.fit(head.stage, head.dim); this.focus = null; }
    this.measures.take(head);
    if (this.renderer) this.renderer.upload(frame);
    if (head.frame !== this.shown) [this.shown, this.flashed] = [head.frame, start];
    this.write(start);
    this.page = { bytes: frame.bytes, ms: performance.now() - start, frames: this.page.frames + 1 };
    this.request(true);
  }

  // Words and figures; charts and tables a few times a second.
  write(now) {
    const { frame } = this, { head } = frame;
    this.panel.follow(head);
    showHeadline(head);
    showSelection(this, head);
    if (now - this.wrote < 220 && head.stream.playing) return;
    this.wrote = now;
    showFigures(head, this.page);
    showChoice(head);
    showCost(head);
    showNotice(head, frame);
    showLegend(head, this.look);
    const wide = element => Math.max(240, element.clientWidth);
    const log = drawTimes($("timeChart"), this.measures, wide($("timeChart")));
    $("timeScale").textContent = log ? "in ms, log scale" : "in ms";
    drawStages($("stageChart"), this.measures, wide($("stageChart")));
    drawTable($("table"), head);
  }

  // The same frame, with other choices.
  rewrite() {
    this.wrote = -Infinity;
    if (this.frame) this.write(performance.now());
  }

  request(confirm = false) {
    this.confirm = this.confirm || confirm;
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw() {
    const flash = this.calm.matches ? 1 : Math.max(0.25, 1 - (performance.now() - this.flashed) / 700);
    const lines = this.queryLines(), { head } = this.frame || { head: {} };
    if (this.renderer) {
      const look = { ...this.look, lines, flash, ground: this.ground, dimmed: Boolean(head.pick || (head.query && head.query.count)) };
      this.renderer.draw(this.camera, look);
    }
    if (this.confirm && this.frame) { this.confirm = false; this.source.drawn(this.frame); }
    if (flash > 0.25 && flash < 1 && this.frame && this.frame.started.length && this.look.pairs) this.request();
  }

  // The query as lines between points.
  queryLines() {
    const { query, frame } = this;
    if (!query || !frame) return [];
    const { stage } = frame.head, length = Math.hypot(...subtract(stage[1], stage[0])) * 2;
    if (query.kind === "ray") return [query.origin, add(query.origin, unit(query.direction), length)];
    if (query.kind === "box") return boxEdges(query.min, query.max);
    const found = frame.head.query && frame.head.query.listed || [];
    return found.flatMap(([id]) => {
      const i = recordOf(frame, id);
      if (i < 0) return [];
      const [low, high] = [0, 4].map(side => cornerOf(frame, frame.records, i, side));
      return [query.point, query.point.map((c, k) => Math.min(high[k], Math.max(low[k], c)))];
    });
  }

  setLook(change) {
    Object.assign(this.look, change);
    for (const [id, key] of [["showBoxes", "boxes"], ["showPairs", "pairs"], ["showRegions", "regions"], ["showCost", "cost"]]) $(id).checked = this.look[key];
    $("color").value = this.look.color;
    this.sendView();
    this.rewrite();
    this.request();
  }

  sendView() {
    const { pairs, regions, cost, color } = this.look;
    const places = color === "place" || color === "cost";
    this.send({ do: "view", pairs, regions: regions || cost || places, places, budget: 150000, focus: this.focus, pick: this.picked, query: this.query });
  }

  // The camera moved: what it sees is drawn at once, and fetched in more detail when it rests.
  moved() {
    this.request();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (!this.frame) return;
      const { head, count } = this.frame, focus = this.camera.focus(head.stage, count < head.reached || head.n > 150000);
      if (JSON.stringify(focus) !== JSON.stringify(this.focus)) { this.focus = focus; this.sendView(); }
    }, 150);
  }

  pick(id) { [this.picked, this.query] = [id, null]; this.sendView(); }
  ask(query) { [this.query, this.picked] = [query, null]; this.sendView(); }
  clear() { [this.query, this.picked] = [null, null]; this.sendView(); }

  changeScene(command) {
    [this.picked, this.query, this.focus] = [null, null, null];
    this.send(command);
  }

  setMode(mode) {
    this.mode = mode;
    document.querySelectorAll("[data-mode]").forEach(button => button.setAttribute("aria-checked", String(button.dataset.mode === mode)));
  }

  toggle() {
    this.send({ do: this.frame && this.frame.head.stream.playing ? "pause" : "play" });
  }

  seek(frame) {
    this.scrubbing = true;
    clearTimeout(this.letGo);
    this.letGo = setTimeout(() => { this.scrubbing = false; }, 400);
    this.send({ do: "seek", frame });
  }

  shortcut(key) {
    const flip = name => this.setLook({ [name]: !this.look[name] });
    const rates = [...$("rate").options], at = $("rate").selectedIndex;
    const pace = by => { const next = rates[at + by]; if (next) { $("rate").value = next.value; $("rate").onchange(); } };
    const colors = [...$("color").options].map(option => option.value);
    const actions = {
      " ": () => this.toggle(), ",": () => this.send({ do: "step", by: -1 }), ".": () => this.send({ do: "step", by: 1 }),
      "[": () => pace(-1), "]": () => pace(1), 1: () => this.setMode("pick"), 2: () => this.setMode("ray"), 3: () => this.setMode("box"),
      4: () => this.setMode("nearest"), p: () => flip("pairs"), s: () => flip("regions"), c: () => flip("cost"), b: () => flip("boxes"),
      k: () => this.setLook({ color: colors[(colors.indexOf(this.look.color) + 1) % colors.length] }),
      f: () => { if (this.frame) { this.camera.fit(this.frame.head.stage, this.frame.head.dim); this.camera.touched = false; this.moved(); } },
      "+": () => { this.camera.zoom(0.8); this.moved(); }, "=": () => { this.camera.zoom(0.8); this.moved(); },
      "-": () => { this.camera.zoom(1.25); this.moved(); }, Escape: () => this.clear(),
      t: () => this.theme(document.documentElement.classList.contains("dark") ? "light" : "dark", true), "?": () => $("help").showModal(),
    };
    const action = actions[key] || actions[key.toLowerCase()];
    if (action) action();
    return Boolean(action);
  }

  theme(wanted, keep = false) {
    const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.classList.toggle("dark", dark);
    if (keep) localStorageSet("theme", wanted);
    this.look.theme = dark ? "dark" : "light";
    this.ground = getComputedStyle(document.documentElement).getPropertyValue("--stage").trim();
    this.rewrite();
    this.request();
  }

  resize() {
    const box = $("stage").getBoundingClientRect();
    [this.camera.width, this.camera.height] = [Math.max(1, box.width), Math.max(1, box.height)];
    if (this.frame && !this.camera.touched) this.camera.fit(this.frame.head.stage, this.frame.head.dim);
    this.request();
  }

  // A tab that nobody sees computes nothing.
  hide(hidden) {
    if (hidden) {
      this.resume = Boolean(this.frame && this.frame.head.stream.playing);
      if (this.resume) this.send({ do: "pause" });
      if (this.confirm && this.frame) { this.confirm = false; this.source.drawn(this.frame); }
    } else if (this.resume) this.send({ do: "play" });
  }

  fail(text) {
    $("failure").textContent = text;
    $("failure").hidden = false;
    clearTimeout(this.forget);
    if (!/not running|WebGL2/.test(text)) this.forget = setTimeout(() => { $("failure").hidden = true; }, 9000);
  }
}

function boxEdges(min, max) {
  const corner = bits => [0, 1, 2].map(k => bits >> k & 1 ? max[k] : min[k]), lines = [];
  for (let bits = 0; bits < 8; bits++) for (let k = 0; k < 3; k++) if (!(bits >> k & 1)) lines.push(corner(bits), corner(bits | 1 << k));
  return lines;
}

// A page from a file may have no storage.
function localStorageGet(key) { try { return localStorage.getItem(key); } catch { return null; } }
function localStorageSet(key, value) { try { localStorage.setItem(key, value); } catch { /* the choice lasts as long as the page */ } }

window.view = new App();
