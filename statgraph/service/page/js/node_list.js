/** The nodes of a drawing as a list, for those who do not see it and those who would rather read. */

import { link } from "./address.js";
import { nodeChange, textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { relationWords } from "./relations.js";
import { say } from "./words.js";

const KINDS = ["heading", "article", "question"];

/** Return the list, closed at first. A node that is pointed at in it is shown in the drawing on `stage`. */
export function nodeList({ nodes, edges }, stage) {
  const byKind = KINDS.map((kind) => [kind, nodes.filter((node) => node.kind === kind && node.hops > 0)]);
  const edgeOf = nearerEdges(nodes, edges);
  const titles = new Map(nodes.map(({ id, title }) => [id, title]));
  const item = (node) => {
    const mark = () => stage.querySelector(`[data-node="${CSS.escape(node.id)}"]`);
    const show = (on) => () => mark()?.classList.toggle("pointed", on);
    const edge = edgeOf.get(node.id);
    const listens = { focus: show(true), blur: show(false), mouseenter: show(true), mouseleave: show(false) };
    return el(
      "li",
      {},
      link(nodeChange(node.kind, node.id, node.title), { lang: textLanguage(), ...listens }, node.title),
      edge ? [" ", el("span", { class: "node-edge" }, edgeWords(edge, node, titles))] : null,
    );
  };
  return el(
    "details",
    { class: "node-list" },
    el("summary", {}, say("graph_list", { count: nodes.length - 1 })),
    byKind
      .filter(([, found]) => found.length)
      .map(([kind, found]) => [el("h4", {}, say(`kinds_${kind}`)), el("ul", {}, found.map(item))])
      .flat(),
  );
}

/** Return for each node one edge to a node that is nearer to the article. */
function nearerEdges(nodes, edges) {
  const hops = new Map(nodes.map((node) => [node.id, node.hops]));
  const nearer = new Map();
  for (const edge of edges) {
    const farther = hops.get(edge.source) > hops.get(edge.target) ? edge.source : edge.target;
    if (hops.get(edge.source) !== hops.get(edge.target) && !nearer.has(farther)) nearer.set(farther, edge);
  }
  return nearer;
}

function edgeWords({ source, target, relation }, node, titles) {
  const words = relationWords(relation);
  return source === node.id ? `${words} ${titles.get(target)}` : `← ${titles.get(source)} ${words}`;
}
