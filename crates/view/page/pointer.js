// Mouse, touch and keys on the picture.

const KEYS = [
  ["space", "play or pause"], [", .", "one frame back, one on"], ["[ ]", "slower, faster"], ["1 2 3 4", "a click picks, asks by ray, by box, for the nearest"],
  ["P S C B", "pairs, structure, cost, boxes"], ["K", "next coloring"], ["F", "show everything"], ["arrows", "turn the view, or move it in 2D"],
  ["+ \u2212", "nearer, farther"], ["Esc", "clear the selection"], ["T", "light or dark"], ["?", "this help"],
  ["drag", "turn, or move in 2D"], ["Shift or right drag, two fingers", "move"], ["wheel, pinch", "zoom to the pointer"], ["double click", "look at an object"],
];

class Pointer {
  constructor(app, canvas) {
    Object.assign(this, { app, canvas, down: new Map(), start: null, moved: 0, pinch: 0 });
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = event => this.release(event);
    canvas.onpointercancel = event => { this.down.delete(event.pointerId); this.start = null; this.frame(null); };
    canvas.oncontextmenu = event => event.preventDefault();
    canvas.ondblclick = event => this.center(this.place(event));
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const [x, y] = this.place(event);
      app.camera.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.0025), x, y);
      app.moved();
    }, { passive: false });
    document.addEventListener("keydown", event => this.key(event));
    $("keys").innerHTML = `<dl>${KEYS.map(([key, text]) => `<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`).join("")}</dl>`;
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Does a drag draw a query instead of moving the view?
  draws() {
    const { mode, camera } = this.app;
    return mode === "box" || (mode === "ray" && camera.dim === 2);
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.down.set(event.pointerId, this.place(event));
    [this.start, this.moved] = [this.place(event), 0];
    if (this.down.size === 2) this.pinch = this.spread();
  }

  spread() {
    const [a, b] = [...this.down.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  }

  move(event) {
    const last = this.down.get(event.pointerId);
    if (!last) return;
    const now = this.place(event), [dx, dy] = [now[0] - last[0], now[1] - last[1]], { camera } = this.app;
    this.down.set(event.pointerId, now);
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.down.size === 2) {
      const spread = this.spread(), [a, b] = [...this.down.values()];
      camera.zoom(this.pinch / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      camera.pan(dx / 2, dy / 2);
      this.pinch = spread;
    } else if (this.draws() && event.buttons !== 2 && !event.shiftKey) {
      this.frame(this.start, now);
      return;
    } else if (event.shiftKey || event.buttons & 6) camera.pan(dx, dy);
    else camera.turn(dx, dy);
    this.app.moved();
  }

  release(event) {
    const now = this.place(event), alone = this.down.size === 1, start = this.start;
    this.down.delete(event.pointerId);
    this.frame(null);
    if (!alone || !start || event.button === 2) return;
    if (this.draws() && this.moved > 4) this.drawn(start, now);
    else if (this.moved <= 4) this.click(now);
    this.start = null;
  }

  // The rectangle or line that is being drawn.
  frame(from, to) {
    if (!from) { $("overlay").innerHTML = ""; return; }
    const [x, y] = [Math.min(from[0], to[0]), Math.min(from[1], to[1])];
    const size = [Math.abs(from[0] - to[0]), Math.abs(from[1] - to[1])];
    if (this.app.mode === "box") $("overlay").innerHTML = `<div class="frame" style="left:${x}px;top:${y}px;width:${size[0]}px;height:${size[1]}px"></div>`;
    else $("overlay").innerHTML = `<svg style="position:absolute;inset:0;height:100%"><line x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}" stroke="${MARKS[0]}" stroke-width="2"/></svg>`;
  }

  click([x, y]) {
    const { app } = this, { camera } = app;
    if (app.mode === "pick") return app.pick(this.find(x, y));
    if (app.mode === "nearest") return app.ask({ kind: "nearest", point: this.surface(x, y), k: 8 });
    if (app.mode === "ray") return app.ask({ kind: "ray", ...(camera.dim === 2 ? { origin: camera.point(x, y), direction: [1, 0, 0] } : camera.ray(x, y)) });
    const size = camera.pixel() * 40, at = this.surface(x, y);
    app.ask({ kind: "box", min: at.map(c => c - size), max: at.map(c => c + size) });
  }

  drawn(from, to) {
    const { app } = this, { camera } = app, [a, b] = [camera.point(...from), camera.point(...to)];
    if (app.mode === "ray") return app.ask({ kind: "ray", origin: a, direction: subtract(b, a) });
    // In space the box is as deep as it is wide, around the plane through the target.
    const corners = [a, b], deep = camera.dim === 2 ? 0 : Math.hypot(...subtract(b, a)) / 2, { back } = camera.axes();
    const all = corners.flatMap(at => [add(at, back, deep), add(at, back, -deep)]);
    app.ask({ kind: "box", min: [0, 1, 2].map(k => Math.min(...all.map(at => at[k]))), max: [0, 1, 2].map(k => Math.max(...all.map(at => at[k]))) });
  }

  // The nearest drawn box under the pointer: the object, or null.
  find(x, y) {
    const hit = this.cast(x, y);
    return hit ? idOf(this.app.frame, hit.record) : null;
  }

  surface(x, y) {
    const hit = this.app.camera.dim === 3 && this.cast(x, y), { origin, direction } = this.app.camera.ray(x, y);
    return hit ? add(origin, direction, hit.at) : this.app.camera.point(x, y);
  }

  cast(x, y) {
    const { frame, camera } = this.app;
    if (!frame) return null;
    const { origin, step, dim } = frame.head, ray = camera.ray(x, y), { records } = frame;
    const axes = dim === 2 ? [0, 1] : [0, 1, 2];
    const from = axes.map(k => (ray.origin[k] - origin[k]) / (step[k] || 1)), way = axes.map(k => ray.direction[k] / (step[k] || 1));
    const slack = axes.map(k => camera.pixel() * 1.5 / (step[k] || 1));
    let best = null, least = Infinity;
    for (let i = 0, at = 0; i < frame.count; i++, at += 8) {
      let near = 0, far = Infinity, size = 0;
      for (const k of axes) {
        const low = records[at + k] - slack[k], high = records[at + 4 + k] + slack[k];
        size += high - low;
        if (way[k] === 0) { if (from[k] < low || from[k] > high) far = -1; continue; }
        const [a, b] = way[k] > 0 ? [low, high] : [high, low];
        near = Math.max(near, (a - from[k]) / way[k]);
        far = Math.min(far, (b - from[k]) / way[k]);
      }
      // In the plane the smallest box wins, in space the nearest.
      const rank = dim === 2 ? size : near;
      if (near <= far && rank < least) [best, least] = [{ record: i, at: near }, rank];
    }
    return best;
  }

  center([x, y]) {
    const hit = this.cast(x, y);
    if (!hit) return;
    const { frame, camera } = this.app, [a, b] = [0, 4].map(side => cornerOf(frame, frame.records, hit.record, side));
    camera.target = a.map((c, k) => (c + b[k]) / 2);
    camera.distance = Math.max(Math.hypot(...subtract(b, a)) * (camera.dim === 2 ? 6 : 12), camera.distance * 0.05);
    camera.touched = true;
    this.app.moved();
  }

  key(event) {
    const { app } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    if (event.target.type === "checkbox" && event.key === " ") return;
    const turn = { ArrowLeft: [-24, 0], ArrowRight: [24, 0], ArrowUp: [0, -24], ArrowDown: [0, 24] }[event.key];
    if (turn && document.activeElement === this.canvas) { app.camera.turn(...turn); app.moved(); event.preventDefault(); return; }
    const done = app.shortcut(event.key);
    if (done) event.preventDefault();
  }
}
