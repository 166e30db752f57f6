// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture before and after with a divider, what is under the pointer, the ruler, and regions that are drawn.
const length = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const meters = mm => `${(mm / 1000).toFixed(mm < 10000 ? 3 : 2)} m`;

export class Picture {
  constructor(canvas, output, say) {
    Object.assign(this, { canvas, output, say, divider: 0.5, tool: "divider", bitmaps: [], regions: "", ruler: [], isPointed: false, isAsking: false });
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = event => this.release(event);
    canvas.onpointerleave = () => this.point(false);
  }

  take(tool) {
    this.tool = tool;
    this.ruler = [];
    this.draw();
  }

  update(values, isCalibrated) {
    this.regions = values.regions;
    this.isCalibrated = isCalibrated;
    this.draw();
  }

  async show(header, parts) {
    const bitmaps = await Promise.all(parts.map(part => createImageBitmap(new Blob([part], { type: "image/jpeg" }))));
    this.bitmaps.forEach(bitmap => bitmap.close());
    this.bitmaps = bitmaps;
    this.header = header;
    this.draw();
  }

  // Where the picture lies in the canvas, and a place in it in shares.
  box() {
    const { width, height } = this.canvas, after = this.bitmaps.at(-1);
    const scale = Math.min(width / after.width, height / after.height);
    return { x: (width - scale * after.width) / 2, y: (height - scale * after.height) / 2, width: scale * after.width, height: scale * after.height };
  }

  place(event) {
    const box = this.box(), ratio = window.devicePixelRatio, clamp = value => Math.min(1, Math.max(0, value));
    return [clamp((event.offsetX * ratio - box.x) / box.width), clamp((event.offsetY * ratio - box.y) / box.height)];
  }

  draw() {
    const ratio = window.devicePixelRatio, context = this.canvas.getContext("2d");
    const [width, height] = [this.canvas.clientWidth * ratio, this.canvas.clientHeight * ratio].map(Math.round);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    context.clearRect(0, 0, width, height);
    if (!this.bitmaps.length) return;
    const box = this.box(), at = box.x + this.divider * box.width;
    context.drawImage(this.bitmaps.at(-1), box.x, box.y, box.width, box.height);
    if (this.bitmaps.length > 1) {
      context.save();
      context.beginPath();
      context.rect(box.x, box.y, at - box.x, box.height);
      context.clip();
      context.drawImage(this.bitmaps[0], box.x, box.y, box.width, box.height);
      context.restore();
      context.fillStyle = "#fff";
      context.fillRect(at - 1, box.y, 2, box.height);
    }
    context.lineWidth = 2;
    context.strokeStyle = "#fd6";
    for (const [x, y, w, h] of [...this.rectangles(), ...(this.dragged ? [this.dragged] : [])])
      context.strokeRect(box.x + x * box.width, box.y + y * box.height, w * box.width, h * box.height);
    context.strokeStyle = "#6cf";
    context.beginPath();
    for (const [x, y] of this.ruler) context.lineTo(box.x + x * box.width, box.y + y * box.height);
    context.stroke();
  }

  // The rectangles of the property regions, in shares of the frame.
  rectangles() {
    return (this.regions || "").split(";").filter(text => text.trim()).map(text => {
      const [x, y, w, h] = text.split(",").map(Number);
      return text.includes(".") ? [x, y, w, h] : [x / this.header.width, y / this.header.height, w / this.header.width, h / this.header.height];
    });
  }

  press(event) {
    if (!this.bitmaps.length) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pressed = this.place(event);
    if (this.tool === "ruler") this.ruler = this.ruler.length === 1 ? [...this.ruler, this.pressed] : [this.pressed];
    if (this.tool === "ruler" && this.ruler.length === 2) this.ask(this.ruler);
    this.move(event);
  }

  move(event) {
    if (!this.bitmaps.length) return;
    const place = this.place(event);
    if (this.pressed && this.tool === "divider") this.divider = place[0];
    if (this.pressed && this.tool === "region") {
      const [x, y] = this.pressed;
      this.dragged = [Math.min(x, place[0]), Math.min(y, place[1]), Math.abs(x - place[0]), Math.abs(y - place[1])];
    }
    this.draw();
    this.point(true);
    if (this.tool !== "ruler" || this.ruler.length < 2) this.ask([place]);
  }

  release() {
    if (this.dragged && this.dragged[2] > 0.005 && this.dragged[3] > 0.005) {
      const text = this.dragged.map(share => share.toFixed(4)).join(",");
      this.setRegions([this.regions, text].filter(Boolean).join(";"));
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
    if (this.isAsking || !document.body.classList.contains("is-stereo")) return void (this.next = places);
    this.isAsking = true;
    this.next = null;
    this.say({ do: "values", at: places.map(([x, y]) => [Math.floor(x * this.header.width), Math.floor(y * this.header.height)]) });
  }

  showValues(values) {
    this.isAsking = false;
    this.output.textContent = values.map(value => `(${value.x}, ${value.y}) ` + (value.disparity === undefined ? "unknown" :
      `${value.place ? meters(value.place[2]) + ", " : ""}${value.disparity.toFixed(2)} pixels, confidence ${value.confidence}`)).join(" – ") +
      (values.length === 2 && values.every(value => value.place) ? `: ${meters(length(values[0].place, values[1].place))} apart` : "");
    if (this.next) this.ask(this.next);
  }
}
