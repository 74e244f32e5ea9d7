/** The words that two texts do not share: the longest common subsequence of their words, spaces kept. */

const MOST_CELLS = 4_000_000; // of more, what lies between equal ends counts as changed

/** Return [old, new]: each a list of [words, changed], which joined are the text. */
export function changes(before, after) {
  const [old, now] = [before, after].map((text) => text.match(/\s+|[^\s]+/gu) ?? []);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = [old, now].map((words) => words.slice(start, words.length - end));
  const kept = common(...middle);
  return [old, now].map((words, side) => {
    const isChanged = (at) => at >= start && at < words.length - end && !kept[side].has(at - start);
    // A space between two changed words is one change with them.
    const isBetween = (at) => !words[at].trim() && isChanged(at - 1) && isChanged(at + 1);
    return joined(words.map((word, at) => [word, isChanged(at) || isBetween(at)]));
  });
}

/** Return the places in both lists of the words of a longest common subsequence. */
function common(old, now) {
  const places = [new Set(), new Set()];
  if (old.length * now.length > MOST_CELLS) return places;
  const width = now.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const at = row * width + column;
      const same = old[row] === now[column];
      longest[at] = same ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  for (let row = 0, column = 0; row < old.length && column < now.length; ) {
    if (old[row] === now[column]) {
      places[0].add(row);
      places[1].add(column);
      row += 1;
      column += 1;
    } else if (longest[(row + 1) * width + column] >= longest[row * width + column + 1]) row += 1;
    else column += 1;
  }
  return places;
}

function joined(parts) {
  const made = [];
  for (const [word, changed] of parts) {
    const last = made.at(-1);
    if (last && last[1] === changed) last[0] += word;
    else made.push([word, changed]);
  }
  return made;
}
