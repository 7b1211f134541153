import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { fakeClock } from '../../../test/support/clock.ts'
import {
  ROBOT_FAULTS,
  ROBOT_TOKEN,
  startRobots,
  type RobotDoubles,
  TELEGRAM_CHAT,
} from '../../../test/support/robots.ts'
import { ROBOT_KINDS } from '../../config/receivers.ts'
import { systemClock } from '../../kernel/clock.ts'
import { Secret } from '../../kernel/secret.ts'
import { ROBOT_ADAPTERS, dingtalk, feishu } from './adapters.ts'
import { GroupRobot, type RobotOptions } from './group-robot.ts'
import { redact, RobotWebhook } from './robot-webhook.ts'
import type { RobotKind, RobotMessage } from './adapter.ts'
import { TokenBucket, type BucketState } from '../../kernel/waiting.ts'

const MESSAGE: RobotMessage = {
  title: '[CRITICAL] New ticket: disk full',
  text: 'Ticket: t-1\nLevel: critical',
  level: 'critical',
  key: 'ticket:t-1:new:',
}

function robotOf(doubles: RobotDoubles, kind: RobotKind, options: Partial<RobotOptions> = {}) {
  return new GroupRobot({ kind, url: new Secret(doubles.url(kind)), chatId: TELEGRAM_CHAT, ...options })
}

/** A clock that advances by sleeping, and robots that use it. */
async function timedWorld(signed = true) {
  const clock = fakeClock(Date.UTC(2026, 10, 21, 2))
  const doubles = await startRobots({ now: clock.now, signed })
  const options = (kind: RobotKind): Partial<RobotOptions> => ({
    clock,
    secret: new Secret(doubles.secrets[kind]),
    chatId: TELEGRAM_CHAT,
    sleep: async (milliseconds) => clock.advance(milliseconds),
  })
  return { clock, doubles, options, [Symbol.asyncDispose]: () => doubles[Symbol.asyncDispose]() }
}

/** Lines of a text that needs several parts, and no more than the robot takes. */
const LONG_LINES: Readonly<Partial<Record<RobotKind, number>>> = { wecom: 200, telegram: 400, teams: 1_000 }

for (const kind of ROBOT_KINDS) {
  test(`${kind}: a signed message is shown with its title and text`, async () => {
    await using w = await timedWorld()
    const robot = robotOf(w.doubles, kind, w.options(kind))
    assert.deepEqual(await robot.send(MESSAGE), { outcome: 'sent' })
    assert.deepEqual(w.doubles.shown, [`${MESSAGE.title}\n${MESSAGE.text}`])
  })

  test(`${kind}: 60 messages at once keep the rate limit, and all are shown`, async () => {
    await using w = await timedWorld()
    const robot = robotOf(w.doubles, kind, w.options(kind))
    for (let n = 1; n <= 60; n++) {
      assert.deepEqual(await robot.send({ ...MESSAGE, title: `message ${n}` }), { outcome: 'sent' })
    }
    assert.equal(w.doubles.shown.length, 60)
    assert.equal(w.doubles.requests.length, 60)
  })

  test(`${kind}: a later process continues the rate limit of an earlier one`, async () => {
    await using w = await timedWorld()
    let bucketState: BucketState | undefined
    for (let n = 1; n <= 30; n++) {
      const keep = (state: BucketState) => {
        bucketState = state
      }
      const robot = robotOf(w.doubles, kind, { ...w.options(kind), bucketState, onBucketState: keep })
      assert.deepEqual(await robot.send(MESSAGE), { outcome: 'sent' })
    }
    assert.equal(w.doubles.requests.length, 30)
  })

  test(`${kind}: a long text is sent in numbered parts, complete`, async () => {
    await using w = await timedWorld()
    const robot = robotOf(w.doubles, kind, w.options(kind))
    const length = LONG_LINES[kind] ?? 2_800
    const lines = Array.from({ length }, (_, n) => `line ${n} “工单” \u0007`)
    assert.deepEqual(await robot.send({ ...MESSAGE, text: lines.join('\n') }), { outcome: 'sent' })
    const { shown } = w.doubles
    assert.ok(shown.length > 1 && shown.length <= 10, `${shown.length} parts`)
    assert.match(shown[0] ?? '', new RegExp(`disk full \\(1/${shown.length}\\)\n`))
    const texts = shown.map((part) => part.slice(part.indexOf('\n') + 1).replace(/\n$/, ''))
    assert.deepEqual(texts.join('\n').split('\n'), lines)
  })

  test(`${kind}: a text that is far too long is cut between characters, with a note`, async () => {
    await using w = await timedWorld()
    const robot = robotOf(w.doubles, kind, w.options(kind))
    const text = '🔥'.repeat(400_000)
    assert.deepEqual(await robot.send({ ...MESSAGE, title: '長'.repeat(3_000), text }), { outcome: 'sent' })
    assert.equal(w.doubles.shown.length, 10)
    assert.match(w.doubles.shown.at(-1) ?? '', /\n… \(\d+ more characters\)$/)
    assert.ok(w.doubles.shown.every((part) => part.isWellFormed()))
  })

  for (const [fault, behaviour] of Object.entries(ROBOT_FAULTS)) {
    test(`${kind}: a robot that ${fault} is a failure without address and secret`, async () => {
      await using doubles = await startRobots()
      doubles.behave(behaviour)
      const secret = new Secret(doubles.secrets[kind])
      const isEndless = ENDLESS.has(fault)
      const robot = robotOf(doubles, kind, { secret, timeoutMs: isEndless ? 150 : 30_000 })
      const outcome = await robot.send(MESSAGE)
      if (kind === 'generic' && ACCEPTED_BY_STATUS.has(fault)) {
        assert.equal(outcome.outcome, 'sent')
        return
      }
      assert.ok(outcome.outcome === 'failed', inspect(outcome))
      assert.equal(outcome.reason === 'no answer within 0.15 s', isEndless, inspect(outcome))
      for (const word of [ROBOT_TOKEN, secret.reveal(), doubles.url(kind)]) {
        assert.ok(!inspect(outcome).includes(word), inspect(outcome))
      }
      if (ASKED_ONCE.has(fault)) assert.equal(doubles.requests.length, 1)
    })
  }
}

const ENDLESS = new Set(['accepts and says nothing', 'sends a byte now and then'])

const ASKED_ONCE = new Set(['asks for a day', 'redirects elsewhere'])

// For a generic webhook 200 is success; of an endless reply only the beginning is read.
const ACCEPTED_BY_STATUS = new Set(['answers without end', 'answers with a page', 'answers with nothing'])

test('a wrong signature is a permanent failure', async () => {
  for (const kind of ['feishu', 'dingtalk', 'generic'] as const) {
    await using w = await timedWorld()
    const robot = robotOf(w.doubles, kind, { ...w.options(kind), secret: new Secret('another-secret') })
    const outcome = await robot.send(MESSAGE)
    assert.ok(outcome.outcome === 'failed' && !outcome.retryable, inspect(outcome))
    assert.deepEqual(w.doubles.shown, [])
  }
})

test('robots that check the time refuse a clock that is two hours off', async () => {
  for (const kind of ['feishu', 'dingtalk', 'generic'] as const) {
    await using doubles = await startRobots({ now: () => Date.now() + 2 * 3_600_000, signed: true })
    const robot = robotOf(doubles, kind, { secret: new Secret(doubles.secrets[kind]) })
    assert.equal((await robot.send(MESSAGE)).outcome, 'failed')
  }
})

test('signatures are as documented by the robots', () => {
  const fields = (body: string) => JSON.parse(body) as Record<string, unknown>
  const feishuVectors = [
    [1_599_360_473, 'demo', 'l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8='],
    [1_757_900_000, 'lark-test-secret', 'rWW3ygiAdSmKEIysYTVjbdbv4Xnqjn35pAGLgGJZsNg='],
  ] as const
  for (const [seconds, secret, sign] of feishuVectors) {
    const request = feishu.request(MESSAGE, { url: 'https://robot/', secret, now: seconds * 1_000 })
    assert.equal(fields(request.body)['sign'], sign)
    assert.equal(fields(request.body)['timestamp'], String(seconds))
  }
  const url = 'https://robot/robot/send?access_token=T'
  const { url: signed } = dingtalk.request(MESSAGE, { url, secret: 'SECtest', now: 1_700_000_000_000 })
  assert.equal(new URL(signed).searchParams.get('sign'), 'aZLLrriXgn05YbwaGR7knYsLeJADjr9NwLaNNKpxh4g=')
  assert.match(signed, /xh4g%3D/)
})

const REFUSALS: readonly [kind: RobotKind, status: number, body: string, fault: string][] = [
  ['feishu', 200, '{"code":19001,"msg":"param invalid: incoming webhook access token invalid"}', 'receiver'],
  ['feishu', 200, '{"code":19021,"msg":"sign match fail or timestamp is not within one hour"}', 'receiver'],
  ['feishu', 200, '{"code":19024,"msg":"Key Words Not Found"}', 'message'],
  ['feishu', 200, '{"StatusCode":9499,"msg":"Bad Request"}', 'message'],
  ['feishu', 200, '{"code":9499,"msg":"too many request"}', 'temporary'],
  ['feishu', 200, '{"msg":"what is this"}', 'temporary'],
  ['feishu', 400, '{"code":99991400,"msg":"request trigger frequency limit"}', 'temporary'],
  ['feishu', 500, '{"code":1,"msg":"internal"}', 'temporary'],
  ['dingtalk', 200, '{"errcode":310000,"errmsg":"keywords not in content"}', 'message'],
  ['dingtalk', 200, '{"errcode":310000,"errmsg":"sign not match"}', 'receiver'],
  ['dingtalk', 200, '{"errcode":300001,"errmsg":"token is not exist"}', 'receiver'],
  ['dingtalk', 200, '{"errcode":130101,"errmsg":"send too fast"}', 'temporary'],
  ['dingtalk', 200, '{"status":1111,"wait":5,"source":"x5","punish":"deny"}', 'temporary'],
  ['dingtalk', 502, '{"errcode":0,"errmsg":"ok"}', 'temporary'],
  ['wecom', 200, '{"errcode":93000,"errmsg":"invalid webhook url"}', 'receiver'],
  ['wecom', 200, '{"errcode":40008,"errmsg":"invalid message type"}', 'message'],
  ['wecom', 200, '{"errcode":-1,"errmsg":"system busy"}', 'temporary'],
  ['slack', 403, 'invalid_token', 'receiver'],
  ['slack', 400, 'no_service', 'receiver'],
  ['slack', 400, 'invalid_payload', 'message'],
  ['slack', 200, 'no_text', 'temporary'],
  ['teams', 401, '{"error":{"code":"DirectApiAuthorizationRequired"}}', 'receiver'],
  ['teams', 404, '{"error":{"code":"WorkflowNotFound"}}', 'receiver'],
  ['teams', 400, '{"error":{"code":"TriggerInputSchemaMismatch"}}', 'message'],
  ['telegram', 401, '{"ok":false,"error_code":401,"description":"Unauthorized"}', 'receiver'],
  ['telegram', 400, '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}', 'receiver'],
  ['telegram', 403, '{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked"}', 'receiver'],
  ['telegram', 400, '{"ok":false,"error_code":400,"description":"Bad Request: text is empty"}', 'message'],
  ['telegram', 429, '{"ok":false,"error_code":429,"description":"Too Many Requests"}', 'temporary'],
  ['telegram', 200, '{"ok":"yes"}', 'temporary'],
  ['generic', 404, 'gone', 'receiver'],
  ['generic', 401, 'who are you', 'receiver'],
  ['generic', 422, 'not that word', 'message'],
  ['generic', 302, '', 'receiver'],
  ['generic', 400, '<!DOCTYPE html><title>Bad gateway</title>', 'temporary'],
  ['generic', 425, 'too early', 'temporary'],
  ['generic', 503, 'later', 'temporary'],
]

for (const [kind, status, body, fault] of REFUSALS) {
  const isTemporary = fault === 'temporary'
  test(`${kind}: ${status} ${body} is a ${isTemporary ? fault : `permanent fault of the ${fault}`}`, async () => {
    await using w = await timedWorld()
    w.doubles.behave((response) => void response.writeHead(status).end(body))
    const options = w.options(kind)
    const outcome = await robotOf(w.doubles, kind, options).send(MESSAGE)
    assert.ok(outcome.outcome === 'failed' && outcome.retryable === isTemporary, inspect(outcome))
    const attempt = await new RobotWebhook({ kind, url: new Secret(w.doubles.url(kind)) }).send(MESSAGE)
    assert.ok(!attempt.sent && attempt.fault === (isTemporary ? 'receiver' : fault), inspect(attempt))
  })
}

const SHORT_PAUSES: Readonly<
  Record<string, [kind: RobotKind, headers: (now: number) => Record<string, string>]>
> = {
  'Retry-After in seconds': ['slack', () => ({ 'retry-after': '7' })],
  'Retry-After as a date': ['slack', (now) => ({ 'retry-after': new Date(now + 7_000).toUTCString() })],
  "Feishu's own header": ['feishu', () => ({ 'x-ogw-ratelimit-reset': '7', 'retry-after': '1' })],
}

for (const [what, [kind, headers]] of Object.entries(SHORT_PAUSES)) {
  test(`a short pause is kept, and the message is sent once: ${what}`, async () => {
    await using w = await timedWorld()
    w.doubles.behave((response) => {
      response.writeHead(429, headers(w.clock.now())).end('{"code":99991400}')
      w.doubles.behave(undefined)
    })
    const before = w.clock.now()
    assert.deepEqual(await robotOf(w.doubles, kind, w.options(kind)).send(MESSAGE), { outcome: 'sent' })
    assert.ok(w.clock.now() - before >= 7_000)
    assert.equal(w.doubles.shown.length, 1)
  })
}

test('a pause that began while the clock was years ahead ends within a day', async () => {
  await using w = await timedWorld()
  const blockedUntil = w.clock.now() + 1_000 * 86_400_000
  const bucketState = { tokens: 1, at: w.clock.now(), blockedUntil }
  const robot = robotOf(w.doubles, 'slack', { ...w.options('slack'), bucketState })
  const outcome = await robot.send(MESSAGE)
  assert.ok(outcome.outcome === 'failed' && /no message for 86400 s/.test(outcome.reason), inspect(outcome))
  w.clock.advance(86_400_000)
  assert.deepEqual(await robot.send(MESSAGE), { outcome: 'sent' })
})

test('a long Retry-After is kept by the next process, too', async () => {
  await using w = await timedWorld()
  let bucketState: BucketState | undefined
  const options = () => ({
    ...w.options('slack'),
    bucketState,
    onBucketState: (state: BucketState) => {
      bucketState = state
    },
  })
  w.doubles.behave((response) => void response.writeHead(429, { 'retry-after': '3600' }).end('rate_limited'))
  assert.equal((await robotOf(w.doubles, 'slack', options()).send(MESSAGE)).outcome, 'failed')
  w.doubles.behave(undefined)
  w.clock.advance(3_500_000)
  const outcome = await robotOf(w.doubles, 'slack', options()).send(MESSAGE)
  assert.ok(outcome.outcome === 'failed' && /no message for 100 s/.test(outcome.reason), inspect(outcome))
  assert.equal(w.doubles.requests.length, 1)
  w.clock.advance(100_000)
  assert.deepEqual(await robotOf(w.doubles, 'slack', options()).send(MESSAGE), { outcome: 'sent' })
})

test('a pause after the second attempt is kept, too', async () => {
  await using w = await timedWorld()
  let bucketState: BucketState | undefined
  const onBucketState = (state: BucketState) => {
    bucketState = state
  }
  const pauses = ['2', '3600']
  w.doubles.behave((response) => void response.writeHead(429, { 'retry-after': pauses.shift() }).end())
  const robot = robotOf(w.doubles, 'slack', { ...w.options('slack'), onBucketState })
  assert.equal((await robot.send(MESSAGE)).outcome, 'failed')
  assert.deepEqual([w.doubles.requests.length, bucketState?.blockedUntil], [2, w.clock.now() + 3_600_000])
})

test('a clock that is set back makes a message wait longer, and ends no wait early', async () => {
  await using w = await timedWorld(false)
  const robot = robotOf(w.doubles, 'dingtalk', w.options('dingtalk'))
  for (let n = 0; n < 10; n++) await robot.send(MESSAGE)
  w.clock.advance(-86_400_000)
  const before = w.clock.now()
  assert.deepEqual(await robot.send(MESSAGE), { outcome: 'sent' })
  assert.equal(w.clock.now() - before, 6_000)
})

test('markup in a text notifies no one', async () => {
  await using w = await timedWorld()
  const text = '<!channel> <at user_id="all">everyone</at> [x](http://evil)'
  for (const kind of ROBOT_KINDS) await robotOf(w.doubles, kind, w.options(kind)).send({ ...MESSAGE, text })
  const bodyOf = (kind: RobotKind) => w.doubles.requests.find((each) => each.kind === kind)?.body ?? ''
  assert.ok(!bodyOf('slack').includes('<!channel>'))
  assert.ok(bodyOf('slack').includes('&lt;!channel&gt;'))
  assert.match(bodyOf('slack'), /"mrkdwn":false/)
  assert.match(bodyOf('feishu'), /"msg_type":"post"/)
  for (const kind of ['dingtalk', 'wecom'] as const) assert.match(bodyOf(kind), /"msgtype":"text"/)
})

test('the links of a message are buttons where the robot has some', async () => {
  await using w = await timedWorld()
  const url = 'https://shop.example.org/console/alerts/1'
  for (const kind of ['feishu', 'slack', 'teams', 'telegram'] as const) {
    const links = [{ kind: 'acknowledge', url }] as const
    assert.deepEqual(await robotOf(w.doubles, kind, w.options(kind)).send({ ...MESSAGE, links }), {
      outcome: 'sent',
    })
    const { body = '' } = w.doubles.requests.at(-1) ?? {}
    assert.ok(body.includes(JSON.stringify(url)) && body.includes('Acknowledge'), kind)
  }
})

test('an invalid address is refused without repeating it', () => {
  for (const address of ['canary', 'ftp://canary/', 'https://user:canary@host/']) {
    assert.throws(
      () => new GroupRobot({ kind: 'slack', url: new Secret(address), clock: systemClock }),
      (error: Error) => !inspect(error).includes('canary'),
    )
  }
})

test('aborting a send that waits for the rate limit ends it at once', async () => {
  await using doubles = await startRobots()
  const bucketState = { tokens: 0, at: Date.now(), blockedUntil: Date.now() + 10_000 }
  const control = new AbortController()
  const sending = robotOf(doubles, 'slack', { bucketState }).send(MESSAGE, control.signal)
  control.abort()
  assert.deepEqual(await sending, { outcome: 'failed', reason: 'interrupted', retryable: true })
  assert.equal(doubles.requests.length, 0)
})

test('credentials are redacted in every encoding', () => {
  const url = 'https://robot/robot/send?access_token=canary%2F0123456789'
  for (const echoed of [url, 'canary%2F0123456789', 'canary/0123456789'])
    assert.equal(redact(`no ${echoed} here`, url, undefined), 'no **redacted** here')
})

test('aborting a send ends it at once', async () => {
  await using doubles = await startRobots()
  doubles.behave(() => {})
  const control = new AbortController()
  const sending = robotOf(doubles, 'slack').send(MESSAGE, control.signal)
  setImmediate(() => control.abort())
  assert.deepEqual(await sending, { outcome: 'failed', reason: 'interrupted', retryable: true })
})

const LIMITS: Readonly<Record<RobotKind, readonly [perMs: number, messages: number][]>> = {
  feishu: [
    [1_000, 5],
    [60_000, 100],
  ],
  dingtalk: [[60_000, 20]],
  wecom: [[60_000, 20]],
  slack: [[1_000, 1]],
  teams: [[1_000, 4]],
  telegram: [[60_000, 20]],
  generic: [[60_000, 60]],
}

for (const kind of ROBOT_KINDS) {
  test(`${kind}: no window of its documented limits has more messages`, () => {
    const clock = fakeClock()
    const bucket = new TokenBucket(ROBOT_ADAPTERS[kind].rate, clock.now)
    const times: number[] = []
    while (times.length < 200) {
      const waitMs = bucket.take()
      if (waitMs === 0) times.push(clock.now())
      else clock.advance(waitMs)
    }
    for (const [perMs, messages] of LIMITS[kind]) {
      const most = Math.max(
        ...times.map((start) => times.filter((at) => at >= start && at < start + perMs).length),
      )
      assert.ok(most <= messages, `${most} in ${perMs} ms`)
    }
  })
}

test('the answer of a robot that echoes its credentials is redacted', async () => {
  await using doubles = await startRobots()
  doubles.behave((response) => void response.writeHead(200).end(`thanks for ${ROBOT_TOKEN}`))
  const webhook = new RobotWebhook({ kind: 'generic', url: new Secret(doubles.url('generic')) })
  assert.deepEqual(await webhook.send(MESSAGE), { sent: true, answer: 'HTTP 200 thanks for **redacted**' })
})
