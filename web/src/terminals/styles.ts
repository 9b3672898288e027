// The emulator makes style sheets and style attributes out of text, which the policy of the page refuses, as it should. Here both are
// made to come about by ways that are allowed and mean the same: sheets that are constructed, and properties that are set. Loaded with
// the emulator and for nothing else.

const create = document.createElement.bind(document);

/** Stands in for a style element: its text is a sheet for as long as it is there. */
function sheetElement(): HTMLElement {
  const element = create("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const text = { set: (words: string) => sheet.replaceSync(words), get: () => "" };
  Object.defineProperties(element, { textContent: text, innerText: text });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

document.createElement = ((kind: string, options?: ElementCreationOptions) => (kind === "style" ? sheetElement() : create(kind, options))) as typeof document.createElement;

const { setAttribute } = Element.prototype;
HTMLElement.prototype.setAttribute = function (name: string, value: string) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};
