/** The hits of a question: citation, place, passage, score, and what can be done with each. */

import { articleLink, breadcrumbs, fullTitle, isOpen, textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { explanationView } from "./explanation.js";
import { feedbackButtons } from "./feedback.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { snippet } from "./passage.js";
import { say, score, share } from "./words.js";

/** Return the list of an answer's hits. `explain` fetches an answer with explanations; null: there are none. */
export function hitList(answer, { explain, feedback }) {
  return el("ol", { class: "hits" }, answer.hits.map((hit) => hitView(hit, answer.question, explain, feedback)));
}

function hitView(hit, question, explain, feedback) {
  const open = isOpen(hit.article_id) ? "true" : null;
  const title = articleLink(hit, { class: "hit-link", "data-article": hit.article_id, "aria-current": open });
  title.replaceChildren(...fullTitle(hit, hit.words));
  const why = el("div", { class: "why", hidden: true });
  return el(
    "li",
    { class: "hit" },
    el("p", { class: "rank", "aria-hidden": "true" }, String(hit.rank)),
    el(
      "article",
      {},
      el("h2", {}, title),
      breadcrumbs(hit.headings, hit.words),
      el("p", { class: "snippet", lang: textLanguage() }, snippet(hit.text, hit.passage, hit.words)),
      el(
        "div",
        { class: "row" },
        worth(hit),
        explain ? whyButton(hit, why, explain) : null,
        feedback ? feedbackButtons(question, hit) : null,
      ),
      why,
    ),
  );
}

/** Return how likely a hit is to answer, as the command line shows it; its score where nobody knows. */
function worth({ probability, score: value }) {
  const scored = `${say("score")} ${score(value)}: ${say("score_note")}`;
  const known = typeof probability === "number";
  const title = known ? `${say("probability_note")}. ${scored}` : say("score_note");
  const [name, shown] = known ? ["probability", share(probability)] : ["score", score(value)];
  return el("span", { class: "score", title }, `${say(name)} `, el("b", {}, shown));
}

function whyButton(hit, why, explain) {
  const button = el("button", { type: "button", class: "quiet", "aria-expanded": "false", click: toggle }, say("why"));
  function toggle() {
    why.hidden = !why.hidden;
    button.setAttribute("aria-expanded", String(!why.hidden));
    if (!why.hidden && !why.querySelector(".explanation")) fill(0);
  }
  async function fill(tries) {
    why.replaceChildren(loadingNotice());
    try {
      const explained = await explain();
      const same = explained.hits.find(({ article_id: id }) => id === hit.article_id);
      why.replaceChildren(explanationView(hit.explanation ?? same?.explanation));
    } catch (problem) {
      why.replaceChildren(problemNotice(problem, fill, tries));
    }
  }
  return button;
}

/** Show which of the hits is the article that is open. */
export function markOpenHit(box) {
  for (const hit of box.querySelectorAll(".hit-link")) {
    if (isOpen(hit.dataset.article)) hit.setAttribute("aria-current", "true");
    else hit.removeAttribute("aria-current");
  }
}
