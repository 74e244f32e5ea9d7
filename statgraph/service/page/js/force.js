/** A graph laid out by forces, after Fruchterman and Reingold (1991): nodes repel, edges pull, and the whole cools. */

const STEPS = 240;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const GRAVITY = 0.06;
const CLOSEST = 0.01;
const WIDEST = { x: 150, y: 100 }; // pixels for an edge at rest, however few the nodes are

/** Return a point for each node within (width, height), `margin` away from its edges; the same graph, the same drawing.
 *
 * `edges` are pairs of node positions. Nodes start on a spiral in their order, so the first stands in the middle.
 */
export function layout(nodeCount, edges, { width, height, margin }) {
  const points = Array.from({ length: nodeCount }, (_, place) => ({
    x: Math.sqrt(place) * Math.cos(place * GOLDEN_ANGLE),
    y: Math.sqrt(place) * Math.sin(place * GOLDEN_ANGLE),
  }));
  let heat = Math.sqrt(nodeCount) / 4;
  for (let step = 0; step < STEPS; step += 1) {
    move(points, edges, heat);
    heat *= 1 - 3 / STEPS;
  }
  return fitted(points, width, height, margin);
}

function move(points, edges, heat) {
  const pushes = points.map(({ x, y }) => ({ x: -x * GRAVITY, y: -y * GRAVITY }));
  for (let one = 0; one < points.length; one += 1) {
    for (let other = one + 1; other < points.length; other += 1) {
      const { dx, dy, distance } = between(points[one], points[other]);
      push(pushes[one], pushes[other], dx, dy, 1 / distance ** 2);
    }
  }
  for (const [one, other] of edges) {
    const { dx, dy, distance } = between(points[one], points[other]);
    push(pushes[one], pushes[other], dx, dy, -distance);
  }
  points.forEach((point, place) => {
    const { x, y } = pushes[place];
    const length = Math.hypot(x, y) || 1;
    point.x += (x / length) * Math.min(length, heat);
    point.y += (y / length) * Math.min(length, heat);
  });
}

function between(one, other) {
  const [dx, dy] = [one.x - other.x, one.y - other.y];
  return { dx, dy, distance: Math.max(Math.hypot(dx, dy), CLOSEST) };
}

function push(one, other, dx, dy, strength) {
  one.x += dx * strength;
  one.y += dy * strength;
  other.x -= dx * strength;
  other.y -= dy * strength;
}

function fitted(points, width, height, margin) {
  const span = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = span(points.map(({ x }) => x));
  const [top, bottom] = span(points.map(({ y }) => y));
  const scale = (low, high, size, widest) => Math.min(size / Math.max(high - low, CLOSEST), widest);
  const [across, down] = [
    scale(left, right, width - 2 * margin.x, WIDEST.x),
    scale(top, bottom, height - 2 * margin.y, WIDEST.y),
  ];
  return points.map(({ x, y }) => ({
    x: width / 2 + (x - (left + right) / 2) * across,
    y: height / 2 + (y - (top + bottom) / 2) * down,
  }));
}
