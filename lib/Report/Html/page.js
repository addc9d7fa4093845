// Pointing at a picture of memory shows the moment; dragging over a picture zooms in on that part of the step, a double click (or Escape)
// shows all of it again, and arrow keys, + and - do the same for the picture that has the focus. Without a script, all pictures and tables stand.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const readout = document.getElementById("readout");
const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function formatBytes(bytes) {
  let unit = 0;
  for (; bytes >= 1024; bytes /= 1024) unit += 1;
  return (unit === 0 ? bytes : bytes.toFixed(2)) + " " + units[unit];
}

// The heights of the steps of a path "M0 H Vy hN vD hN ... VH z", one for each column.
function heightsOf(path, height, unit) {
  const heights = [];
  let y = 0;
  for (const [, command, text] of path.getAttribute("d").matchAll(/([MVhv])([-0-9.]+)/g)) {
    const number = Number(text);
    if (command === "V") y = number;
    if (command === "v") y += number;
    if (command === "h") for (let i = number; i !== 0; i -= 1) heights.push(Math.round((height - y) * unit));
  }
  return heights;
}

const stacks = new Map();
function stackOf(svg) {
  if (!stacks.has(svg)) {
    const height = Number(svg.dataset.whole.split(" ")[3]), unit = 10 ** Number(svg.dataset.digits);
    stacks.set(svg, [...svg.querySelectorAll("path")].map((path) => [path.dataset.cause, heightsOf(path, height, unit)]));
  }
  return stacks.get(svg);
}

function describe(svg, column) {
  const stage = data.stages[svg.dataset.stage];
  const lines = ["moment " + stage.moments[column] + ": " + data.actions[stage.actions[column]]];
  const stack = stackOf(svg); // from the top of the stack to its bottom
  lines.push("live           " + formatBytes(stack[0][1][column]));
  stack.forEach(([cause, heights], i) => {
    const below = i + 1 === stack.length ? 0 : stack[i + 1][1][column];
    if (heights[column] !== below) lines.push(cause.padEnd(15) + formatBytes(heights[column] - below));
  });
  return lines.join("\n");
}

function place(svg, event) {
  const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
  const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  return view.x + part * view.width;
}

function showAt(event, text) {
  readout.textContent = text;
  readout.hidden = false;
  const box = readout.getBoundingClientRect();
  readout.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + "px";
  readout.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4)) + "px";
}

// All pictures of a figure show the same part of the step.
function zoom(svg, from, until) {
  const [, , whole] = svg.dataset.whole.split(" ").map(Number);
  const width = Math.max(until - from, whole / 200), x = Math.min(Math.max(from, 0), whole - Math.min(width, whole));
  for (const other of (svg.closest("figure") ?? svg.closest(".slots")).querySelectorAll("svg.zoom")) {
    const [, , all, height] = other.dataset.whole.split(" ").map(Number), scale = all / whole;
    other.setAttribute("viewBox", [x * scale, 0, Math.min(width, whole) * scale, height].join(" "));
  }
}

for (const svg of document.querySelectorAll("svg.zoom")) {
  svg.dataset.whole = svg.getAttribute("viewBox");
  const whole = svg.viewBox.baseVal.width;
  let begin = null;
  svg.addEventListener("pointerdown", (event) => { begin = place(svg, event); });
  svg.addEventListener("pointerup", (event) => {
    const end = place(svg, event), view = svg.viewBox.baseVal;
    if (begin !== null) if (Math.abs(end - begin) > view.width / 50) zoom(svg, Math.min(begin, end), Math.max(begin, end));
    begin = null;
  });
  svg.addEventListener("dblclick", () => zoom(svg, 0, whole));
  svg.addEventListener("keydown", (event) => {
    const { x, width } = svg.viewBox.baseVal, moves = { ArrowLeft: [-0.1, 0.9], ArrowRight: [0.1, 1.1], "+": [0.25, 0.75], "-": [-0.5, 1.5] };
    const move = event.key === "Escape" ? [-Infinity, Infinity] : moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    zoom(svg, event.key === "Escape" ? 0 : x + move[0] * width, event.key === "Escape" ? whole : x + move[1] * width);
  });
  if (svg.classList.contains("memory")) {
    svg.addEventListener("pointermove", (event) => {
      const columns = data.stages[svg.dataset.stage].moments.length;
      showAt(event, describe(svg, Math.min(Math.floor(place(svg, event)), columns - 1)));
    });
    svg.addEventListener("pointerleave", () => { readout.hidden = true; });
  }
}
