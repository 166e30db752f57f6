// SPDX-License-Identifier: LGPL-2.1-or-later
// The socket: what explore.py says goes to the parts of the page, and what they say to explore.py.
import { Cloud } from "./cloud.js";
import { Figures } from "./figures.js";
import { Picture } from "./picture.js";
import { Properties } from "./properties.js";

const id = name => document.getElementById(name);
const token = new URLSearchParams(location.search).get("token");
let socket, banners = [];

function say(what) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(what));
}

const figures = new Figures(id("luminance"), id("series"), id("figures"));
const picture = new Picture(id("picture"), id("pointer"), say, show);
const properties = new Properties(id("properties"), say);
const cloud = new Cloud(id("cloud"), warn);

// What this page wants to be sent.
function show() {
  const box = id("picture").getBoundingClientRect(), scale = window.devicePixelRatio;
  const names = [...new Set([id("left").value, id("right").value])];
  if (names[0])
    say({ do: "show", pictures: names, width: box.width * scale, height: box.height * scale, values: picture.isPointed, cloud: id("show-cloud").checked });
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map(([value, text]) => new Option(text ?? value, value, false, value === chosen)));
}

function showBanners(all) {
  id("banners").replaceChildren(...all.map(({ level, text }) => {
    const line = Object.assign(document.createElement("div"), { className: level, textContent: text });
    if (level === "error") line.append(" ", Object.assign(document.createElement("button"), { textContent: "try again", onclick: () => say({ do: "again" }) }));
    return line;
  }));
}

function warn(text) {
  showBanners([...banners, { level: "warning", text }]);
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
    picture.update(said.values.regions);
  },
  banners: said => showBanners(banners = said.banners),
  refused(said) {
    picture.isAsking = false;
    warn(said.text);
  },
  figures: said => figures.measured(said),
  message: said => figures.message(said),
  values: said => picture.showValues(said.values),
  calibration: said => { id("pointer").textContent = said.text; },
  copy(said) {
    for (const language of ["shell", "python", "cpp"]) id(language).value = said[language];
    id("lines").showModal();
  },
  // These have parts in bytes.
  pictures: (said, parts) => picture.show(said, parts).then(() => say({ do: "seen" })),
  overview: (said, parts) => picture.show(said, parts),
  cloud: (said, parts) => cloud.show(said, parts).then(() => say({ do: "cloud-seen" })),
  file(said, parts) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob(parts)), download: said.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  },
};

function unpack(data) {
  let at = 4 + new DataView(data).getUint32(0, true);
  const said = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, at - 4)));
  return [said, said.lengths.map(size => data.slice(at, at += size))];
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/socket?token=${token}`);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    const [said, parts] = typeof data === "string" ? [JSON.parse(data)] : unpack(data);
    hear[said.is](said, parts);
  };
  socket.onclose = () => {
    showBanners([{ level: "warning", text: "explore.py does not answer; has it ended? This page tries to reach it again." }]);
    setTimeout(connect, 1000);
  };
}

new ResizeObserver(show).observe(id("picture"));
id("left").onchange = id("right").onchange = show;
for (const button of ["snapshot", "ply", "copy"]) id(button).onclick = () => say({ do: button });
id("element").onchange = ({ target }) => say({ do: "element", name: target.value });
id("show-cloud").onchange = ({ target }) => {
  id("cloud").hidden = !target.checked;
  id("picture").hidden = target.checked;
  show();
};
for (const radio of document.querySelectorAll("[name=tool]")) radio.onchange = () => picture.take(radio.value);
connect();
