// Looks at the page as it is now and lists what keeps people from using it.
() => {
  const found = [];
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest("[aria-hidden=true], [inert]");
  const describe = (element) => element.outerHTML.slice(0, 160).replace(/\s+/g, " ");
  const named = (element) => {
    const by = element.getAttribute("aria-labelledby");
    const label = element.labels?.[0]?.textContent;
    const images = [...element.querySelectorAll("img[alt], [aria-label]")].map((each) => each.getAttribute("alt") || each.getAttribute("aria-label")).join("");
    const text = element.matches("input, select, textarea") ? "" : [...element.childNodes].map((each) => each.ariaHidden === "true" ? "" : each.textContent).join("");
    return (element.getAttribute("aria-label") || (by && by.split(" ").map((id) => document.getElementById(id)?.textContent).join("")) || label || text || images || element.getAttribute("title") || "").trim();
  };

  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title.trim()) found.push("the page has no title");
  if ([...document.querySelectorAll("h1")].filter(shown).length !== 1) found.push("there must be one h1");
  if (!document.querySelector("main")) found.push("there is no main part");

  const controls = "a[href], button, input:not([type=hidden]), select, textarea, [role=button], [role=checkbox], [role=tab], [role=switch], [role=slider], [role=combobox]";
  for (const element of document.querySelectorAll(controls)) {
    if (!shown(element)) continue;
    if (!named(element)) found.push(`no name: ${describe(element)}`);
    const native = element.matches("a[href], button, input, select, textarea");
    if (!native && element.tabIndex < 0 && !element.querySelector("input, button")) found.push(`not reached by keyboard: ${describe(element)}`);
  }
  for (const image of document.querySelectorAll("img, svg[role=img], [role=img], canvas")) {
    const inner = image.tagName === "CANVAS" && image.closest("[role=img][aria-label]");
    if (shown(image) && !inner && !image.getAttribute("alt") && !image.getAttribute("aria-label")) found.push(`no alternative: ${describe(image)}`);
  }

  const parse = (text) => { const parts = text.match(/[\d.]+/g)?.map(Number) || [0, 0, 0, 0]; return parts.length > 3 ? parts : [...parts, 1]; };
  const over = (top, below) => [0, 1, 2].map((place) => top[place] * top[3] + below[place] * (1 - top[3])).concat(1);
  const ground = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), document.body.classList.contains("body--dark") ? [0, 0, 0, 1] : [255, 255, 255, 1]);
  };
  const light = (colour) => colour.slice(0, 3).map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    if (!words.currentNode.textContent.replace(/\u200b/g, "").trim() || !shown(element) || element.closest("script, style, :disabled, .disabled, option")) continue;
    const style = getComputedStyle(element), below = ground(element);
    const ink = parse(style.color);
    ink[3] *= Number(style.opacity);
    const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${describe(element)}`);
  }
  return [...new Set(found)];
}
