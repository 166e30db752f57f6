// SPDX-License-Identifier: LGPL-2.1-or-later
// The socket: what explore.py says goes to the parts of the page, and what they say to explore.py.
import { Cloud } from "./cloud.js";
import { Figures } from "./figures.js";
import { Picture } from "./picture.js";
import { Properties } from "./properties.js";

const id = name => document.getElementById(name);
const token = new URLSearchParams(location.search).get("token");
let socket;
let banners = [];

function say(what) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(what));
}

const figures = new Figures(id("luminance"), id("series"));
const picture = new Picture(id("picture"), id("pointer"), say);
const properties = new Properties(id("properties"), say);
const cloud = new Cloud(id("cloud"), text => showBanners([...banners, { level: "warning", text }]));
picture.setRegions = text => say({ do: "set", name: "regions", value: text });

// What this page wants to be sent.
function show() {
  const box = id("picture").getBoundingClientRect(), ratio = window.devicePixelRatio;
  const names = id("left").value === id("right").value ? [id("right").value] : [id("left").value, id("right").value];
  if (!names[0]) return;
  say({ do: "show", pictures: names, width: Math.max(16, Math.round(box.width * ratio)), height: Math.max(16, Math.round(box.height * ratio)),
        values: picture.isPointed, cloud: id("show-cloud").checked });
}
picture.onPointed = show;
new ResizeObserver(show).observe(id("picture"));

function options(select, names, chosen) {
  select.replaceChildren(...names.map(([value, text]) => new Option(text ?? value, value, false, value === chosen)));
}

function showBanners(all) {
  id("banners").replaceChildren(...all.map(({ level, text }) => {
    const line = document.createElement("div");
    line.className = level;
    line.textContent = text;
    if (level === "error") {
      const again = document.createElement("button");
      again.textContent = "try again";
      again.onclick = () => say({ do: "again" });
      line.append(" ", again);
    }
    return line;
  }));
}

const hear = {
  hello(said) {
    document.body.classList.toggle("is-stereo", said.stereo);
    options(id("element"), said.elements.map(name => [name]), said.element);
    id("inputs").textContent = said.inputs.join(", ");
    const views = said.stereo ? [["before", "left camera"], ["after", "output"], ["depth"], ["confidence"], ["rectified"]] : [["before"], ["after"]];
    options(id("left"), views, "before");
    options(id("right"), views, "after");
    properties.build(said.properties);
    figures.begin();
    show();
  },
  state(said) {
    properties.update(said.values);
    picture.update(said.values, said.calibrated);
  },
  banners(said) { showBanners(banners = said.banners); },
  refused(said) {
    picture.isAsking = false;
    showBanners([...banners, { level: "warning", text: said.text }]);
  },
  figures(said) {
    const time = said.microseconds === null ? "–" : said.microseconds < 1e4 ? `${said.microseconds.toFixed(0)} µs` : `${(said.microseconds / 1000).toFixed(0)} ms`;
    id("figures").textContent = `${said.rate.toFixed(1)} frames/s · ${time} per frame · ${said.dropped} dropped · ${said.card || said.backend} · ${said.position.toFixed(1)} s`;
    figures.measured(said);
  },
  message(said) { figures.message(said); },
  values(said) { picture.showValues(said.values); },
  calibration(said) { id("pointer").textContent = said.text; },
  copy(said) {
    for (const language of ["shell", "python", "cpp"]) id(language).value = said[language];
    id("lines").showModal();
  },
};

const receive = {
  async pictures(header, parts) {
    await picture.show(header, parts);
    say({ do: "seen" });
  },
  async overview(header, parts) { await picture.show({ names: ["overview"], ...header }, parts); },
  async cloud(header, parts) {
    await cloud.show(header, parts);
    say({ do: "cloud-seen" });
  },
  async file(header, parts) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = header.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  },
};

function unpack(data) {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  receive[header.is](header, header.lengths.map(size => data.slice(at, at += size)));
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/socket?token=${token}`);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") return unpack(data);
    const said = JSON.parse(data);
    hear[said.is](said);
  };
  socket.onclose = () => {
    showBanners([{ level: "warning", text: "explore.py does not answer; has it ended? This page tries to reach it again." }]);
    setTimeout(connect, 1000);
  };
}

for (const select of ["left", "right"]) id(select).onchange = show;
for (const button of ["snapshot", "ply", "copy"]) id(button).onclick = () => say({ do: button });
id("element").onchange = ({ target }) => say({ do: "element", name: target.value });
id("show-cloud").onchange = ({ target }) => {
  id("cloud").hidden = !target.checked;
  id("picture").hidden = target.checked;
  show();
};
for (const radio of document.querySelectorAll("[name=tool]")) radio.onchange = () => picture.take(radio.value);
connect();
