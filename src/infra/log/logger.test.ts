import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../kernel/clock.ts'
import { createLogger, type LoggerOptions, prettyLine } from './logger.ts'

const AT = Date.UTC(2026, 0, 31, 2, 0, 0, 7)
const clock: Clock = { now: () => AT, monotonic: () => 0 }

function open(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const { logger } = createLogger({ level: 'debug', format: 'json', clock, destination, ...options })
  return { logger, lines, objects: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('a line is one JSON object with time, level, message and fields', () => {
  const { logger, lines, objects } = open()
  logger.info({ order_id: 'o-1', amount_cents: 5, nested: { a: [1] } }, 'order created')
  assert.deepEqual(objects(), [
    {
      ts: '2026-01-31T02:00:00.007Z',
      level: 'info',
      message: 'order created',
      order_id: 'o-1',
      amount_cents: 5,
      nested: { a: [1] },
    },
  ])
  assert.match(lines[0] ?? '', /^[^\n]+\n$/)
})

test('for journald errors and warnings begin with their priority', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { logger, lines } = open({ format, priorities: true })
    for (const level of ['error', 'warn', 'info', 'debug'] as const) logger[level]({}, 'it')
    assert.deepEqual(
      lines.map((line) => line.slice(0, 3)),
      ['<3>', '<4>', ...lines.slice(2).map((line) => line.slice(0, 3))],
    )
    assert.ok(lines.slice(2).every((line) => !line.startsWith('<')))
  }
})

test('the time follows the clock', () => {
  let now = AT
  const { logger, objects } = open({ clock: { now: () => now, monotonic: () => 0 } })
  logger.info({}, 'one')
  now += 1_001
  logger.info({}, 'two')
  assert.deepEqual(
    objects().map(({ ts }) => ts),
    ['2026-01-31T02:00:00.007Z', '2026-01-31T02:00:01.008Z'],
  )
})

for (const [level, expected] of [
  ['error', ['error']],
  ['warn', ['error', 'warn']],
  ['info', ['error', 'warn', 'info']],
  ['debug', ['error', 'warn', 'info', 'debug']],
] as const) {
  test(`at level ${level} the lines ${expected.join(', ')} are written, by children too`, () => {
    const { logger, objects } = open({ level })
    for (const each of [logger, logger.child({})]) {
      each.error({}, 'm')
      each.warn({}, 'm')
      each.info({}, 'm')
      each.debug({}, 'm')
    }
    assert.deepEqual(
      objects().map((line) => line['level']),
      [...expected, ...expected],
    )
  })
}

test('a child adds its fields, and those of its parents, to each of its lines only', () => {
  const { logger, objects } = open()
  const child = logger.child({ module: 'api' })
  child.child({ part: 'bus' }).info({ a: 1 }, 'm')
  child.info({}, 'm')
  logger.info({}, 'm')
  assert.deepEqual(
    objects().map(({ module, part, a }) => ({ module, part, a })),
    [
      { module: 'api', part: 'bus', a: 1 },
      { module: 'api', part: undefined, a: undefined },
      { module: undefined, part: undefined, a: undefined },
    ],
  )
})

test('a field is never twice in a line: the nearest value wins', () => {
  const { logger, lines, objects } = open()
  logger.child({ part: 'a', kept: 1 }).child({ part: 'b' }).info({}, 'm')
  logger.child({ part: 'a', kept: 1 }).info({ part: 'c' }, 'm')
  assert.deepEqual(
    objects().map(({ part, kept }) => [part, kept]),
    [
      ['b', 1],
      ['c', 1],
    ],
  )
  for (const line of lines) assert.equal(line.split('"part"').length, 2)
})

test('a field cannot replace the time, the level or the message', () => {
  const { logger, lines, objects } = open()
  const forged = { ts: 'then', level: 'error', message: 'forged' }
  logger.info(forged, 'true')
  logger.child(forged).info({}, 'true')
  for (const [index, line] of objects().entries()) {
    assert.equal(line['ts'], '2026-01-31T02:00:00.007Z')
    assert.equal(line['level'], 'info')
    assert.equal(line['message'], 'true')
    assert.equal(line['field_level'], 'error')
    assert.equal(lines[index]?.split('"level"').length, 2)
  }
})

test('secrets in messages, fields and bound fields are not written', () => {
  const { logger, lines } = open()
  logger
    .child({ api_key: 'CANARY' })
    .error({ password: 'CANARY', e: new Error('token=CANARY') }, 'Bearer CANARY')
  assert.equal(lines.length, 1)
  assert.doesNotMatch(lines[0] ?? '', /CANARY/)
})

test('an error in the place of the fields is written as an error', () => {
  const { logger, objects } = open()
  logger.error(new Error('boom') as unknown as Record<string, never>, 'failed')
  const { error } = objects()[0] as { error: { type: string; message: string } }
  assert.deepEqual([error.type, error.message], ['Error', 'boom'])
})

test('an error has the same shape under any name', () => {
  const { logger, objects } = open()
  logger.error({ err: new TypeError('a'), error: new TypeError('a') }, 'failed')
  const { err, error } = objects()[0] as Record<string, { stack: string }>
  assert.deepEqual({ ...err, stack: '' }, { type: 'TypeError', message: 'a', stack: '' })
  assert.deepEqual({ ...error, stack: '' }, { type: 'TypeError', message: 'a', stack: '' })
})

test('a message is not a format string', () => {
  const { logger, objects } = open()
  logger.info({}, '100 %s %d %j %%')
  assert.equal(objects()[0]?.['message'], '100 %s %d %j %%')
})

const FORGERY =
  'x\n{"level":"error","message":"forged"}\r\n02:00:00.007Z ERROR forged \u001b[2K\u009b2K\u2028'

for (const format of ['json', 'pretty'] as const) {
  test(`line feeds and terminal sequences cannot forge a ${format} line`, () => {
    const { logger, lines } = open({ format })
    const stack = Object.assign(new Error(FORGERY), {})
    logger.child({ bound: FORGERY }).warn({ field: FORGERY, [FORGERY]: 1, nested: [FORGERY] }, FORGERY)
    logger.warn({ error: stack }, FORGERY)
    const written = lines.join('')
    assert.doesNotMatch(written, /(?!\n)\p{Cc}|\u2028/u)
    const own = format === 'json' ? /^\{"level":"warn","ts":"2026/ : /^02:00:00\.007Z WARN {2}x\\n|^ {4}\| /
    for (const line of written.trimEnd().split('\n')) assert.match(line, own)
  })
}

test('an error line is written at once, and flush writes waiting lines', () => {
  const calls: string[] = []
  const destination = {
    write: (line: string) => void calls.push((JSON.parse(line) as { level: string }).level),
    flush: () => void calls.push('flush'),
    flushSync: () => void calls.push('flushSync'),
  }
  const { logger, flush } = createLogger({ level: 'info', format: 'json', destination })
  logger.info({}, 'm')
  logger.error({}, 'm')
  logger.child({}).error({}, 'm')
  flush()
  assert.deepEqual(calls, ['info', 'error', 'flush', 'error', 'flush', 'flushSync'])
})

const START = { level: 'error', ts: '2026-01-31T02:00:00.007Z' }

test('a pretty line shows time, level, message and fields, and the stack below', () => {
  const error = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at here (file.ts:1:2)' }
  const fields = { order_id: 'o-1', note: 'two words', list: [1], error }
  assert.equal(
    prettyLine(JSON.stringify({ ...START, ...fields, message: 'it failed' }), false),
    '02:00:00.007Z ERROR it failed order_id=o-1 note="two words" list=[1] error={"type":"Error","message":"boom"}\n' +
      '    | Error: boom\n' +
      '    |     at here (file.ts:1:2)\n',
  )
})

test('a pretty line has colours only with the option', () => {
  const line = JSON.stringify({ ...START, level: 'info', a: 1, message: 'm' })
  assert.equal(prettyLine(line, false), '02:00:00.007Z INFO  m a=1\n')
  assert.equal(prettyLine(line, true), '02:00:00.007Z \u001b[32mINFO \u001b[39m m \u001b[36ma\u001b[39m=1\n')
})
