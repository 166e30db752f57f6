// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture before and after with a divider, what is under the pointer, the ruler, and regions that are drawn.
const length = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const meters = mm => `${(mm / 1000).toFixed(mm < 10000 ? 3 : 2)} m`;
const clamp = share => Math.min(1, Math.max(0, share));

export class Picture {
  constructor(canvas, output, say, onPointed) {
    Object.assign(this, { canvas, output, say, onPointed, divider: 0.5, bitmaps: [], regions: "", isPointed: false, isAsking: false });
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = () => this.release();
    canvas.onpointerleave = () => this.point(false);
    this.take("divider");
  }
  take(tool) {
    Object.assign(this, { tool, ruler: [] });
    this.draw();
  }
  update(regions) {
    this.regions = regions ?? "";
    this.draw();
  }
  async show(header, parts) {
    const bitmaps = await Promise.all(parts.map(part => createImageBitmap(new Blob([part], { type: "image/jpeg" }))));
    this.bitmaps.forEach(bitmap => bitmap.close());
    Object.assign(this, { bitmaps, header });
    this.draw();
    if (this.isPointed && this.at) this.ask(this.at);
  }

  // Where the picture lies in the canvas.
  box() {
    const { width, height } = this.canvas, after = this.bitmaps.at(-1);
    const scale = Math.min(width / after.width, height / after.height);
    return { x: (width - scale * after.width) / 2, y: (height - scale * after.height) / 2, width: scale * after.width, height: scale * after.height };
  }

  // Where the pointer is, in shares of the picture.
  place(event) {
    const box = this.box(), scale = window.devicePixelRatio;
    return [clamp((event.offsetX * scale - box.x) / box.width), clamp((event.offsetY * scale - box.y) / box.height)];
  }

  draw() {
    const context = this.canvas.getContext("2d");
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map(side => Math.round(side * window.devicePixelRatio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    context.clearRect(0, 0, width, height);
    if (!this.bitmaps.length) return;
    const box = this.box(), left = this.divider * box.width, before = this.bitmaps[0];
    context.drawImage(this.bitmaps.at(-1), box.x, box.y, box.width, box.height);
    if (this.bitmaps.length > 1 && left > 0) {
      context.drawImage(before, 0, 0, this.divider * before.width, before.height, box.x, box.y, left, box.height);
      context.fillStyle = "#fff";
      context.fillRect(box.x + left - 1, box.y, 2, box.height);
    }
    context.lineWidth = 2;
    context.strokeStyle = "#fd6";
    for (const [x, y, w, h] of [...this.rectangles(), ...(this.dragged ? [this.dragged] : [])])
      context.strokeRect(box.x + x * box.width, box.y + y * box.height, w * box.width, h * box.height);
    context.beginPath();
    for (const [x, y] of this.ruler) context.lineTo(box.x + x * box.width, box.y + y * box.height);
    context.stroke();
  }

  // The rectangles of the property regions, in shares of the frame.
  rectangles() {
    return this.regions.split(";").filter(text => text.trim()).map(text => {
      const sides = text.includes(".") ? [1, 1] : [this.header.width, this.header.height];
      return text.split(",").map((number, i) => Number(number) / sides[i % 2]);
    });
  }

  press(event) {
    if (!this.bitmaps.length) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pressed = this.place(event);
    if (this.tool === "ruler") this.ruler = this.ruler.length === 1 ? [...this.ruler, this.pressed] : [this.pressed];
    this.move(event);
  }
  move(event) {
    if (!this.bitmaps.length) return;
    const place = this.place(event);
    if (this.pressed && this.tool === "divider") this.divider = place[0];
    if (this.pressed && this.tool === "region")
      this.dragged = [...this.pressed.map((share, i) => Math.min(share, place[i])), ...this.pressed.map((share, i) => Math.abs(share - place[i]))];
    this.draw();
    this.point(true);
    this.at = this.ruler.length === 2 ? this.ruler : [place];
    this.ask(this.at);
  }
  release() {
    if (this.dragged && this.dragged[2] > 0.005 && this.dragged[3] > 0.005) {
      const text = this.dragged.map(share => share.toFixed(4)).join(",");
      this.say({ do: "set", name: "regions", value: [this.regions, text].filter(Boolean).join(";") });
    }
    this.dragged = this.pressed = null;
  }

  // Distances are measured only while somebody points at the picture.
  point(isPointed) {
    if (this.isPointed === isPointed) return;
    this.isPointed = isPointed;
    this.onPointed();
  }
  ask(places) {
    this.next = this.isAsking ? places : null;
    if (this.isAsking || !this.header.width || !document.body.classList.contains("is-stereo")) return;
    this.isAsking = true;
    this.say({ do: "values", at: places.map(([x, y]) => [Math.floor(x * this.header.width), Math.floor(y * this.header.height)]) });
  }
  showValues(values) {
    this.isAsking = false;
    const texts = values.map(({ x, y, disparity, confidence, place }) => `(${x}, ${y}) ` + (disparity === undefined ? "unknown" :
      `${place ? `${meters(place[2])}, ` : ""}${disparity.toFixed(2)} pixels, confidence ${confidence}`));
    const apart = values.length === 2 && values.every(value => value.place) ? `: ${meters(length(values[0].place, values[1].place))} apart` : "";
    this.output.textContent = texts.join(" – ") + apart;
    if (this.next) this.ask(this.next);
  }
}
