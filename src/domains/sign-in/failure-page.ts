import { hash } from 'node:crypto'
import { escapeHtml } from '../../kernel/html.ts'
import type { Answer } from '../../wire/route.ts'
import { SIGN_IN_FAILURES, type SignInFailure } from './failures.ts'

export interface FailurePage {
  readonly failure: SignInFailure
  /** What the explanation ends with. */
  readonly reason?: string | undefined
  readonly requestId: string
  /** The name that the provider has confirmed. */
  readonly userName?: string | undefined
  /** Where the sign-in was to lead; left out where that is not known. */
  readonly returnTo?: string | undefined
}

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --muted: #5a626b; --page: #f4f5f7; --card: #fff; --line: #d5d9de; --link: #0b57d0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --muted: #a3abb4; --page: #14171a; --card: #1d2125; --line: #363c43; --link: #8ab4f8 }
}
body { margin: 0; padding: 1.5rem 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 8vh auto 0; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .75rem; font-size: 1.35rem; line-height: 1.3 }
a { color: var(--link) }
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

/** The page of a failed sign-in. It contains nothing of the answer of the provider but the name of the user. */
export function failurePage({ failure, reason, requestId, userName, returnTo }: FailurePage): Answer {
  const { status, title, explanation, advice } = SIGN_IN_FAILURES[failure]
  const name =
    userName === undefined ? '' : `<p>Your name at the provider: <strong>${escapeHtml(userName)}</strong></p>`
  const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`
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
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(reason === undefined ? explanation : `${explanation} ${reason}.`)}</p>
${name}
<p>${escapeHtml(advice)}</p>
<p><a href="login${escapeHtml(query)}">Sign in again</a></p>
<footer>For the administrator: the log has the reason, with the request id <code>${escapeHtml(requestId)}</code></footer>
</main>
</body>
</html>
`
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }
  return { status, body, headers }
}
