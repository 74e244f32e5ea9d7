/**
 * The address holds what is shown (law, question, filters, day, article, language): a link can be shared, and "back"
 * works.
 * A letter is too long for one; it stays in the tab's history.
 */

import { el } from "./elements.js";

const MOST_IN_ADDRESS = 2000; // characters of a question
const PARAMETERS = ["law", "q", "code", "heading", "article", "lang"];
let limits = []; // the names of those that the service tells of
const listeners = [];

/** Take the names of the limits that have no place of their own here: parameters of the same names. */
export function setLimits(names) {
  limits = names;
}

/** Return {law, q, codes, heading, asOf, limits, article, lang} of a query string; what is not in it is "", [] or null.
 * `unknown` is what the page does not know, such as an older version's "as_of=always". */
export function readAddress(query = location.search) {
  const values = new URLSearchParams(query);
  const isKnown = ([name, value]) => (name === "as_of" ? !value || isDay(value) : [...PARAMETERS, ...limits].includes(name));
  return {
    law: values.get("law") || null,
    q: (values.get("q") ?? history.state?.letter ?? "").trim(),
    codes: values.getAll("code"),
    heading: values.get("heading") || null,
    asOf: isDay(values.get("as_of")) ? values.get("as_of") : null,
    limits: Object.fromEntries(limits.map((name) => [name, values.getAll(name)]).filter(([, all]) => all.length)),
    article: values.get("article") || null,
    lang: values.get("lang") || null,
    unknown: [...values].filter((entry) => !isKnown(entry)).map((entry) => entry.join("=")),
  };
}

const isDay = (value) => /^[1-9]\d{3}-\d\d-\d\d$/.test(value) && new Date(value).toJSON()?.startsWith(value) === true;

/** Return the query string of what is shown, "./" where that is nothing. */
export function writeAddress({ law, q, codes, heading, asOf, limits = {}, article, lang }) {
  const values = new URLSearchParams();
  if (law) values.set("law", law);
  if (q && !isLetter(q)) values.set("q", q);
  for (const code of codes) values.append("code", code);
  if (heading) values.set("heading", heading);
  if (asOf) values.set("as_of", asOf);
  for (const [name, all] of Object.entries(limits)) for (const value of all) values.append(name, value);
  if (article) values.set("article", article);
  if (lang) values.set("lang", lang);
  const query = values.toString();
  return query ? `?${query}` : "./";
}

const isLetter = (q) => q.length > MOST_IN_ADDRESS;

/** Show something else: `change` is laid over the present address. The same again makes no new entry. */
export function go(change, { replace = false } = {}) {
  const before = readAddress();
  const after = { ...before, ...change };
  const address = writeAddress(after);
  if (address !== writeAddress(before) || after.q !== before.q) {
    const state = isLetter(after.q) ? { letter: after.q } : null;
    history[replace ? "replaceState" : "pushState"](state, "", address);
  }
  for (const listener of listeners) listener();
}

/** Call `listener` whenever the address changes, by `go` or by the browser's back and forward. */
export function onAddress(listener) {
  listeners.push(listener);
  addEventListener("popstate", listener);
}

/** Return what makes a link show `change`; a click stays on the page, a modified one opens a tab as any link does. */
export function leadsTo(change) {
  const changed = typeof change === "function" ? change : () => change;
  const href = writeAddress({ ...readAddress(), ...changed() });
  const click = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(changed());
  };
  return { href, click };
}

/** Return a link that shows `change`, an object or a function that is asked at the click. */
export function link(change, properties, ...children) {
  return el("a", { ...leadsTo(change), ...properties }, ...children);
}
