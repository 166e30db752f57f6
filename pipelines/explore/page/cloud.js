// SPDX-License-Identifier: LGPL-2.1-or-later
// Points in space that can be turned (drag), moved (drag with shift) and neared (wheel), with three.js.
export class Cloud {
  constructor(place, complain) {
    Object.assign(this, { place, complain, turn: [0, 0], shift: [0, 0], zoom: 1 });
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
      const three = this.three = await import("./three.module.js");
      this.renderer = new three.WebGLRenderer({ preserveDrawingBuffer: true });
      this.camera = new three.PerspectiveCamera(50, 1, 0.01, 100);
      this.scene = new three.Scene();
      this.points = new three.Points(new three.BufferGeometry(), new three.PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: true }));
      this.points.frustumCulled = false;
      this.scene.add(this.points);
      this.place.append(this.renderer.domElement);
    } catch (error) {
      this.three = null;
      this.complain(`Points need three.js, of Debian's package libjs-three, and WebGL: ${error.message}`);
    }
  }

  async show({ shape }, [places, colors]) {
    if (this.three === undefined) await this.begin();
    if (!this.three) return;
    const xyz = new Float32Array(places), rgb = new Uint8Array(colors), known = [];
    for (let i = 0; i < xyz.length; i += 3) if (Number.isFinite(xyz[i + 2])) known.push(i);
    // The middle of the points, by distance, is the point around which they turn; their distance is the unit.
    const depths = known.map(i => xyz[i + 2]).sort((a, b) => a - b), middle = depths[depths.length >> 1] ?? 1;
    const position = new Float32Array(3 * known.length), color = new Float32Array(3 * known.length);
    known.forEach((from, to) => {
      position.set([xyz[from] / middle, -xyz[from + 1] / middle, 1 - xyz[from + 2] / middle], 3 * to);
      color.set([rgb[from] / 255, rgb[from + 1] / 255, rgb[from + 2] / 255], 3 * to);
    });
    this.reach = Math.max(...known.map(i => Math.abs(xyz[i + 1]) / xyz[i + 2])) * 2.5;
    const geometry = this.points.geometry;
    geometry.setAttribute("position", new this.three.BufferAttribute(position, 3));
    geometry.setAttribute("color", new this.three.BufferAttribute(color, 3));
    this.place.dataset.points = known.length;
    this.draw();
  }

  draw() {
    if (!this.three) return;
    this.renderer.setSize(this.place.clientWidth, this.place.clientHeight);
    this.camera.aspect = this.place.clientWidth / this.place.clientHeight;
    this.camera.position.set(-this.shift[0], this.shift[1], this.reach / this.zoom);
    this.camera.updateProjectionMatrix();
    this.points.rotation.set(this.turn[1], this.turn[0], 0);
    this.renderer.render(this.scene, this.camera);
  }
}
