import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { HOUR } from '../../kernel/time.ts'
import type { Role } from '../../kernel/identity.ts'
import { noNotifications } from '../../../test/support/alerts.ts'
import { anyAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { testStore } from '../../../test/support/store.ts'
import { alertRoutes, type AlertSchema } from './routes.ts'
import type { Static } from 'typebox'
import { Alerts } from './service.ts'

const REPORT = {
  source: 'platform.backup.primary',
  title: 'Backup failed',
  body: 'No space left. weight=4 alarm_id=backup.failed',
  level: 'ERROR',
  server_addr: '192.0.2.10',
}

/** The fifth report freezes the alert. */
const SWINGS = ['CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL'] as const

interface Reply<T> {
  readonly status: number
  readonly body: T
}

type AlertWire = Static<typeof AlertSchema>

interface ErrorWire {
  readonly code: string
  readonly message: string
  readonly details?: readonly { path: string; message: string }[]
}

async function startApi() {
  const clock = fakeClock()
  const { store, ...disposal } = await testStore('sqlite', clock)
  const events: string[] = []
  const alerts = new Alerts({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async (_tx, { type }) => void events.push(type) },
    notifications: noNotifications,
    acknowledgeForMs: 4 * HOUR,
    declared: anyAlerts,
  })
  const server = await startRouteServer({ store, clock, routes: alertRoutes(alerts) })

  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    role: Role = 'admin',
    key?: string,
  ): Promise<Reply<T>> {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const response = await server.send(method, path, { body, role, headers })
    return { status: response.status, body: (await response.json()) as T }
  }

  return {
    call,
    events,
    report: <T = AlertWire>(body: object, key?: string) =>
      call<T>('POST', '/alerts/report', body, 'admin', key),
    /** Reports one alert with each of the levels; returns it as it is then. */
    async reportLevels(levels: readonly string[]) {
      let alert: AlertWire | undefined
      for (const level of levels) {
        const report = { source: 'platform.backup', title: 'Backup failed', level }
        alert = (await call<AlertWire>('POST', '/alerts/report', report)).body
      }
      assert.ok(alert)
      return alert
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await disposal[Symbol.asyncDispose]()
    },
  }
}

describe('POST /alerts/report', () => {
  it('answers 201 with a new alert, then 200 with the existing one', async () => {
    await using api = await startApi()
    const first = await api.report(REPORT)
    assert.equal(first.status, 201)
    const { id, first_at, last_at, ...rest } = first.body
    assert.deepEqual(rest, {
      alarm_id: 'backup.failed',
      source: REPORT.source,
      title: REPORT.title,
      body: REPORT.body,
      level: 3,
      weight: 4,
      severity: 'ERROR',
      server_addr: '192.0.2.10',
      status: 'firing',
      count: 1,
      recovered_at: null,
      runbook_url: null,
      version: 1,
    })
    assert.equal(first_at, '2026-01-31T02:00:00.000Z')
    assert.equal(last_at, first_at)
    const again = await api.report(REPORT)
    assert.deepEqual([again.status, again.body.id, again.body.count], [200, id, 2])
  })

  for (const level of ['critical', 'Critical', 'CRITICAL', 4]) {
    it(`accepts ${JSON.stringify(level)} as a level`, async () => {
      await using api = await startApi()
      const { body } = await api.report({ ...REPORT, body: '', level })
      assert.deepEqual([body.level, body.weight, body.severity], [4, 6, 'CRITICAL'])
    })
  }

  for (const level of ['CRITICAL', 'INFO', 4, 0] as const) {
    it(`keeps firing at level ${level} when only its text has weight 0`, async () => {
      await using api = await startApi()
      const { body } = await api.report({ ...REPORT, level, body: 'weight: 0 alarm_id=backup.failed' })
      assert.equal(body.status, 'firing')
      assert.ok(body.weight > 0)
    })
  }

  for (const recovery of [{ body: 'weight: 0' }, { body: 'weight: 0', level: 'CLOSE' }, { weight: 0 }]) {
    it(`recovers with ${JSON.stringify(recovery)}`, async () => {
      await using api = await startApi()
      const { level: _level, ...report } = { ...REPORT, alarm_id: 'backup.failed' }
      await api.report({ ...report, level: 'CRITICAL' })
      const { body } = await api.report({ ...report, ...recovery })
      assert.equal(body.status, 'recovered')
    })
  }

  it('takes the level from the weight when it is left out, and needs one of them', async () => {
    await using api = await startApi()
    const { level: _level, ...report } = REPORT
    const { body } = await api.report({ ...report, weight: 6 })
    assert.deepEqual([body.level, body.weight, body.severity], [4, 6, 'CRITICAL'])
    const refusal = await api.report<ErrorWire>({ ...report, body: '' })
    assert.deepEqual([refusal.status, refusal.body.details?.[0]?.path], [400, 'level'])
  })

  it('reads weight and alarm id from their fields, else from the body, else the weight from the level', async () => {
    await using api = await startApi()
    const byField = await api.report({ ...REPORT, weight: 6, alarm_id: 'other' })
    const byBody = await api.report({ ...REPORT, body: 'alarm_id: named, weight: 5' })
    const byLevel = await api.report({ source: 's', title: 't', level: 'high' })
    assert.deepEqual([byField.body.weight, byField.body.alarm_id], [6, 'other'])
    assert.deepEqual([byBody.body.weight, byBody.body.alarm_id], [5, 'named'])
    assert.deepEqual([byLevel.body.weight, byLevel.body.alarm_id, byLevel.body.body], [5, null, ''])
  })

  const IN_TEXT: [level: string | number | undefined, text: number, weight: number][] = [
    ...[1, 2, 3, 4, 5].map((text): [string, number, number] => ['CRITICAL', text, 6]),
    ['HIGH', 1, 5],
    ['HIGH', 4, 5],
    ['HIGH', 6, 6],
    ['WARNING', 2, 3],
    ['INFO', 1, 2],
    ['INFO', 6, 6],
    [4, 3, 6],
    [4, 4, 6],
    [4, 5, 5],
    [4, 6, 6],
    [3, 3, 4],
    [3, 5, 5],
    [2, 2, 3],
    [1, 1, 2],
    [0, 1, 1],
    [0, 3, 3],
    [undefined, 1, 1],
    [undefined, 5, 5],
    // The reports of the nightly backup.
    ['INFO', 2, 2],
    ['WARNING', 3, 3],
    ['ERROR', 4, 4],
    ['HIGH', 5, 5],
    ['CRITICAL', 6, 6],
    ['CLOSE', 0, 0],
    ['CLOSE', 4, 0],
  ]
  it('takes a weight from the text that is not below the level of the report', async () => {
    await using api = await startApi()
    for (const [level, text, weight] of IN_TEXT) {
      const { body } = await api.report({
        ...REPORT,
        level,
        body: `weight=${text} alarm_id=${level}.${text}`,
      })
      assert.equal(body.weight, weight, `level ${level}, weight=${text} in the text`)
    }
  })

  it('keeps the level of an alert that is reported again with a lower weight in its text', async () => {
    await using api = await startApi()
    const report = { ...REPORT, level: 'CRITICAL', alarm_id: 'scale' }
    await api.report({ ...report, body: '' })
    const { body } = await api.report({ ...report, body: 'Last reading weight: 1 kg' })
    assert.deepEqual([body.severity, body.weight, body.count], ['CRITICAL', 6, 2])
  })

  it('lets the field `weight` decide, also below the level', async () => {
    await using api = await startApi()
    const { body } = await api.report({ ...REPORT, level: 'CRITICAL', body: 'weight=6', weight: 3 })
    assert.equal(body.severity, 'WARNING')
  })

  const REFUSED: [what: string, change: object, path: string][] = [
    ['an unknown level', { level: 'FATAL' }, 'level'],
    ['the name of a property of every object as a level', { level: 'constructor' }, 'level'],
    ['a level as digits', { level: '4' }, 'level'],
    ['an internal level above 5', { level: 6 }, 'level'],
    ['a negative internal level', { level: -1 }, 'level'],
    ['a level that is not an integer', { level: 2.5 }, 'level'],
    ['neither a level nor a weight', { level: undefined, body: '' }, 'level'],
    ['no source', { source: undefined }, 'source'],
    ['an empty title', { title: '' }, 'title'],
    ['a weight above 6', { weight: 7 }, 'weight'],
    ['a weight as text', { weight: '6' }, 'weight'],
    ['a source that is too long', { source: 'x'.repeat(129) }, 'source'],
    ['a title that is too long', { title: 'x'.repeat(257) }, 'title'],
    ['an address that is too long', { server_addr: 'x'.repeat(257) }, 'server_addr'],
    ['an alarm id that is too long', { alarm_id: 'x'.repeat(129) }, 'alarm_id'],
    ['a body above 16 KiB', { body: 'x'.repeat(16_385) }, 'body'],
    ['a body above 16 KiB in bytes', { body: 'é'.repeat(8_193) }, 'body'],
    ['a NUL', { title: 'a\u0000b' }, 'title'],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ]
  for (const [what, change, path] of REFUSED) {
    it(`refuses ${what}`, async () => {
      await using api = await startApi()
      const { status, body } = await api.report<ErrorWire>({ ...REPORT, ...change })
      assert.deepEqual([status, body.code], [400, 'validation_failed'])
      assert.ok(
        body.details?.some((detail) => detail.path === path),
        JSON.stringify(body),
      )
    })
  }

  it('accepts a body of exactly 16 KiB', async () => {
    await using api = await startApi()
    assert.equal((await api.report({ ...REPORT, body: 'é'.repeat(8_192) })).status, 201)
  })

  for (const field of ['source', 'title', 'body', 'server_addr', 'alarm_id']) {
    it(`refuses a forbidden variable in ${field}, and stores nothing`, async () => {
      await using api = await startApi()
      const { status, body } = await api.report<ErrorWire>({ ...REPORT, [field]: 'see ${ Token }' })
      assert.deepEqual([status, body.code], [400, 'forbidden_variable'])
      assert.deepEqual(
        body.details?.map(({ path }) => path),
        [field],
      )
      assert.match(body.message, new RegExp(`^${field}:`))
      const list = await api.call<{ items: unknown[] }>('GET', '/alerts')
      assert.deepEqual(list.body.items, [])
    })
  }

  it('counts calls with the same Idempotency-Key once', async () => {
    await using api = await startApi()
    const first = await api.report(REPORT, 'key-1')
    const replay = await api.report(REPORT, 'key-1')
    assert.deepEqual(replay, first)
    assert.equal((await api.report(REPORT)).body.count, 2)
  })
})

interface PageWire {
  readonly items: AlertWire[]
  readonly next_cursor: string | null
}

describe('GET /alerts', () => {
  it('filters by status, source and level, as a name or as a number', async () => {
    await using api = await startApi()
    await api.report({ source: 'a', title: '1', level: 'HIGH' })
    await api.report({ source: 'a', title: '2', level: 'CRITICAL' })
    await api.report({ source: 'b', title: '3', level: 'CLOSE' })
    const titles = async (query: string) =>
      (await api.call<{ items: AlertWire[] }>('GET', `/alerts?${query}`)).body.items
        .map(({ title }) => title)
        .join('')
    assert.equal(await titles(''), '321')
    assert.equal(await titles('level=4'), '21')
    assert.equal(await titles('level=high'), '1')
    assert.equal(await titles('level=CLOSE'), '3')
    assert.equal(await titles('status=recovered'), '3')
    assert.equal(await titles('source=a&level=critical'), '2')
    assert.equal(await titles('text=B'), '3')
    assert.equal(await titles('sort=severity'), '213')
    assert.equal(await titles('sort=severity&source=a'), '21')
    assert.equal(await titles('sort=severity&level=high'), '1')
  })

  it('returns the most severe alerts first, page by page', async () => {
    await using api = await startApi()
    const levels = ['INFO', 'CRITICAL', 'WARNING', 'CRITICAL', 'CLOSE']
    for (const [index, level] of levels.entries())
      await api.report({ source: 'a', title: String(index), level })
    const titles: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const path: string = `/alerts?sort=severity&limit=2${cursor && `&cursor=${cursor}`}`
      const { body }: { body: PageWire } = await api.call<PageWire>('GET', path)
      titles.push(...body.items.map(({ title }) => title))
      cursor = body.next_cursor
    }
    assert.deepEqual(titles, ['3', '1', '2', '0', '4'])
  })

  it('returns all alerts page by page', async () => {
    await using api = await startApi()
    for (const title of ['1', '2', '3']) await api.report({ source: 'a', title, level: 'INFO' })
    const first = await api.call<PageWire>('GET', '/alerts?limit=2')
    const second = await api.call<PageWire>('GET', `/alerts?limit=2&cursor=${first.body.next_cursor}`)
    assert.deepEqual(
      first.body.items.map(({ title }) => title),
      ['3', '2'],
    )
    assert.deepEqual(
      second.body.items.map(({ title }) => title),
      ['1'],
    )
    assert.equal(second.body.next_cursor, null)
  })

  for (const query of [
    'level=6',
    'level=FATAL',
    'level=',
    'status=open',
    'colour=red',
    'cursor=x',
    'limit=0',
  ]) {
    it(`refuses ?${query}`, async () => {
      await using api = await startApi()
      const { status, body } = await api.call<ErrorWire>('GET', `/alerts?${query}`)
      assert.deepEqual([status, body.code], [400, 'validation_failed'])
    })
  }
})

describe('one alert', () => {
  it('is read and recovered by its id; a second recovery returns the same and emits no event', async () => {
    await using api = await startApi()
    const { id } = (await api.report(REPORT)).body
    const recovered = await api.call<AlertWire>('POST', `/alerts/${id}/recover`)
    assert.deepEqual(
      [
        recovered.status,
        recovered.body.status,
        recovered.body.level,
        recovered.body.severity,
        recovered.body.recovered_at,
      ],
      [200, 'recovered', 5, 'CLOSE', '2026-01-31T02:00:00.000Z'],
    )
    assert.deepEqual(await api.call('POST', `/alerts/${id}/recover`), recovered)
    assert.deepEqual(await api.call('GET', `/alerts/${id}`), recovered)
    assert.deepEqual(api.events, ['alert.raised', 'alert.recovered'])
  })

  it('that does not exist is 404', async () => {
    await using api = await startApi()
    for (const [method, path] of [
      ['GET', '/alerts/x'],
      ['GET', '/alerts/x/history'],
      ['POST', '/alerts/x/recover'],
      ['POST', '/alerts/x/acknowledge'],
      ['POST', '/alerts/x/unfreeze'],
    ] as const) {
      const { status, body } = await api.call<ErrorWire>(method, path)
      assert.deepEqual([status, body.code], [404, 'alert_not_found'])
    }
  })
})

describe('POST /alerts/{id}/acknowledge', () => {
  it('acknowledges a firing alert; again it is 200 without a change, also with another comment', async () => {
    await using api = await startApi()
    const { id } = (await api.report(REPORT)).body
    const first = await api.call<AlertWire>('POST', `/alerts/${id}/acknowledge`, { comment: 'On it.' })
    assert.deepEqual([first.status, first.body.status], [200, 'acknowledged'])
    assert.deepEqual(await api.call('POST', `/alerts/${id}/acknowledge`, { comment: 'Me too.' }), first)
    assert.deepEqual(await api.call('POST', `/alerts/${id}/acknowledge`), first)
    assert.deepEqual(api.events, ['alert.raised', 'alert.acknowledged'])
    const repeated = await api.report(REPORT)
    assert.deepEqual([repeated.body.status, repeated.body.count], ['acknowledged', 2])
    assert.equal(
      (await api.report({ ...REPORT, body: '', alarm_id: 'backup.failed', level: 'HIGH' })).body.status,
      'firing',
    )
  })

  for (const body of [{}, undefined]) {
    it(`needs no comment: ${JSON.stringify(body)}`, async () => {
      await using api = await startApi()
      const { id } = (await api.report(REPORT)).body
      assert.equal((await api.call('POST', `/alerts/${id}/acknowledge`, body)).status, 200)
    })
  }

  for (const [what, reports] of [
    ['recovered', ['CLOSE']],
    ['frozen', SWINGS],
  ] as const) {
    it(`is 409 for a ${what} alert, which stays as it is`, async () => {
      await using api = await startApi()
      const { id } = await api.reportLevels(reports)
      const { status, body } = await api.call<ErrorWire>('POST', `/alerts/${id}/acknowledge`)
      assert.deepEqual([status, body.code], [409, 'invalid_transition'])
      assert.equal((await api.call<AlertWire>('GET', `/alerts/${id}`)).body.status, what)
    })
  }

  for (const [comment, code] of [
    ['', 'validation_failed'],
    ['x'.repeat(4_097), 'validation_failed'],
    [null, 'validation_failed'],
    ['with ${password}', 'forbidden_variable'],
  ] as const) {
    it(`refuses the comment ${String(comment).slice(0, 20)}, and acknowledges nothing`, async () => {
      await using api = await startApi()
      const { id } = (await api.report(REPORT)).body
      const { status, body } = await api.call<ErrorWire>('POST', `/alerts/${id}/acknowledge`, { comment })
      assert.deepEqual([status, body.code, body.details?.[0]?.path], [400, code, 'comment'])
      assert.deepEqual(api.events, ['alert.raised'])
    })
  }
})

describe('POST /alerts/{id}/unfreeze', () => {
  for (const [last, expected] of [
    ['CRITICAL', 'firing'],
    ['WARNING', 'firing'],
    ['CLOSE', 'recovered'],
  ] as const) {
    it(`makes an alert that was last reported ${last} ${expected}, once`, async () => {
      await using api = await startApi()
      const { id } = await api.reportLevels([...SWINGS, last])
      const { status, body } = await api.call<AlertWire>('POST', `/alerts/${id}/unfreeze`)
      assert.deepEqual([status, body.status, body.severity], [200, expected, last])
      const again = await api.call<ErrorWire>('POST', `/alerts/${id}/unfreeze`)
      assert.deepEqual([again.status, again.body.code], [409, 'invalid_transition'])
      assert.deepEqual(api.events.slice(-2), ['alert.frozen', 'alert.unfrozen'])
    })
  }

  for (const level of ['ERROR', 'CLOSE']) {
    it(`is 409 for an alert at ${level} that is not frozen`, async () => {
      await using api = await startApi()
      const { id } = await api.reportLevels([level])
      const { status, body } = await api.call<ErrorWire>('POST', `/alerts/${id}/unfreeze`)
      assert.deepEqual([status, body.code], [409, 'invalid_transition'])
    })
  }
})

describe('GET /alerts/{id}/history', () => {
  it('has the changes, oldest first, and none for a repeated report', async () => {
    await using api = await startApi()
    const { id } = await api.reportLevels(['ERROR', 'ERROR'])
    await api.call('POST', `/alerts/${id}/acknowledge`, { comment: 'On it.' })
    await api.call('POST', `/alerts/${id}/recover`)
    await api.call('POST', `/alerts/${id}/recover`)
    const { status, body } = await api.call('GET', `/alerts/${id}/history`, undefined, 'auditor')
    const at = '2026-01-31T02:00:00.000Z'
    assert.equal(status, 200)
    assert.deepEqual(body, {
      items: [
        { at, from: null, to: 'firing', weight: 4, actor: 'anna', note: null, cause: null },
        { at, from: 'firing', to: 'acknowledged', weight: 4, actor: 'anna', note: 'On it.', cause: null },
        { at, from: 'acknowledged', to: 'recovered', weight: 0, actor: 'anna', note: null, cause: null },
      ],
      next_cursor: null,
    })
  })
})

describe('the roles of the alert operations', () => {
  const ALLOWED: [method: string, path: string, roles: Role[]][] = [
    ['POST', '/alerts/report', ['admin', 'devops', 'service']],
    ['GET', '/alerts', ['admin', 'devops', 'service', 'auditor']],
    ['GET', '/alerts/x', ['admin', 'devops', 'service', 'auditor']],
    ['GET', '/alerts/x/history', ['admin', 'devops', 'service', 'auditor']],
    ['POST', '/alerts/x/recover', ['admin', 'devops']],
    ['POST', '/alerts/x/acknowledge', ['admin', 'devops']],
    ['POST', '/alerts/x/unfreeze', ['admin', 'devops']],
  ]
  for (const [method, path, roles] of ALLOWED) {
    it(`are ${roles.join(', ')} for ${method} ${path}`, async () => {
      await using api = await startApi()
      const body = path.endsWith('report') ? REPORT : undefined
      const admitted: Role[] = []
      for (const role of ['admin', 'devops', 'service', 'auditor'] as const) {
        if ((await api.call(method, path, body, role)).status !== 403) admitted.push(role)
      }
      assert.deepEqual(admitted, roles)
    })
  }
})
