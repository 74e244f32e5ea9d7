/** The table of contents as the service hands it out, one heading at a time; what was asked for once is kept. */

import { readAddress } from "./address.js";
import { getJson } from "./api.js";

const known = new Map();

/** Return {heading, ancestors, headings, articles} of a heading, or with null the codes; what counts is in force on the
 * day of the address. */
export function headingOf(id) {
  const path = onDay(id === null ? "api/headings" : `api/headings/${encodeURIComponent(id)}`);
  if (!known.has(path)) {
    const asked = getJson(path);
    known.set(path, asked);
    asked.catch(() => known.delete(path));
  }
  return known.get(path);
}

/** Return the path of a call whose answer counts the law of the address's day. */
export function onDay(path) {
  const { asOf } = readAddress();
  return asOf ? `${path}?as_of=${encodeURIComponent(asOf)}` : path;
}
