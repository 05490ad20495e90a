// Where the picture is seen from: an orbit around a target in space, a map in the plane. All in doubles, in world coordinates.

const add = (a, b, s = 1) => a.map((x, k) => x + b[k] * s);
const subtract = (a, b) => a.map((x, k) => x - b[k]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const l = Math.hypot(...a) || 1; return a.map(x => x / l); };

class Camera {
  constructor() {
    this.dim = 3;
    this.target = [0, 0, 0];
    this.distance = 1;      // in space: of the eye from the target; in the plane: half of the height that is seen
    this.yaw = 0.7;
    this.pitch = 0.45;
    this.width = 1;
    this.height = 1;
    this.touched = false;   // moved by hand: no longer follows the scene
  }

  static FIELD = Math.tan(0.4);

  // Everything between two corners.
  fit(stage, dim) {
    this.dim = dim;
    this.target = [0, 1, 2].map(k => (stage[0][k] + stage[1][k]) / 2);
    const size = [0, 1, 2].map(k => stage[1][k] - stage[0][k]);
    const aspect = this.width / Math.max(this.height, 1);
    if (dim === 2) this.distance = Math.max(size[1], size[0] / aspect) * 0.53;
    else this.distance = Math.hypot(...size) * 0.5 / Camera.FIELD / Math.min(1, aspect) * 1.1;
    if (!(this.distance > 0)) this.distance = 1;
    this.stage = stage;
  }

  axes() {
    if (this.dim === 2) return { right: [1, 0, 0], up: [0, 1, 0], back: [0, 0, 1] };
    const [cp, sp] = [Math.cos(this.pitch), Math.sin(this.pitch)];
    const back = [Math.sin(this.yaw) * cp, sp, Math.cos(this.yaw) * cp];
    const right = [Math.cos(this.yaw), 0, -Math.sin(this.yaw)];
    return { right, up: cross(back, right), back };
  }

  eye() {
    const { back } = this.axes();
    return add(this.target, back, this.dim === 2 ? this.distance * 4 : this.distance);
  }

  // Column-major, for coordinates relative to the target: doubles where they matter, floats where they are small.
  matrix() {
    const { right, up, back } = this.axes();
    const aspect = this.width / Math.max(this.height, 1), d = this.distance;
    const rows = [right, up, back];
    const view = k => rows.map(row => row[k]);
    if (this.dim === 2) {
      const [sx, sy] = [1 / (d * aspect), 1 / d];
      return new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
    const f = 1 / Camera.FIELD, near = d * 0.02, far = d * 60;
    const [a, b] = [(far + near) / (near - far), 2 * far * near / (near - far)];
    const out = new Float32Array(16);
    for (let k = 0; k < 3; k++) {
      const [x, y, z] = view(k);
      out.set([x * f / aspect, y * f, z * a, -z], k * 4);
    }
    // The eye is `distance` behind the target.
    out.set([0, 0, -d * a + b, d], 12);
    return out;
  }

  // The ray through a point of the canvas, in CSS pixels.
  ray(x, y) {
    const { right, up, back } = this.axes();
    const [u, v] = [x / this.width * 2 - 1, 1 - y / this.height * 2], aspect = this.width / this.height;
    if (this.dim === 2) {
      const origin = add(add(this.target, right, u * this.distance * aspect), up, v * this.distance);
      return { origin: [origin[0], origin[1], 1], direction: [0, 0, -1] };
    }
    const direction = unit(add(add(back.map(c => -c), right, u * Camera.FIELD * aspect), up, v * Camera.FIELD));
    return { origin: this.eye(), direction };
  }

  // The point under the pointer on the plane through the target.
  point(x, y) {
    const { origin, direction } = this.ray(x, y);
    if (this.dim === 2) return [origin[0], origin[1], 0];
    const { back } = this.axes();
    const t = dot(subtract(this.target, origin), back) / dot(direction, back);
    return add(origin, direction, t);
  }

  // World length of a pixel at the target.
  pixel() {
    return this.dim === 2 ? 2 * this.distance / this.height : 2 * this.distance * Camera.FIELD / this.height;
  }

  turn(dx, dy) {
    if (this.dim === 2) return this.pan(dx, dy);
    this.yaw -= dx * 0.006;
    this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + dy * 0.006));
    this.touched = true;
  }

  pan(dx, dy) {
    const { right, up } = this.axes(), size = this.pixel();
    this.target = add(add(this.target, right, -dx * size), up, dy * size);
    this.touched = true;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.point(x, y);
    this.distance *= factor;
    this.target = add(this.target, subtract(before, this.point(x, y)));
    this.touched = true;
  }

  // The part of the world worth sending in detail; null for all of it.
  focus(stage, thinned) {
    const size = [0, 1, 2].map(k => stage[1][k] - stage[0][k]);
    const reach = this.dim === 2
      ? [this.distance * this.width / this.height, this.distance, 1].map(r => r * 1.5)
      : [1, 1, 1].map(() => this.distance * 1.6);
    const close = Math.max(...reach.slice(0, this.dim)) * 2 < Math.max(...size) * (thinned ? 0.7 : 0.05);
    return close ? [this.target.map((t, k) => t - reach[k]), this.target.map((t, k) => t + reach[k])] : null;
  }
}
