// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws luminance histograms, and plots of figures over time.
const colors = ["#6cf", "#fd6", "#f86", "#8d8", "#c9f"];
const shown = { cudasgmstereo: ["known", "agreement", "matched", "vertical-offset"], cudahistequalize: ["mean", "stddev", "entropy"] };
const lastSamples = 240;

function begun(canvas) {
  canvas.width = canvas.clientWidth;
  return canvas.getContext("2d");
}

// Puts the labels of a plot above its canvas as text that wraps. Screen readers read the labels as the description of the canvas.
function label(canvas, texts) {
  document.getElementById(`${canvas.id}-labels`).replaceChildren(...texts.map(([text, color]) => {
    const one = Object.assign(document.createElement("span"), { textContent: text });
    one.style.color = color;
    return one;
  }));
  canvas.setAttribute("aria-label", texts.map(([text]) => text).join("; "));
}

export class Figures {
  constructor(luminance, series, line) {
    Object.assign(this, { luminance, series, line });
    this.begin();
  }
  begin() {
    Object.assign(this, { curves: new Map(), cuts: 0 });
    label(this.luminance, [["histograms of the luminance", ""]]);
    label(this.series, [["figures over time", ""]]);
  }
  add(name, value) {
    this.curves.set(name, [...this.curves.get(name) ?? [], value].slice(-lastSamples));
  }
  message({ name, fields }) {
    for (const field of shown[name] ?? []) if (field in fields) this.add(field, fields[field]);
    if (fields["scene-cut"]) this.cuts += 1;
    this.drawCurves();
  }
  measured(said) {
    const ms = said.microseconds / 1000, time = said.microseconds === null ? "–" : `${ms < 10 ? ms.toPrecision(2) : ms.toFixed(0)} ms`;
    this.line.textContent = `${said.rate.toFixed(1)} frames/s · ${time} per frame · ${said.dropped} dropped · ${said.backend}`;
    this.add("frames/s", said.rate);
    this.drawLuminance(said.luminance);
    this.drawCurves();
  }

  drawLuminance(both) {
    const context = begun(this.luminance), { width, height } = this.luminance;
    both.forEach((one, i) => {
      const top = Math.max(...one.bins), percentiles = [1, 50, 99].map(percent => one[`percentile-${percent}`]);
      context.fillStyle = colors[i];
      context.globalAlpha = 0.6;
      one.bins.forEach((count, bin) => context.fillRect(bin * width / 256, height * (1 - count / top), width / 256, height * count / top));
      context.globalAlpha = 1;
      percentiles.forEach(level => context.fillRect(level / one.levels * width, 0, 1, height));
    });
    label(this.luminance, both.map((one, i) => [`luminance ${["after", "before"][i]}: mean ${one.mean.toFixed(1)}; 1, 50, 99 %: ${
      [1, 50, 99].map(percent => one[`percentile-${percent}`]).join(", ")}`, colors[i]]));
  }

  // Each curve has its own vertical scale, from 0 or its lowest negative value to its highest value.
  drawCurves() {
    const context = begun(this.series), { width, height } = this.series;
    [...this.curves].forEach(([name, values], i) => {
      const low = Math.min(0, ...values), high = Math.max(...values, low + 1e-6);
      context.strokeStyle = colors[i % colors.length];
      context.beginPath();
      values.forEach((value, x) => context.lineTo(x * width / lastSamples, height - 4 - (value - low) / (high - low) * (height - 8)));
      context.stroke();
    });
    label(this.series, [...[...this.curves].map(([name, values], i) => [`${name} ${values.at(-1).toPrecision(3)}`, colors[i % colors.length]]),
                        ...this.cuts ? [[`scene cuts: ${this.cuts}`, ""]] : []]);
  }
}
