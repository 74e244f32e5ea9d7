/** Why an article was found: what its own text gave, what the graph changed and from whom, which words match. */

import { link } from "./address.js";
import { nodeChange, textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { say, score } from "./words.js";

/** Return the explanation of a hit as the service gives it, or one line where it gives none. */
export function explanationView(explanation) {
  if (!explanation) return el("p", { class: "notice" }, say("why_nothing"));
  const { own_text_score: own, without_graph_score: without, neighbours = [], terms = [] } = explanation;
  const scores = [
    ["why_score", score(explanation.score)],
    typeof own === "number" ? ["why_own_text", score(own)] : null,
    typeof without === "number" ? ["why_graph", score(explanation.score - without, { signed: true })] : null,
  ].filter(Boolean);
  return el(
    "div",
    { class: "explanation" },
    el("dl", {}, scores.map(([key, value]) => el("div", {}, el("dt", {}, say(key)), el("dd", {}, value)))),
    ...bars("why_neighbours", neighbours, neighbour),
    ...bars("why_terms", terms, ({ term }) => el("span", { lang: textLanguage() }, term)),
  );
}

function bars(key, rows, name) {
  if (!rows.length) return [];
  const most = Math.max(...rows.map(({ weight }) => Math.abs(weight)), Number.EPSILON);
  const lines = rows.map((row) => {
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(Math.abs(row.weight) / most));
    const weight = el("span", { class: "number" }, score(row.weight));
    return el("li", {}, el("span", { class: "bar-name" }, name(row)), bar, weight);
  });
  return [el("h4", {}, say(key)), el("ul", { class: "bars" }, lines)];
}

function neighbour({ kind, id, title }) {
  return link(nodeChange(kind, id, title), { lang: textLanguage(), class: `of-kind-${kind}` }, title);
}
