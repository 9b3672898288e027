// The emulator makes style sheets and style attributes out of text, which the policy of the page refuses, as it should. It is given a
// document that makes the same of it by ways that are allowed: sheets that are constructed, and properties that are set.

export function styledDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      if (name === "createElement") return (kind: string) => (kind === "style" ? sheetElement() : styled(document.createElement(kind)));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Stands in for a style element: its text is a sheet for as long as it is there. */
function sheetElement(): HTMLElement {
  const element = document.createElement("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text), get: () => "" });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

function styled<E extends HTMLElement>(element: E): E {
  element.setAttribute = (name: string, value: string) => {
    if (name === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}
