// The tests and the comparison page in a real browser, Debian's chromium without a window.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const root = new URL("..", import.meta.url);
const types = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const pages = {
    "/tests": `<!doctype html><meta charset="utf-8"><title>tests</title><link rel="icon" href="data:,"><script type="module">
        import { load } from "/src/index.js";
        import { cases } from "/test/cases.js";
        const report = [];
        for (const simd of [true, false]) {
            const library = await load({ simd });
            for (const [name, run] of Object.entries(cases)) {
                try { run(library); report.push([name, library.instructionSet, null]); }
                catch (error) { report.push([name, library.instructionSet, String(error)]); }
            }
        }
        window.report = { report, chosen: (await load()).instructionSet };
    </script>`,
};

const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
        const body = pages[pathname] ?? (await readFile(new URL(`.${pathname}`, root)));
        response.writeHead(200, { "content-type": types[pathname.slice(pathname.lastIndexOf("."))] ?? "text/html" }).end(body);
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}`;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--headless=new", "--no-sandbox"] });
let failed = 0;
try {
    const page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && (failed++, console.error(`console: ${message.text()}`)));
    page.on("pageerror", (error) => (failed++, console.error(`page: ${error}`)));
    await page.goto(`${address}/tests`);
    await page.waitForFunction(() => window.report, undefined, { timeout: 300_000 });
    const { report, chosen } = await page.evaluate(() => window.report);
    for (const [name, set, error] of report) {
        if (error !== null) {
            failed++;
            console.error(`${name} (${set}): ${error}`);
        }
    }
    console.log(`browser: ${report.length} tests, ${failed} failed; ${chosen} is chosen`);
    failed += Number(chosen !== "simd128") + Number(report.length === 0);

    await page.goto(`${address}/compare/index.html?n=1000&frames=3`);
    await page.waitForSelector("table[data-done]", { timeout: 300_000 });
    const rows = await page.$$eval("tbody tr", (list) => list.map((row) => row.innerText.replaceAll("\t", "  ")));
    console.log(`browser: the comparison page has ${rows.length} rows\n${rows.join("\n")}`);
    failed += Number(rows.length < 8);
} finally {
    await browser.close();
    server.close();
}
process.exit(failed === 0 ? 0 : 1);
