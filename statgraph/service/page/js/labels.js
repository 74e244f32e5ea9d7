/** Which labels of a drawing fit beside each other. */

const CHARACTER = 6.1;
const HEIGHT = 15;
const AWAY = 10;
const NODE = 6;

/** Return for each node where its label stands ("right", "left", "above", "below"), null where it would hide something.
 *
 * `points` are in pixels at the present zoom; the first nodes choose first, and the very first, the article that is
 * open, has its label whatever that hides. `pulls` says for each node on which side its edges leave it (below 0: to
 * the left): its label looks the other way. Labels keep within `width`.
 */
export function placeLabels(points, labels, pulls, width) {
  const taken = points.map(({ x, y }) => ({ left: x - NODE, right: x + NODE, top: y - NODE, bottom: y + NODE }));
  return points.map((point, row) => {
    const long = labels[row].length * CHARACTER;
    const sides = pulls[row] > 0 ? ["left", "right", "above", "below"] : ["right", "left", "above", "below"];
    const fits = (box) => box.left >= 0 && box.right <= width && !taken.some((other) => overlap(box, other));
    const side = sides.find((name) => fits(labelBox(point, name, long))) ?? (row === 0 ? sides[0] : null);
    if (side) taken.push(labelBox(point, side, long));
    return side;
  });
}

/** Return the attributes of a text that stands on a side of its node; `away` more for a larger node. */
export function labelPlace(side, away = 0) {
  const places = {
    right: { x: AWAY + away, y: 0, "text-anchor": "start" },
    left: { x: -AWAY - away, y: 0, "text-anchor": "end" },
    above: { x: 0, y: -HEIGHT - away, "text-anchor": "middle" },
    below: { x: 0, y: HEIGHT + away, "text-anchor": "middle" },
  };
  return places[side ?? "right"];
}

/** Return a title that is short enough for a label. */
export function shortened(title, most) {
  const points = Array.from(title);
  return points.length > most ? `${points.slice(0, most - 1).join("").trimEnd()}…` : title;
}

function labelBox({ x, y }, side, long) {
  const { x: dx, y: dy } = labelPlace(side);
  const left = { right: x + dx, left: x + dx - long, above: x - long / 2, below: x - long / 2 }[side];
  return { left, right: left + long, top: y + dy - HEIGHT / 2, bottom: y + dy + HEIGHT / 2 };
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
