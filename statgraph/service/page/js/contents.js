/** The table of contents as a tree that is fetched as it is opened. */

import { link } from "./address.js";
import { articleLink, filterChange, isOpen, textLanguage } from "./citation.js";
import { el, svg } from "./elements.js";
import { headingOf } from "./headings.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { say } from "./words.js";

/** Return the tree, opened along `path` (headings from the code down, or none). It fills itself. */
export function contentsTree(path = []) {
  const box = el("div", { class: "contents" });
  fill(box, null, [], path);
  return box;
}

async function fill(box, id, above, path) {
  box.replaceChildren(loadingNotice());
  let level;
  try {
    level = await headingOf(id);
  } catch (problem) {
    box.replaceChildren(problemNotice(problem, () => fill(box, id, above, path)));
    return;
  }
  const open = path[above.length]?.heading_id;
  const headings = level.headings.map((heading) => branch(heading, above, heading.heading_id === open ? path : null));
  const articles = level.articles.map((article) => {
    const current = isOpen(article.article_id) ? "true" : null;
    const named = { ...article, title: within(article.title, above) };
    return el("li", { class: "leaf" }, articleLink(named, { "aria-current": current }));
  });
  const empty = headings.length + articles.length === 0;
  box.replaceChildren(empty ? el("p", { class: "notice" }, say("contents_empty")) : el("ul", {}, articles, headings));
  // Within its own box only: the panel stays where it is.
  const here = box.querySelector(":scope > ul > .leaf > [aria-current]");
  const frame = box.closest(".contents-frame");
  if (here && frame) {
    const hidden = here.getBoundingClientRect().bottom - frame.getBoundingClientRect().bottom;
    if (hidden > 0) frame.scrollTop += hidden + frame.clientHeight / 2;
  }
}

/** Return an article's citation without its code, which stands above it in the tree. */
function within(title, above) {
  const code = `, ${above[0]?.title}`;
  return title.endsWith(code) ? title.slice(0, -code.length) : title;
}

function branch(heading, above, path) {
  const place = [...above, heading];
  const below = el("div", { hidden: true });
  const toggle = el(
    "button",
    { type: "button", class: "branch", "aria-expanded": "false", lang: textLanguage() },
    el("span", { class: "branch-sign", "aria-hidden": "true" }),
    heading.title,
  );
  const open = (along) => {
    const opened = toggle.getAttribute("aria-expanded") !== "true";
    toggle.setAttribute("aria-expanded", String(opened));
    below.hidden = !opened;
    if (opened && !below.childElementCount) fill(below, heading.heading_id, place, along);
  };
  toggle.addEventListener("click", () => open([]));
  if (path) open(path);
  const label = say("filter_here", { title: heading.title });
  const filters = () => filterChange(place, place.length - 1);
  return el(
    "li",
    {},
    el(
      "div",
      { class: "branch-row" },
      toggle,
      el("span", { class: "count" }, say("contents_count", { count: heading.articles })),
      link(filters, { class: "filter-here", "aria-label": label, title: label }, lens()),
    ),
    below,
  );
}

function lens() {
  const drawn = { viewBox: "0 0 16 16", class: "lens", "aria-hidden": "true" };
  return svg("svg", drawn, svg("circle", { cx: 6.5, cy: 6.5, r: 4.5 }), svg("path", { d: "M10 10l4.5 4.5" }));
}
