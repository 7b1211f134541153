import { escapeHtml } from '../../kernel/text.ts'
import { htmlPage } from '../../wire/html-page.ts'
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

/** The page of a failed sign-in. It contains nothing of the answer of the provider but the name of the user. */
export function failurePage({ failure, reason, requestId, userName, returnTo }: FailurePage): Answer {
  const { status, title, explanation, advice } = SIGN_IN_FAILURES[failure]
  const name =
    userName === undefined ? '' : `<p>Your name at the provider: <strong>${escapeHtml(userName)}</strong></p>`
  const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`
  const content = `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(reason === undefined ? explanation : `${explanation} ${reason}.`)}</p>
${name}
<p>${escapeHtml(advice)}</p>
<p><a href="login${escapeHtml(query)}">Sign in again</a></p>
<footer>For the administrator: the log has the reason, with the request id <code>${escapeHtml(requestId)}</code></footer>`
  return htmlPage(status, title, content)
}
