const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/** A plain text as HTML. Markup in the text stays text. */
export function toHtml(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html><body style="font-family: sans-serif">',
    `<p><strong>${escape(title)}</strong></p>`,
    `<p style="white-space: pre-wrap">${escape(text)}</p>`,
    '</body></html>',
  ].join('\n')
}
