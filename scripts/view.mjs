// Uses `broadphase view` as a person would, in a browser; called by scripts/check-view. Each step either holds or ends the run.
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { BROADPHASE: tool, FOLDER: folder, SHOTS: shots, ONLY: only } = process.env;
const PATIENCE = 60_000; // milliseconds for a step, then something hangs
const need = (holds, text) => { if (!holds) throw new Error(text); };
const run = (...words) => spawnSync(tool, words, { encoding: "utf8" });
const must = (...words) => {
  const done = run(...words);
  need(done.status === 0, `broadphase ${words.join(" ")}: ${done.stderr}`);
  return done.stdout;
};
const counts = file => must("pairs", file, "--count").trim().split("\n").map(line => Number(line.split(/\s+/)[2]));

// Starts the server and gives its address.
function serve(...words) {
  const server = spawn(tool, ["view", ...words, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => server.kill());
  return new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", data => { said += data; if (said.includes("\n")) resolve({ address: said.trim(), end: () => server.kill() }); });
    server.on("exit", code => reject(new Error(`the server ended with ${code}`)));
  });
}

// A page that complains about everything in its console and every request to elsewhere.
async function open(browser, address, settings = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...settings });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.wrong = [];
  page.on("console", message => page.wrong.push(`console: ${message.text()}`));
  page.on("pageerror", error => page.wrong.push(`exception: ${error.message}`));
  page.on("request", request => { if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) page.wrong.push(`loads ${request.url()}`); });
  await page.goto(address);
  await page.waitForFunction(() => window.view?.page.frames > 2);
  return page;
}

const calm = page => need(page.wrong.length === 0, page.wrong.join("; "));
const headline = page => page.evaluate(() => ({ ...document.getElementById("headline").dataset, text: document.getElementById("headline").textContent }));
// Waits until the headline says what `test`, a function in the page, asks for.
const until = (page, test, argument) => page.waitForFunction(test, argument);

async function seek(page, frame) {
  await page.evaluate(at => view.send({ do: "pause" }) ?? view.seek(at), frame);
  await until(page, at => document.getElementById("headline").dataset.frame === String(at) && !view.frame.head.stream.playing, frame);
}

// How many colors the picture has beside its ground.
const colors = page => page.evaluate(() => {
  view.draw();
  const { gl } = view.renderer, [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight], pixels = new Uint32Array(w * h);
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(pixels.buffer));
  return new Set(pixels).size - 1;
});

// A place of the picture at which a click picks an object.
const place = page => page.evaluate(() => {
  const { camera, pointer } = view, box = document.getElementById("canvas").getBoundingClientRect();
  for (let k = 0; k < 4000; k++) {
    const [x, y] = [camera.width * (0.3 + 0.4 * ((k * 0.618) % 1)), camera.height * (0.3 + 0.4 * ((k * 0.755) % 1))];
    const id = pointer.find(x, y);
    if (id !== null) return { x: box.left + x, y: box.top + y, id };
  }
  return null;
});

async function usesTheRecording(browser, address, file) {
  const page = await open(browser, address), expected = counts(file);
  for (const frame of [0, 5, 11]) {
    await seek(page, frame);
    const { pairs } = await headline(page);
    need(Number(pairs) === expected[frame], `frame ${frame}: ${pairs} pairs on screen, ${expected[frame]} by broadphase pairs --count`);
  }
  need(await colors(page) > 50, "the picture is blank");
  await page.evaluate(() => view.setLook({ boxes: false, pairs: false, regions: false }));
  need(await colors(page) === 0, "with everything hidden, the picture is not blank");
  await page.evaluate(() => view.setLook({ boxes: true, pairs: true, regions: true }));

  await page.click("#play");
  await until(page, () => view.frame.head.stream.playing && view.frame.head.frame !== 11);
  await page.click("#play");
  await seek(page, 0);
  await page.click("#forward");
  await until(page, () => view.frame.head.frame === 1);
  await page.keyboard.press(",");
  await until(page, () => view.frame.head.frame === 0);

  const at = await place(page), pairs = must("pairs", file).trim().split("\n").slice(1).map(line => line.split(",").map(Number));
  await page.mouse.click(at.x, at.y);
  await page.waitForSelector(`[data-picked="${at.id}"]`);
  const touching = pairs.filter(pair => pair.includes(at.id)).length, said = await page.getAttribute("[data-picked]", "data-pairs");
  need(Number(said) === touching, `object ${at.id} touches ${touching} others, the page says ${said}`);
  if (shots) await page.screenshot({ path: join(shots, "picked.png") });
  await page.keyboard.press("2");
  await page.mouse.click(at.x, at.y);
  await until(page, () => Number(document.querySelector("[data-answers]")?.dataset.answers) > 0);
  await page.click("[data-mode=nearest]");
  await page.mouse.click(at.x, at.y);
  await page.waitForSelector("[data-answers='8']");
  await page.click("[data-mode=box]");
  await page.mouse.move(at.x - 90, at.y - 90);
  await page.mouse.down();
  await page.mouse.move(at.x + 90, at.y + 90, { steps: 4 });
  await page.mouse.up();
  await until(page, () => view.frame.head.query?.kind === "box" && view.frame.head.query.count > 0);
  await page.keyboard.press("Escape");
  await until(page, () => !document.querySelector("[data-answers]"));

  await page.selectOption("#drawn", "kd-tree");
  await until(page, () => view.frame.head.algorithms[0].name === "kd-tree" && view.frame.head.cost.kind === "node");
  need(Number((await headline(page)).pairs) === expected[0], "another algorithm finds other pairs");
  await page.selectOption("#compare", "sweep");
  await until(page, () => [...document.querySelectorAll("#table tbody tr")].some(row => row.textContent.includes("sweep") && /\d/.test(row.cells[1].textContent)));
  need(!(await page.textContent("#table")).includes("WRONG"), "the algorithms disagree");

  await page.evaluate(() => { document.getElementById("objects").value = 400; });
  await page.selectOption("#scene", "pile");
  await page.fill("#s-dim", "2");
  await page.fill("#objects", "400");
  await page.click("#apply");
  await until(page, () => view.frame.head.scene === "pile:dim=2" && view.frame.head.n === 400);
  const other = join(folder, "other.npy");
  must("record", "pile:dim=2", "--n", "400", "--frames", "3", "-o", other);
  await seek(page, 2);
  need(Number((await headline(page)).pairs) === counts(other)[2], "the scene on screen has other pairs than its recording");
  await page.fill("#objects", "9000000000");
  await page.click("#apply");
  await page.waitForSelector("#failure:not([hidden])");
  calm(page);
  await page.context().close();
}

// Every algorithm that has regions: their outlines and the cost picture change pixels, a picked object is told its region, and the figures fit.
const REGIONS = { tiles: "tile", auto: "tile", "kd-tree": "node", "kd-tree-complete": "node", "kd-tree-incremental": "node", "kd-tree-rebuilt": "node", octree: "node", "dbvt-d": "node", "dbvt-f": "node", "hash-grid": "cell", "hash-grid-reinsert": "cell" };
async function showsRegions(browser) {
  const file = join(folder, "many.npy"); // enough objects for every structure: with few, hash-grid keeps a list
  must("record", "pile", "--n", "4000", "--frames", "4", "-o", file);
  const server = await serve(file), page = await open(browser, server.address), expected = counts(file);
  const listed = await page.evaluate(() => [...document.getElementById("drawn").options].map(option => option.value));
  const missing = Object.keys(REGIONS).filter(name => !listed.includes(name));
  need(missing.length === 0, `the page does not offer ${missing.join(", ")}`);
  await seek(page, 3);
  const at = await place(page);
  const pixels = () => page.evaluate(() => {
    view.draw();
    const { gl } = view.renderer, [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight], bytes = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16777619) >>> 0, 2166136261);
  });
  const look = async (change, ready) => {
    await page.evaluate(change => view.setLook(change), change);
    await until(page, ready);
    return pixels();
  };
  for (const name of listed) {
    await page.evaluate(name => view.send({ do: "algorithms", names: [name] }), name);
    await until(page, name => view.frame.head.algorithms[0].name === name || !document.getElementById("failure").hidden, name);
    if (!(name in REGIONS)) { // has none, or does not take boxes: then the old one stays, and the page says why
      await until(page, name => view.frame.head.algorithms[0].name !== name || view.frame.head.cost === null, name);
      await page.evaluate(() => { document.getElementById("failure").hidden = true; });
      continue;
    }
    const bare = await look({ boxes: false, pairs: false, regions: false, cost: false, color: "pairs" }, () => view.frame.head.counts.regions === 0);
    const outlined = await look({ regions: true }, () => view.frame.head.counts.regions > 0);
    const cost = await look({ regions: false, cost: true }, () => view.frame.head.counts.regions > 0);
    need(bare !== outlined && outlined !== cost && bare !== cost, `${name}: outlines or costs are not drawn`);
    await page.evaluate(id => view.pick(id), at.id);
    await until(page, id => view.frame.head.pick?.id === id && view.frame.head.pick.region !== undefined, at.id);
    const { kind, sum, unit, region, tests, pairs } = await page.evaluate(() => ({ ...view.frame.head.cost, region: view.frame.head.pick.region, tests: view.frame.head.algorithms[0].measured.tests, pairs: view.frame.head.pairs }));
    need(kind === REGIONS[name], `${name}: a region is a ${kind}, not a ${REGIONS[name]}`);
    need(pairs === expected[3], `${name}: ${pairs} pairs instead of ${expected[3]}`);
    need(unit === "objects" || sum === tests, `${name}: its regions made ${sum} tests, the frame ${tests}`);
    need(region && region.cost >= 0 && region.min.every((c, k) => c === null || region.max[k] === null || c <= region.max[k]), `${name}: object ${at.id} is in the region ${JSON.stringify(region)}`);
    need((await page.textContent("#selection")).includes(kind), `${name}: the selection does not tell the ${kind}`);
    await page.evaluate(() => view.clear());
    await until(page, () => !view.frame.head.pick);
  }
  calm(page);
  await page.context().close();
  server.end();
}

async function looksRight(browser, address) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of [["desktop", { width: 1440, height: 900 }], ["phone", { width: 390, height: 844 }]]) {
      const page = await open(browser, address, { colorScheme, viewport, reducedMotion: "reduce" });
      await page.evaluate(() => view.send({ do: "pause" }));
      const wrong = await page.evaluate(() => {
        const list = [], ground = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
        const dark = matchMedia("(prefers-color-scheme: dark)").matches;
        if ((ground[0] < 128) !== dark) list.push(`background ${ground} in the wrong theme`);
        if (document.documentElement.scrollWidth > innerWidth) list.push(`${document.documentElement.scrollWidth} wide on a screen of ${innerWidth}`);
        for (const control of document.querySelectorAll("button, input, select, canvas")) {
          const named = control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent.trim();
          if (!named) list.push(`a ${control.tagName} without a name`);
          const box = control.getBoundingClientRect();
          if (box.width && innerWidth < 500 && control.tagName === "BUTTON" && !control.closest("dialog") && Math.min(box.width, box.height) < 24) list.push(`${named} is too small to touch`);
        }
        if (!view.calm.matches) list.push("reduced motion is not seen");
        return list;
      });
      need(wrong.length === 0, `${colorScheme}, ${name}: ${wrong.join("; ")}`);
      need(await colors(page) > 50, `${colorScheme}, ${name}: the picture is blank`);
      await page.keyboard.press("?");
      await page.waitForSelector("dialog[open]");
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog:not([open])", { state: "attached" });
      await page.keyboard.press("t");
      await until(page, was => document.documentElement.classList.contains("dark") !== was, colorScheme === "dark");
      await page.keyboard.press("t");
      if (shots) await page.screenshot({ path: join(shots, `${name}-${colorScheme}.png`) });
      calm(page);
      await page.context().close();
    }
  }
}

async function keepsTabsApart(browser, address) {
  const streams = async () => Number(await (await fetch(`${address}streams`)).text());
  const settle = async count => {
    for (const start = Date.now(); await streams() !== count; await new Promise(done => setTimeout(done, 50))) {
      need(Date.now() - start < PATIENCE, `${await streams()} streams instead of ${count}`);
    }
  };
  await settle(0);
  const [one, two] = [await open(browser, address), await open(browser, address)];
  await settle(2);
  await one.evaluate(() => view.send({ do: "algorithms", names: ["octree"] }));
  await until(one, () => view.frame.head.algorithms[0].name === "octree");
  need((await headline(two)).text.includes("auto"), "one tab changed the other");
  await one.context().close();
  await settle(1);
  const before = await two.evaluate(() => view.page.frames);
  await until(two, count => view.page.frames > count + 3, before);
  calm(two);
  await two.context().close();
  await settle(0);
  const wrong = address.replace(/[0-9a-f]{32}/, "0".repeat(32));
  for (const bad of [wrong, new URL("/", address).href, `${wrong}stream`]) {
    need((await fetch(bad)).status === 403, `${bad} is not refused`);
  }
}

async function writesAPage(browser, file) {
  const target = join(folder, "page.html");
  must("view", file, "-o", target);
  const page = await open(browser, `file://${target}`), expected = counts(file);
  await seek(page, 4);
  need(Number((await headline(page)).pairs) === expected[4], "the written page has other pairs");
  need(await colors(page) > 50, "the picture of the written page is blank");
  const at = await place(page);
  await page.mouse.click(at.x, at.y);
  await page.waitForSelector(`[data-picked="${at.id}"]`);
  calm(page);
  await page.context().close();
}

function refusesBrokenFiles() {
  const broken = join(folder, "broken.csv");
  writeFileSync(broken, "min_x,min_y,max_x,max_y\n0,0,1,1\n5,0,1,1\n");
  const [shown, paired] = [run("view", broken, "--no-open"), run("pairs", broken)];
  need(shown.status === 1 && shown.stderr === paired.stderr, `view says ${shown.stderr}, pairs says ${paired.stderr}`);
  const absent = run("view", join(folder, "absent.npy"), "--no-open");
  need(absent.status === 1 && absent.stderr.includes("absent.npy"), `a file that is not there: ${absent.stderr}`);
  need(run("view", "piel").status === 2, "a scene that does not exist is a usage error");
}

// Bytes of a frame, the work of the page without drawing, and frames a second: printed, and only the bytes are judged.
async function isLight(browser, n) {
  const server = await serve("brownian-cubes", "--n", String(n)), page = await open(browser, server.address);
  await page.evaluate(() => { view.renderer.draw = () => {}; window.works = []; window.since = performance.now(); const take = view.take; view.take = function (decode) { take.call(this, decode); works.push(view.page.ms); }; });
  await until(page, () => works.length >= 40);
  const [ms, bytes, drawn, rate] = await page.evaluate(() => [
    works.slice(5).sort((a, b) => a - b)[works.length - 5 >> 1], view.page.bytes, view.frame.count, works.length / (performance.now() - since) * 1e3]);
  console.log(`${n} objects: ${drawn} boxes drawn, ${bytes} bytes a frame, ${ms.toFixed(1)} ms of the page's main thread without drawing (median), ` +
    `${rate.toFixed(1)} frames a second`);
  need(bytes < 40 * Math.min(n, 160_000) + 1_000_000, `${bytes} bytes for a frame`);
  calm(page);
  await page.context().close();
  server.end();
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
const file = join(folder, "a <b>&amp; name.npy");
must("record", "pile", "--n", "600", "--frames", "12", "-o", file);
const server = await serve(file, "--algorithms", "auto,brute-force");
const steps = [
  ["play, pick, ask, switch", () => usesTheRecording(browser, server.address, file)],
  ["outlines, costs and regions of every algorithm", () => showsRegions(browser)],
  ["themes, phone, keys, names", () => looksRight(browser, server.address)],
  ["tabs and tokens", () => keepsTabsApart(browser, server.address)],
  ["a page to share", () => writesAPage(browser, file)],
  ["broken files", () => refusesBrokenFiles()],
  ["100,000 objects", () => isLight(browser, 100_000)],
  ["1,000,000 objects", () => isLight(browser, 1_000_000)],
];
let failed = false;
for (const [name, step] of steps.filter(([name]) => name.endsWith(only ?? ""))) {
  const start = Date.now();
  try {
    await step();
    console.log(`view: ${name}: good (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed = true;
    console.error(`view: ${name}: ${error.message}`);
  }
}
await browser.close();
server.end();
process.exit(failed ? 1 : 0);
