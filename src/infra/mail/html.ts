import { escapeHtml } from '../../kernel/html.ts'

/** A plain text as HTML. Markup in the text stays text. */
export function toHtml(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html><body style="font-family: sans-serif">',
    `<p><strong>${escapeHtml(title)}</strong></p>`,
    `<p style="white-space: pre-wrap">${escapeHtml(text)}</p>`,
    '</body></html>',
  ].join('\n')
}
