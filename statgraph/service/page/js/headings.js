/** The table of contents as the service hands it out, one heading at a time; what was asked for once is kept. */

import { getJson } from "./api.js";

const known = new Map();

/** Return {heading, ancestors, headings, articles} of a heading, or with null the codes. */
export function headingOf(id) {
  const key = id ?? "";
  if (!known.has(key)) {
    const path = id === null ? "api/headings" : `api/headings/${encodeURIComponent(id)}`;
    const asked = getJson(path);
    known.set(key, asked);
    asked.catch(() => known.delete(key));
  }
  return known.get(key);
}
