// The programs of the picture. Boxes and regions are fetched from textures by their number; no vertex is computed in JavaScript.

const SHARED = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform mat4 matrix;
uniform vec3 origin;   // of the window, relative to the target
uniform vec3 scale;    // of one step
uniform vec3 eye;      // relative to the target
uniform vec2 pixel;    // world size of a pixel: x per unit of distance, y everywhere
uvec4 texelOf(usampler2D list, int texel) { return texelFetch(list, ivec2(texel & 2047, texel >> 11), 0); }
vec3 place(uvec4 corner) { return origin + vec3(corner.xyz) * scale; }
`;

// Three faces of a box are visible at most: a fan of six triangles around its nearest corner.
const NEAR_FACES = `
const int FAR_X = 0xc6, FAR_Y = 0x1c, FAR_Z = 0x70;
bvec3 isFar(int vertex) { return bvec3((FAR_X >> vertex & 1) == 1, (FAR_Y >> vertex & 1) == 1, (FAR_Z >> vertex & 1) == 1); }
int faceOf(int vertex) { return vertex < 4 ? 2 : vertex < 6 ? 0 : 1; }
`;

const BOX_VERTEX = SHARED + NEAR_FACES + `
uniform usampler2D records, places, regions;
uniform int mode;      // 0 pairs, 1 size, 2 speed, 3 place, 4 cost
uniform vec3 stops[5];
uniform vec3 kinds[8];
uniform vec3 marks[3]; // picked, neighbor, hit
uniform bool plane;
flat out vec4 color;
flat out int face;
flat out int marked;
out vec3 inside;
vec3 ramp(float at) {
  float x = clamp(at, 0.0, 1.0) * 4.0;
  int k = min(int(x), 3);
  return mix(stops[k], stops[k + 1], x - float(k));
}
void main() {
  uvec4 low = texelOf(records, gl_InstanceID * 2), high = texelOf(records, gl_InstanceID * 2 + 1);
  vec3 a = place(low), b = place(high), center = (a + b) * 0.5, half_ = (b - a) * 0.5;
  float least = 0.6 * (pixel.y + pixel.x * length(center - eye));
  half_ = max(half_, plane ? vec3(least, least, 0.0) : vec3(least));
  bvec3 far = isFar(gl_VertexID);
  vec3 near_ = mix(vec3(-1), vec3(1), greaterThan(eye, center));
  vec3 side = near_ * mix(vec3(1), vec3(-1), far);
  gl_Position = matrix * vec4(center + half_ * side, 1.0);
  inside = side;
  face = faceOf(gl_VertexID);
  uint flags = high.w >> 8;
  marked = int(flags);
  vec3 base;
  if (mode == 3 || mode == 4) {
    int at = int(texelOf(places, gl_InstanceID).x);
    if (at == 0) base = stops[0];
    else if (mode == 3) base = kinds[(at * 5) & 7];
    else base = ramp(sqrt(float(texelOf(regions, at * 2 - 2).w) / 65535.0));
  } else {
    base = ramp(float(mode == 0 ? high.w & 255u : mode == 1 ? low.w & 255u : low.w >> 8) / 255.0);
  }
  if ((flags & 4u) != 0u) base = marks[2];
  if ((flags & 2u) != 0u) base = marks[1];
  if ((flags & 1u) != 0u) base = marks[0];
  float light = plane ? 1.0 : face == 1 ? 1.0 : face == 2 ? 0.84 : 0.7;
  color = vec4(base * light, plane ? 0.62 : 1.0);
}
`;

const BOX_FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 color;
flat in int face;
flat in int marked;
in vec3 inside;
uniform bool dimmed;   // something is marked: the rest is drawn as outlines
uniform vec3 ink;
out vec4 result;
void main() {
  vec3 width = fwidth(inside), gap = (1.0 - abs(inside)) / max(width, vec3(1e-6));
  vec2 gaps = face == 0 ? gap.yz : face == 1 ? gap.xz : gap.xy;
  vec2 sizes = face == 0 ? width.yz : face == 1 ? width.xz : width.xy;
  float large = 2.0 / max(max(sizes.x, sizes.y), 1e-6);        // pixels across
  float edge = (1.0 - smoothstep(0.6, 1.6, min(gaps.x, gaps.y))) * smoothstep(4.0, 12.0, large);
  result = vec4(mix(color.rgb, ink, edge * 0.55), color.a);
  if (dimmed && marked == 0) {
    if (large > 4.0 && edge < 0.3) discard;
    result.a *= 0.5;
  }
}
`;

const PAIR_VERTEX = SHARED + `
uniform usampler2D records;
layout(location = 0) in uvec2 ends;
void main() {
  int i = int(gl_VertexID == 0 ? ends.x : ends.y);
  vec3 a = place(texelOf(records, i * 2)), b = place(texelOf(records, i * 2 + 1)), center = (a + b) * 0.5;
  // Centers lie inside of boxes: lines are drawn a little nearer, so that the boxes in front do not hide them.
  gl_Position = matrix * vec4(center + normalize(eye - center + vec3(1e-9)) * length(b - a) * 0.6, 1.0);
}
`;

const REGION_VERTEX = SHARED + NEAR_FACES + `
uniform usampler2D regions;
uniform bool filled;
uniform bool byCost;
uniform vec3 stops[5];
uniform vec4 plain;
flat out vec4 color;
vec3 ramp(float at) {
  float x = clamp(at, 0.0, 1.0) * 4.0;
  int k = min(int(x), 3);
  return mix(stops[k], stops[k + 1], x - float(k));
}
void main() {
  uvec4 low = texelOf(regions, gl_InstanceID * 2), high = texelOf(regions, gl_InstanceID * 2 + 1);
  vec3 a = place(low), b = place(high), share;
  float cost = float(low.w) / 65535.0;
  if (filled) {
    bvec3 far = isFar(gl_VertexID);
    share = mix(vec3(0), vec3(1), notEqual(greaterThan(eye, (a + b) * 0.5), far));
  } else {
    // 12 edges: 4 along each axis; two bits choose among them, the lowest chooses the end.
    int edge = gl_VertexID >> 1, axis = edge >> 2;
    float u = float(edge & 1), v = float(edge >> 1 & 1), end = float(gl_VertexID & 1);
    share = axis == 0 ? vec3(end, u, v) : axis == 1 ? vec3(u, end, v) : vec3(u, v, end);
  }
  gl_Position = matrix * vec4(mix(a, b, share), 1.0);
  color = byCost ? vec4(ramp(sqrt(cost)), filled ? 0.03 + 0.3 * cost : 0.35 + 0.65 * cost) : plain;
}
`;

const LINE_VERTEX = SHARED + `
layout(location = 0) in vec3 at;
void main() { gl_Position = matrix * vec4(at, 1.0); }
`;

const FLAT_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 tint;
out vec4 result;
void main() { result = tint; }
`;

const COLOR_FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 color;
out vec4 result;
void main() { result = color; }
`;
