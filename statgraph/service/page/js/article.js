/** The side panel: an article in full, what stands before and after it, its references, neighbourhood and place. */

import { go, link, readAddress } from "./address.js";
import { getJson } from "./api.js";
import { inForceWords, lawDay } from "./as_of.js";
import { articleLink, breadcrumbs, fullTitle, isNarrow, textLanguage } from "./citation.js";
import { contentsTree } from "./contents.js";
import { byId, el } from "./elements.js";
import { announce, loadingNotice, problemNotice } from "./notices.js";
import { markWords, paragraphs } from "./passage.js";
import { close as closePreview, previews } from "./preview.js";
import { marksOfHit } from "./search.js";
import { showTitle } from "./title.js";
import { versionList } from "./versions.js";
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
  closePreview();
  const panel = byId("article");
  document.body.classList.toggle("reading", id !== null);
  panel.hidden = id === null;
  panel.setAttribute("role", isNarrow() ? "main" : "complementary");
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

/** Return the paragraphs of an article: what it names as links, its passage and the words of the question marked where
 * it is a hit. */
function lawText({ article_id: id, text, mentions }) {
  const { passage, words } = marksOfHit(id);
  const units = [0]; // where each code point begins
  for (const point of text) units.push(units.at(-1) + point.length);
  const placed = mentions.map(({ start, end, article }) => ({ start: units[start], end: units[end], article }));
  return paragraphs(text, passage, (stretch, first) => {
    const nodes = [];
    let from = 0;
    for (const { start, end, article } of placed) {
      const [begin, stop] = [Math.max(start - first, from), Math.min(end - first, stretch.length)];
      if (begin >= stop) continue;
      const named = markWords(stretch.slice(begin, stop), words);
      const to = link({ article: article.article_id }, { class: "mention", ...previews(article.article_id) }, named);
      nodes.push(...markWords(stretch.slice(from, begin), words), to);
      from = stop;
    }
    return [...nodes, ...markWords(stretch.slice(from), words)];
  });
}

function articleView(article) {
  const { refers_to: to, referred_by: by, elsewhere } = article;
  const referred = to.length + by.length + elsewhere.length > 0;
  const sections = [
    part("text", el("div", { class: "law", lang: textLanguage() }, lawText(article))),
    article.versions.length > 1 ? part("versions", ...versionList(article)) : null,
    referred ? part("references", links("refers_to", to), links("referred_by", by), addresses(elsewhere)) : null,
    part("graph", graphBox(article.article_id)),
    part("contents", el("div", { class: "contents-frame" }, contentsTree(article.headings))),
  ].filter(Boolean);
  return [
    isNarrow() ? el("h1", { class: "visually-hidden" }, say("article")) : null, // the page's own is hidden
    breadcrumbs(article.headings),
    el("h2", { tabindex: "-1", lang: textLanguage() }, fullTitle(article)),
    inForce(article),
    el("nav", { class: "parts", "aria-label": say("sections") }, passageLink(), sections.map(partLink)),
    ...sections,
  ].filter(Boolean);
}

/** Return the drawing of an article's neighbourhood, whose code is fetched with the first article that is opened. */
function graphBox(id) {
  const box = loadingNotice();
  import("./graph.js").then(({ graphView }) => box.replaceWith(graphView(id)));
  return box;
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

function addresses(elsewhere) {
  const shown = (href) => el("a", { href, rel: "noreferrer" }, href.replace(/^https?:\/\/(www\.)?/, ""));
  const items = elsewhere.map((href) => el("li", {}, shown(href)));
  return items.length ? el("div", {}, el("h4", {}, say("elsewhere")), el("ul", { class: "references" }, items)) : null;
}

function inForce(article) {
  const { valid_from: from, valid_to: until } = article;
  if (!from && !until) return null;
  const asked = lawDay();
  const outside = (from && asked < from) || (until && asked >= until);
  return el(
    "p",
    { class: "in-force", id: "in-force" },
    outside ? [el("strong", {}, say("not_in_force", { day: day(asked) })), " "] : null,
    inForceWords(article),
  );
}
