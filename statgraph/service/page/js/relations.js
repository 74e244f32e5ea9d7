/** The relations of the graph: how an edge is drawn and what it is called. */

import { say } from "./words.js";

// A heading holds articles and headings by two relations; to a reader it is one.
const DRAWN = {
  contains_article: "contains",
  contains_heading: "contains",
  cites: "cites",
  refers_to: "refers_to",
  precedes: "precedes",
};
const WITH_ARROW = ["refers_to", "precedes"];

/** Return the class of an edge; a relation that the page does not know is drawn in a way of its own. */
export const relationClass = (relation) => `relation-${drawnAs(relation)}`;

/** Return what stands between the source and the target of an edge, when it is read out. */
export const relationWords = (relation) => say(`relation_${drawnAs(relation)}`);

/** Return the relations that a drawing tells apart, each once. */
export const relationsIn = (edges) => [...new Set(edges.map(({ relation }) => drawnAs(relation)))].sort();

export const hasArrow = (relation) => WITH_ARROW.includes(relation);

function drawnAs(relation) {
  return Object.hasOwn(DRAWN, relation) ? DRAWN[relation] : "other";
}
