// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of the luminance, and figures over time.
const colors = ["#6cf", "#fd6", "#f86", "#8d8", "#c9f"];
const shown = { cudasgmstereo: ["known", "agreement", "matched", "vertical-offset"], cudahistequalize: ["mean", "stddev", "entropy"] };
const lastSamples = 240;

export class Figures {
  constructor(luminance, series) {
    Object.assign(this, { luminance, series });
    this.begin();
  }

  begin() {
    this.lines = new Map();
    this.cuts = 0;
  }

  add(name, value) {
    if (!this.lines.has(name)) this.lines.set(name, []);
    const line = this.lines.get(name);
    line.push(value);
    if (line.length > lastSamples) line.shift();
  }

  message({ name, fields }) {
    for (const field of shown[name] ?? []) if (field in fields) this.add(field, fields[field]);
    if (fields["scene-cut"]) this.cuts += 1;
    this.drawSeries();
  }

  measured(said) {
    this.add("frames/s", said.rate);
    const context = this.begun(this.luminance), { width, height } = this.luminance;
    ["after", "before"].forEach((name, i) => {
      const one = said.luminance[i];
      if (!one) return;
      const top = Math.max(...one.bins);
      context.fillStyle = context.strokeStyle = colors[i];
      context.globalAlpha = 0.6;
      one.bins.forEach((count, bin) => context.fillRect(bin * width / 256, height * (1 - count / top), width / 256, height * count / top));
      context.globalAlpha = 1;
      const percentiles = [1, 50, 99].map(percent => one[`percentile-${percent}`]);
      percentiles.forEach(level => context.fillRect(level / one.levels * width, 0, 1, height));
      context.fillText(`${name}: mean ${one.mean.toFixed(1)}, 1 / 50 / 99 %: ${percentiles.join(" / ")}`, 6, 14 + 14 * i);
    });
    this.drawSeries();
  }

  drawSeries() {
    const context = this.begun(this.series), { width, height } = this.series;
    [...this.lines].forEach(([name, line], i) => {
      const low = Math.min(0, ...line), high = Math.max(...line, low + 1e-6);
      context.strokeStyle = context.fillStyle = colors[i % colors.length];
      context.beginPath();
      line.forEach((value, x) => context.lineTo(x * width / lastSamples, height - 4 - (value - low) / (high - low) * (height - 24)));
      context.stroke();
      context.fillText(`${name} ${line.at(-1).toPrecision(3)}`, 6 + i * 110, 14);
    });
    if (this.cuts) context.fillText(`scene cuts: ${this.cuts}`, 6, height - 6);
  }

  begun(canvas) {
    canvas.width = canvas.clientWidth;
    return canvas.getContext("2d");
  }
}
