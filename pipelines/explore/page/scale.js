// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps slider positions and arrow keys to the valid numbers of a property. Times are shown in ms.
const perMs = 1000000n;

export class Scale {
  constructor(one) {
    this.one = one;
    this.others = [...one.also ?? []].sort((a, b) => a - b);
    // 64-bit integers need BigInt.
    const number = one.whole ? value => BigInt(value) : Number;
    this.number = number;
    this.step = one.whole ? BigInt(one.step ?? 1) : one.step;
    this.low = number(one.from ?? one.min);
    this.high = number(one.to ?? one.max);
    if (this.step) this.high = this.low + (this.high - this.low) / this.step * this.step;
    const low = Number(this.low), span = Number(this.high) - low;
    const count = one.whole ? span / Number(this.step) : Infinity;
    // Up to 65 numbers get one slider position each. Otherwise, the scale is a power law, usually with twice the default in the
    // middle of the slider.
    const middle = Math.min(span / 2, 2 * Math.abs(one.default - low) || (one.time ? 2e8 : span > 1000 ? 100 : span / 2));
    this.power = count <= 64 ? 1 : Math.log(middle / span) / Math.log(0.5);
    this.last = count <= 64 ? count : 1000;
    // Special values, such as -1, have positions before the first number.
    this.gap = Math.ceil(this.last / 30);
    this.first = -this.gap * this.others.length;
    this.unit = middle / 100;
    this.ends = [String(this.others.find(other => other < this.low) ?? this.low), String(this.high)];
  }

  // Returns the value at a slider position.
  at(place) {
    if (place < 0) return String(this.others[Math.min(this.others.length - 1, Math.floor((place - this.first) / this.gap))]);
    return this.nearest(Number(this.low) + (Number(this.high) - Number(this.low)) * (place / this.last) ** this.power);
  }
  place(text) {
    const value = Number(text), low = Number(this.low), other = this.others.indexOf(value);
    if (other >= 0 && (value < low || value > Number(this.high))) return this.first + other * this.gap;
    return Math.max(0, (value - low) / (Number(this.high) - low)) ** (1 / this.power) * this.last;
  }

  // Returns the valid number nearest to a value, as a text.
  nearest(value) {
    if (!this.one.whole) return String(Math.min(this.high, Math.max(this.low, Number(value.toPrecision(4)))));
    let whole = BigInt(Math.round(value));
    if (this.one.time) whole = (whole + perMs / 2n) / perMs * perMs;
    whole = this.low + (whole - this.low + this.step / 2n) / this.step * this.step;
    return String(whole < this.low ? this.low : whole > this.high ? this.high : whole);
  }

  // Returns the valid number that is `steps` steps away, in either direction.
  next(text, steps) {
    const others = this.others.map(this.number), value = this.number(text);
    const index = others.findIndex(other => other === value);
    if (index >= 0 && (value < this.low || value > this.high))
      return steps < 0 ? String(others[Math.max(0, index - 1)]) : String(others[index + 1] ?? this.low);
    let next;
    if (this.one.whole) {
      // A typed number may be between two steps.
      const step = this.one.time ? perMs : this.step, above = (value - this.low) % step;
      next = value + BigInt(steps) * step - (above && steps > 0 ? above : above ? above - step : 0n);
    } else {
      const size = 10 ** Math.floor(Math.log10(Math.max(Math.abs(value), this.unit)) - 1 + 1e-9);
      next = Number((value + steps * size).toPrecision(4));
    }
    const below = others.filter(other => other < this.low).at(-1);
    if (next < this.low) return String(value > this.low ? this.low : below ?? this.low);
    return String(next > this.high ? this.high : next);
  }

  // Converts times from ns to ms; special values such as −1 stay unchanged.
  shown(text) {
    if (!this.one.time || !/^-?\d+$/.test(text) || BigInt(text) < 0n) return text;
    const ns = BigInt(text), rest = String(ns % perMs).padStart(6, "0").replace(/0+$/, "");
    return `${ns / perMs}${rest && `.${rest}`}`;
  }
  typed(text) {
    const found = this.one.time && text.trim().match(/^(\d+)(?:\.(\d{0,6}))?$/);
    return found ? String(BigInt(found[1]) * perMs + BigInt((found[2] ?? "").padEnd(6, "0"))) : text;
  }
}
