// Making elements. Text is always text: nothing that the run says becomes markup.

type Child = Node | string | number | null | undefined | false
type Attrs = Record<string, string | number | boolean | ((e: Event) => void) | null | undefined>

const svgNames = 'http://www.w3.org/2000/svg'

function fill<E extends Element>(e: E, attrs: Attrs, children: Child[]): E {
  for (const [key, value] of Object.entries(attrs)) {
    if (typeof value === 'function') e.addEventListener(key, value)
    else if (value === true) e.setAttribute(key, '')
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, String(value))
  }
  add(e, ...children)
  return e
}

export function add(e: Element, ...children: Child[]): void {
  for (const c of children) {
    if (c !== null && c !== undefined && c !== false) e.append(c instanceof Node ? c : String(c))
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(name: K, attrs: Attrs = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attrs, children)
}

export function svg(name: string, attrs: Attrs = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS(svgNames, name) as SVGElement, attrs, children)
}

// set replaces what is in e, but only if that changes its text or structure, so that
// what a person has selected or focused stays.
export function set(e: Element, ...children: Child[]): void {
  const next = document.createElement('div')
  add(next, ...children)
  if (next.innerHTML !== e.innerHTML) renew(e, next)
}

const scrolls = (n: Node): n is Element => n instanceof Element && (n.matches('.scroll') || n.querySelector('.scroll') !== null)

// renew puts what is in next in the place of what is in e. What scrolls to the side is kept
// if the like comes in its place, as the focus and how far it is scrolled are with it.
function renew(e: Element, next: Element): void {
  const old = [...e.childNodes], now = [...next.childNodes]
  if (old.length !== now.length || !e.querySelector('.scroll')) {
    e.replaceChildren(...now)
    return
  }
  old.forEach((o, i) => {
    const n = now[i]
    if (o.isEqualNode(n)) return
    if (scrolls(o) && scrolls(n) && o.tagName === n.tagName && o.className === n.className) {
      for (const a of n.attributes) o.setAttribute(a.name, a.value)
      renew(o, n)
    } else o.replaceWith(n)
  })
}

// long tells a text of several lines from a figure.
const long = (c: Child): boolean => (c instanceof Node ? c.textContent! : String(c)).length > 40

// table is a table that scrolls to the side where it is too wide.
export function table(caption: string, head: string[], rows: Child[][], attrs: Attrs = {}): HTMLElement {
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', attrs,
      h('caption', {}, h('span', {}, caption)),
      h('thead', {}, h('tr', {}, ...head.map(t => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map(c => h('td', { class: long(c) ? 'long' : null }, c)))))))
}

// fold is a part that is closed at first, and stays as a person left it when its content
// is renewed.
export function fold(summary: string): { element: HTMLElement; show(content: Node | null): void } {
  const body = h('div', {})
  const element = h('details', {}, h('summary', {}, summary), body)
  return {
    element,
    show(content) {
      element.hidden = content === null
      set(body, content)
    },
  }
}
