// The layout of a frame, as `crates/view/src/wire.rs` describes it. Nothing is copied: all arrays are views of the message.

const PICKED = 1, NEIGHBOR = 2, HIT = 4;

function decodeFrame(buffer, at = 0) {
  const magic = new Uint8Array(buffer, at, 4);
  if (String.fromCharCode(...magic) !== "BPV1") throw new Error("this is no frame of broadphase view");
  const length = new DataView(buffer).getUint32(at + 4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at + 8, length)));
  let place = at + 8 + length;
  const take = (Type, count) => {
    const part = new Type(buffer, place, count);
    place += part.byteLength;
    return part;
  };
  const { counts } = head;
  const records = take(Uint16Array, counts.drawn * 8);
  const regions = take(Uint16Array, counts.regions * 8);
  const started = take(Uint32Array, counts.started * 2);
  const pairs = take(Uint32Array, counts.listed * 2);
  const ids = counts.ids ? take(Uint32Array, counts.ids) : null;
  const places = counts.places ? take(Uint16Array, counts.places) : null;
  return { head, records, regions, started, pairs, ids, places, count: counts.drawn, bytes: place - at };
}

// The object that record `i` shows, and the record of an object (-1 if it is not drawn).
const idOf = (frame, i) => frame.ids ? frame.ids[i] : i;
const recordOf = (frame, id) => frame.ids ? frame.ids.indexOf(id) : (id < frame.count ? id : -1);

// The corner of a record in the world: `side` 0 is the lower one, 4 the upper one.
function cornerOf(frame, records, i, side) {
  const { origin, step } = frame.head;
  return [0, 1, 2].map(k => origin[k] + records[i * 8 + side + k] * step[k]);
}
const flagsOf = (frame, i) => frame.records[i * 8 + 7] >> 8;
function setFlags(frame, i, flags) {
  frame.records[i * 8 + 7] = (frame.records[i * 8 + 7] & 255) | (flags << 8);
}

const escapeText = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const thousands = value => Math.round(value).toLocaleString("en-US");
function short(value) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e5 || (size < 1e-3 && size > 0)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}
// Four characters or so, where room is scarce.
const compact = value => value >= 1e6 ? `${(value / 1e6).toPrecision(3)}M` : value >= 1e3 ? `${(value / 1e3).toPrecision(3)}k` : thousands(value);
function bytesText(bytes) {
  const unit = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : ["kB", 1e3];
  return `${(bytes / unit[1]).toPrecision(3)} ${unit[0]}`;
}
const millis = ms => ms === null || ms === undefined ? "" : ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(2) : ms.toFixed(3);
