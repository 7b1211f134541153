import { escapeHtml } from '../../kernel/html.ts'

/** A plain text as HTML. Markup in the text stays text. */
export function toHtml(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html><body style="font-family: sans-serif">',
    `<p><strong>${escapeHtml(title)}</strong></p>`,
    `<p style="white-space: pre-wrap">${withLinks(escapeHtml(text))}</p>`,
    '</body></html>',
  ].join('\n')
}

/** The addresses of an escaped text as links. */
function withLinks(html: string): string {
  return html.replaceAll(/https?:\/\/[^\s<>]+/g, (url) => `<a href="${url}">${url}</a>`)
}
