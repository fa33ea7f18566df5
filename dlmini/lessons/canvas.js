// Draws what the kernel tells: pictures side by side, and one chart of all runs. All views of a widget share `S`.
export default () => {
  const S = { runs: [], pictures: [], news: 1 };
  const view = (b) => b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength);

  function picture(facts, pixels, dots) {
    const rgb = new Uint8Array(view(pixels)), data = new ImageData(facts.columns, facts.rows);
    for (let i = 0, n = facts.rows * facts.columns; i < n; i++) {
      for (let k = 0; k < 3; k++) data.data[4 * i + k] = rgb[3 * i + k];
      data.data[4 * i + 3] = 255;
    }
    const canvas = Object.assign(document.createElement("canvas"), { width: facts.columns, height: facts.rows });
    canvas.getContext("2d").putImageData(data, 0, 0);
    return { ...facts, canvas, dots: new Float32Array(view(dots)) };
  }

  function initialize({ model }) {
    model.on("msg:custom", (m, buffers) => {
      if (m.kind === "clear") S.runs = [];
      if (m.kind === "begin") S.runs.push({ label: m.label, points: [] });
      if (m.points?.length && S.runs.length) S.runs[S.runs.length - 1].points.push(...m.points);
      if (m.kind === "show") S.pictures = m.pictures.map((f, i) => picture(f, buffers[2 * i], buffers[2 * i + 1]));
      S.news++;
    });
    model.send("ready");
  }

  function render({ model, el }) {
    const W = 980, H = 400, k = window.devicePixelRatio || 1, colours = model.get("colours");
    const colour = (i) => { const found = colours[i % colours.length]; return found === "#000000" ? ink : found; };
    const canvas = Object.assign(document.createElement("canvas"), { width: W * k, height: H * k, className: "dlmini-stage" });
    canvas.style.cssText = `width:100%;max-width:${W}px;background:var(--jp-layout-color0,white);color:var(--jp-content-font-color0,black)`;
    canvas.setAttribute("role", "img");
    let ink = "#000", quiet = "#555", pale = "#e6e6e6";
    function look() {
      const dark = document.body.dataset.jpThemeLight === "false" || document.body.classList.contains("vscode-dark");
      [ink, quiet, pale] = dark ? ["#ececec", "#b4b9c0", "#3a3f46"] : ["#000", "#555", "#e6e6e6"];
      S.news++;
    }
    look();
    const themes = new MutationObserver(look);
    themes.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
    const said = Object.assign(document.createElement("div"), { className: "dlmini-said" });
    said.style.cssText = "font:15px sans-serif;padding:4px 0;min-height:1.3em";
    el.append(said, canvas);
    const g = canvas.getContext("2d");
    g.scale(k, k);

    function ticks(end) {
      const ten = 10 ** Math.floor(Math.log10(end / 3)), step = ten * [1, 2, 5, 10].find((k) => k * ten >= end / 5);
      return [...Array(Math.floor(end / step + 1e-9) + 1).keys()].map((i) => +(i * step).toPrecision(6));
    }

    function pictures(x, y, w, h) {
      for (const p of S.pictures) {
        const left = x + w * p.place[0], top = y + h * p.place[1] + 20, room = h * p.place[3] - 24;
        const scale = Math.min((w * p.place[2]) / p.columns, room / p.rows), wide = scale * p.columns, tall = scale * p.rows;
        g.fillStyle = ink; g.font = "14px sans-serif"; g.textAlign = "left"; g.fillText(p.name, left, top - 6);
        g.imageSmoothingEnabled = p.smooth;
        g.drawImage(p.canvas, left, top, wide, tall);
        for (let d = 0; d < p.dots.length; d += 3) {
          g.beginPath(); g.arc(left + p.dots[d] * wide, top + p.dots[d + 1] * tall, 3, 0, 7);
          g.fillStyle = colours[p.dots[d + 2]]; g.fill(); g.lineWidth = 1; g.strokeStyle = "white"; g.stroke();
        }
        g.font = "bold 13px sans-serif"; g.textAlign = "center"; g.lineWidth = 3; g.lineJoin = "round";
        for (const [u, v, text] of p.letters) {  // black with a white rim: on any colour
          g.strokeStyle = "#fff"; g.strokeText(text, left + u * wide, top + v * tall + 5);
          g.fillStyle = "#000"; g.fillText(text, left + u * wide, top + v * tall + 5);
        }
      }
    }

    function chart(x, y, w, h) {
      const [across, up] = model.get("axes"), runs = S.runs, finite = (p) => Number.isFinite(p[1]);
      let right = 5, top = model.get("top") || 0;
      for (const run of runs) for (const p of run.points) {
        right = Math.max(right, p[0]);
        if (!model.get("top") && finite(p)) top = Math.max(top, p[1]);
      }
      top = top || 1;
      g.strokeStyle = pale; g.lineWidth = 1; g.fillStyle = quiet; g.font = "13px sans-serif";
      for (const value of ticks(top)) {
        const at = y + h - (h * value) / top;
        g.beginPath(); g.moveTo(x, at); g.lineTo(x + w, at); g.stroke();
        g.textAlign = "right"; g.fillText(value, x - 6, at + 4);
      }
      g.textAlign = "center";
      for (const value of ticks(right)) g.fillText(value, x + (w * value) / right, y + h + 18);
      g.fillText(across, x + w / 2, y + h + 36); g.textAlign = "left"; g.fillText(up, x, y - 8);
      g.save(); g.beginPath(); g.rect(x, y - 2, w + 2, h + 4); g.clip();
      runs.forEach((run, i) => {
        g.beginPath(); g.strokeStyle = colour(i); g.lineWidth = 2.5;
        for (const p of run.points.filter(finite)) g.lineTo(x + (w * p[0]) / right, y + h - (h * p[1]) / top);
        g.stroke();
      });
      g.restore();
      runs.slice(-7).forEach((run, i, shown) => {
        g.fillStyle = colour(runs.length - shown.length + i);
        g.textAlign = "right"; g.font = "13px sans-serif"; g.fillText(run.label, x + w, y + 12 + 17 * i);
      });
    }

    let open = true, drawn = 0;
    function frame() {
      if (!open) return;
      if (!document.hidden && drawn !== S.news) {
        drawn = S.news;
        g.clearRect(0, 0, W, H);
        pictures(0, 0, W - 430, H);
        chart(W - 370, 26, 360, H - 90);
        canvas.dataset.points = S.runs.reduce((n, run) => n + run.points.length, 0);
      }
      requestAnimationFrame(frame);
    }
    const say = () => { canvas.setAttribute("aria-label", `${S.pictures.map((p) => p.name).join(", ")}; ${model.get("axes")[1]} over ${model.get("axes")[0]}. ${model.get("text")}`); said.textContent = model.get("text"); said.dataset.state = model.get("state"); };
    model.on("change:text", say); model.on("change:state", say); say();
    requestAnimationFrame(frame);
    return () => { open = false; themes.disconnect(); };
  }
  return { initialize, render };
};
