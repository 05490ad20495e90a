// The recorded source of frames: those inside of this page. Picks and queries are answered from what was recorded.

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes.buffer;
}

class Offline {
  constructor(handlers) {
    this.handlers = handlers;
    this.buffer = decodeBase64(document.getElementById("recording").textContent.trim());
    this.starts = [];
    const view = new DataView(this.buffer);
    for (let at = 0; at < this.buffer.byteLength;) {
      const length = Number(view.getBigUint64(at, true));
      this.starts.push(at + 16);
      at = Math.ceil((at + 16 + length) / 16) * 16;
    }
    Object.assign(this, { at: 0, playing: true, rate: 30, view: {}, timer: 0, pending: false });
    setTimeout(() => {
      handlers.hello(JSON.parse(document.getElementById("hello").textContent));
      this.show();
      this.pace();
    });
  }

  pace() {
    clearInterval(this.timer);
    if (this.playing) this.timer = setInterval(() => { if (!this.pending) { this.at = (this.at + 1) % this.starts.length; this.show(); } }, 1000 / this.rate);
  }

  send(command) {
    const last = this.starts.length - 1;
    switch (command.do) {
      case "play": this.playing = true; this.pace(); break;
      case "pause": this.playing = false; this.pace(); break;
      case "step": this.playing = false; this.pace(); this.at = Math.min(last, Math.max(0, this.at + command.by)); break;
      case "seek": this.at = Math.min(last, Math.max(0, command.frame)); break;
      case "rate": this.rate = command.rate; this.pace(); break;
      case "view": this.view = command; break;
      default: return;
    }
    this.show();
  }

  show() {
    const frame = decodeFrame(this.buffer, this.starts[this.at]);
    frame.head.frames = this.starts.length;
    frame.head.stream = { playing: this.playing, rate: this.rate, dropped: 0, number: this.at };
    for (let i = 0; i < frame.count; i++) setFlags(frame, i, 0);
    frame.head.pick = this.pick(frame, this.view.pick);
    frame.head.query = this.ask(frame, this.view.query);
    this.pending = true;
    this.handlers.decoded(frame);
  }

  drawn() {
    this.pending = false;
  }

  pick(frame, id) {
    const i = id === null || id === undefined ? -1 : recordOf(frame, id);
    if (i < 0) return null;
    const neighbors = [];
    for (let k = 0; k < frame.pairs.length; k += 2) {
      const [a, b] = [frame.pairs[k], frame.pairs[k + 1]];
      if (a === i || b === i) neighbors.push(a === i ? b : a);
    }
    neighbors.forEach(other => setFlags(frame, other, NEIGHBOR));
    setFlags(frame, i, PICKED);
    const { dim } = frame.head, corner = side => cornerOf(frame, frame.records, i, side).slice(0, dim);
    return { id, min: corner(0), max: corner(4), pairs: neighbors.length, speed: null, neighbors: neighbors.map(k => idOf(frame, k)).slice(0, 50), region: null };
  }

  ask(frame, query) {
    if (!query) return null;
    const start = performance.now(), found = [], { dim } = frame.head;
    for (let i = 0; i < frame.count; i++) {
      const low = cornerOf(frame, frame.records, i, 0), high = cornerOf(frame, frame.records, i, 4);
      const at = distanceOf(query, low, high, dim);
      if (at !== null) found.push([i, at]);
    }
    found.sort((a, b) => a[1] - b[1]);
    if (query.kind === "nearest") found.length = Math.min(found.length, query.k);
    found.forEach(([i]) => setFlags(frame, i, flagsOf(frame, i) | HIT));
    const listed = found.slice(0, 50).map(([i, at]) => [idOf(frame, i), at]);
    return { kind: query.kind, count: found.length, micros: (performance.now() - start) * 1e3, asked: "scan", listed };
  }
}

// How far a box is from a query; null if it is not reached.
function distanceOf(query, low, high, dim) {
  const axes = [...Array(dim).keys()];
  if (query.kind === "box") return axes.every(k => low[k] <= query.max[k] && high[k] >= query.min[k]) ? 0 : null;
  if (query.kind === "nearest") return Math.hypot(...axes.map(k => Math.max(low[k] - query.point[k], 0, query.point[k] - high[k])));
  let [near, far] = [0, Infinity];
  for (const k of axes) {
    const [o, d] = [query.origin[k], query.direction[k]];
    if (d === 0) { if (o < low[k] || o > high[k]) return null; continue; }
    const [a, b] = [(low[k] - o) / d, (high[k] - o) / d];
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
  }
  return near <= far ? near : null;
}
