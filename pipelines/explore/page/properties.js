// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of the element, as explore.py describes them.
const groups = ["Basics", "Regions", "More", "Messages", "Device", "Read only"];

function make(tag, options = {}, ...children) {
  const element = Object.assign(document.createElement(tag), options);
  element.append(...children);
  return element;
}

// A slider whose middle is at twice the default, however large the range is.
function sliderOf(one, set) {
  const min = Number(one.min), span = Number(one.max) - min, middle = Math.min(span / 2, 2 * Math.abs(one.default - min) || (span > 1000 ? 100 : span / 2));
  const power = Math.log(middle / span) / Math.log(0.5);
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.001 });
  // Each change of those that restart the pipeline takes its time, so they wait until the slider is let go.
  slider[one.live ? "oninput" : "onchange"] = () => {
    const value = min + span * slider.value ** power;
    set(one.whole ? BigInt(Math.round(value)).toString() : String(Number(value.toPrecision(4))));
  };
  return [slider, text => { slider.value = ((Number(text) - min) / span) ** (1 / power); }];
}

// What a property is changed with, and how a value is shown there.
function controlOf(one, set) {
  if (one.kind === "switch") {
    const box = make("input", { type: "checkbox", onchange: () => set(String(box.checked)) });
    return [[box], text => { box.checked = text === "true"; }];
  }
  if (one.kind === "list") {
    const list = make("select", { onchange: () => set(list.value) }, ...one.choices.map(([nick, text]) => new Option(`${nick}: ${text}`, nick)));
    return [[list], text => { list.value = text; }];
  }
  const entry = make("input", { type: "text", readOnly: one.kind === "read-only", onchange: () => set(entry.value) });
  const [slider, move] = one.kind === "number" ? sliderOf(one, set) : [];
  return [slider ? [slider, entry] : [entry], text => {
    if (document.activeElement !== entry) entry.value = text;
    if (slider && document.activeElement !== slider) move(text);
  }];
}

export class Properties {
  constructor(place, say) {
    Object.assign(this, { place, say });
  }
  build(all) {
    this.rows = new Map(all.map(one => [one.name, this.row(one)]));
    this.place.replaceChildren(...groups.map(group => [group, all.filter(one => one.group === group)]).filter(([, ones]) => ones.length).map(([group, ones]) =>
      make("details", { open: group === "Basics" }, make("summary", { textContent: group }), ...ones.map(one => this.rows.get(one.name).row))));
  }
  row(one) {
    const set = value => this.say({ do: "set", name: one.name, value }), isFixed = one.kind === "read-only";
    const [parts, show] = controlOf(one, set);
    const mark = isFixed || one.live ? "" : make("span", { className: "restart", textContent: "restarts" });
    const label = make("label", { textContent: `${one.title} (${one.name}) ` }, mark);
    const row = make("div", { className: "property" }, label, isFixed ? "" : make("button", { textContent: "reset", onclick: () => set(one.default) }),
                     make("div", { className: "value" }, ...parts),
                     make("small", { textContent: isFixed ? one.blurb : `${one.blurb}. Default: ${one.default || "empty"}.` }));
    row.dataset.name = one.name;
    return { row, show, isChanged: text => !isFixed && text !== one.default };
  }
  update(values) {
    for (const [name, text] of Object.entries(values)) {
      const { row, show, isChanged } = this.rows.get(name);
      show(text);
      row.classList.toggle("changed", isChanged(text));
    }
  }
}
