/** A neighbourhood as SVG: edges, nodes that are links, and the labels that fit. */

import { leadsTo } from "./address.js";
import { nodeChange, textLanguage } from "./citation.js";
import { svg } from "./elements.js";
import { layout } from "./force.js";
import { labelPlace, placeLabels, shortened } from "./labels.js";
import { hasArrow, relationClass } from "./relations.js";

const MARGIN = { wide: 90, narrow: 56, y: 28 };
const NARROW_BELOW = 480;
const LONGEST_LABEL = 30;
const CENTRE_LARGER_BY = 4;

/** Return {picture, layer, zoomed}: the SVG, the group in it that moves, and what to call with each zoom.
 *
 * `tell` is called with the node that is pointed at, and with null when none is. For screen readers and the tab key the
 * list of nodes stands in, so the picture is hidden from both.
 */
export function drawing({ nodes, edges }, centre, size, tell) {
  const rows = new Map(nodes.map(({ id }, row) => [id, row]));
  const drawn = edges.filter(({ source, target }) => rows.has(source) && rows.has(target));
  const pairs = drawn.map(({ source, target }) => [rows.get(source), rows.get(target)]);
  const margin = { x: size.width < NARROW_BELOW ? MARGIN.narrow : MARGIN.wide, y: MARGIN.y };
  const points = layout(nodes.length, pairs, { ...size, margin });
  const lines = drawn.map((edge, place) => line(edge, ...pairs[place].map((row) => points[row])));
  const marks = nodes.map((node, row) => mark(node, points[row], node.id === centre));
  // The nearest are drawn last: over the others.
  const layer = svg("g", {}, lines, marks.toReversed());
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${size.width} ${size.height}`, width: size.width, height: size.height, "aria-hidden": "true" },
    svg("defs", {}, arrow()),
    layer,
  );
  marks.forEach((element, row) => {
    const point = (on) => () => {
      element.classList.toggle("pointed", on);
      drawn.forEach((_, place) => lines[place].classList.toggle("pointed", on && pairs[place].includes(row)));
      tell(on ? nodes[row] : null);
    };
    element.addEventListener("mouseenter", point(true));
    element.addEventListener("mouseleave", point(false));
  });
  const labels = nodes.map(label);
  const pulls = nodes.map(() => 0);
  for (const [one, other] of pairs) {
    pulls[one] += points[other].x - points[one].x;
    pulls[other] += points[one].x - points[other].x;
  }
  const zoomed = (zoom) => {
    picture.style.setProperty("--zoom", String(zoom));
    const shown = points.map(({ x, y }) => ({ x: x * zoom, y: y * zoom }));
    placeLabels(shown, labels, pulls, size.width * Math.max(zoom, 1)).forEach((side, row) => {
      const text = marks[row].querySelector("text");
      marks[row].classList.toggle("labelled", side !== null);
      const place = labelPlace(side, nodes[row].id === centre ? CENTRE_LARGER_BY : 0);
      for (const [name, value] of Object.entries(place)) text.setAttribute(name, String(value));
    });
  };
  return { picture, layer, zoomed };
}

function line({ relation }, from, to) {
  const end = hasArrow(relation) ? "url(#arrow)" : null;
  const place = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
  return svg("line", { ...place, class: `edge ${relationClass(relation)}`, "marker-end": end });
}

function arrow() {
  const box = { id: "arrow", viewBox: "0 0 8 8", refX: 15, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  return svg("marker", { ...box, markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 1 7 4 0 7Z", class: "arrow" }));
}

function mark(node, { x, y }, isCentre) {
  const { kind, id, title } = node;
  return svg(
    "g",
    { transform: `translate(${x} ${y})`, class: `node of-kind-${kind}${isCentre ? " centre" : ""}`, "data-node": id },
    svg(
      "a",
      { ...leadsTo(nodeChange(kind, id, title)), tabindex: "-1" },
      svg("circle", { class: "reach-of-finger", r: 12 }),
      shape(kind, isCentre ? 8 : 5),
      svg("text", { dy: "0.33em", lang: textLanguage() }, label(node)),
    ),
  );
}

// Kinds differ by shape too: colour alone would not tell everyone.
function shape(kind, r) {
  if (kind === "heading") return svg("rect", { class: "shape", x: -r, y: -r, width: 2 * r, height: 2 * r, rx: 1 });
  const tip = r + 1.5;
  if (kind === "question") return svg("path", { class: "shape", d: `M0 ${-tip}L${tip} 0 0 ${tip} ${-tip} 0Z` });
  return svg("circle", { class: "shape", r });
}

/** Return the short name of a node; that of an article's code stands beside every one of them, and is left out. */
function label({ kind, title }) {
  return shortened(kind === "article" ? title.replace(/, [^,]*$/, "") : title, LONGEST_LABEL);
}
