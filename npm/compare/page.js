// The comparison in a page: index.html?n=4000&frames=20

import { engines } from "./engines.js";
import { lead, measure } from "./measure.js";

const options = new URLSearchParams(location.search);
const [n, frames] = [Number(options.get("n") ?? 4000), Number(options.get("frames") ?? 20)];
const [table, body, note] = [document.querySelector("table"), document.querySelector("tbody"), document.querySelector("#note")];
const pause = () => new Promise((resolve) => setTimeout(resolve));
try {
    const all = await engines();
    const leads = [];
    for (const dimension of [2, 3]) {
        note.textContent = `${n} moving boxes in ${dimension}D ...`;
        await pause();
        const result = await measure(all, dimension, n, frames, { pause });
        for (const row of result.rows) {
            const line = body.insertRow();
            for (const text of [`${dimension}D`, row.name, row.median.toFixed(3), (row.median / result.rows[0].median).toFixed(1)]) {
                line.insertCell().textContent = text;
            }
        }
        leads.push(`${dimension}D: ${lead(result).times.toFixed(1)} times as fast as ${lead(result).best}`);
    }
    note.textContent = `${n} moving boxes, ${frames} frames, equal pairs in every frame. ${leads.join("; ")}.`;
    table.dataset.done = "";
} catch (error) {
    note.textContent = String(error);
    throw error;
}
