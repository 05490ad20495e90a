"""Checks pages in chromium, driven through its debugging pipe; called by scripts/browser-check.

For each page, in light and dark, on a laptop, a phone and a narrow phone:
- the console is empty, and nothing is loaded but the page;
- every figure has a chart with a size, and a table with figures; no section is empty;
- the conclusion is on the first screen, and no verdict is cut off;
- the page is not wider than the screen, and no text of a chart leaves its picture or is too small to read;
- the theme is the one asked for, and text and lines stand out from their background.
Once for each page: on paper it is light and its tables are open; without scripts its charts are there; embedded JSON can be read,
links to files beside it lead to one, and its elements have distinct ids.
"""

import base64
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

THEMES = ["light", "dark"]
PATIENCE = 120  # seconds for a page, then something hangs
SHEET = (718, 1047)  # A4 less its margins
SCREENS = {"laptop": (1280, 800), "phone": (390, 844), "narrow": (320, 568)}

# Runs in the page; returns complaints. `phone` asks for letters that can be read without zooming.
LOOK = r"""
(async (theme, width) => {
  const wrong = [], need = (good, text) => { if (!good) wrong.push(text); };
  const channels = color => (color.match(/[\d.]+/g) || []).map(Number);
  const light = color => channels(color).slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const style = element => getComputedStyle(element);
  const ground = style(document.body).backgroundColor;
  need((light(ground) > 0.5) === (theme === "light"), `background ${ground} in the ${theme} theme`);
  need(contrast(style(document.body).color, ground) >= 7, "text does not stand out from the page");
  need(document.documentElement.scrollWidth <= width, `${document.documentElement.scrollWidth} units wide on a screen of ${width}`);
  const charts = [...document.querySelectorAll("svg")];
  for (const svg of charts) {
    const name = svg.getAttribute("aria-label") || "a chart without a name", box = svg.viewBox.baseVal;
    const shown = svg.getBoundingClientRect();
    need(shown.width > 100 && shown.height > 30, `${name}: has no size`);
    const paper = style(svg.querySelector(".back")).fill;
    need((light(paper) > 0.5) === (theme === "light"), `${name}: ${paper} in the ${theme} theme`);
    for (const text of svg.querySelectorAll("text")) {
      const place = text.getBBox(), size = parseFloat(style(text).fontSize) * shown.width / box.width;
      need(place.x >= -1 && place.x + place.width <= box.width + 1 && place.y >= -1 && place.y + place.height <= box.height + 1,
        `${name}: "${text.textContent}" leaves the picture`);
      need(size >= (width < 360 ? 8.5 : 10.5), `${name}: letters of ${size.toFixed(1)} units`);
      need(contrast(style(text).fill, paper) >= 4.5, `${name}: "${text.textContent}" does not stand out`);
    }
    for (const line of svg.querySelectorAll(".line, .mark")) {
      need(contrast(style(line).stroke, paper) >= 3, `${name}: ${style(line).stroke} does not stand out from ${paper}`);
    }
    for (const shape of svg.querySelectorAll("path, rect, line, polygon")) {
      need(!/NaN|Infinity/.test(shape.outerHTML), `${name}: a shape without a place`);
    }
  }
  for (const figure of document.querySelectorAll("figure")) {
    need(figure.querySelector("svg"), "a figure without a chart");
    need(figure.querySelectorAll("table tbody tr").length > 0, "a figure without a table");
  }
  const lead = document.querySelector(".lead");
  need(lead && lead.getBoundingClientRect().top < innerHeight, "the conclusion is not on the first screen");
  for (const badge of document.querySelectorAll(".verdict")) {
    const box = badge.getBoundingClientRect(), card = badge.closest(".finding") || document.body;
    need(box.left >= 0 && box.right <= width, `the verdict "${badge.textContent}" is cut off`);
    need(contrast(style(badge).color, style(card).backgroundColor) >= 4.5, `the verdict "${badge.textContent}" does not stand out`);
  }
  for (const title of document.querySelectorAll("h2")) {
    need(title.nextElementSibling && title.nextElementSibling.tagName !== "H2", `the section "${title.textContent}" is empty`);
  }
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  need(new Set(ids).size === ids.length, "ids are not distinct");
  const results = document.getElementById("results");
  if (results) {
    need(JSON.parse(results.textContent).rows.length > 0, "no rows in the JSON");
    need(document.getElementById("save").href.startsWith("blob:"), "the JSON cannot be downloaded");
  }
  const links = [...document.querySelectorAll("a[href]")].map(link => link.getAttribute("href"))
    .filter(href => !/^(#|[a-z]+:)/.test(href));
  return { wrong: [...new Set(wrong)], charts: charts.length, links: [...new Set(links)], tall: document.documentElement.scrollHeight };
})
"""

PAPER = r"""
(() => {
  const wrong = [];
  if (getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)") wrong.push("the page is not white on paper");
  for (const svg of document.querySelectorAll("svg .back")) {
    if (getComputedStyle(svg).fill !== "rgb(255, 255, 255)") { wrong.push("a chart is not white on paper"); break; }
  }
  for (const table of document.querySelectorAll("details:not(.long) table")) {
    if (!table.checkVisibility({contentVisibilityAuto: true}) || table.getBoundingClientRect().height < 10) {
      wrong.push("a table is closed on paper"); break;
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("something is cut off on paper");
  return wrong;
})()
"""


class Browser:
    """A chromium without a window, and one page in it."""

    def __init__(self, profile):
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # Out of the way of 3 and 4, where chromium looks for them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={profile}",
                   "--remote-debugging-pipe"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
                                        preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)))
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.input, 1 << 20)
            if not more:
                sys.exit("browser-check: chromium ended before its time")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, scripts=True):
        """Opens a page, lets it settle, and returns what went wrong meanwhile."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        if scripts:
            self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        wrong = []
        for event in self.events:
            method, said = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                wrong.append(f"exception: {said['exceptionDetails'].get('text')}")
            elif method == "Runtime.consoleAPICalled":
                wrong.append(f"console: {[part.get('value') for part in said['args']]}")
            elif method == "Log.entryAdded":
                wrong.append(f"console: {said['entry']['text']}")
            elif method == "Network.requestWillBeSent":
                url = said["request"]["url"]
                if url != said["documentURL"] and not url.startswith(("data:", "blob:")):
                    wrong.append(f"loads {url}")
        return wrong

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def media(self, media="", theme="light"):
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": theme}])

    def screen(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def shot(self, path, width, height):
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        os.close(self.output)  # with nobody at the pipe's other end, chromium ends
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def check(browser, page, shots):
    """All that is wrong with a page."""
    signal.alarm(PATIENCE)
    wrong, charts = [], 0
    address = page.resolve().as_uri()
    for theme in THEMES:
        for screen, (width, height) in SCREENS.items():
            browser.media(theme=theme)
            browser.screen(width, height)
            found = browser.open(address)
            seen = browser.run(f"({LOOK})({json.dumps(theme)}, {width})")
            wrong += [f"{theme}, {screen}: {text}" for text in found + seen["wrong"]]
            charts = seen["charts"]
            if shots:
                browser.shot(shots / f"{page.stem}-{theme}-{screen}.png", width, seen["tall"])
    wrong += [f"the link to {link} leads nowhere" for link in seen["links"] if not (page.parent / link.split("#")[0]).exists()]
    browser.screen(*SHEET)
    browser.media("print", "dark")
    wrong += browser.run(PAPER)
    if shots:
        paper = browser.call("Page.printToPDF", printBackground=False)["data"]
        (shots / f"{page.stem}.pdf").write_bytes(base64.b64decode(paper))
    browser.media()
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(address, scripts=False)
    root = browser.call("DOM.getDocument")["root"]["nodeId"]
    plain = len(browser.call("DOM.querySelectorAll", nodeId=root, selector="svg text")["nodeIds"])
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    if charts and not plain:
        wrong.append("no charts without scripts")
    return wrong, charts


def main(arguments):
    shots = None
    if arguments[:1] == ["--shots"]:
        shots = pathlib.Path(arguments[1])
        shots.mkdir(parents=True, exist_ok=True)
        arguments = arguments[2:]
    pages = [pathlib.Path(argument) for argument in arguments]
    absent = [page for page in pages if not page.is_file()]
    if absent or not pages:
        sys.exit(f"browser-check: no such page: {absent[0]}" if absent else "browser-check: no pages")
    bad = total = 0
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"browser-check: no answer in {PATIENCE} seconds"))
    signal.alarm(PATIENCE)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            for page in pages:
                wrong, charts = check(browser, page, shots)
                total += charts
                bad += bool(wrong)
                for text in wrong:
                    print(f"{page.name}: {text}", file=sys.stderr)
                print(f"{page.name}: {charts} charts, {'WRONG' if wrong else 'good'}")
        finally:
            browser.close()
    if bad or not total:
        sys.exit(f"browser-check: {bad} of {len(pages)} pages are wrong" if bad else "browser-check: not a single chart")


if __name__ == "__main__":
    main(sys.argv[1:])
