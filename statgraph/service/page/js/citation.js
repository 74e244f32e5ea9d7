/** What an article is called, and where it stands. */

import { link, readAddress } from "./address.js";
import { el } from "./elements.js";
import { markWords } from "./passage.js";
import { say } from "./words.js";

const SHOWN_CRUMBS = 4;
const NARROW = "(max-width: 59.99rem)";

/** Return whether an article stands in the place of the hits, not beside them. */
export const isNarrow = () => matchMedia(NARROW).matches;

/** Return what to change to search under one heading only; on a narrow screen the article makes room for the hits. */
export function filterChange(headings, level) {
  const { heading_id: id, title } = headings[level];
  const place = level === 0 ? { codes: [title], heading: null } : { codes: [], heading: id };
  return isNarrow() ? { ...place, article: null } : place;
}

/** Return the path from the code down as a list of links, each of which filters by its heading; `words` are marked. */
export function breadcrumbs(headings, words = []) {
  const crumbs = headings.map((heading, level) =>
    el(
      "li",
      {},
      link(
        () => filterChange(headings, level),
        { class: "crumb", title: say("filter_here", { title: heading.title }), lang: textLanguage() },
        markWords(heading.title, words),
      ),
    ),
  );
  const list = el("ol", { class: "crumbs", "aria-label": say("path") }, crumbs);
  if (crumbs.length > SHOWN_CRUMBS) {
    const hidden = crumbs.slice(1, crumbs.length - SHOWN_CRUMBS + 2);
    for (const crumb of hidden) crumb.hidden = true;
    const more = el("button", { type: "button", class: "crumb more", "aria-label": say("path_whole") }, "…");
    const place = el("li", {}, more);
    more.addEventListener("click", () => {
      for (const crumb of hidden) crumb.hidden = false;
      hidden[0].querySelector("a").focus();
      list.classList.add("whole");
      place.remove();
    });
    crumbs[0].after(place);
  }
  return list;
}

/** Return a link that opens an article. */
export function articleLink(article, properties = {}) {
  return link({ article: article.article_id }, { lang: textLanguage(), ...properties }, fullTitle(article));
}

/** Return the nodes of an article's citation with its rubric behind it, unless the citation holds that; `words` are
 * marked. */
export function fullTitle({ title, rubric }, words = []) {
  const said = !rubric || title.toLowerCase().includes(rubric.toLowerCase());
  const named = markWords(title, words);
  return said ? named : [...named, " – ", el("span", { class: "rubric" }, markWords(rubric, words))];
}

/** Return what a node of the graph leads to: an article opens, a heading filters, a question is asked. */
export function nodeChange(kind, id, title) {
  // The graph's own ids say the kind, an explanation's need not.
  const bare = id.startsWith(`${kind}:`) ? id.slice(kind.length + 1) : id;
  if (kind === "article") return { article: bare };
  return kind === "heading" ? { heading: bare, codes: [] } : { q: title, article: null };
}

/** Return whether a link to this article would lead to the one that is open. */
export const isOpen = (id) => readAddress().article === id;

let corpusLanguage = null;

/** Return the language of the corpus, which its texts are read out in. */
export const textLanguage = () => corpusLanguage;

export function setTextLanguage(language) {
  corpusLanguage = language;
}
