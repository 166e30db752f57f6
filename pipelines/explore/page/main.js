// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes messages between explore.py and the modules of the page, over a WebSocket.
import { Cloud } from "./cloud.js";
import { Figures } from "./figures.js";
import { Inputs } from "./inputs.js";
import { Picture } from "./picture.js";
import { Properties } from "./properties.js";

const id = name => document.getElementById(name);
const token = new URLSearchParams(location.search).get("token");
const closed = new Set();
let socket, banners = [], isPaused = false;

function say(what) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(what));
}

const figures = new Figures(id("luminance"), id("series"), id("figures"));
const inputs = new Inputs(id("files"), say);
const picture = new Picture(id("picture"), id("pointer"), say, show);
const properties = new Properties(id("properties"), id("search"), id("found"), say);
const cloud = new Cloud(id("cloud"), warn);

// Sends the server the names and the size of the pictures on this page, and whether it shows values and points.
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
  id("banners").replaceChildren(...all.filter(({ text }) => !closed.has(text)).map(({ level, text }) => {
    const line = Object.assign(document.createElement("div"), { className: level }), said = Object.assign(document.createElement("span"), { textContent: text });
    const button = (textContent, name, onclick) => {
      const made = Object.assign(document.createElement("button"), { textContent, onclick });
      made.setAttribute("aria-label", `${name}: ${text}`);
      return made;
    };
    line.append(said, ...level === "error" ? [button("try again", "try again", () => say({ do: "again" }))] : [], button("×", "close", () => {
      closed.add(text);
      line.remove();
    }));
    return line;
  }));
}

// Shows a warning about the last action, even if the user has closed the same warning before.
function warn(text) {
  closed.delete(text);
  showBanners(banners = [...banners.filter(one => one.text !== text), { level: "warning", text }]);
}

function showPlace({ position, duration }) {
  const seconds = time => time.toFixed(1);
  id("seek").hidden = !duration;
  id("time").textContent = duration ? `${seconds(position)} of ${seconds(duration)} s` : `${seconds(position)} s`;
  if (id("seek").matches(":active")) return;
  Object.assign(id("seek"), { max: duration, value: position });
  id("seek").setAttribute("aria-valuetext", id("time").textContent);
}

const hear = {
  hello(said) {
    document.body.classList.toggle("is-stereo", said.stereo);
    const region = document.querySelector("[value=region]");
    region.parentElement.hidden = !said.properties.some(one => one.name === "regions");
    if (region.checked && region.parentElement.hidden) document.querySelector("[value=divider]").click();
    options(id("element"), said.elements.map(name => [name]), said.element);
    id("inputs").textContent = id("inputs").title = said.inputs.join(", ");
    const views = said.stereo ? [["before", "left camera"], ["after", "output"], ["depth"], ["confidence"], ["rectified"]] : [["before"], ["after"]];
    options(id("left"), views, "before");
    options(id("right"), views, "after");
    properties.build(said.properties);
    figures.begin();
    closed.clear();
    show();
  },
  state(said) {
    properties.update(said.values, said.refused);
    picture.update(said.values.regions, said.measured);
    isPaused = said.paused;
    id("pause").textContent = isPaused ? "play" : "pause";
    id("note").hidden = !said.note;
    id("note").textContent = id("note").title = said.note;
    id("scale").hidden = said.measured || !document.body.classList.contains("is-stereo");
  },
  banners: said => showBanners(banners = said.banners),
  refused(said) {
    picture.isAsking = false;
    warn(said.text);
  },
  figures(said) {
    figures.measured(said);
    showPlace(said);
  },
  message: said => figures.message(said),
  values: said => picture.showValues(said.values),
  folder: said => inputs.show(said),
  calibration: said => { id("pointer").textContent = said.text; },
  copy(said) {
    for (const language of ["shell", "python", "cpp"]) id(language).value = said[language];
    id("lines").showModal();
  },
  // Handlers of binary messages, which consist of a JSON header and binary parts.
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
    showBanners([{ level: "warning", text: "explore.py does not answer, or too many pages are open. This page tries to reach it again. If explore.py has ended, start it and open its new link; otherwise close other pages." }]);
    setTimeout(connect, 1000);
  };
}

new ResizeObserver(show).observe(id("picture"));
id("left").onchange = id("right").onchange = show;
for (const button of ["snapshot", "ply", "copy"]) id(button).onclick = () => say({ do: button });
id("element").onchange = ({ target }) => say({ do: "element", name: target.value });
id("choose").onclick = () => say({ do: "browse", folder: "" });
id("pause").onclick = () => say({ do: "pause", paused: !isPaused });
id("seek").onchange = ({ target }) => say({ do: "seek", position: Number(target.value) });
id("reset").onclick = () => say({ do: "reset" });
id("view").onclick = () => cloud.reset();
id("show-cloud").onchange = ({ target }) => {
  id("cloud").hidden = id("view").hidden = !target.checked;
  id("picture").hidden = target.checked;
  show();
};
for (const radio of document.querySelectorAll("[name=tool]")) radio.onchange = () => picture.take(radio.value);
connect();
