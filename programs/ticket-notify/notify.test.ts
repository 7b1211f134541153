import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROBOT_TOKEN, startRobots, type RobotDoubles } from '../../test/support/robots.ts'
import { SMTP_PASSWORD, startSmtp, type SmtpServer } from '../../test/support/smtp.ts'
import type { Notification, NotifyOptions } from './notification.ts'
import { notify } from './notify.ts'

const NOTICE: Notification = {
  category: 'ticket',
  title: '[HIGH] New ticket: Disk',
  text: 'Ticket: t-1',
  level: 'high',
  key: 'ticket:t-1:new:',
}

async function world() {
  const [smtp, robots] = await Promise.all([startSmtp(), startRobots()])
  const directory = mkdtempSync(join(tmpdir(), 'platform-notify-'))
  const secretsFile = join(directory, 'notify.env')
  const options: NotifyOptions = { secretsFile, memoryFile: join(directory, 'state.memory') }
  return {
    smtp,
    robots,
    options,
    configure: (keys: Readonly<Record<string, string>>, mode = 0o600) => {
      const lines = Object.entries(keys).map(([key, value]) => `${key}=${value}\n`)
      rmSync(secretsFile, { force: true })
      writeFileSync(secretsFile, lines.join(''), { mode })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([smtp[Symbol.asyncDispose](), robots[Symbol.asyncDispose]()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const mailKeys = (smtp: SmtpServer) => ({
  MAIL_SMTP_URL: smtp.url('?tls.rejectUnauthorized=false'),
  MAIL_FROM: 'p@example.com',
  MAIL_TO: 'a@example.com, b@example.com',
})

const robotKeys = (robots: RobotDoubles) => ({ ROBOT_URL: robots.url('dingtalk'), ROBOT_KIND: 'dingtalk' })

test('both channels are used', async () => {
  await using w = await world()
  w.configure({ ...mailKeys(w.smtp), ...robotKeys(w.robots) })
  assert.deepEqual(await notify(NOTICE, w.options), { mail: 'sent', robot: 'sent', reasons: {} })
  assert.deepEqual(w.smtp.mails[0]?.to, ['a@example.com', 'b@example.com'])
  assert.deepEqual(w.robots.shown, [`${NOTICE.title}\n${NOTICE.text}`])
})

test('mail of tickets is throttled, the robot and a self-test are not', async () => {
  await using w = await world()
  w.configure({ ...mailKeys(w.smtp), ...robotKeys(w.robots) })
  await notify(NOTICE, w.options)
  const { mail, robot, reasons } = await notify(NOTICE, w.options)
  assert.deepEqual([mail, robot], ['skipped', 'sent'])
  assert.match(reasons.mail ?? '', /throttled for \d+ s/)
  const selfTest = { ...NOTICE, category: 'self-test' } as const
  assert.equal((await notify(selfTest, { ...w.options, ignoreThrottle: true })).mail, 'sent')
  assert.deepEqual([w.smtp.mails.length, w.robots.shown.length], [2, 3])
})

test('a mail that ignores the throttle does not throttle the next one', async () => {
  await using w = await world()
  w.configure(mailKeys(w.smtp))
  for (const ignoreThrottle of [true, true, false])
    assert.equal((await notify(NOTICE, { ...w.options, ignoreThrottle })).mail, 'sent')
})

test('a pause of the robot is kept by the next process', async () => {
  await using w = await world()
  w.configure(robotKeys(w.robots))
  w.robots.behave((response) => void response.writeHead(429, { 'retry-after': '3600' }).end())
  assert.equal((await notify(NOTICE, w.options)).robot, 'failed')
  w.robots.behave(undefined)
  const { robot, reasons } = await notify(NOTICE, w.options)
  assert.equal(robot, 'failed')
  assert.match(reasons.robot ?? '', /rate limit allows no message/)
  assert.equal(w.robots.requests.length, 1)
})

test('a failed mail does not throttle the next one', async () => {
  await using w = await world()
  w.configure(mailKeys(w.smtp))
  w.smtp.fail('data')
  assert.equal((await notify(NOTICE, w.options)).mail, 'failed')
  w.smtp.fail(undefined)
  assert.equal((await notify(NOTICE, w.options)).mail, 'sent')
})

test('a channel without all its keys is skipped, and the missing keys are named', async () => {
  await using w = await world()
  w.configure({ MAIL_FROM: 'p@example.com', ROBOT_URL: w.robots.url('slack') })
  const { mail, robot, reasons } = await notify(NOTICE, w.options)
  assert.deepEqual([mail, robot], ['skipped', 'skipped'])
  assert.match(reasons.mail ?? '', /MAIL_SMTP_URL, MAIL_TO missing/)
  assert.match(reasons.robot ?? '', /ROBOT_KIND missing/)
})

for (const [name, value] of [
  ['MAIL_FROM', 'platform'],
  ['MAIL_FROM', 'Platform <>'],
  ['MAIL_TO', ' , '],
  ['MAIL_TO', 'a@example.com, b'],
] as const)
  test(`${name}=${value} is no address`, async () => {
    await using w = await world()
    w.configure({ ...mailKeys(w.smtp), [name]: value })
    const { mail, reasons } = await notify(NOTICE, w.options)
    assert.deepEqual([mail, reasons.mail], ['failed', `${name} must have addresses such as shop@example.com`])
  })

test('without a secrets file both channels are skipped', async () => {
  await using w = await world()
  const result = await notify(NOTICE, w.options)
  assert.deepEqual(result, {
    mail: 'skipped',
    robot: 'skipped',
    reasons: { mail: 'not configured', robot: 'not configured' },
  })
})

test('a secrets file that others can read is not used', async () => {
  await using w = await world()
  w.configure({ ...mailKeys(w.smtp), ...robotKeys(w.robots) }, 0o644)
  const { mail, robot, reasons } = await notify(NOTICE, w.options)
  assert.deepEqual([mail, robot], ['failed', 'failed'])
  assert.match(reasons.mail ?? '', /chmod 600/)
  assert.deepEqual([w.smtp.passwords, w.robots.requests], [[], []])
})

test('a wrong value in the secrets file is a failure that does not show it', async () => {
  await using w = await world()
  w.configure({
    ...mailKeys(w.smtp),
    MAIL_SMTP_URL: 'http://canary/',
    ROBOT_URL: 'canary',
    ROBOT_KIND: 'slack',
  })
  const result = await notify(NOTICE, w.options)
  assert.deepEqual([result.mail, result.robot], ['failed', 'failed'])
  assert.ok(!JSON.stringify(result).includes('canary'))
  w.configure({ ROBOT_URL: w.robots.url('slack'), ROBOT_KIND: 'teams-canary' })
  const unknownKind = await notify(NOTICE, w.options)
  assert.equal(unknownKind.robot, 'failed')
  assert.ok(!JSON.stringify(unknownKind).includes('canary'))
})

test('a failing channel does not affect the other', async () => {
  await using w = await world()
  w.configure({ ...mailKeys(w.smtp), ...robotKeys(w.robots) })
  w.robots.behave((response) => void response.writeHead(500).end(`${ROBOT_TOKEN} is broken`))
  w.smtp.fail('auth', 535, `bad password ${SMTP_PASSWORD}`)
  const bothFail = await notify(NOTICE, w.options)
  assert.deepEqual([bothFail.mail, bothFail.robot], ['failed', 'failed'])
  for (const word of [ROBOT_TOKEN, SMTP_PASSWORD]) assert.ok(!JSON.stringify(bothFail).includes(word))
  w.smtp.fail(undefined)
  assert.deepEqual(outcomes(await notify(NOTICE, w.options)), ['sent', 'failed'])
})

const outcomes = ({ mail, robot }: Awaited<ReturnType<typeof notify>>) => [mail, robot]

test('the outcome of a mail names the recipients that the server has refused', async () => {
  await using w = await world()
  w.configure({ ...mailKeys(w.smtp), MAIL_TO: 'a@example.com,nobody@example.com' })
  const result = await notify(NOTICE, w.options)
  assert.deepEqual([result.mail, result.refused], ['sent', ['nobody@example.com']])
  assert.match(result.reasons.mail ?? '', /refused for nobody@example\.com/)
})
