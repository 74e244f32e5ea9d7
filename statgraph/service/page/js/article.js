/** The side panel: an article in full, what stands before and after it, its references, neighbourhood and place. */

import { go, readAddress } from "./address.js";
import { getJson } from "./api.js";
import { dayBefore, lawDay } from "./as_of.js";
import { articleLink, breadcrumbs, fullTitle, textLanguage } from "./citation.js";
import { contentsTree } from "./contents.js";
import { byId, el } from "./elements.js";
import { graphView } from "./graph.js";
import { announce, loadingNotice, problemNotice } from "./notices.js";
import { markWords, paragraphs } from "./passage.js";
import { marksOfHit } from "./search.js";
import { showTitle } from "./title.js";
import { day, say, spokenLanguage } from "./words.js";

let shown = { id: null, language: null };
let shownArticle = null;
let running = null;

/** Show the article of the address, or close the panel where there is none; the focus goes along if `focus`. */
export async function showArticle({ focus = true, tries = 0, anew = false } = {}) {
  const { article: id } = readAddress();
  const language = spokenLanguage();
  if (id === shown.id && language === shown.language && !anew) {
    if (shownArticle) byId("in-force")?.replaceWith(inForce(shownArticle));
    return;
  }
  const before = shown;
  shown = { id, language };
  running?.abort();
  shownArticle = null;
  const panel = byId("article");
  document.body.classList.toggle("reading", id !== null);
  panel.hidden = id === null;
  if (id === null) {
    panel.replaceChildren();
    if (focus) returnFocus(before.id);
    return;
  }
  const request = new AbortController();
  running = request;
  const moved = focus && id !== before.id;
  panel.replaceChildren(panelBar(null), loadingNotice());
  try {
    const article = await getJson(`api/articles/${encodeURIComponent(id)}`, request.signal);
    if (running !== request) return;
    shownArticle = article;
    panel.replaceChildren(panelBar(article), ...articleView(article));
    panel.scrollTop = 0;
    showPassageLink();
    showTitle(article.title);
    announce(article.title);
  } catch (problem) {
    if (running !== request) return;
    const again = (next) => showArticle({ focus, tries: next, anew: true });
    const notice =
      problem.status === 404
        ? el("p", { class: "notice", role: "alert" }, say("problem_gone", { what: id }))
        : problemNotice(problem, again, tries);
    panel.replaceChildren(panelBar(null), notice);
  }
  if (moved) (panel.querySelector("h2") ?? panel.querySelector("button")).focus();
}

function returnFocus(id) {
  const hit = id === null ? null : document.querySelector(`.hit-link[data-article="${CSS.escape(id)}"]`);
  (hit ?? byId("question")).focus();
}

function panelBar(article) {
  const close = el(
    "button",
    { type: "button", class: "quiet close", click: () => go({ article: null }) },
    say("close"),
    el("span", { "aria-hidden": "true" }, " ×"),
  );
  const steps = article ? [step("previous", article.previous), step("next", article.next)] : [];
  const copy = article ? el("button", { type: "button", class: "quiet", click: copyLink }, say("copy_link")) : null;
  const copied = el("span", { class: "copied", id: "copied" });
  return el("div", { class: "panel-bar" }, ...steps, el("span", { class: "gap" }), copied, copy, close);
}

function step(key, to) {
  const arrow = el("span", { "aria-hidden": "true" }, key === "previous" ? "← " : " →");
  const words = el("span", { class: "step-words" }, say(key));
  const shown = key === "previous" ? [arrow, words] : [words, arrow];
  if (!to) return el("span", { class: "step none", "aria-hidden": "true" }, shown);
  const rel = key === "previous" ? "prev" : "next";
  const label = `${say(key)}: ${to.title}`;
  const made = articleLink(to, { class: `step step-${key}`, rel, title: to.title, "aria-label": label });
  made.replaceChildren(...shown);
  return made;
}

async function copyLink() {
  const note = byId("copied");
  try {
    await navigator.clipboard.writeText(location.href);
    note.textContent = say("link_copied");
  } catch {
    note.textContent = say("link_not_copied");
  }
  announce(note.textContent);
}

/** Mark the passage of the article that is open, once the answer is there that knows it. */
export function markPassage() {
  const law = byId("article").querySelector(".law");
  if (law && shownArticle) law.replaceChildren(...lawText(shownArticle));
  showPassageLink();
}

/** Offer to go to the marked passage where there is one. */
function showPassageLink() {
  const panel = byId("article");
  const link = panel.querySelector(".to-passage");
  if (link) link.hidden = panel.querySelector(".law mark") === null;
}

function passageLink() {
  const click = () => {
    const passage = byId("article").querySelector(".law mark");
    passage.scrollIntoView({ block: "center" });
    passage.tabIndex = -1;
    passage.focus({ preventScroll: true });
  };
  return el("button", { type: "button", class: "quiet to-passage", hidden: true, click }, say("passage"));
}

/** Return the paragraphs of an article, its passage and the words of the question marked where it is a hit. */
function lawText({ article_id: id, text }) {
  const { passage, words } = marksOfHit(id);
  return paragraphs(text, passage, (stretch) => markWords(stretch, words));
}

function articleView(article) {
  const { refers_to: to, referred_by: by } = article;
  const referred = to.length + by.length > 0;
  const sections = [
    part("text", el("div", { class: "law", lang: textLanguage() }, lawText(article))),
    referred ? part("references", links("refers_to", to), links("referred_by", by)) : null,
    part("graph", graphView(article.article_id)),
    part("contents", el("div", { class: "contents-frame" }, contentsTree(article.headings))),
  ].filter(Boolean);
  return [
    breadcrumbs(article.headings),
    el("h2", { tabindex: "-1", lang: textLanguage() }, fullTitle(article)),
    inForce(article),
    el("nav", { class: "parts", "aria-label": say("sections") }, passageLink(), sections.map(partLink)),
    ...sections,
  ].filter(Boolean);
}

function part(key, ...content) {
  const name = el("h3", { tabindex: "-1" }, say(key));
  return el("section", { class: `part part-${key}`, "data-part": key }, name, ...content);
}

function partLink(section) {
  const click = () => {
    section.scrollIntoView({ block: "start" });
    section.querySelector("h3").focus({ preventScroll: true });
  };
  return el("button", { type: "button", class: "quiet", click }, say(section.dataset.part));
}

function links(key, articles) {
  if (!articles.length) return el("div", {});
  return el(
    "div",
    {},
    el("h4", {}, say(key)),
    el("ul", { class: "references" }, articles.map((article) => el("li", {}, articleLink(article)))),
  );
}

function inForce({ valid_from: from, valid_to: until }) {
  if (!from && !until) return null;
  const key = from && until ? "in_force" : from ? "in_force_from" : "in_force_until";
  const asked = lawDay();
  const outside = (from && asked < from) || (until && asked >= until);
  return el(
    "p",
    { class: "in-force", id: "in-force" },
    outside ? [el("strong", {}, say("not_in_force", { day: day(asked) })), " "] : null,
    // `until` is the first day on which it no longer is.
    say(key, { from: day(from), until: until && day(dayBefore(until)) }),
  );
}
