// Draws what live.py tells: a run begins, rows are added, all is cleared. One closure per widget, shared by its views.
const CURVES = ["loss", "accuracy", "spread"], TOTALS = ["time", "stale"], ALL = [...CURVES, ...TOTALS];
const CALM = 500; // milliseconds: bars that change more often are not easier to read
const AXES = [["rounds", 0], ["seconds", 1], ["megabytes sent", 2]];
const DASHES = [[], [9, 5], [2, 4], [9, 4, 2, 4]];
const PHASES = ["compute", "waiting", "communication", "other"]; // recordings of old have no other
const sum = (row) => row.reduce((all, part) => all + part, 0);
const DARK_INK = "#111111"; // on yellow and vermilion, whatever the theme
const BRIGHT_ON = new Set(["compute", "other"]);
const LIGHT = new Set(["#e69f00", "#56b4e9", "#f0e442"]); // orange, sky, yellow

const floats = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
const make = (tag, name, parent, text) => {
  const found = document.createElement(tag);
  if (name) found.className = name;
  if (text !== undefined) found.textContent = text;
  parent?.append(found);
  return found;
};

const scaled = (value, units) => {
  const [size, name] = units.find(([size]) => Math.abs(value) >= size) ?? units[units.length - 1];
  return `${Number((value / size).toPrecision(3))} ${name}`;
};
const bytes = (n) => scaled(n, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "bytes"]]);
const seconds = (s) => (s >= 100 ? `${Math.round(s)} s` : scaled(s || 0, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]));
const percent = (x) => `${(100 * x).toFixed(1)} %`;

// A text that has not changed is not written again: each write costs a layout.
const put = (place, text) => { if (place.textContent !== text) place.textContent = text; };

// About `count` round numbers from lo to hi.
function ticks(lo, hi, count) {
  const raw = (hi - lo) / count, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * size).find((s) => s >= raw);
  const found = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

export default () => {
  const S = { runs: [], updates: 0, axis: 0, totals: 0, views: new Set() };
  const redraw = (names) => S.views.forEach((view) => view(names));

  function initialize({ model }) {
    model.on("msg:custom", (said, buffers) => {
      if (said.kind === "clear") S.runs = [];
      if (said.kind === "begin") {
        S.runs.push({ number: said.run, label: said.label, facts: null, curves: { loss: [], accuracy: [], spread: [] } });
        S.updates = 0;
      }
      redraw(said.kind === "add" ? add(said, floats(buffers[0])) : ALL);
    });
    model.on("change:state", () => redraw(ALL));
    model.on("change:message", () => redraw([]));
    model.on("change:marks", () => redraw(TOTALS));
    model.send("ready");
  }

  // Rows of a run: what has to be drawn again.
  function add(said, rows) {
    const run = S.runs.find((run) => run.number === said.run);
    if (!run) return [];
    run.facts = said.facts;
    let at = 0;
    CURVES.forEach((name, i) => {
      for (let k = 0; k < said.counts[i]; k++, at += 4) run.curves[name].push(rows.subarray(at, at + 4));
    });
    if (said.counts[0]) S.updates += 1;
    const calm = performance.now() - S.totals < CALM;
    if (!calm) S.totals = performance.now();
    return [...CURVES.filter((_, i) => said.counts[i]), ...(calm ? [] : TOTALS)];
  }

  function render({ model, el }) {
    const colours = model.get("colours");
    let INK = DARK_INK, GREY = "#5f6368", PALE = "#d5d8dc"; // the style sheet says which, and the theme may change
    const strokeOf = (run) => {
      const found = colours.curves[run.number % colours.curves.length];
      return found === "#000000" ? INK : found;
    };
    const dashOf = (run) => DASHES[Math.floor(run.number / colours.curves.length) % DASHES.length];

    const root = make("div", "dlmini-live", el);
    const status = make("div", "dlmini-status", root);
    status.setAttribute("role", "status");
    const tiles = make("div", "dlmini-tiles", root);
    const values = ["round", "test accuracy", "time", "sent", "messages"].map((name) => {
      const tile = make("div", "dlmini-tile", tiles);
      make("div", "dlmini-tile-name", tile, name);
      return make("div", "dlmini-tile-value", tile, "–");
    });
    const legend = make("div", "dlmini-legend", root);
    const grid = make("div", "dlmini-grid", root);
    const panel = (title, kind) => {
      const box = make("div", `dlmini-card ${kind}`, grid), head = make("div", "dlmini-card-head", box);
      const name = make("div", "dlmini-card-title", head);
      const canvas = make("canvas", "", make("div", "dlmini-card-body", box));
      canvas.setAttribute("role", "img");
      const call = (title) => { put(name, title); canvas.setAttribute("aria-label", title); };
      call(title);
      return { canvas, head, call };
    };
    const loss = panel("training loss", "half"), accuracy = panel("test accuracy", "half");
    const time = panel("where time goes", "half"), stale = panel("staleness", "quarter");
    const spread = panel("distance apart", "quarter");

    const choice = make("div", "dlmini-axis", loss.head);
    const buttons = AXES.map(([name, index]) => {
      const button = make("button", "", choice, name.split(" ")[0]);
      button.title = `curves over ${name}`;
      button.onclick = () => { S.axis = index; redraw(ALL); };
      return button;
    });
    const keys = make("div", "dlmini-keys", time.head);
    for (const phase of PHASES) {
      make("i", "", keys).style.background = colours.phases[phase];
      make("span", "", keys, phase);
    }

    // A canvas at the screen's own resolution: its context, width and height in CSS pixels, size of letters. Asking
    // for sizes makes the browser lay out the whole notebook, so it is done only when one has changed.
    const sizes = new Map();
    function measure(canvas) {
      const k = window.devicePixelRatio || 1, w = canvas.parentElement.clientWidth, h = canvas.parentElement.clientHeight;
      if (canvas.width !== Math.round(w * k) || canvas.height !== Math.round(h * k)) {
        canvas.width = Math.round(w * k);
        canvas.height = Math.round(h * k);
      }
      sizes.set(canvas, { k, w, h, em: parseFloat(getComputedStyle(canvas).fontSize) });
      if (!w || !h) look_again();
    }

    // Hidden for a moment, as by a change of theme: nobody says when it is back at its old size, so look now and then.
    let looking = 0;
    function look_again() {
      looking ||= setTimeout(() => { looking = 0; if (root.isConnected) { sizes.clear(); ask(ALL); } }, 500);
    }

    function sheet(canvas) {
      if (!sizes.has(canvas)) measure(canvas);
      const { k, w, h, em } = sizes.get(canvas), g = canvas.getContext("2d");
      g.setTransform(k, 0, 0, k, 0, 0);
      g.clearRect(0, 0, w, h);
      g.font = `${em}px system-ui, sans-serif`;
      g.textBaseline = "middle";
      return { g, w, h, em };
    }

    function note({ g, w, h }, lines) {
      g.fillStyle = GREY;
      g.textAlign = "center";
      const lift = ((lines.length - 1) * parseFloat(g.font) * 1.3) / 2;
      lines.forEach((line, i) => g.fillText(line, w / 2, h / 2 - lift + i * parseFloat(g.font) * 1.3));
    }

    function frame(page, [left, right], [bottom, top], format, name) {
      const { g, w, h, em } = page;
      g.fillStyle = GREY;
      const marks = ticks(bottom, top, Math.max(2, h / (3.2 * em)));
      const wide = Math.max(...marks.map((v) => g.measureText(format(v)).width));
      const x0 = wide + 0.9 * em, x1 = w - 0.9 * em, y0 = h - 2.5 * em, y1 = 0.7 * em;
      const X = (v) => x0 + ((x1 - x0) * (v - left)) / (right - left || 1);
      const Y = (v) => y0 - ((y0 - y1) * (v - bottom)) / (top - bottom || 1);
      g.strokeStyle = PALE;
      g.lineWidth = 1;
      g.textAlign = "right";
      for (const v of marks) {
        g.beginPath(); g.moveTo(x0, Y(v)); g.lineTo(x1, Y(v)); g.stroke();
        g.fillText(format(v), x0 - 0.5 * em, Y(v));
      }
      g.textAlign = "center";
      for (const v of ticks(left, right, Math.max(2, (x1 - x0) / (6 * em)))) {
        g.fillText(String(v), Math.min(X(v), w - g.measureText(String(v)).width / 2), y0 + 0.8 * em);
      }
      g.textAlign = "right";
      g.fillText(name, x1, h - 0.6 * em);
      g.strokeStyle = GREY;
      g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y0); g.stroke();
      return { X, Y };
    }

    function chart(canvas, curve, bounds, format, empty) {
      const page = sheet(canvas), { g, em } = page, [name, axis] = AXES[S.axis];
      const shown = S.runs.filter((run) => run.curves[curve].length);
      if (!shown.length) return note(page, empty);
      let right = 0, high = 0;
      for (const run of shown) for (const row of run.curves[curve]) {
        right = Math.max(right, row[axis]);
        high = Math.max(high, row[3]);
      }
      const running = S.runs[S.runs.length - 1];
      if (axis === 0 && running.facts) right = Math.max(right, Math.min(running.facts.rounds, 1.25 * right));
      const { X, Y } = frame(page, [0, right || 1], bounds(high), format, name);
      g.lineJoin = "round";
      for (const run of shown) {
        const last = run === running, rows = run.curves[curve];
        g.strokeStyle = g.fillStyle = strokeOf(run);
        g.lineWidth = (last ? 0.2 : 0.15) * em;
        g.setLineDash(dashOf(run));
        g.beginPath();
        for (const row of rows) g.lineTo(X(row[axis]), Y(row[3]));
        if (LIGHT.has(g.strokeStyle)) { // a rim, as in figures (palette.py): such a line alone is too pale for white
          const [colour, width] = [g.strokeStyle, g.lineWidth];
          g.strokeStyle = GREY; g.lineWidth = width + 2; g.stroke();
          g.strokeStyle = colour; g.lineWidth = width;
        }
        g.stroke();
        g.setLineDash([]);
        const end = rows[rows.length - 1];
        if (last || rows.length === 1) { g.beginPath(); g.arc(X(end[axis]), Y(end[3]), 0.3 * em, 0, 7); g.fill(); }
      }
    }

    function bars(canvas, facts, marks) {
      const page = sheet(canvas), { g, w, h, em } = page;
      const all = facts ? facts.phases : [];
      const longest = Math.max(0, ...all.map(sum));
      if (!longest) return note(page, ["seconds of each rank:", "at work, waiting, in messages, other"]);
      const rows = all.slice(0, Math.max(2, Math.floor(h / (0.62 * em))));
      const other = (r) => facts.others?.[r - facts.workers] ?? `server ${r}`;
      const names = rows.map((_, r) => (r < facts.workers ? `rank ${r}` : other(r)));
      const high = h / rows.length, thick = Math.min(2.2 * em, 0.78 * high), small = thick < 0.95 * em;
      g.font = `${Math.min(em, Math.max(8, thick))}px system-ui, sans-serif`;
      const x0 = Math.max(...names.map((name) => g.measureText(name).width)) + 0.7 * em;
      const words = rows.map((_, r) => (marks[r] ? g.measureText(marks[r]).width + 0.6 * em : 0.3 * em));
      const room = Math.max(...words), scale = (w - x0 - room) / longest;
      rows.forEach((row, r) => {
        const y = high * (r + 0.5);
        g.fillStyle = marks[r] ? colours.bad : INK;
        g.textAlign = "right";
        if (!small || r % 4 === 0) g.fillText(names[r], x0 - 0.5 * em, y);
        let x = x0;
        PHASES.slice(0, row.length).forEach((phase, j) => {
          const part = row[j] * scale;
          g.fillStyle = colours.phases[phase];
          g.fillRect(x, y - thick / 2, part, thick);
          if (phase === "waiting" && part > 1) { g.strokeStyle = GREY; g.lineWidth = 1; g.strokeRect(x, y - thick / 2, part, thick); }
          const text = `${Math.round((100 * row[j]) / (sum(row) || 1))} %`;
          g.fillStyle = BRIGHT_ON.has(phase) ? "#ffffff" : DARK_INK; // 4.5 to 1 or more on its bar
          g.textAlign = "center";
          if (!small && g.measureText(text).width + 0.6 * em < part) g.fillText(text, x + part / 2, y);
          x += part;
        });
        g.fillStyle = colours.bad;
        g.textAlign = "left";
        if (marks[r]) g.fillText(marks[r], w - room + 0.3 * em, y);
      });
    }

    function histogram(canvas, facts) {
      const page = sheet(canvas), { g, w, h, em } = page, found = facts ? facts.staleness : [];
      if (!found.length) return note(page, ["no server,", "nothing stale"]);
      const last = found[found.length - 1][0], most = Math.max(...found.map(([, n]) => n));
      const wide = (w - em) / (last + 1), base = h - 2.5 * em;
      const every = Math.max(1, Math.ceil((String(last).length + 1) * 0.6 * em / wide));
      const counts = new Map(found), total = found.reduce((sum, [, n]) => sum + n, 0);
      g.textAlign = "center";
      for (let s = 0; s <= last; s++) {
        const n = counts.get(s) || 0, x = em / 2 + wide * s, tall = (base - 1.7 * em) * (n / most);
        g.fillStyle = colours.phases.compute;
        g.fillRect(x + 0.08 * wide, base - tall, 0.84 * wide, tall);
        g.fillStyle = GREY;
        if (s % every === 0) g.fillText(String(s), x + wide / 2, base + 0.8 * em);
        const share = `${Math.round((100 * n) / total)} %`;
        if (n && g.measureText(share).width < wide) g.fillText(share, x + wide / 2, base - tall - 0.8 * em);
      }
      g.fillStyle = GREY;
      g.textAlign = "right";
      g.fillText("steps late", w - 0.5 * em, h - 0.6 * em);
    }

    // What became of Sandblaster's portions: a bar each, of those handed out.
    function portions(canvas, found) {
      const { g, w, h, em } = sheet(canvas), rows = Object.entries(found), most = Math.max(...rows.map(([, n]) => n));
      const x0 = Math.max(...rows.map(([what]) => g.measureText(what).width)) + 0.9 * em, high = h / rows.length;
      const room = Math.max(...rows.map(([, n]) => g.measureText(n.toLocaleString("en")).width)) + em;
      rows.forEach(([what, n], i) => {
        const y = high * (i + 0.5), thick = Math.min(1.6 * em, 0.7 * high), wide = ((w - x0 - room) * n) / most;
        g.fillStyle = what === "lost" ? colours.bad : INK;
        g.textAlign = "right";
        g.fillText(what, x0 - 0.5 * em, y);
        g.fillStyle = what === "lost" || what === "dropped" ? colours.phases.waiting : colours.phases.compute;
        g.fillRect(x0, y - thick / 2, wide, thick);
        g.fillStyle = GREY;
        g.textAlign = "left";
        g.fillText(n.toLocaleString("en"), x0 + wide + 0.4 * em, y);
      });
    }

    function write(facts) {
      const { kind, text } = model.get("message");
      put(status, text);
      if (status.dataset.kind !== kind) status.dataset.kind = kind;
      const said = facts && [
        `${facts.round} / ${facts.rounds}`,
        facts.accuracy === null ? "–" : percent(facts.accuracy),
        seconds(facts.seconds),
        bytes(facts.nbytes),
        facts.messages.toLocaleString("en"),
      ];
      values.forEach((value, i) => { put(value, said ? said[i] : "–"); value.title = value.textContent; });
      buttons.forEach((button, i) => {
        button.classList.toggle("chosen", i === S.axis);
        button.setAttribute("aria-pressed", i === S.axis);
      });
      describe(facts, said);
    }

    // What the pictures show, for who cannot see them.
    function describe(facts, said) {
      const last = (name) => { const rows = S.runs[S.runs.length - 1]?.curves[name]; return rows?.length ? rows[rows.length - 1][3] : null; };
      const ended = last("loss"), apart = last("spread"), names = S.runs.map((run) => run.label).join("; ");
      const told = (panel, text) => { if (panel.canvas.getAttribute("aria-label") !== text) panel.canvas.setAttribute("aria-label", text); };
      told(loss, ended === null ? "training loss: nothing yet" : `training loss of ${names}; now ${digits(ended)}`);
      told(accuracy, facts?.accuracy == null ? "test accuracy: nothing yet" : `test accuracy of ${names}; now ${percent(facts.accuracy)}`);
      told(time, facts ? "where time goes: " + facts.phases.map((row, r) => { const all = sum(row) || 1, share = (j) => Math.round((100 * (row[j] ?? 0)) / all);
        return `rank ${r} computes ${share(0)} %, waits ${share(1)} %, sends and receives ${share(2)} %, does other things ${share(3)} %`; }).slice(0, 8).join("; ") : "where time goes: nothing yet");
      told(stale, facts?.staleness.length ? "staleness: " + facts.staleness.map(([s, n]) => `${n} pushes ${s} steps late`).join(", ") : "staleness: no server, nothing stale");
      told(spread, apart === null ? "distance apart: all workers hold equal weights" : `distance between workers: now ${digits(apart)}`);
    }

    function list() {
      const found = (run) => (run.facts && run.facts.accuracy !== null ? ` · ${percent(run.facts.accuracy)}` : "");
      const lines = S.runs.map((run) => run.label + found(run)), key = JSON.stringify(lines);
      if (legend.dataset.key === key) return;
      legend.dataset.key = key;
      legend.replaceChildren();
      S.runs.forEach((run, i) => {
        const item = make("div", "dlmini-legend-item", legend), line = make("span", "dlmini-stroke", item);
        line.style.borderTop = `0.25em ${dashOf(run).length ? "dashed" : "solid"} ${strokeOf(run)}`;
        make("span", "", item, lines[i]);
      });
    }

    const digits = (v) => String(Number(v.toPrecision(3)));
    const charts = {
      loss: () => chart(loss.canvas, "loss", (high) => [0, 1.05 * high || 1], digits, ["press Start"]),
      accuracy: () => chart(accuracy.canvas, "accuracy", () => [0, 1], (v) => `${Math.round(100 * v)} %`,
        ["looked at now and then"]),
      spread: () => chart(spread.canvas, "spread", (high) => [0, 1.1 * high || 1], digits,
        ["all workers hold", "equal weights"]),
      time: (facts) => bars(time.canvas, facts, model.get("marks")),
      stale: (facts) => {
        const found = facts?.portions ?? {}, some = Object.keys(found).length > 0;
        stale.call(some ? "portions" : "staleness");
        some ? portions(stale.canvas, found) : histogram(stale.canvas, facts);
      },
    };

    const due = new Set(ALL);
    let asked = false;
    function draw() {
      asked = false;
      const style = getComputedStyle(root), named = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
      [INK, GREY, PALE] = [named("--dl-ink", INK), named("--dl-quiet", GREY), named("--dl-line", PALE)];
      const run = S.runs[S.runs.length - 1], facts = run?.facts;
      root.dataset.state = model.get("state");
      root.dataset.updates = S.updates;
      root.dataset.points = run ? run.curves.loss.length : 0;
      root.dataset.runs = S.runs.length;
      write(facts);
      list();
      due.forEach((name) => charts[name](facts));
      due.clear();
    }
    const ask = (names) => {
      names.forEach((name) => due.add(name));
      if (!asked) { asked = true; requestAnimationFrame(draw); }
    };
    const watch = new ResizeObserver(() => { sizes.clear(); ask(ALL); });
    watch.observe(root);
    const themes = new MutationObserver(() => { legend.dataset.key = ""; ask(ALL); });
    themes.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
    S.views.add(ask);
    ask(ALL);
    return () => { watch.disconnect(); themes.disconnect(); clearTimeout(looking); S.views.delete(ask); };
  }

  return { initialize, render };
};
