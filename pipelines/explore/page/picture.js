// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows two pictures, such as before and after the element, with a divider between them, and the values at the pointer. Measures
// with a ruler, and draws regions. A pointer or keys control all tools; keys move the divider or a cross.
const length = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const meters = mm => `${(mm / 1000).toFixed(mm < 10000 ? 3 : 2)} m`;
const clamp = share => Math.min(1, Math.max(0, share));
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const names = {
  divider: "divider between the pictures",
  region: "picture: arrow keys move the cross, Enter begins and ends a region, Escape drops it, Delete removes the last region",
  ruler: "picture: arrow keys move the cross, Enter sets an end of the ruler",
};

export class Picture {
  constructor(canvas, output, say, onPointed) {
    Object.assign(this, { canvas, output, say, onPointed, divider: 0.5, bitmaps: [], regions: "", early: [], isPointed: false, isAsking: false, isMeasured: true });
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = () => this.release();
    canvas.onpointercancel = () => { this.dragged = this.pressed = null; };
    canvas.onpointerleave = canvas.onblur = () => this.point(false);
    canvas.onkeydown = event => this.key(event);
    this.take("divider");
  }
  take(tool) {
    Object.assign(this, { tool, ruler: [], cross: null, dragged: null, pressed: null });
    this.canvas.setAttribute("role", tool === "divider" ? "slider" : "application");
    this.canvas.setAttribute("aria-label", names[tool]);
    this.draw();
  }
  update(regions, isMeasured) {
    Object.assign(this, { regions: regions ?? "", isMeasured });
    this.draw();
  }
  async show(header, parts) {
    const bitmaps = await Promise.all(parts.map(part => createImageBitmap(new Blob([part], { type: "image/jpeg" }))));
    const isFirst = !this.bitmaps.length;
    this.bitmaps.forEach(bitmap => bitmap.close());
    Object.assign(this, { bitmaps, header });
    const late = place => this.share([place[0] * this.canvas.width, place[1] * this.canvas.height]);
    if (isFirst && this.pressed) [this.pressed, this.last] = [this.pressed, this.last].map(late);
    if (isFirst && this.dragged) this.dragged = this.rectangle(this.pressed, this.last);
    if (this.early.length) this.add(this.early.splice(0).map(corners => this.rectangle(...corners.map(late))));
    this.draw();
    if (this.isPointed && this.at) this.ask(this.at);
  }

  // Returns the rectangle of the picture in the canvas.
  box() {
    const { width, height } = this.canvas, after = this.bitmaps.at(-1);
    const scale = Math.min(width / after.width, height / after.height);
    return { x: (width - scale * after.width) / 2, y: (height - scale * after.height) / 2, width: scale * after.width, height: scale * after.height };
  }

  // Returns the position of the pointer as shares of the width and height of the picture, or of the canvas before the first frame.
  place(event) {
    const scale = window.devicePixelRatio;
    return this.bitmaps.length ? this.share([event.offsetX * scale, event.offsetY * scale]) :
      [event.offsetX / this.canvas.clientWidth, event.offsetY / this.canvas.clientHeight];
  }
  share([x, y]) {
    const box = this.box();
    return [clamp((x - box.x) / box.width), clamp((y - box.y) / box.height)];
  }
  rectangle(a, b) {
    return [...a.map((share, i) => Math.min(share, b[i])), ...a.map((share, i) => Math.abs(share - b[i]))];
  }

  draw() {
    const context = this.canvas.getContext("2d");
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map(side => Math.round(side * window.devicePixelRatio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    if (this.tool === "divider") this.canvas.setAttribute("aria-valuenow", Math.round(100 * this.divider));
    context.clearRect(0, 0, width, height);
    context.lineWidth = 2;
    context.strokeStyle = "#fd6";
    const stroke = (box, all) => all.forEach(([x, y, w, h]) => context.strokeRect(box.x + x * box.width, box.y + y * box.height, w * box.width, h * box.height));
    const dragged = this.dragged ? [this.dragged] : [];
    if (!this.bitmaps.length) return stroke({ x: 0, y: 0, width, height }, [...this.early.map(corners => this.rectangle(...corners)), ...dragged]);
    const box = this.box(), left = this.divider * box.width, before = this.bitmaps[0];
    context.drawImage(this.bitmaps.at(-1), box.x, box.y, box.width, box.height);
    if (this.bitmaps.length > 1 && left > 0) {
      context.drawImage(before, 0, 0, this.divider * before.width, before.height, box.x, box.y, left, box.height);
      context.fillStyle = "#fff";
      context.fillRect(box.x + left - 1, box.y, 2, box.height);
    }
    stroke(box, [...this.rectangles(), ...dragged]);
    context.beginPath();
    for (const [x, y] of this.ruler) context.lineTo(box.x + x * box.width, box.y + y * box.height);
    if (this.cross) {
      const [x, y] = [box.x + this.cross[0] * box.width, box.y + this.cross[1] * box.height], arm = 10 * window.devicePixelRatio;
      for (const [dx, dy] of [[arm, 0], [0, arm]]) {
        context.moveTo(x - dx, y - dy);
        context.lineTo(x + dx, y + dy);
      }
    }
    context.stroke();
  }

  // Returns the rectangles in the property `regions`, in shares of the frame's width and height.
  rectangles() {
    return this.regions.split(";").filter(text => text.trim()).map(text => {
      const sides = text.includes(".") ? [1, 1] : [this.header.width, this.header.height];
      return text.split(",").map((number, i) => Number(number) / sides[i % 2]);
    });
  }

  press(event) {
    if (!this.bitmaps.length && this.tool !== "region") return;
    this.canvas.setPointerCapture(event.pointerId);
    this.cross = null;
    this.begin(this.place(event));
    this.move(event);
  }
  begin(place) {
    this.pressed = place;
    if (this.tool === "ruler") this.ruler = this.ruler.length === 1 ? [...this.ruler, place] : [place];
  }
  move(event) {
    if (this.bitmaps.length || this.pressed) this.reach(this.place(event));
  }
  reach(place) {
    if (this.pressed && this.tool === "divider") this.divider = place[0];
    if (this.pressed && this.tool === "region") this.dragged = this.rectangle(this.pressed, place);
    this.last = place;
    this.draw();
    if (!this.bitmaps.length) return;
    this.point(true);
    this.at = this.ruler.length === 2 ? this.ruler : [place];
    this.ask(this.at);
  }
  release() {
    if (this.dragged && this.dragged[2] > 0.005 && this.dragged[3] > 0.005) {
      if (this.bitmaps.length) this.add([this.dragged]);
      else this.early.push([this.pressed, this.last]);
    }
    this.dragged = this.pressed = null;
    this.draw();
  }
  add(rectangles) {
    const texts = rectangles.map(shares => shares.map(share => share.toFixed(4)).join(","));
    this.say({ do: "set", name: "regions", value: [this.regions, ...texts].filter(Boolean).join(";") });
  }

  key(event) {
    if (event.ctrlKey || event.altKey || !this.bitmaps.length) return;
    const way = arrows[event.key]?.map(step => step * (event.shiftKey ? 0.1 : 0.01));
    if (this.tool === "divider") {
      const place = way ? clamp(this.divider + way[0] - way[1]) : { Home: 0, End: 1 }[event.key];
      if (place === undefined) return;
      this.divider = place;
      this.draw();
    } else if (way) {
      this.cross = (this.cross ?? [0.5, 0.5]).map((share, i) => clamp(share + way[i]));
      this.reach(this.cross);
    } else if (event.key === "Enter" || event.key === " ") {
      this.cross ??= [0.5, 0.5];
      if (this.tool === "region" && this.pressed) this.release();
      else this.begin(this.cross);
      if (this.tool === "ruler") this.pressed = null;
      this.reach(this.cross);
    } else if (event.key === "Escape") {
      Object.assign(this, { dragged: null, pressed: null, ruler: [] });
      this.draw();
    } else if (event.key === "Delete" && this.tool === "region") {
      this.say({ do: "set", name: "regions", value: this.regions.split(";").slice(0, -1).join(";") });
    } else return;
    event.preventDefault();
  }

  // The server links the pads that values need while the user points at the picture, with a pointer or keys.
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
    this.output.textContent = texts.join(" – ") + apart + (this.isMeasured ? "" : "; distance unknown");
    if (this.next) this.ask(this.next);
  }
}
