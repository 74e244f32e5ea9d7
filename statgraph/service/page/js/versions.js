/** The versions of an article, and two of them side by side with their changes marked. */

import { link } from "./address.js";
import { getJson } from "./api.js";
import { inForceWords } from "./as_of.js";
import { changes } from "./changes.js";
import { textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { say } from "./words.js";

/** Return the nodes of the list of an article's versions; each other one can be compared with it. */
export function versionList(article) {
  const stage = el("div", { class: "comparison", "aria-live": "polite" });
  const items = article.versions.map((version) => {
    const words = inForceWords(version);
    if (version.article_id === article.article_id) return el("li", {}, el("strong", {}, words));
    const button = el("button", { type: "button", class: "quiet", "aria-pressed": "false" }, say("compare"));
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "true";
      for (const other of stage.parentNode.querySelectorAll(".versions button")) {
        other.setAttribute("aria-pressed", String(other === button && !shown));
      }
      if (shown) stage.replaceChildren();
      else compare(stage, article, version.article_id);
    });
    return el("li", {}, link({ article: version.article_id }, {}, words), " ", button);
  });
  return [el("ul", { class: "versions" }, items), stage];
}

async function compare(stage, article, id, tries = 0) {
  stage.replaceChildren(loadingNotice());
  try {
    const other = await getJson(`api/articles/${encodeURIComponent(id)}`);
    const order = article.versions.map((version) => version.article_id);
    const pair = order.indexOf(id) < order.indexOf(article.article_id) ? [other, article] : [article, other];
    const texts = changes(pair[0].text, pair[1].text);
    const same = pair[0].text === pair[1].text;
    const columns = pair.map((version, side) => {
      const parts = texts[side].map(([words, changed]) => (changed ? el(side ? "ins" : "del", {}, words) : words));
      const title = el("h4", {}, inForceWords(version));
      return el("div", {}, title, el("div", { class: "law", lang: textLanguage() }, el("p", {}, parts)));
    });
    stage.replaceChildren(same ? el("p", { class: "notice" }, say("compare_same")) : "", ...columns);
  } catch (problem) {
    stage.replaceChildren(problemNotice(problem, (next) => compare(stage, article, id, next), tries));
  }
}
