// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws the point cloud with three.js. One pointer or the arrow keys rotate the points; with shift, they move the points. Two
// pointers move the points and zoom. The wheel and the keys plus and minus zoom.
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Cloud {
  constructor(place, warn) {
    Object.assign(this, { place, warn, pointers: new Map() });
    this.reset();
    place.onpointerdown = event => {
      place.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    };
    place.onpointermove = event => this.drag(event);
    place.onpointerup = place.onpointercancel = event => this.pointers.delete(event.pointerId);
    place.onwheel = event => {
      event.preventDefault();
      this.near(-event.deltaY / 500);
    };
    place.onkeydown = event => this.press(event);
  }
  reset() {
    Object.assign(this, { turn: [0, 0], shift: [0, 0], zoom: 1 });
    this.draw();
  }
  near(by) {
    this.zoom *= Math.exp(by);
    this.draw();
  }
  move(way, x, y) {
    way[0] += x;
    way[1] += y;
    this.draw();
  }
  drag(event) {
    const last = this.pointers.get(event.pointerId), now = [event.clientX, event.clientY];
    if (!last) return;
    this.pointers.set(event.pointerId, now);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1], share = (other ? 0.5 : 1) / 200;
    if (other) this.near(Math.log(Math.max(1, Math.hypot(now[0] - other[0], now[1] - other[1])) / Math.max(1, Math.hypot(last[0] - other[0], last[1] - other[1]))));
    this.move(event.shiftKey || other ? this.shift : this.turn, (now[0] - last[0]) * share, (now[1] - last[1]) * share);
  }
  press(event) {
    if (event.ctrlKey || event.altKey) return;
    if (event.key in arrows) this.move(event.shiftKey ? this.shift : this.turn, ...arrows[event.key].map(way => way / 20));
    else if (event.key === "+" || event.key === "=" || event.key === "-") this.near(event.key === "-" ? -0.1 : 0.1);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }

  // Loads three.js on first use. Without it, all other features work.
  async begin() {
    try {
      const three = await import("./three.module.js");
      this.renderer = new three.WebGLRenderer();
      this.camera = new three.PerspectiveCamera(50, 1, 0.01, 100);
      this.points = new three.Points(new three.BufferGeometry(), new three.PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: true }));
      this.points.frustumCulled = false;
      this.scene = new three.Scene().add(this.points);
      this.renderer.domElement.setAttribute("aria-hidden", "true");  // the container has the accessible name
      this.place.append(this.renderer.domElement);
      this.three = three;
    } catch (error) {
      this.three = null;
      this.warn(`Points need three.js, which is in Debian's package libjs-three, and WebGL: ${error.message}`);
    }
  }

  async show(_, [places, colors]) {
    if (this.three === undefined) await this.begin();
    if (!this.three) return;
    const xyz = new Float32Array(places), rgb = new Uint8Array(colors), known = [];
    for (let i = 0; i < xyz.length; i += 3) if (Number.isFinite(xyz[i + 2])) known.push(i);
    // The centre of rotation is at the median distance, which is the unit of length.
    const middle = known.map(i => xyz[i + 2]).sort((a, b) => a - b)[known.length >> 1];
    this.reach = 2.5 * known.reduce((most, i) => Math.max(most, Math.abs(xyz[i + 1]) / xyz[i + 2]), 0);
    const attribute = values => new this.three.BufferAttribute(new Float32Array(values), 3);
    this.points.geometry.setAttribute("position", attribute(known.flatMap(i => [xyz[i] / middle, -xyz[i + 1] / middle, 1 - xyz[i + 2] / middle])));
    this.points.geometry.setAttribute("color", attribute(known.flatMap(i => [rgb[i] / 255, rgb[i + 1] / 255, rgb[i + 2] / 255])));
    this.place.dataset.points = known.length;
    this.draw();
  }

  draw() {
    const { clientWidth, clientHeight } = this.place;
    this.place.dataset.view = [...this.turn, ...this.shift, this.zoom].map(number => number.toFixed(3)).join(" ");
    if (!this.three) return;
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.position.set(-this.shift[0], this.shift[1], this.reach / this.zoom);
    this.camera.updateProjectionMatrix();
    this.points.rotation.set(this.turn[1], this.turn[0], 0);
    this.renderer.render(this.scene, this.camera);
  }
}
