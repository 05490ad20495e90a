// The picture: WebGL2, one draw call for all boxes, one for all pairs, one or two for all regions.

const ROW = 2048; // texels in a row of a texture
const rgb = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16) / 255);
// Viridis, without its darkest end in the dark; eight colors of Okabe and Ito.
const STOPS = {
  light: ["#440154", "#3b528b", "#21918c", "#5ec962", "#f4d41f"],
  dark: ["#4a3b8f", "#3f6fa8", "#27a08f", "#6fd16a", "#fde725"],
};
const KINDS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7a7f87"];
const MARKS = ["#e5007e", "#ff8c1a", "#e5007e"];
const INKS = {
  light: { ink: "#10151c", pair: [0.06, 0.08, 0.12, 0.55], fresh: [0.84, 0.18, 0.0, 1], region: [0.15, 0.25, 0.4, 0.5] },
  dark: { ink: "#05070a", pair: [0.92, 0.95, 1, 0.5], fresh: [1, 0.55, 0.2, 1], region: [0.62, 0.74, 0.92, 0.42] },
};
const MODES = { pairs: 0, size: 1, speed: 2, place: 3, cost: 4 };

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    this.frame = null;
    this.lost = false;
    this.start();
    canvas.addEventListener("webglcontextlost", event => { event.preventDefault(); this.lost = true; });
    canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.start(); if (this.frame) this.upload(this.frame); });
  }

  start() {
    const gl = this.gl = this.canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL2; try another one, or allow hardware acceleration");
    this.programs = {
      boxes: this.program(BOX_VERTEX, BOX_FRAGMENT), pairs: this.program(PAIR_VERTEX, FLAT_FRAGMENT),
      regions: this.program(REGION_VERTEX, COLOR_FRAGMENT), lines: this.program(LINE_VERTEX, FLAT_FRAGMENT),
    };
    this.textures = {};
    for (const [name, format] of [["records", "RGBA16UI"], ["regions", "RGBA16UI"], ["places", "R16UI"]]) {
      this.textures[name] = { texture: gl.createTexture(), format, rows: 0 };
    }
    this.empty = gl.createVertexArray();
    this.ends = this.buffer(() => gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 0, 0), true);
    this.fresh = this.buffer(() => gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 0, 0), true);
    this.marks = this.buffer(() => gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0), false);
  }

  buffer(point, instanced) {
    const { gl } = this, array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(0);
    point();
    if (instanced) gl.vertexAttribDivisor(0, 1);
    return { array, buffer };
  }

  program(vertex, fragment) {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = new Map();
    return { program, at: name => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(program, name));
      return places.get(name);
    } };
  }

  // A list of texels, row by row.
  store(name, list, width) {
    const { gl } = this, entry = this.textures[name], texels = list.length / width;
    gl.bindTexture(gl.TEXTURE_2D, entry.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
    const [format, inner] = width === 4 ? [gl.RGBA_INTEGER, gl.RGBA16UI] : [gl.RED_INTEGER, gl.R16UI];
    const rows = Math.max(1, Math.ceil(texels / ROW));
    if (rows > entry.rows) {
      entry.rows = rows;
      gl.texImage2D(gl.TEXTURE_2D, 0, inner, ROW, rows, 0, format, gl.UNSIGNED_SHORT, null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    const full = Math.floor(texels / ROW), rest = texels - full * ROW;
    if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, full, format, gl.UNSIGNED_SHORT, list);
    if (rest) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, rest, 1, format, gl.UNSIGNED_SHORT, list, full * ROW * width);
  }

  upload(frame) {
    const { gl } = this;
    this.frame = frame;
    this.store("records", frame.records, 4);
    this.store("regions", frame.regions, 4);
    this.store("places", frame.places || new Uint16Array(frame.count), 1);
    for (const [target, list] of [[this.ends, frame.pairs], [this.fresh, frame.started]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, target.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, list, gl.STREAM_DRAW);
    }
  }

  // `look`: theme, mode, which parts to show, lines of the query in world coordinates, how bright new pairs are.
  draw(camera, look) {
    const { gl, frame, canvas } = this;
    if (this.lost) return;
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.max(1, Math.round(camera.width * sharp)), Math.max(1, Math.round(camera.height * sharp))];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    const ground = rgb(look.ground);
    gl.clearColor(...ground, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!frame) return;
    const plane = camera.dim === 2, inks = INKS[look.theme];
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const scene = { camera, height, inks, stops: STOPS[look.theme].flatMap(rgb) };
    if (plane) gl.disable(gl.DEPTH_TEST); else gl.enable(gl.DEPTH_TEST);
    if (look.boxes && frame.count) this.drawBoxes(scene, look, plane);
    if (look.pairs) {
      const dim = look.dimmed ? 0.25 : 1;
      this.drawPairs(scene, this.ends, frame.pairs.length / 2, [...inks.pair.slice(0, 3), inks.pair[3] * dim]);
      this.drawPairs(scene, this.fresh, frame.started.length / 2, [...inks.fresh.slice(0, 3), look.flash * dim]);
    }
    gl.depthMask(false);
    if (frame.regions.length && (look.regions || look.cost)) this.drawRegions(scene, look);
    gl.depthMask(true);
    if (look.lines.length) this.drawLines(scene, look.lines);
  }

  // What all programs need.
  use(name, { camera, height }) {
    const { gl, frame } = this, { program, at } = this.programs[name];
    gl.useProgram(program);
    gl.uniformMatrix4fv(at("matrix"), false, camera.matrix());
    gl.uniform3fv(at("origin"), subtract(frame.head.origin, camera.target));
    gl.uniform3fv(at("scale"), frame.head.step);
    gl.uniform3fv(at("eye"), subtract(camera.eye(), camera.target));
    const plane = camera.dim === 2;
    gl.uniform2f(at("pixel"), plane ? 0 : 2 * Camera.FIELD / height, plane ? 2 * camera.distance / height : 0);
    ["records", "regions", "places"].forEach((texture, k) => {
      const place = at(texture);
      if (place === null) return;
      gl.activeTexture(gl.TEXTURE0 + k);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[texture].texture);
      gl.uniform1i(place, k);
    });
    gl.activeTexture(gl.TEXTURE0);
    return at;
  }

  drawBoxes(scene, look, plane) {
    const { gl, frame } = this, at = this.use("boxes", scene);
    gl.uniform1i(at("mode"), MODES[look.color]);
    gl.uniform3fv(at("stops"), scene.stops);
    gl.uniform3fv(at("kinds"), KINDS.flatMap(rgb));
    gl.uniform3fv(at("marks"), MARKS.flatMap(rgb));
    gl.uniform3fv(at("ink"), rgb(scene.inks.ink));
    gl.uniform1i(at("plane"), plane);
    gl.uniform1i(at("dimmed"), look.dimmed);
    gl.bindVertexArray(this.empty);
    gl.drawArraysInstanced(gl.TRIANGLE_FAN, 0, 8, frame.count);
  }

  drawPairs(scene, lines, count, tint) {
    if (!count || tint[3] <= 0) return;
    const { gl } = this, at = this.use("pairs", scene);
    gl.uniform4fv(at("tint"), tint);
    gl.bindVertexArray(lines.array);
    gl.drawArraysInstanced(gl.LINES, 0, 2, count);
  }

  drawRegions(scene, look) {
    const { gl, frame } = this, at = this.use("regions", scene), count = frame.regions.length / 8;
    gl.uniform3fv(at("stops"), scene.stops);
    gl.uniform4fv(at("plain"), scene.inks.region);
    gl.uniform1i(at("byCost"), look.cost);
    gl.bindVertexArray(this.empty);
    if (look.cost) {
      gl.uniform1i(at("filled"), 1);
      gl.drawArraysInstanced(gl.TRIANGLE_FAN, 0, 8, count);
    }
    gl.uniform1i(at("filled"), 0);
    gl.drawArraysInstanced(gl.LINES, 0, 24, count);
  }

  drawLines(scene, lines) {
    const { gl } = this, at = this.use("lines", scene);
    const points = lines.flatMap(point => subtract(point, scene.camera.target));
    gl.uniform4fv(at("tint"), [...rgb(MARKS[0]), 1]);
    gl.bindVertexArray(this.marks.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.marks.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(points), gl.STREAM_DRAW);
    gl.disable(gl.DEPTH_TEST);
    gl.drawArrays(gl.LINES, 0, points.length / 3);
  }
}
