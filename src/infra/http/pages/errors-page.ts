import { escapeHtml } from '../../../kernel/text.ts'
import { ERRORS_PATH, type ErrorCodes } from '../../../wire/error-codes.ts'
import { htmlPage } from '../../../wire/html-page.ts'
import type { Route } from '../../../wire/route.ts'
import { publicPage } from './built-page.ts'

/** The catalogue of the codes of errors, each at its anchor: error bodies lead there by their `Link`. */
export function errorsPage(errors: ErrorCodes): Route {
  return publicPage(ERRORS_PATH, () => htmlPage(200, 'Errors', contentOf(errors)))
}

function contentOf(errors: ErrorCodes): string {
  const entries = Object.entries(errors)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([code, { status, meaning }]) =>
        `<dt id="${code}"><a href="#${code}"><code>${code}</code></a> ${status}</dt><dd>${withCode(meaning)}</dd>`,
    )
  return `<h1>Errors</h1>
<p>Every <code>code</code> of an error, with its HTTP status. Codes are for programs and stay as they are; the message of
an answer is for people.</p>
<dl>
${entries.join('\n')}
</dl>`
}

function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}
