import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { failurePage } from './failure-page.ts'
import { SIGN_IN_FAILURES, type SignInFailure } from './failures.ts'

const failures = Object.keys(SIGN_IN_FAILURES) as SignInFailure[]

for (const failure of failures) {
  test(`the page of ${failure} says what happened, what to do, and where the log has more`, () => {
    const { status, body } = failurePage({ failure, requestId: 'request-1' })
    const text = String(body)
    const { title, explanation, advice, status: expected } = SIGN_IN_FAILURES[failure]
    assert.equal(status, expected)
    for (const part of [title, explanation, advice, 'request-1', 'Sign in again'])
      assert.ok(text.includes(part), part)
  })
}

test('the policy allows the style by its hash, no script, and no frame', () => {
  const { body, headers } = failurePage({ failure: 'expired', requestId: 'r' })
  const style = /<style>([^<]*)<\/style>/.exec(String(body))?.[1] ?? ''
  const policy = headers?.['content-security-policy'] ?? ''
  assert.ok(policy.includes(`style-src 'sha256-${hash('sha256', style, 'base64')}'`), policy)
  assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /script|unsafe/)
  assert.doesNotMatch(String(body), /<script|style="|onclick/)
})

test('what comes from outside is text on the page', () => {
  const hostile = `<script>alert(1)</script>"'&`
  const text = String(
    failurePage({ failure: 'unknown_user', requestId: 'r', userName: hostile, returnTo: '/a?b="&c=\'' }).body,
  )
  assert.ok(text.includes('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;'))
  assert.doesNotMatch(text, /<script/)
  assert.ok(text.includes('href="login?return_to=%2Fa%3Fb%3D%22%26c%3D&#39;"'), text)
})
