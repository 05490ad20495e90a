// The controls: what can be chosen, and what is chosen.

const $ = id => document.getElementById(id);

class Panel {
  constructor(app) {
    this.app = app;
    this.scenes = new Map();
    this.algorithms = new Map();
    this.compared = [];
    $("scene").onchange = () => { this.showScene(); this.applyScene(); };
    $("apply").onclick = () => this.applyScene();
    $("objects").onkeydown = event => { if (event.key === "Enter") this.applyScene(); };
    $("drawn").onchange = () => { this.showAlgorithm(); this.applyAlgorithms(); };
    $("compare").onchange = () => {
      if ($("compare").value) this.compared.push($("compare").value);
      $("compare").value = "";
      this.applyAlgorithms();
    };
    $("color").onchange = () => app.setLook({ color: $("color").value });
    for (const [id, key] of [["showBoxes", "boxes"], ["showPairs", "pairs"], ["showRegions", "regions"], ["showCost", "cost"]]) {
      $(id).onchange = () => app.setLook({ [key]: $(id).checked });
    }
    $("play").onclick = () => app.toggle();
    $("back").onclick = () => app.send({ do: "step", by: -1 });
    $("forward").onclick = () => app.send({ do: "step", by: 1 });
    $("scrub").oninput = () => app.seek(Number($("scrub").value));
    $("rate").onchange = () => app.send({ do: "rate", rate: Number($("rate").value) });
  }

  // The lists of the server.
  fill(said) {
    this.given = said.hello.given;
    said.scenes.forEach(scene => this.scenes.set(scene.name, scene));
    said.algorithms.forEach(algorithm => this.algorithms.set(algorithm.name, algorithm));
    const isScene = this.scenes.has(this.given.split(":")[0]);
    const file = isScene ? "" : `<option value="">${escapeText(this.given)} (file)</option>`;
    $("scene").innerHTML = file + said.scenes.map(scene => `<option>${scene.name}</option>`).join("");
    $("drawn").innerHTML = this.grouped();
    $("compare").innerHTML = `<option value="">add one&hellip;</option>${this.grouped()}`;
    $("machine").textContent = `${said.hello.machine}. Times are wall times of one thread, on the machine that computes.`;
  }

  grouped() {
    const title = { ours: "Ours", paper: "From papers", baseline: "Baselines" };
    return ["ours", "paper", "baseline"].map(kind => {
      const names = [...this.algorithms.values()].filter(one => one.kind === kind).map(one => `<option title="${escapeText(one.summary)}">${one.name}</option>`);
      return `<optgroup label="${title[kind]}">${names.join("")}</optgroup>`;
    }).join("");
  }

  // What the server shows, when it is not what was last shown here.
  follow(head) {
    const scene = head.scene, names = head.algorithms.map(one => one.name).join();
    if (scene !== this.scene || head.n !== this.n) {
      [this.scene, this.n] = [scene, head.n];
      const [name] = scene.split(":");
      $("scene").value = this.scenes.has(name) ? name : "";
      $("objects").value = head.n;
      this.showScene(options(scene));
    }
    if (names !== this.names) {
      this.names = names;
      const [first, ...others] = head.algorithms.map(one => one.name);
      $("drawn").value = first.split(":")[0];
      this.compared = others;
      this.showAlgorithm(options(first));
      this.showCompared(head);
    }
    const { playing, rate } = head.stream;
    $("play").querySelector("path").setAttribute("d", playing ? "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z" : "M6 4v12l10-6z");
    $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    $("scrub").max = head.frames - 1;
    if (!this.app.scrubbing) $("scrub").value = head.frame;
    $("scrub").setAttribute("aria-valuetext", `frame ${head.frame} of ${head.frames}`);
    $("position").textContent = `${head.frame} / ${head.frames - 1}`;
    if ([...$("rate").options].some(option => Number(option.value) === rate)) $("rate").value = String(rate);
  }

  showScene(given = {}) {
    const scene = this.scenes.get($("scene").value);
    $("sceneSummary").textContent = scene ? scene.summary : "a recording; its objects and frames are what was recorded";
    $("sceneOptions").innerHTML = scene ? scene.options.map(option => field("s", option, given)).join("") : "";
    $("objects").disabled = !scene;
    $("sceneOptions").querySelectorAll("input").forEach(input => { input.onchange = () => this.applyScene(); });
  }

  showAlgorithm(given = {}) {
    const algorithm = this.algorithms.get($("drawn").value);
    $("algorithmOptions").innerHTML = algorithm ? algorithm.options.map(option => field("a", option, given)).join("") : "";
    $("algorithmOptions").querySelectorAll("input").forEach(input => { input.onchange = () => this.applyAlgorithms(); });
  }

  showCompared(head) {
    $("compared").innerHTML = this.compared.map((name, k) => `<li>${escapeText(name)}<button type="button" aria-label="Remove ${escapeText(name)}" data-at="${k}">&times;</button></li>`).join("");
    $("compared").querySelectorAll("button").forEach(button => {
      button.onclick = () => { this.compared.splice(Number(button.dataset.at), 1); this.applyAlgorithms(); };
    });
  }

  applyScene() {
    const scene = this.scenes.get($("scene").value), n = Number($("objects").value);
    const spec = scene ? scene.name + chosen("s", scene.options) : null;
    this.scene = null;
    this.app.changeScene({ do: "scene", scene: spec, n: scene && Number.isInteger(n) && n >= 0 ? n : null });
  }

  applyAlgorithms() {
    const algorithm = this.algorithms.get($("drawn").value);
    this.names = null;
    this.app.send({ do: "algorithms", names: [algorithm.name + chosen("a", algorithm.options), ...this.compared] });
  }
}

// `name:key=value:...` as an object.
const options = spec => Object.fromEntries(spec.split(":").slice(1).map(part => part.split(/=(.*)/s)));
const fieldId = (prefix, name) => `${prefix}-${name}`;
function field(prefix, [name, value, help], given) {
  return `<label class="field" title="${escapeText(help)}">${escapeText(name)}<input type="text" id="${fieldId(prefix, name)}" value="${escapeText(given[name] ?? value)}" spellcheck="false" autocomplete="off" aria-description="${escapeText(help)}"></label>`;
}
const chosen = (prefix, list) => list.map(([name, value]) => {
  const now = $(fieldId(prefix, name)).value.trim();
  return now && now !== value ? `:${name}=${now}` : "";
}).join("");
