/** A graph laid out by d3-force: nodes repel, edges pull. */

import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../vendor/d3.min.js";

const STEPS = 300;
const WIDEST = { x: 2, y: 1.6 }; // how much a small graph may be stretched to fill the frame

/** Return a point for each node within (width, height), `margin` away from its edges; the same graph, the same drawing.
 *
 * `edges` are pairs of node positions. Nodes start on a spiral in their order, so the first starts in the middle.
 */
export function layout(nodeCount, edges, { width, height, margin }) {
  const nodes = Array.from({ length: nodeCount }, () => ({}));
  const links = edges.map(([source, target]) => ({ source, target }));
  forceSimulation(nodes)
    .force("edges", forceLink(links).distance(60))
    .force("repulsion", forceManyBody().strength(-240))
    .force("x", forceX())
    .force("y", forceY())
    .stop()
    .tick(STEPS);
  const across = fitted(nodes.map(({ x }) => x), width, margin.x, WIDEST.x);
  const down = fitted(nodes.map(({ y }) => y), height, margin.y, WIDEST.y);
  return across.map((x, row) => ({ x, y: down[row] }));
}

/** Return the values moved and scaled into the middle of (0, size), `margin` away from both ends. */
function fitted(values, size, margin, widest) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const scale = Math.min((size - 2 * margin) / Math.max(high - low, 1), widest);
  return values.map((value) => size / 2 + (value - (low + high) / 2) * scale);
}
