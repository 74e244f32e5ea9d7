/** Why an article was found: what its own text gave, what the graph changed and from whom, which words match; of an
 * ensemble, what each signal and each place in the law added. */

import { link } from "./address.js";
import { nodeChange, textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { say, score, spokenLanguage } from "./words.js";

// The sources of contributions beside the signals, whose words the service has.
const FACTS = ["article", "all", "reader", "base"];
const LENT = ["section", "parent", "cited_by", "cites"];

let signals = {};

/** Take what each signal says of an article, by its name and the language, as the service gives them. */
export function setSignals(words) {
  signals = words;
}

/** Return the explanation of a hit as the service gives it, or one line where it gives none. */
export function explanationView(explanation) {
  if (!explanation) return el("p", { class: "notice" }, say("why_nothing"));
  const { own_text_score: own, without_graph_score: without, neighbours = [], terms = [] } = explanation;
  const contributions = (explanation.contributions ?? []).map((part) => ({ ...part, weight: part.amount }));
  const scores = [["why_score", score(explanation.score)]];
  // Equal to the last digit: there is no graph that could have changed it.
  if (typeof without === "number" && without !== explanation.score) {
    scores.push(["why_own_text", score(own)], ["why_graph", score(explanation.score - without, { signed: true })]);
  }
  return el(
    "div",
    { class: "explanation" },
    el("dl", {}, scores.map(([key, value]) => el("div", {}, el("dt", {}, say(key)), el("dd", {}, value)))),
    ...bars("why_contributions", contributions, contribution),
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

function contribution({ source, rank, article_id: id, title }) {
  if (!LENT.includes(source)) return el("span", { class: "phrase" }, placed("why_place", sourceName(source), rank));
  if (!id) return el("span", { class: "phrase" }, say(`why_${source}`));
  const lent = say(`why_${source}_of`, { title });
  return link({ article: id }, { class: "phrase" }, placed("why_lender_place", lent, rank));
}

function sourceName(source) {
  if (FACTS.includes(source)) return say(`why_${source}`);
  return signals[source]?.[spokenLanguage()] ?? signals[source]?.en ?? source;
}

const placed = (key, what, rank) => (typeof rank === "number" ? say(key, { what, rank }) : what);
