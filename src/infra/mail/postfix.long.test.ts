import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { canRunPostfix, startPostfix, type Postfix } from '../../../test/support/postfix.ts'
import { Secret } from '../../kernel/secret.ts'
import type { ChannelMessage } from '../../ports/notification-channel.ts'
import { MailChannel } from './smtp-mailer.ts'

const options = { skip: canRunPostfix ? false : 'Postfix starts as root only' }

let postfix: Postfix
before(async () => {
  if (canRunPostfix) postfix = await startPostfix()
})
after(() => postfix?.[Symbol.asyncDispose]())

const OPS = ['ops@example.org']

function messageOf(key: string, change: Partial<ChannelMessage> = {}): ChannelMessage {
  return {
    title: '[ERROR] 备份失败 <b>Backup failed</b>',
    text: 'Source: platform.backup\nAlert: https://shop.example.org/console/alerts/1\nNo space left on <disk>.',
    level: 'ERROR',
    key,
    about: { occasions: ['raised'], isFiring: true, severity: 'ERROR', alertIds: ['1'], alerts: [] },
    ...change,
  }
}

interface Parties {
  readonly from?: string
  readonly to?: readonly string[]
}

function send(message: ChannelMessage, { from = 'platform@example.org', to = OPS }: Parties = {}) {
  return new MailChannel({ url: new Secret(postfix.url), from, to }).send(message)
}

const mailWith = (mailbox: 'ops' | 'boss', key: string) =>
  eventually(`the mail about ${key} is delivered`, () =>
    postfix.mails(mailbox).find((mail) => mail.includes(`Key: ${key}`)),
  )

test(
  'Postfix takes a mail by STARTTLS, and delivers it as text and HTML in its thread',
  options,
  async () => {
    const sent = await send(messageOf('tls', { text: 'Key: tls\nNo space left on <disk>.' }))
    assert.deepEqual(sent, { sent: true, answer: 'The mail server has taken the mail.' })
    const mail = await mailWith('ops', 'tls')
    assert.match(mail, /^Received: .*\n(?:\s.*\n)*?\s+\(using TLSv1\.3 /m)
    assert.match(mail, /^References: <[0-9a-f]{40}@example\.org>$/m)
    assert.match(mail, /^Auto-Submitted: auto-generated$/m)
    assert.match(mail, /^Subject: =\?UTF-8\?/m)
    assert.match(mail, /Content-Type: text\/plain; charset=utf-8/)
    assert.match(mail, /&lt;disk&gt;/)
  },
)

test('a mailbox that does not exist is a warning, and the others get the mail', options, async () => {
  const to = ['nobody@example.org', 'boss@example.org']
  const sent = await send(messageOf('refused', { text: 'Key: refused' }), { to })
  assert.deepEqual(sent, {
    sent: true,
    answer: 'The mail server has taken the mail.',
    warning:
      'Refused for nobody@example.org (550 5.1.1 <nobody@example.org>: Recipient address rejected: User unknown in virtual mailbox table).',
  })
  await mailWith('boss', 'refused')
})

test('a greylisted mail is no fault of the message, and is taken later', options, async () => {
  const message = messageOf('greylisted', { text: 'Key: greylisted' })
  postfix.greylist(true)
  const deferred = await send(message)
  assert.ok(!deferred.sent)
  assert.deepEqual([deferred.retryable, deferred.fault, deferred.isUncertain], [true, 'receiver', false])
  assert.match(deferred.reason, /RCPT: 450 4\.7\.1 .*Greylisted/)
  postfix.greylist(false)
  assert.ok((await send(message)).sent)
  await mailWith('ops', 'greylisted')
})

test(
  'one of two recipients who is greylisted gets the mail later, and the other only once',
  options,
  async () => {
    const message = messageOf('late', { text: 'Key: late' })
    const to = ['ops@example.org', 'boss@example.org']
    postfix.greylist('boss@example.org')
    const sent = await send(message, { to })
    assert.ok(sent.sent)
    assert.deepEqual(sent.missed, ['boss@example.org'])
    const again = { ...message, recipients: sent.missed }
    const deferred = await send(again, { to })
    assert.ok(!deferred.sent && deferred.fault === 'recipients')
    postfix.greylist(false)
    assert.deepEqual(await send(again, { to }), { sent: true, answer: 'The mail server has taken the mail.' })
    await mailWith('boss', 'late')
    assert.equal(postfix.mails('ops').filter((mail) => mail.includes('Key: late')).length, 1)
  },
)

const REFUSALS = [
  [
    'of the sender is the fault of the receiver',
    'receiver',
    messageOf('sender'),
    { from: 'blocked@example.org' },
  ],
  [
    'of all recipients is that of the message',
    'message',
    messageOf('nobody'),
    { to: ['nobody@example.org'] },
  ],
  ['of the content is that of the message', 'message', messageOf('poison', { title: '[ERROR] poison' }), {}],
] as const satisfies readonly (readonly [string, string, ChannelMessage, Parties])[]

for (const [what, fault, message, parties] of REFUSALS)
  test(`a permanent refusal ${what}`, options, async () => {
    const refused = await send(message, parties)
    assert.ok(!refused.sent)
    assert.deepEqual([refused.retryable, refused.fault], [false, fault], refused.reason)
    assert.match(refused.reason, /5\d\d 5\./)
  })
