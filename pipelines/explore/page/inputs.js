// SPDX-License-Identifier: LGPL-2.1-or-later
// The dialog that chooses cameras, or files below the folder of explore.py, as inputs.
const make = (tag, options = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), options);
  element.append(...children);
  return element;
};

export class Inputs {
  constructor(dialog, say) {
    Object.assign(this, { dialog, say, chosen: [] });
    const packed = dialog.querySelector("#packed");
    packed.onchange = () => this.tell();
    dialog.onclose = () => {
      if (dialog.returnValue === "open" && this.chosen.length) say({ do: "open", names: this.chosen, packed: packed.checked });
      dialog.returnValue = "";
    };
  }
  show({ folder, folders, files, cameras }) {
    if (!this.dialog.open) {
      this.chosen = [];
      this.dialog.showModal();
    }
    const up = folder ? [[folder.split("/").slice(0, -1).join("/"), "one folder up"]] : [];
    const browse = ([name, text]) => make("li", {}, make("button", { textContent: text, onclick: () => this.say({ do: "browse", folder: name }) }));
    const choice = name => make("li", {}, make("label", {}, make("input", {
      type: "checkbox", checked: this.chosen.includes(name), onchange: event => this.choose(name, event.target.checked) }), " ", name.split("/").at(-1)));
    this.dialog.querySelector("#folder").textContent = folder || "the folder in which explore.py was started";
    this.dialog.querySelector("#entries").replaceChildren(
      ...[...up, ...folders.map(name => [name, `${name.split("/").at(-1)}/`])].map(browse), ...[...cameras, ...files].map(choice));
    this.tell();
  }
  choose(name, isChosen) {
    this.chosen = [...this.chosen.filter(one => one !== name), ...isChosen ? [name] : []];
    this.tell();
  }
  tell() {
    const [left, right, ...more] = this.chosen, isPacked = this.dialog.querySelector("#packed").checked;
    const isWrong = !left || more.length || (isPacked && right);
    this.dialog.querySelector("#open").disabled = isWrong;
    this.dialog.querySelector("#chosen").textContent = more.length ? "Choose at most two inputs." : isPacked && right ? "Choose one input whose frames hold both pictures." :
      right ? `left: ${left}, right: ${right}` : left ?? "Nothing is chosen.";
  }
}
