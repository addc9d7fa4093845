"""Reads a report of `xlc plan --html` back: html.py REPORT PLAN.json [--most BYTES] [--browser].

The page is well-formed XML, needs nothing from elsewhere, and draws the plan: the largest height of each stage's memory is its
lower bound, and the stacks there are `by_cause`, to the byte. --browser: Chromium shows it, light and dark, at three widths, without an
error and without a part that is wider than the window. Prints a line for each claim.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

CAUSES = ("parameters", "gradients", "optimizer", "residuals", "workspace", "communication")
WIDTHS = (400, 1280, 1920)
# Put into a copy of the page: the answer is in the title of the document that Chromium prints.
PROBE = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => {
  for (const svg of document.querySelectorAll("svg.memory")) {
    const box = svg.getBoundingClientRect();
    for (const part of [0.01, 0.5, 0.99])
      svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + part * box.width, clientY: box.top}));
    svg.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
    svg.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  }
  const wide = [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, pre, svg *")).
      filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.className);
  document.title = JSON.stringify({errors, wide, scroll: document.documentElement.scrollWidth > innerWidth, width: innerWidth,
                                   dark: matchMedia("(prefers-color-scheme: dark)").matches, said: document.getElementById("readout").textContent});
});
</script>"""


def fail(text):
    sys.exit(f"html.py: {text}")


def read_heights(path, height, digits):
    """The height of each column, in bytes."""
    heights, y = [], 0
    for command, text in re.findall(r"([MVhv])([-0-9.]+)", path):
        if command == "h":
            heights += [height - y] * int(text)
            continue
        sign, whole, behind = re.fullmatch(r"(-?)(\d+)\.?(\d*)", text).groups()
        number = int(whole + behind.ljust(digits, "0")) * (-1 if sign else 1)
        y = number if command == "V" else y + number if command == "v" else y
    return heights


def read_stage(svg):
    """For each column the bytes by cause, and the column that is marked."""
    digits = int(svg.get("data-digits"))
    whole, _, behind = svg.get("viewBox").split()[3].partition(".")
    height = int(whole + behind.ljust(digits, "0"))
    reach = {path.get("data-cause"): read_heights(path.get("d"), height, digits) for path in svg.iter("path") if path.get("data-cause")}
    columns = []
    for number in range(len(reach[CAUSES[0]])):
        ends = [reach[cause][number] for cause in CAUSES]
        columns.append([end - begin for begin, end in zip([0, *ends], ends)])
    return columns, int(svg.get("data-fullest"))


def check_drawing(page, plan):
    drawn = [svg for svg in page.iter("svg") if "memory" in svg.get("class", "").split()]
    figures = [figure.find("figcaption/b").text for figure in page.iter("figure") if figure.find(".//svg[@data-fullest]") is not None]
    at = -1
    for group in plan["groups"]:
        starts = any(re.match(rf"stages? {group['stage']}(,|-)", name) or name.startswith("rank") for name in figures[at + 1:at + 2])
        at += bool(starts)  # else it is drawn with the one before
        columns, fullest = read_stage(drawn[at])
        memory = group["memory"]
        if max(map(sum, columns)) != memory["lower_bound"]:
            fail(f"stage {group['stage']}: drawn are {max(map(sum, columns))} bytes, planned {memory['lower_bound']}")
        if columns[fullest] != [memory["by_cause"][cause] for cause in CAUSES]:
            fail(f"stage {group['stage']}: drawn are {columns[fullest]}, planned {memory['by_cause']}")
    if at + 1 != len(drawn):
        fail(f"{len(drawn)} stages are drawn, {at + 1} belong to the plan")
    print(f"drawn as planned: {len(plan['groups'])} stages in {len(drawn)} pictures")


def check_alone(text, foreign_names):
    """`foreign_names`: those of the model have such words, escaped."""
    if foreign_names:
        text = re.sub(r"&lt;.*?&gt;", "", text)
    for foreign in ("http", "src=", "@import", "url(", "<link", "<iframe"):
        if foreign in text:
            fail(f"the page has '{foreign}'")
    print("needs nothing from elsewhere")


def check_browser(text):
    for dark in (False, True):
        for width in WIDTHS:
            with tempfile.TemporaryDirectory() as folder:
                copy = pathlib.Path(folder) / "page.html"
                copy.write_text(text.replace("<head>", "<head>" + PROBE, 1))
                # A window of Chromium is at least 500 pixels wide: a narrower page stands in a frame.
                frame = pathlib.Path(folder) / "frame.html"
                frame.write_text(f'<iframe src="page.html" style="width: {width}px; height: 900px; border: 0" onload="'
                                 'setTimeout(() => document.title = frames[0].document.title, 50)"></iframe>')
                command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=4000",
                           f"--user-data-dir={folder}/user", "--enable-logging=stderr", "--window-size=2000,1000", "--dump-dom",
                           *(["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]), f"file://{frame}"]
                done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
            title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
            if not title:
                fail(f"Chromium does not show the page: {done.stdout[:200]} {done.stderr[-500:]}")
            said = json.loads(title.group(1))
            if said["errors"] or said["wide"] or said["scroll"] or said["dark"] != dark or said["width"] != width or "live" not in said["said"]:
                fail(f"{width} pixels, dark {dark}: {said}")
            if "CONSOLE" in done.stderr:
                fail(f"Chromium logs: {done.stderr}")
    print("Chromium shows it: 3 widths, light and dark")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("plan", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="bytes of the report")
    parser.add_argument("--names", action="store_true", help="names of the model look like HTML")
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    text = options.report.read_text()
    if len(text.encode()) > options.most:
        fail(f"{len(text.encode())} bytes, at most {options.most} are wanted")
    page = xml.etree.ElementTree.fromstring(text)
    print("well-formed")
    check_alone(text, options.names)
    check_drawing(page, json.loads(options.plan.read_text()))
    if options.browser:
        check_browser(text)


if __name__ == "__main__":
    main()
