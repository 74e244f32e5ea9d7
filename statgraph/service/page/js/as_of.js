/** The day whose law is searched, where articles say when they are in force: the one chosen, else today. */

import { go, readAddress } from "./address.js";
import { byId } from "./elements.js";
import { day, say } from "./words.js";

export function startDay() {
  const field = byId("as-of");
  // A year that is being typed is 0002, 0020 and 0202 first: the field's `min` makes these invalid.
  field.addEventListener("change", () => {
    if (field.validity.valid) go({ asOf: field.value || null });
  });
}

/** Show the day of the address in its field. The field stays where it is: what is half typed into it is kept. */
export function showDay({ dated }) {
  byId("day").hidden = !dated;
  const field = byId("as-of");
  const asOf = readAddress().asOf ?? "";
  if (field.value !== asOf) field.value = asOf;
}

/** Return the day whose law is meant (YYYY-MM-DD). */
export function lawDay() {
  const now = new Date();
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return readAddress().asOf ?? parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** Return when an article or a version is in force, in words; "" where it has no dates. */
export function inForceWords({ valid_from: from, valid_to: until }) {
  if (!from && !until) return "";
  const key = from && until ? "in_force" : from ? "in_force_from" : "in_force_until";
  // `until` is the first day on which it no longer is.
  return say(key, { from: day(from), until: until && day(dayBefore(until)) });
}

/** Return the day before another (YYYY-MM-DD). */
function dayBefore(value) {
  const date = new Date(`${value}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - 1);
  return date.toISOString().slice(0, 10);
}
