// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of the element, as explore.py describes them.
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
  return { slider, move: text => { slider.value = ((Number(text) - min) / span) ** (1 / power); } };
}

export class Properties {
  constructor(place, say) {
    Object.assign(this, { place, say, rows: new Map() });
  }

  build(all) {
    this.rows.clear();
    const groups = new Map(["Basics", "Regions", "More", "Messages", "Device", "Read only"].map(name => [name, []]));
    for (const one of all) groups.get(one.group).push(this.row(one));
    this.place.replaceChildren(...[...groups].filter(([, rows]) => rows.length).map(([name, rows]) =>
      make("details", { open: name === "Basics" }, make("summary", { textContent: name }), ...rows)));
  }

  row(one) {
    const set = value => this.say({ do: "set", name: one.name, value });
    const { parts, show } = this.control(one, set);
    const reset = make("button", { textContent: "reset", title: `default: ${one.default || "empty"}`, onclick: () => set(one.default) });
    const label = make("label", { textContent: `${one.title} (${one.name}) ` });
    if (one.kind !== "read-only" && !one.live) label.append(make("span", { className: "restart", textContent: "restarts" }));
    const row = make("div", { className: "property" }, label, one.kind === "read-only" ? "" : reset, make("div", { className: "value" }, ...parts),
                     make("small", { textContent: one.kind === "read-only" ? one.blurb : `${one.blurb}. Default: ${one.default || "empty"}.` }));
    row.dataset.name = one.name;
    this.rows.set(one.name, text => {
      show(text);
      row.classList.toggle("changed", one.kind !== "read-only" && text !== one.default);
    });
    return row;
  }

  control(one, set) {
    if (one.kind === "switch") {
      const box = make("input", { type: "checkbox", onchange: () => set(String(box.checked)) });
      return { parts: [box], show: text => { box.checked = text === "true"; } };
    }
    if (one.kind === "list") {
      const list = make("select", { onchange: () => set(list.value) }, ...one.choices.map(([nick, text]) => new Option(`${nick}: ${text}`, nick)));
      return { parts: [list], show: text => { list.value = text; } };
    }
    if (one.kind === "read-only") {
      const output = make("output");
      return { parts: [output], show: text => { output.textContent = text; } };
    }
    const entry = make("input", { type: "text", onchange: () => set(entry.value) });
    const { slider, move } = one.kind === "number" ? sliderOf(one, set) : {};
    return { parts: slider ? [slider, entry] : [entry], show: text => {
      if (document.activeElement !== entry) entry.value = text;
      if (slider && document.activeElement !== slider) move(text);
    } };
  }

  update(values) {
    for (const [name, text] of Object.entries(values)) this.rows.get(name)?.(text);
  }
}
