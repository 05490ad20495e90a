// Takes the README's picture; called by scripts/front-picture.
import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

const { BROADPHASE: tool, OUT: out } = process.env;
const FRAMES = 150; // frames until the charts are full and the heap has taken shape

const server = spawn(tool, ["view", "gravity-assorted", "--n", "16000", "--algorithms", "auto,kd-tree,hash-grid", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((resolve, reject) => {
  let said = "";
  server.stdout.on("data", data => { said += data; if (said.includes("\n")) resolve(said.trim()); });
  server.on("exit", code => reject(new Error(`the server ended with ${code}`)));
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
  page.setDefaultTimeout(180_000);
  await page.goto(address);
  await page.waitForFunction(() => window.view?.page.frames > 2);
  await page.evaluate(() => view.setLook({ boxes: false, pairs: false, regions: false })); // nothing to draw while the heap takes shape
  await page.selectOption("#rate", "15");
  await page.waitForFunction(frames => view.frame.head.frame >= frames, FRAMES);
  await page.evaluate(() => view.send({ do: "pause" }));
  await page.waitForFunction(() => !view.frame.head.stream.playing);
  await page.waitForTimeout(1000);
  await page.click("#forward");
  await page.waitForTimeout(1000);
  await page.selectOption("#color", "cost");
  await page.evaluate(() => view.setLook({ boxes: true, pairs: true, regions: true, cost: true }));
  await page.waitForTimeout(4000);
  await page.screenshot({ path: out });
} finally {
  await browser.close();
  server.kill();
}
