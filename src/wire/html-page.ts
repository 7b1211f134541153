import { hash } from 'node:crypto'
import { escapeHtml } from '../kernel/text.ts'
import type { Answer } from './route.ts'

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --muted: #5a626b; --page: #f4f5f7; --card: #fff; --line: #d5d9de; --link: #0b57d0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --muted: #a3abb4; --page: #14171a; --card: #1d2125; --line: #363c43; --link: #8ab4f8 }
}
body { margin: 0; padding: 1.5rem 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 8vh auto 0; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .75rem; font-size: 1.35rem; line-height: 1.3 }
a { color: var(--link) }
dt { scroll-margin-top: 1rem }
dt:target { outline: 2px solid var(--link); outline-offset: .25rem }
dd { margin: 0 0 .75rem; color: var(--muted) }
footer { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--line); color: var(--muted); font-size: .875rem }
`

/** No script, nothing from elsewhere, and in no frame; the style is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
].join('; ')

/** A small page of the api for a person's browser. `content` is HTML; `title` is text. */
export function htmlPage(status: number, title: string, content: string): Answer {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }
  return { status, body, headers }
}
