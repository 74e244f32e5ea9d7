/** Moving about in a drawing with d3-zoom: drag, wheel, two fingers; and by keys. Its unit is a pixel at zoom 1. */

import { select, zoom, zoomIdentity, zoomTransform } from "../vendor/d3.min.js";

const ZOOMS = [0.6, 10];
const ZOOM_STEP = 1.4;
const PAN_STEP = 48;
const DRAG_STARTS_AT = 4;

/** Let `frame` move its `layer`; `changed` is told the zoom. Return {zoomIn, zoomOut, showAll} for buttons. */
export function startViewport(frame, layer, changed) {
  const surface = select(frame);
  const behaviour = zoom()
    .scaleExtent(ZOOMS)
    .clickDistance(DRAG_STARTS_AT)
    .filter((event) => isMeant(event, frame))
    .on("zoom", ({ transform }) => {
      layer.setAttribute("transform", String(transform));
      changed(transform.k);
    });
  surface.call(behaviour).on("dblclick.zoom", null);

  const zoomBy = (factor) => behaviour.scaleBy(surface, factor);
  const showAll = () => behaviour.transform(surface, zoomIdentity);
  const pan = (dx, dy) => {
    const { k } = zoomTransform(frame);
    behaviour.translateBy(surface, dx / k, dy / k);
  };
  const keys = {
    ArrowLeft: () => pan(PAN_STEP, 0),
    ArrowRight: () => pan(-PAN_STEP, 0),
    ArrowUp: () => pan(0, PAN_STEP),
    ArrowDown: () => pan(0, -PAN_STEP),
    "+": () => zoomBy(ZOOM_STEP),
    "=": () => zoomBy(ZOOM_STEP),
    "-": () => zoomBy(1 / ZOOM_STEP),
    0: showAll,
  };
  frame.addEventListener("keydown", (event) => {
    if (event.target !== frame || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  return { zoomIn: () => zoomBy(ZOOM_STEP), zoomOut: () => zoomBy(1 / ZOOM_STEP), showAll };
}

/** Return whether a gesture is for the drawing: a wheel or one finger that only passes by scrolls the panel. */
function isMeant(event, frame) {
  const focused = frame.contains(document.activeElement);
  if (event.type === "wheel") return event.ctrlKey || event.metaKey || focused;
  if (event.type.startsWith("touch")) return event.touches.length > 1 || focused;
  return !event.button && !event.ctrlKey;
}
