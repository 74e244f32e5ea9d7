/** The neighbourhood of an article: a drawing to move about in, its legend, and the same nodes as a list. */

import { getJson } from "./api.js";
import { textLanguage } from "./citation.js";
import { drawing } from "./drawing.js";
import { el } from "./elements.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { nodeList } from "./node_list.js";
import { relationsIn } from "./relations.js";
import { startViewport } from "./viewport.js";
import { say } from "./words.js";

const REACHES = [1, 2, 3];
const FIRST_REACH = 2;
const HEIGHT = { wide: 420, narrow: 320 };
const NARROW_BELOW = 480;
const TOUCH = "(pointer: coarse)";

/** Return the view of an article's neighbourhood; it fills itself. */
export function graphView(articleId) {
  const box = el("div", { class: "graph" });
  fill(box, articleId, FIRST_REACH);
  return box;
}

async function fill(box, articleId, reach, tries = 0) {
  if (!box.childElementCount) box.replaceChildren(loadingNotice());
  try {
    const graph = await getJson(`api/graph/${encodeURIComponent(articleId)}?hops=${reach}`);
    show(box, graph, articleId, reach);
  } catch (problem) {
    box.replaceChildren(problemNotice(problem, (next) => fill(box, articleId, reach, next), tries));
  }
}

function show(box, graph, articleId, reach) {
  const hadFocus = box.contains(document.activeElement);
  const caption = el("p", { class: "graph-caption", lang: textLanguage() });
  const stage = el("div", { class: "graph-stage" });
  const buttons = el("span", { class: "graph-buttons" });
  const alone = graph.nodes.length < 2;
  const tell = (node) => {
    caption.textContent = node ? `${say(`kind_${node.kind}`)}: ${node.title}` : "";
  };
  box.replaceChildren(
    el("div", { class: "graph-tools" }, reachChoice(reach, (chosen) => fill(box, articleId, chosen)), buttons),
    alone ? el("p", { class: "notice" }, say("graph_alone")) : stage,
    ...(alone ? [] : [caption, legend(graph), hint(graph), nodeList(graph, stage)]),
  );
  if (!alone) drawAtWidth(stage, buttons, graph, `article:${articleId}`, tell);
  if (hadFocus) box.querySelector("[aria-pressed=true]").focus();
}

function hint({ cut, nodes }) {
  const how = say(matchMedia(TOUCH).matches ? "graph_hint_touch" : "graph_hint");
  return el("p", { class: "hint" }, cut ? `${say("graph_cut", { count: nodes.length })} ` : null, how);
}

/** Draw when the stage has a width, and anew when it gets another: the drawing's unit is a pixel. */
function drawAtWidth(stage, buttons, graph, centre, tell) {
  let drawnWidth = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.round(stage.clientWidth);
    if (!width || width === drawnWidth) return;
    drawnWidth = width;
    const height = width < NARROW_BELOW ? HEIGHT.narrow : HEIGHT.wide;
    const { picture, layer, zoomed } = drawing(graph, centre, { width, height }, tell);
    const label = say("graph_label");
    const frame = el("div", { class: "graph-frame", tabindex: "0", role: "group", "aria-label": label }, picture);
    const { zoomIn, zoomOut, showAll } = startViewport(frame, layer, zoomed);
    stage.replaceChildren(frame);
    buttons.replaceChildren(
      toolButton(say("zoom_in"), "+", zoomIn),
      toolButton(say("zoom_out"), "−", zoomOut),
      toolButton(say("zoom_all"), "⤢", showAll),
    );
    showAll();
  });
  observer.observe(stage);
}

function toolButton(label, sign, click) {
  return el("button", { type: "button", class: "tool", "aria-label": label, title: label, click }, sign);
}

function reachChoice(reach, choose) {
  const buttons = REACHES.map((steps) => {
    const label = say("graph_reach_label", { count: steps });
    const button = toolButton(label, String(steps), () => choose(steps));
    button.setAttribute("aria-pressed", String(steps === reach));
    return button;
  });
  const name = say("graph_reach");
  return el("span", { class: "reach", role: "group", "aria-label": name }, `${name} `, buttons);
}

function legend({ nodes, edges }) {
  const kinds = ["article", "heading", "question"].filter((kind) => nodes.some((node) => node.kind === kind));
  return el(
    "ul",
    { class: "legend", "aria-label": say("legend") },
    kinds.map((kind) => el("li", { class: `legend-node of-kind-${kind}` }, say(`kind_${kind}`))),
    relationsIn(edges).map((name) => el("li", { class: `legend-edge relation-${name}` }, say(`relation_${name}`))),
  );
}
