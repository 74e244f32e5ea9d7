/** Moving about in a drawing: drag, wheel, two fingers, keys. The drawing's unit is a pixel at zoom 1. */

const CLOSEST = 10;
const FARTHEST = 0.6;
const ZOOM_STEP = 1.4;
const PAN_STEP = 48;
const DRAG_STARTS_AT = 4;

/** Let `frame` move its `layer`; `changed` is told the zoom. Return {zoom(factor), showAll()} for buttons. */
export function startViewport(frame, layer, changed) {
  let view = { x: 0, y: 0, zoom: 1 };

  function show(next) {
    view = next;
    layer.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
    changed(view.zoom);
  }

  function zoomAt(x, y, factor) {
    const zoom = Math.min(Math.max(view.zoom * factor, FARTHEST), CLOSEST);
    const grown = zoom / view.zoom;
    show({ x: x - (x - view.x) * grown, y: y - (y - view.y) * grown, zoom });
  }

  const pan = (dx, dy) => show({ ...view, x: view.x + dx, y: view.y + dy });
  const zoom = (factor) => zoomAt(frame.clientWidth / 2, frame.clientHeight / 2, factor);
  const showAll = () => show({ x: 0, y: 0, zoom: 1 });

  startWheel(frame, zoomAt);
  startPointers(frame, pan, zoomAt);
  startKeys(frame, pan, zoom, showAll);
  return { zoomIn: () => zoom(ZOOM_STEP), zoomOut: () => zoom(1 / ZOOM_STEP), showAll };
}

function startWheel(frame, zoomAt) {
  const wheel = (event) => {
    // A wheel that only passes by scrolls the panel.
    if (!event.ctrlKey && !event.metaKey && !frame.contains(document.activeElement)) return;
    event.preventDefault();
    const { left, top } = frame.getBoundingClientRect();
    zoomAt(event.clientX - left, event.clientY - top, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)));
  };
  frame.addEventListener("wheel", wheel, { passive: false });
}

function startPointers(frame, pan, zoomAt) {
  const pointers = new Map();
  let dragged = 0;
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (!pointers.size) dragged = 0;
    pointers.set(event.pointerId, event);
    frame.focus({ preventScroll: true });
  });
  frame.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, other]) => other);
    dragged += Math.abs(dx) + Math.abs(dy);
    if (dragged < DRAG_STARTS_AT) return;
    frame.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    if (others.length) pinch(frame, before, event, others[0], zoomAt);
    else pan(dx, dy);
  });
  const lift = (event) => pointers.delete(event.pointerId);
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) frame.addEventListener(name, lift);
  frame.addEventListener(
    "click",
    (event) => {
      if (dragged < DRAG_STARTS_AT) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  // A link that is dragged would be carried off as text.
  frame.addEventListener("dragstart", (event) => event.preventDefault());
}

function pinch(frame, before, now, other, zoomAt) {
  const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
  const { left, top } = frame.getBoundingClientRect();
  zoomAt((now.clientX + other.clientX) / 2 - left, (now.clientY + other.clientY) / 2 - top, apart(now) / apart(before));
}

function startKeys(frame, pan, zoom, showAll) {
  const keys = {
    ArrowLeft: () => pan(PAN_STEP, 0),
    ArrowRight: () => pan(-PAN_STEP, 0),
    ArrowUp: () => pan(0, PAN_STEP),
    ArrowDown: () => pan(0, -PAN_STEP),
    "+": () => zoom(ZOOM_STEP),
    "=": () => zoom(ZOOM_STEP),
    "-": () => zoom(1 / ZOOM_STEP),
    0: showAll,
  };
  frame.addEventListener("keydown", (event) => {
    if (event.target !== frame || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
