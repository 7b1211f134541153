import { hash } from 'node:crypto'
import { escapeHtml, formatCents } from '../../src/kernel/text.ts'
import { ACTIONS, type MockPayment, type PayerAction } from './book.ts'
import type { Channel } from './channels.ts'
import type { Answer } from './provider.ts'

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --muted: #5a626b; --page: #f4f5f7; --card: #fff; --line: #d5d9de; --link: #0b57d0; --good: #13703a; --on-good: #fff; --bad: #b3261e }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --muted: #a3abb4; --page: #14171a; --card: #1d2125; --line: #363c43; --link: #8ab4f8; --good: #7ed9a0; --on-good: #0c2416; --bad: #f2a29c }
}
body { margin: 0; padding: 1.5rem 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 8vh auto 0; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .25rem; font-size: 1.1rem; line-height: 1.3; font-weight: 500 }
.amount { margin: 0 0 1rem; font-size: 2.25rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums }
.muted, footer { color: var(--muted); font-size: .875rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0 }
button { flex: 1 1 8rem; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; font: inherit; cursor: pointer }
button[value=pay] { border-color: var(--good); background: var(--good); color: var(--on-good); font-weight: 600 }
button[value=fail] { color: var(--bad) }
button:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
table { width: 100%; border-collapse: collapse }
th, td { padding: .5rem .5rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
td:last-child, th:last-child { padding-right: 0; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
a { color: var(--link) }
footer { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--line) }
`

const PROVIDER_NAMES: Readonly<Record<Channel, string>> = {
  stripe: 'Stripe',
  wechatpay: 'WeChat Pay',
  alipay: 'Alipay',
}

const STATES: Readonly<Record<MockPayment['status'], string>> = {
  open: 'This payment is open.',
  processing: 'The money is on its way.',
  paid: 'Paid. The shop has been told.',
  closed: 'This payment is closed: nothing can be paid any more.',
  failed: 'This payment has failed.',
}

const BUTTONS: Readonly<Record<PayerAction, string>> = { pay: 'Pay', fail: 'Let it fail', wait: 'Wait' }

/** A payment as the payer sees it. */
export function paymentPage(payment: MockPayment): Answer {
  const { channel, amountCents, currency, subject, status, number, returnUrl } = payment
  const actions = ACTIONS.filter(
    (action) => status === 'open' || (status === 'processing' && action !== 'wait'),
  )
  const buttons = actions.map(
    (action) => `<button name="action" value="${action}">${BUTTONS[action]}</button>`,
  )
  const back = returnUrl === undefined ? '' : `<p><a href="${escapeHtml(returnUrl)}">Back to the shop</a></p>`
  const origin = returnUrl === undefined ? '' : ` ${new URL(returnUrl).origin}`
  return htmlAnswer(
    `Pay with ${PROVIDER_NAMES[channel]}`,
    `<h1>${escapeHtml(subject)}</h1>
<p class="amount">${formatCents(amountCents)} ${escapeHtml(currency)}</p>
<p role="status">${STATES[status]}</p>
${buttons.length > 0 ? `<form method="post">${buttons.join('')}</form>` : ''}
${back}
<footer>A test double of ${PROVIDER_NAMES[channel]}: no money moves. Number <code>${escapeHtml(number)}</code></footer>`,
    { formTargets: `'self'${origin}` },
  )
}

// A person looks for the payment that was just made.
const MAXIMUM_ROWS = 100

/** The newest payments, with the way to the page of each. */
export function listPage(payments: readonly MockPayment[]): Answer {
  const rows = payments
    .slice(0, MAXIMUM_ROWS)
    .map(
      ({ token, subject, channel, status, amountCents, currency }) =>
        `<tr><td><a href="/pay/${token}">${escapeHtml(subject)}</a><br><span class="muted">${PROVIDER_NAMES[channel]}, ${status}</span></td><td>${formatCents(amountCents)} ${escapeHtml(currency)}</td></tr>`,
    )
  const table =
    rows.length === 0
      ? '<p>There is no payment yet. Create one with the platform, and load this page again.</p>'
      : `<table><thead><tr><th>Payment</th><th>Amount</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
  return htmlAnswer(
    'Payments of the mock',
    `<h1>Payments</h1>\n${table}\n<footer>A test double of Stripe, WeChat Pay and Alipay: no money moves.</footer>`,
  )
}

export function notFoundPage(): Answer {
  const text = '<h1>There is no such payment</h1>\n<p><a href="/">All payments</a></p>'
  return { ...htmlAnswer('Not found', text), status: 404 }
}

function htmlAnswer(title: string, content: string, { formTargets = "'none'" } = {}): Answer {
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
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    `form-action ${formTargets}`,
    "frame-ancestors 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  ].join('; ')
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
    },
    body,
  }
}
