import { after, describe, test } from 'node:test'
import { freshCertificate } from '../../support/certificate-sample.ts'
import { bodySchema, hasOpenBody, hasOpenQuery, type Parameter, type Place, type Schema } from './document.ts'
import { assertAccepted, assertRefused, openApi } from './client.ts'
import type { Sent } from './traffic.ts'
import { bodyCases, fitsIntoTarget, queryCases, textCases, type FieldCase } from './field-cases.ts'
import { cursorCases } from './cursors.ts'
import { fieldsOf, hoursFromNow, sampleOf, toRequest } from './samples.ts'

// What is compared with a secret may be any text.
const ANY_TEXT = ['login.password', 'setPassword.old_password', 'redeemTicket.ticket']

const USER_ID = '01900000-0000-7000-8000-000000000000'

const NO_TIMES = [
  '',
  'now',
  '2026-01-31',
  '2026-02-30T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T02:00:00',
  '1769824800',
]

/** Fields with a format that their schema cannot express. */
const MEANINGS: readonly {
  readonly field: RegExp
  readonly good: readonly unknown[]
  readonly bad: readonly unknown[]
  /** Only these values: the cases that follow from the schema are not used. */
  readonly only?: boolean
}[] = [
  {
    field:
      /\.(at|expires_at|expires_before|created_from|created_to|ended_from|ended_to|updated_from|updated_to|expires_from|expires_to)$/,
    good: ['2026-01-31T02:00:00Z', '1970-01-01T00:00:00.001z', '2096-02-29T23:58:60.123456789+23:59'],
    bad: NO_TIMES,
  },
  {
    field: /^((list|export)Audit\.(from|to)|getSilenceCalendar\.from)$/,
    good: ['2026-01-31T02:00:00Z', '1970-01-01T00:00:00.001z'],
    bad: NO_TIMES,
  },
  {
    field: /^(list|export)Audit\.target$/,
    good: ['user:ada', 'heartbeat:a:b'],
    bad: ['', 'user', 'user:', ':ada', 'User:ada'],
    only: true,
  },
  {
    field: /^createSilence\.starts_at$/,
    good: [hoursFromNow(-1), hoursFromNow(2).replace('Z', '456+00:00')],
    bad: NO_TIMES,
  },
  {
    field: /^createSilence\.ends_at$/,
    good: [hoursFromNow(3), hoursFromNow(600).replace('Z', '456+00:00')],
    bad: [...NO_TIMES, '1970-01-01T00:00:00Z', hoursFromNow(0.5), hoursFromNow(9_000)],
  },
  { field: /^createSilence\.repeat\.from$/, good: ['00:00', '23:59'], bad: ['24:00', '2:00', '02:60'] },
  { field: /^createSilence\.repeat\.to$/, good: ['00:01', '24:00'], bad: ['00:00', '24:01', '2 am'] },
  {
    field: /^createSilence\.repeat\.time_zone$/,
    good: ['Europe/Berlin', 'UTC'],
    bad: ['Mars/Base', ''],
  },
  // In queries that may be repeated; src/domains/alerts/alertmanager has tests of them.
  {
    field: /^listAlertmanager(Alerts|Groups|Silences)\.filter$/,
    good: ['a="b"', 'a!~b.*'],
    bad: ['', 'a', 'a=~"("', 'a="b'],
    only: true,
  },
  {
    field: /^listAlertmanager\w+\.receiver$/,
    good: ['', 'robot|x'],
    bad: ['(', 'x'.repeat(1_025)],
    only: true,
  },
  {
    field: /^postAlertmanagerSilence\.startsAt$/,
    good: ['0001-01-01T00:00:00Z', hoursFromNow(1)],
    bad: NO_TIMES,
  },
  {
    field: /^postAlertmanagerSilence\.endsAt$/,
    good: [hoursFromNow(3), hoursFromNow(600)],
    bad: [...NO_TIMES, '0001-01-01T00:00:00Z', hoursFromNow(0.5), hoursFromNow(800)],
  },
  { field: /^postAlertmanagerSilence\.id$/, good: [''], bad: [7, null], only: true },
  {
    field: /^reportAlert\.runbook_url$/,
    good: ['https://wiki.example.org/runbooks/backup?a=b#c', 'http://192.0.2.1/'],
    bad: ['', 'x', '/runbook', 'ftp://wiki.example.org/', 'https://me:secret@wiki.example.org/'],
    only: true,
  },
  {
    field: /^recoverWebhook\.since$/,
    good: ['2026-01-31T03:00:00+01:00', '1970-01-01T00:00:00Z', hoursFromNow(2).replace('Z', '456+00:00')],
    bad: NO_TIMES,
  },
  {
    field: /^reportAlert\.level$/,
    good: ['CRITICAL', 'critical', 'Info', 'CLOSE', 0, 5],
    bad: ['', 'FATAL', '4', 'HIGH ', -1, 6],
  },
  {
    field: /^putHeartbeat\.severity$/,
    good: ['CRITICAL', 'critical', 'Info'],
    bad: ['', 'CLOSE', 'FATAL', 'HIGH '],
    only: true,
  },
  {
    field: /^(createWebhook|editWebhook)\.url$/,
    good: ['https://shop.example.org/hooks', 'https://shop.example.org:8443/a?b=c'],
    bad: ['', 'ftp://shop.example.org/', 'https://a:b@shop.example.org/', 'shop.example.org', 7, null],
    only: true,
  },
  {
    field: /^(createWebhook|editWebhook)\.subjects$/,
    good: [['order.paid', 'order.*'], ['*'], Array<string>(50).fill('order.paid')],
    bad: [[], ['telemetry.*'], Array<string>(51).fill('order.paid'), 'order.*', 7, null],
    only: true,
  },
  {
    field: /^createPayment\.return_url$/,
    good: ['https://shop.example.org/done'],
    bad: ['', 'ftp://shop.example.org/', 'https://a b', 'shop.example.org', 7, null],
    only: true,
  },
  {
    field: /^reconcilePayments\.date$/,
    good: ['2026-01-30'],
    bad: ['', '2026-1-3', 'today', 7, null],
    only: true,
  },
  // The sample has a period instead; src/domains/heartbeats has tests of schedules.
  { field: /^putHeartbeat\.schedule$/, good: [], bad: ['', 'at night', '0 0 30 2 *', 7, null], only: true },
  { field: /^putHeartbeat\.time_zone$/, good: [], bad: ['', 'UTC', 'Mars/Base', 7, null], only: true },
  {
    field: /^listAlerts\.level$/,
    good: ['CRITICAL', 'close', '0', '5'],
    bad: ['', 'FATAL', '6', '-1', '04'],
  },
  {
    field: /^listUserNames\.ids$/,
    only: true,
    good: [USER_ID, Array(50).fill(USER_ID).join(',')],
    bad: ['', 'x', `${USER_ID},`, Array(51).fill(USER_ID).join(',')],
  },
  {
    field: /^streamEvents\.subjects$/,
    good: ['order.paid', 'order.*', 'order.paid,alert.*'],
    bad: ['', 'order', 'order.', 'order.*.paid', 'shop.opened', 'order.paid,'],
  },
  // The users have other ids in each run; src/domains/tickets has tests of them.
  { field: /^createTicket\.assignee$/, good: [null], bad: ['', 'nobody', 7, []], only: true },
  // Other texts are invalid_certificate (src/domains/certificates/zoo.test.ts).
  {
    field: /^registerCertificate\.pem$/,
    good: [freshCertificate(), `text ${freshCertificate()}`],
    bad: ['', 'a\u0000b', 'a\ud800', 'x'.repeat(1_000_001), 7, true, null, [], {}],
    only: true,
  },
  // Without a provider every path is answered alike (src/domains/sign-in has the tests of paths).
  { field: /^beginSignIn\.return_to$/, good: ['/', '/console/?a=b'], bad: ['x'.repeat(1_025)], only: true },
  // The sample has an item without a list; lists have tests of their own.
  { field: /^sendTelemetry\.items$/, good: [], bad: [[], {}, 'x', 1, null], only: true },
  // The rules of menus have tests of their own.
  {
    field: /^editMenus\.items$/,
    good: [[], [{ id: 'a', title: 'A' }]],
    bad: [{}, 'x', 1, null],
    only: true,
  },
  ...cursorCases(),
]

const UNKNOWN_FIELDS = [
  'surprise',
  'constructor',
  'toString',
  'hasOwnProperty',
  'id',
  'seq',
  'created_at',
  'Status',
]

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

for (const place of api.places) {
  const { operationId, parameters = [] } = place.operation
  const body = bodySchema(place.operation)
  describe(operationId, () => {
    test('accepts a valid request', async () => {
      assertAccepted(await api.send(toRequest(place, sampleOf(place))))
    })
    // Bodies of foreign protocols have tests in src/domains/alerts/intake.
    if (body && !hasOpenBody(place.operation)) suiteOfBody(place, body)
    else if (!place.operation.requestBody && place.method !== 'GET') suiteWithoutBody(place)
    // The answers of providers have tests in src/domains/sign-in.
    if (!hasOpenQuery(place.operation)) suiteOfQuery(place, parameters)
    suiteOfPath(place, parameters)
  })
}

function suiteOfBody(place: Place, schema: Schema): void {
  const { properties = {}, required = [] } = schema
  const withBody = (change: Readonly<Record<string, unknown>>): Sent => {
    const sample = sampleOf(place)
    return toRequest(place, { ...sample, body: { ...fieldsOf(sample), ...change } })
  }

  test('refuses a body that is no object', async () => {
    for (const body of [[], [{}], 'text', 7, true, null]) {
      const sent = { ...toRequest(place, sampleOf(place)), body: JSON.stringify(body), headers: JSON_HEADERS }
      assertRefused(await api.send(sent), 400, 'validation_failed', '', JSON.stringify(body))
    }
  })

  test('refuses fields that it does not know, and names them', async () => {
    for (const name of UNKNOWN_FIELDS.filter((each) => !Object.hasOwn(properties, each))) {
      assertRefused(await api.send(withBody({ [name]: 1 })), 400, 'validation_failed', name)
    }
  })

  for (const [field, fieldSchema] of Object.entries(properties)) {
    test(`accepts every valid ${field}, and rejects and names every invalid one`, async () => {
      const cases = bodyCases(fieldSchema, { anyText: isAnyText(place, field) })
      for (const each of casesOf(place, field, cases))
        await judge(withBody({ [field]: each.value }), field, each)
    })

    const isNeeded = required.includes(field) || isAlternative(place, field)
    test(`${isNeeded ? 'needs' : 'does not need'} ${field}`, async () => {
      const answer = await api.send(withBody({ [field]: undefined }))
      if (isNeeded) assertRefused(answer, 400, 'validation_failed', field)
      else assertAccepted(answer, `without ${field}`)
    })
  }
}

function suiteWithoutBody(place: Place): void {
  const send = (body: unknown) =>
    api.send({ ...toRequest(place, sampleOf(place)), headers: JSON_HEADERS, body: JSON.stringify(body) })

  test('accepts no body, or an empty one', async () => {
    assertAccepted(await send({}))
  })

  test('refuses a body that it would ignore', async () => {
    assertRefused(await send({ surprise: 1 }), 400, 'validation_failed', 'surprise')
    for (const body of [[], 'text', 7, null]) assertRefused(await send(body), 400, 'validation_failed', '')
  })
}

function suiteOfQuery(place: Place, parameters: readonly Parameter[]): void {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  if (known.length === 0) return
  const withQuery = (query: string): Sent => ({ method: place.method, path: `${place.path}?${query}` })

  // The interface of Alertmanager; see `routes.test.ts` there.
  const ignoresOthers = place.path.startsWith('/api/v2/')
  test('rejects an unknown query parameter, and names it', { skip: ignoresOthers }, async () => {
    for (const name of [...UNKNOWN_FIELDS, '__proto__', 'limit[]', 'LIMIT']) {
      const query = `${encodeURIComponent(name)}=1`
      assertRefused(await api.send(withQuery(query)), 400, 'validation_failed', name, query)
    }
  })

  const goodFor = (name: string) =>
    `${name}=${encodeURIComponent(sampleOf(place).query?.[name] ?? goodOf(place, name))}`
  for (const { name, schema, explode } of known) {
    const others = known.filter((each) => each.required === true && each.name !== name)
    const needed = others.map((each) => `${goodFor(each.name)}&`).join('')
    test(`accepts every valid ${name}, and rejects and names every invalid one`, async () => {
      for (const each of casesOf(place, name, queryCases(schema)))
        await judge(withQuery(`${needed}${name}=${encodeURIComponent(String(each.value))}`), name, each)
    })

    const isRepeatable = schema.type === 'array' && explode !== false
    test(`${isRepeatable ? 'accepts' : 'refuses'} ${name} twice`, async () => {
      const good = goodFor(name)
      assertAccepted(await api.send(withQuery(needed + good)), good)
      const answer = await api.send(withQuery(`${needed}${good}&${good}`))
      if (isRepeatable) assertAccepted(answer, good)
      else assertRefused(answer, 400, 'validation_failed', name)
    })
  }
}

function suiteOfPath(place: Place, parameters: readonly Parameter[]): void {
  // A pattern of whole words is tested by its domain.
  const free = parameters.filter((each) => each.in === 'path' && !each.schema.pattern?.startsWith('^('))
  for (const { name, schema } of free) {
    const withParam = (value: unknown) => {
      const sample = sampleOf(place)
      return toRequest(place, { ...sample, params: { ...sample.params, [name]: String(value) } })
    }

    test(`accepts every possible ${name}, and rejects and names every other`, async () => {
      for (const each of textCases(schema, { anyText: false }).filter(fitsIntoTarget))
        await judge(withParam(each.value), name, each)
    })
  }
}

const JSON_HEADERS = { 'x-user-id': 'tester', 'x-user-roles': 'admin', 'content-type': 'application/json' }

function isAnyText({ operation }: Place, field: string): boolean {
  return ANY_TEXT.includes(`${operation.operationId}.${field}`)
}

/** Whether the field of the sample stands for another one, so that one of the two is needed. */
function isAlternative({ operation }: Place, field: string): boolean {
  return ['sendTelemetry.data', 'putHeartbeat.every_seconds'].includes(`${operation.operationId}.${field}`)
}

/** A value of a parameter that no sample has, because it goes with others of another list. */
function goodOf({ operation }: Place, field: string): string {
  const meaning = MEANINGS.find((each) => each.field.test(`${operation.operationId}.${field}`))
  const [good] = meaning?.good ?? []
  return typeof good === 'string' ? good : 'x'
}

/** The cases of a field; for a field in {@link MEANINGS}, valid are the values there. */
function casesOf({ operation }: Place, field: string, cases: readonly FieldCase[]): readonly FieldCase[] {
  const meaning = MEANINGS.find((each) => each.field.test(`${operation.operationId}.${field}`))
  if (!meaning) return cases
  const judged = (values: readonly unknown[], accepted: boolean) =>
    values.map((value) => ({ name: JSON.stringify(value), value, accepted }))
  return [
    ...cases.filter(({ accepted }) => !accepted && !meaning.only),
    ...judged(meaning.good, true),
    ...judged(meaning.bad, false),
  ]
}

async function judge(sent: Sent, field: string, { name, accepted, below = '' }: FieldCase): Promise<void> {
  const answer = await api.send(sent)
  const what = `${sent.method} ${sent.path.slice(0, 100)} with ${name} as ${field}`
  if (accepted) assertAccepted(answer, what)
  else assertRefused(answer, 400, 'validation_failed', `${field}${below}`, what)
}
