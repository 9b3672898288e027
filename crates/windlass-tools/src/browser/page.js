// What is asked of a page, run in a world of its own, where the page's scripts cannot change what names mean. Takes
// {what, selector, text} and returns plain data; `problem` says why not, in words for a model. Selectors are CSS, with ` >>> `
// between a component and what is inside of it.
(({ what, selector, text }) => {
    const MOST_TEXT = 400000, MOST_ITEMS = 300, MOST_LABEL = 120, MOST_FRAMES = 20, MOST_ELEMENTS = 50000;
    // What is inside of a form or a document may be called like a property of it, and then is found in its place: not so by way of
    // the prototype.
    const get = (thing, name) => Reflect.get(Object.getPrototypeOf(thing), name, thing);
    const call = (thing, name, ...given) => get(thing, name).apply(thing, given);
    const oneLine = (words, most = MOST_LABEL) => {
        const line = String(words ?? '').replace(/\s+/g, ' ').trim();
        return line.length > most ? line.slice(0, most) + '…' : line;
    };
    const isVisible = (element) => {
        const box = call(element, 'getBoundingClientRect');
        return box.width > 0 && box.height > 0 && call(element, 'checkVisibility', { visibilityProperty: true });
    };

    const findAll = (selector) => {
        let roots = [document];
        const parts = selector.split(' >>> ');
        for (const [index, part] of parts.entries()) {
            const found = roots.flatMap((root) => [...call(root, 'querySelectorAll', part)]);
            if (index === parts.length - 1) return found;
            roots = found.map((host) => get(host, 'shadowRoot')).filter((root) => root);
        }
        return [];
    };
    // The first that can be seen, or the first.
    const find = (selector) => {
        let found;
        try { found = findAll(selector); } catch { return { problem: 'this is not a CSS selector' }; }
        const element = found.find(isVisible) ?? found[0];
        return element ? { element } : { problem: 'nothing on the page matches it; read the page for selectors that do' };
    };

    const quote = (value) => '"' + value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ') + '"';
    const isOnly = (root, selector, element) => {
        const found = call(root, 'querySelectorAll', selector);
        return found.length === 1 && found[0] === element;
    };
    const selectorOf = (element) => {
        const root = call(element, 'getRootNode');
        const before = root instanceof ShadowRoot ? selectorOf(root.host) + ' >>> ' : '';
        const tag = (element) => get(element, 'localName');
        const attribute = (element, name) => call(element, 'getAttribute', name);
        const byId = (element) => attribute(element, 'id') && '#' + CSS.escape(attribute(element, 'id'));
        const name = attribute(element, 'name');
        const ownName = [byId(element), name && `${CSS.escape(tag(element))}[name=${quote(name)}]`];
        for (const name of ownName) if (name && name.length < 80 && isOnly(root, name, element)) return before + name;
        const path = [];
        for (let at = element; at; at = get(at, 'parentElement')) {
            const id = byId(at);
            if (id && id.length < 80 && isOnly(root, id, at)) { path.unshift(id); break; }
            const parent = get(at, 'parentNode');
            const alike = parent ? [...get(parent, 'children')].filter((other) => tag(other) === tag(at)) : [at];
            const nth = alike.length > 1 ? `:nth-of-type(${alike.indexOf(at) + 1})` : '';
            path.unshift(CSS.escape(tag(at)) + nth);
        }
        // Below something with a name of its own it is good; otherwise as short as it may be.
        for (let length = 1; !path[0].startsWith('#') && length < path.length; length++) {
            const end = path.slice(-length).join(' > ');
            if (isOnly(root, end, element)) return before + end;
        }
        return before + path.join(' > ');
    };

    const SUBMITS = 'button, input[type=submit], input[type=image]';
    // The button that would submit a form if this were clicked.
    const submitter = (element) => {
        const label = call(element, 'closest', 'label');
        const near = call(element, 'closest', SUBMITS) ?? label?.control?.closest(SUBMITS);
        return near && near.form && near.type !== 'button' && near.type !== 'reset' ? near : null;
    };
    // The words of a label without those of the field in it.
    const words = (label) => [...label.childNodes]
        .map((node) => node instanceof Text ? node.data : !(node instanceof Element) || call(node, 'matches', 'input, select, textarea, button') ? '' : get(node, 'innerText') ?? '').join(' ');
    const labelOf = (element) => oneLine(
        (get(element, 'labels')?.[0] && words(get(element, 'labels')[0])) || call(element, 'getAttribute', 'aria-label')
        || get(element, 'placeholder') || get(element, 'title') || '');

    // Everything that has to do with reading, light and shadow alike.
    const gather = () => {
        const found = { links: [], fields: [], frames: [], texts: [] };
        let seen = 0;
        const walk = (root) => {
            for (const element of call(root, 'querySelectorAll', '*')) {
                if (++seen > MOST_ELEMENTS) return;
                if (call(element, 'matches', 'a[href], area[href]')) found.links.push(element);
                else if (call(element, 'matches', 'input:not([type=hidden]), textarea, select, button, [contenteditable=""], [contenteditable=true], [role=button], [onclick]')) found.fields.push(element);
                else if (call(element, 'matches', 'iframe, frame')) found.frames.push(element);
                const inside = get(element, 'shadowRoot');
                if (inside) {
                    found.texts.push(inside);
                    walk(inside);
                }
            }
        };
        walk(document);
        return found;
    };
    const field = (element) => {
        // A form can be one too, where it is clicked on.
        const tag = get(element, 'localName'), form = get(element, 'form'), isEditable = get(element, 'isContentEditable');
        const kind = tag === 'input' || tag === 'button' ? element.type
            : tag === 'select' ? 'list' : tag === 'textarea' ? 'text area' : 'button';
        const isButton = ['button', 'submit', 'reset', 'image'].includes(kind);
        const shown = {
            kind: isEditable ? 'text area' : kind === 'submit' && !submitter(element) ? 'button' : kind,
            label: isButton ? oneLine(get(element, 'innerText') || get(element, 'value') || labelOf(element)) : labelOf(element),
            selector: selectorOf(element),
            form: form ? selectorOf(form) : null,
            disabled: get(element, 'disabled') === true,
            required: get(element, 'required') === true,
            submits: submitter(element) !== null,
        };
        if (tag === 'select') {
            shown.value = [...element.selectedOptions].map((option) => oneLine(option.label)).join(', ');
            shown.options = [...element.options].slice(0, 50).map((option) => oneLine(option.label));
        } else if (kind === 'checkbox' || kind === 'radio') {
            shown.value = element.checked ? 'on' : 'off';
        } else if (!isButton && kind !== 'password') {
            shown.value = oneLine(isEditable ? get(element, 'innerText') : element.value);
        }
        return shown;
    };
    const forms = (fields) => {
        const known = new Map();
        for (const { form } of fields) {
            if (form && !known.has(form)) {
                const element = find(form).element;
                const method = (call(element, 'getAttribute', 'method') || 'get').toLowerCase();
                known.set(form, { selector: form, method, action: oneLine(get(element, 'action'), 200) });
            }
        }
        return [...known.values()];
    };
    const textOf = (root) => root instanceof ShadowRoot
        ? [...root.children].filter((child) => !['STYLE', 'SCRIPT'].includes(get(child, 'tagName'))).map((child) => get(child, 'innerText') ?? '').join('\n')
        : (get(document, 'body')?.innerText ?? get(document, 'documentElement')?.textContent ?? '');
    const read = () => {
        const { links, fields, frames, texts } = gather();
        const whole = [document, ...texts].map(textOf).join('\n').replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n').trim();
        const seenLinks = links.filter(isVisible), seenFields = fields.filter(isVisible);
        const shownFields = seenFields.slice(0, MOST_ITEMS).map(field);
        return {
            text: whole.slice(0, MOST_TEXT),
            is_cut: whole.length > MOST_TEXT,
            links: seenLinks.slice(0, MOST_ITEMS).map((link) => ({
                label: oneLine(link.innerText || link.getAttribute('aria-label') || link.querySelector('img')?.alt),
                url: oneLine(link.href?.baseVal ?? link.href, 300),
                selector: selectorOf(link),
            })),
            more_links: Math.max(0, seenLinks.length - MOST_ITEMS),
            fields: shownFields,
            more_fields: Math.max(0, seenFields.length - MOST_ITEMS),
            forms: forms(shownFields),
            frames: frames.slice(0, MOST_FRAMES).map((frame) => oneLine(frame.src || 'about:blank', 300)),
        };
    };

    // Where to press so that this element, and nothing in front of it, is hit.
    const spot = (element) => {
        if (get(element, 'disabled')) return { problem: 'it is disabled' };
        call(element, 'scrollIntoView', { block: 'center', inline: 'center', behavior: 'instant' });
        if (!isVisible(element)) return { problem: 'it cannot be seen, so that it cannot be clicked' };
        const box = [...call(element, 'getClientRects')].find((box) => box.width > 0 && box.height > 0);
        const x = box.left + box.width / 2, y = box.top + box.height / 2;
        let hit = call(document, 'elementFromPoint', x, y);
        const inside = () => hit && get(hit, 'shadowRoot')?.elementFromPoint(x, y);
        while (inside() && inside() !== hit) hit = inside();
        if (!hit) return { problem: 'it is outside of what can be seen' };
        const isHit = hit === element || call(element, 'contains', hit) || call(hit, 'contains', element) || call(hit, 'closest', 'label')?.control === element;
        if (!isHit) return { problem: `something is in front of it: ${selectorOf(hit)}` };
        return { x, y, hit };
    };
    const click = (element) => {
        if (get(element, 'localName') === 'option') return { problem: 'use type on the list, with this option as the text' };
        if (call(element, 'closest', 'input[type=file]')) return { problem: 'files cannot be given to a page' };
        const { problem, x, y, hit } = spot(element);
        if (problem) return { problem };
        const button = submitter(element) ?? submitter(hit);
        if (button) return { problem: `it submits a form; use submit with the selector ${selectorOf(button)}` };
        return { x, y };
    };

    const setValue = (element, value) => {
        const owner = { input: HTMLInputElement, textarea: HTMLTextAreaElement, select: HTMLSelectElement }[element.localName];
        Object.getOwnPropertyDescriptor(owner.prototype, 'value').set.call(element, value);
        for (const kind of ['input', 'change']) element.dispatchEvent(new Event(kind, { bubbles: true }));
    };
    const choose = (element, text) => {
        const options = [...element.options].filter((option) => !option.disabled);
        const option = options.find((option) => oneLine(option.label) === oneLine(text)) ?? options.find((option) => option.value === text);
        if (!option) return { problem: `it has no such option; it has: ${options.slice(0, 50).map((option) => oneLine(option.label)).join(', ')}` };
        setValue(element, option.value);
        return { done: true };
    };
    const check = (element, text) => {
        if (!['on', 'off'].includes(text)) return { problem: 'it is ticked with `on` and unticked with `off`' };
        if (element.checked !== (text === 'on')) element.click();
        return { done: true };
    };
    const TYPED = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
    const fill = (element, text) => {
        const tag = get(element, 'localName');
        if (get(element, 'disabled') || get(element, 'readOnly')) return { problem: 'it cannot be filled in: it is disabled or read-only' };
        if (tag === 'select') return choose(element, text);
        const isInput = tag === 'input';
        if (isInput && ['checkbox', 'radio'].includes(element.type)) return check(element, text);
        if (isInput && element.type === 'file') return { problem: 'files cannot be given to a page' };
        if (isInput && /[\r\n]/.test(text)) return { problem: 'it has one line, and a line break would submit it; leave line breaks out' };
        if (isInput && !TYPED.includes(element.type)) {
            if (['submit', 'image', 'button', 'reset', 'hidden'].includes(element.type)) return { problem: 'it is no field to fill in' };
            setValue(element, text);
            return element.value === text ? { done: true } : { problem: `it does not take this; it is a ${element.type}` };
        }
        if (!isInput && tag !== 'textarea' && !get(element, 'isContentEditable')) return { problem: 'it is no field to fill in' };
        call(element, 'scrollIntoView', { block: 'center', behavior: 'instant' });
        call(element, 'focus');
        if (get(document, 'activeElement') !== element && get(call(element, 'getRootNode'), 'activeElement') !== element) return { problem: 'it does not take the keyboard' };
        if (get(element, 'isContentEditable')) getSelection().selectAllChildren(element); else element.select();
        // The rest is typed by the browser, so that the page sees what it would of a person.
        return { type: true };
    };

    const complaint = (form) => {
        const wrong = [...get(form, 'elements')].find((element) => element.willValidate && !element.validity.valid);
        return wrong && `the form is not complete: ${selectorOf(wrong)}: ${oneLine(wrong.validationMessage)}`;
    };
    // Whoever was asked saw the page, and not where its form leads.
    const leads = (form, button) => {
        const action = button?.hasAttribute('formaction') ? button.formAction : get(form, 'action');
        const isOwn = URL.canParse(action) && new URL(action).protocol === location.protocol && new URL(action).origin === location.origin;
        return isOwn ? null
            : `the form is sent to another host than the page's, which is never done: ${oneLine(action, 200)}`;
    };
    const submit = (element) => {
        const isForm = get(element, 'localName') === 'form';
        const button = isForm ? null : submitter(element);
        const form = isForm ? element : button?.form;
        const problem = form && (leads(form, button) || (!get(form, 'noValidate') && complaint(form)));
        if (problem) return { problem };
        if (!isForm) return spot(element);
        call(form, 'requestSubmit');
        return { done: true };
    };

    const plain = ({ problem, x, y, done, type }) => ({ problem, x, y, done, type });
    const at = { url: location.href, title: oneLine(get(document, 'title'), 300), status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0 };
    if (what === 'where') return at;
    if (what === 'read') return { ...at, ...read() };
    const { problem, element } = find(selector);
    if (problem) return { problem };
    return plain({ click, submit, fill: (element) => fill(element, text) }[what](element));
})
