/** The beginning of the article that a reference leads to, beside it while it is pointed at or focused. */

import { getJson } from "./api.js";
import { fullTitle, textLanguage } from "./citation.js";
import { el } from "./elements.js";

const SHOWN = 320;
const WAIT_MS = 200;
const GAP = 6;

const known = new Map();
let box = null;
let waiting = null;

/** Return what makes a link show the article of an id, as properties of `el`. */
export function previews(id) {
  const show = ({ currentTarget: at }) => later(() => open(at, id));
  const hide = () => later(close);
  return { mouseenter: show, focus: show, mouseleave: hide, blur: hide };
}

function later(action) {
  clearTimeout(waiting);
  waiting = setTimeout(action, WAIT_MS);
}

async function open(at, id) {
  if (!known.has(id)) known.set(id, getJson(`api/articles/${encodeURIComponent(id)}`));
  let article;
  try {
    article = await known.get(id);
  } catch {
    known.delete(id); // the link itself says what is wrong
    return;
  }
  if (!at.isConnected || !(at.matches(":hover") || at === document.activeElement)) return;
  close();
  const text = Array.from(article.text);
  const shown = text.slice(0, SHOWN).join("") + (text.length > SHOWN ? " …" : "");
  // The pointer may go over to it, and Escape closes it.
  const stays = { mouseenter: () => clearTimeout(waiting), mouseleave: () => later(close) };
  const name = el("strong", {}, fullTitle(article));
  box = el("div", { id: "preview", role: "tooltip", lang: textLanguage(), ...stays }, name, el("p", {}, shown));
  const panel = at.closest("#article");
  panel.append(box);
  at.setAttribute("aria-describedby", "preview");
  const place = at.getBoundingClientRect();
  const below = place.bottom + GAP + box.offsetHeight <= innerHeight;
  box.style.left = `${Math.max(GAP, Math.min(place.left, panel.getBoundingClientRect().right - box.offsetWidth - GAP))}px`;
  box.style.top = `${below ? place.bottom + GAP : Math.max(GAP, place.top - GAP - box.offsetHeight)}px`;
}

/** Close the preview; return whether there was one. */
export function close() {
  clearTimeout(waiting);
  const was = box !== null;
  document.querySelector("[aria-describedby=preview]")?.removeAttribute("aria-describedby");
  box?.remove();
  box = null;
  return was;
}
