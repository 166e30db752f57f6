// SPDX-License-Identifier: LGPL-2.1-or-later
// Points in space that can be turned (drag), moved (drag with shift) and neared (wheel), with three.js.
export class Cloud {
  constructor(place, warn) {
    Object.assign(this, { place, warn, turn: [0, 0], shift: [0, 0], zoom: 1 });
    place.onpointermove = event => {
      if (!event.buttons) return;
      const way = event.shiftKey ? this.shift : this.turn;
      way[0] += event.movementX / 200;
      way[1] += event.movementY / 200;
      this.draw();
    };
    place.onwheel = event => {
      this.zoom *= Math.exp(-event.deltaY / 500);
      this.draw();
    };
  }

  // Loads three.js when it is needed first. Without it, everything else works.
  async begin() {
    try {
      const three = await import("./three.module.js");
      this.renderer = new three.WebGLRenderer();
      this.camera = new three.PerspectiveCamera(50, 1, 0.01, 100);
      this.points = new three.Points(new three.BufferGeometry(), new three.PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: true }));
      this.points.frustumCulled = false;
      this.scene = new three.Scene().add(this.points);
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
    // They turn around the middle one by distance, whose distance is the unit.
    const middle = known.map(i => xyz[i + 2]).sort((a, b) => a - b)[known.length >> 1];
    this.reach = 2.5 * known.reduce((most, i) => Math.max(most, Math.abs(xyz[i + 1]) / xyz[i + 2]), 0);
    const attribute = values => new this.three.BufferAttribute(new Float32Array(values), 3);
    this.points.geometry.setAttribute("position", attribute(known.flatMap(i => [xyz[i] / middle, -xyz[i + 1] / middle, 1 - xyz[i + 2] / middle])));
    this.points.geometry.setAttribute("color", attribute(known.flatMap(i => [rgb[i] / 255, rgb[i + 1] / 255, rgb[i + 2] / 255])));
    this.place.dataset.points = known.length;
    this.draw();
  }

  draw() {
    if (!this.three) return;
    const { clientWidth, clientHeight } = this.place;
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.position.set(-this.shift[0], this.shift[1], this.reach / this.zoom);
    this.camera.updateProjectionMatrix();
    this.points.rotation.set(this.turn[1], this.turn[0], 0);
    this.renderer.render(this.scene, this.camera);
  }
}
