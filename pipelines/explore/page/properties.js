// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows the list of properties that explore.py describes.
import { Scale } from "./scale.js";

const groups = ["Basics", "Regions", "More", "Messages", "Device", "Read only"];

function make(tag, options = {}, ...children) {
  const element = Object.assign(document.createElement(tag), options);
  element.append(...children);
  return element;
}

function name(element, label) {
  element.setAttribute("aria-label", label);
  return element;
}

const ways = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };

// Returns a slider and a number field, and a function that shows a value in both. Slider and arrow keys step through valid
// numbers only; the element checks typed numbers.
function numberOf(one, set) {
  const scale = new Scale(one), unit = one.time ? " ms" : "";
  const slider = name(make("input", { type: "range", min: scale.first, max: scale.last, step: 1 }), `${one.name}, slider`);
  const entry = name(make("input", { type: "text", inputMode: "decimal" }), one.name + unit);
  let current = one.default, isTyped = false;
  entry.oninput = () => { isTyped = true; };
  entry.onchange = () => {
    isTyped = false;
    set(scale.typed(entry.value));
  };
  const step = (event, keys) => {
    if (!keys.includes(event.key) || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    set(event.key === "Home" ? scale.ends[0] : event.key === "End" ? scale.ends[1] : scale.next(current, ways[event.key]));
  };
  slider.onkeydown = event => step(event, [...Object.keys(ways), "Home", "End"]);
  entry.onkeydown = event => step(event, ["ArrowUp", "ArrowDown"]);
  // Properties that restart the pipeline change only when the slider is released.
  slider[one.live ? "oninput" : "onchange"] = () => set(scale.at(Number(slider.value)));
  const show = (text, refused) => {
    current = text;
    if (!isTyped) entry.value = scale.shown(refused ?? text);
    if (!slider.matches(":active")) slider.value = scale.place(text);
    slider.setAttribute("aria-valuetext", scale.shown(text) + unit);
  };
  return [[slider, entry, ...unit ? [make("span", { className: "unit", textContent: unit })] : []], show];
}

// Returns the control of a property, and a function that shows a value in it.
function controlOf(one, set) {
  if (one.kind === "number") return numberOf(one, set);
  if (one.kind === "switch") {
    const box = name(make("input", { type: "checkbox", onchange: () => set(String(box.checked)) }), one.name);
    return [[box], text => { box.checked = text === "true"; }];
  }
  if (one.kind === "list") {
    const list = name(make("select", { onchange: () => set(list.value) }, ...one.choices.map(([nick, text]) => new Option(`${nick}: ${text}`, nick))), one.name);
    return [[list], text => { list.value = text; }];
  }
  const entry = name(make("input", { type: "text", readOnly: one.kind === "read-only", onchange: () => set(entry.value) }), one.name);
  return [[entry], (text, refused) => {
    if (document.activeElement !== entry || refused !== undefined) entry.value = refused ?? text;
  }];
}

export class Properties {
  constructor(place, search, found, say) {
    Object.assign(this, { place, search, found, say });
    search.oninput = () => this.filter();
  }
  build(all) {
    this.rows = new Map(all.map(one => [one.name, this.row(one)]));
    this.place.replaceChildren(...groups.map(group => [group, all.filter(one => one.group === group)]).filter(([, ones]) => ones.length).map(([group, ones]) =>
      name(make("details", {}, make("summary", { textContent: group }), ...ones.map(one => this.rows.get(one.name).row)), group)));
    this.filter();
  }
  row(one) {
    const set = value => this.say({ do: "set", name: one.name, value }), isFixed = one.kind === "read-only";
    const [parts, show] = controlOf(one, set), entry = parts.findLast(part => part.matches("input, select"));
    const mark = isFixed || one.live ? "" : make("span", { className: "restart", textContent: "restarts" });
    const label = make("label", { textContent: `${one.title} (${one.name}) `, htmlFor: entry.id = `property-${one.name}` }, mark);
    const standard = one.time ? new Scale(one).shown(one.default) : one.default;
    const text = make("small", { id: `text-${one.name}`, textContent: isFixed ? one.blurb : `${one.blurb}. Default: ${standard || "empty"}.` });
    const why = name(make("p", { className: "why", id: `why-${one.name}`, hidden: true }), `refusal of ${one.name}`);
    why.setAttribute("role", "alert");
    entry.setAttribute("aria-describedby", `${why.id} ${text.id}`);
    const row = make("div", { className: "property" }, label,
                     isFixed ? "" : name(make("button", { textContent: "reset", onclick: () => set(one.default) }), `reset ${one.name}`),
                     make("div", { className: "value" }, ...parts), why, text);
    row.dataset.name = one.name;
    const refuse = (said, inForce) => {
      entry.setAttribute("aria-invalid", said !== undefined);
      row.classList.toggle("refused", said !== undefined);
      why.hidden = said === undefined;
      const complaint = said && `Refused: ${said.why} Current value: ${(one.time ? new Scale(one).shown(inForce) : inForce) || "empty"}.`;
      if (complaint && why.textContent !== complaint) why.textContent = complaint;
    };
    return { row, show, refuse, words: `${one.name} ${one.title} ${one.blurb}`.toLowerCase(), isChanged: text => !isFixed && text !== one.default };
  }
  update(values, refused) {
    for (const [name, text] of Object.entries(values)) {
      const { row, show, refuse, isChanged } = this.rows.get(name);
      show(text, refused[name]?.text);
      refuse(refused[name], text);
      row.classList.toggle("changed", isChanged(text));
    }
  }

  // Shows only properties whose name, title and description together contain all search words.
  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { row, words: own } of this.rows.values()) {
      row.hidden = !words.every(word => own.includes(word));
      count += !row.hidden;
    }
    for (const group of this.place.children) {
      const isFound = [...group.querySelectorAll(".property")].some(row => !row.hidden);
      group.hidden = !isFound;
      group.open = words.length ? isFound : group.firstChild.textContent === "Basics";
    }
    this.found.textContent = words.length ? `${count} of ${this.rows.size} properties` : "";
  }
}
