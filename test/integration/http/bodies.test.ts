import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ADMIN, assertRefused, openApi } from './client.ts'
import type { Answer, Sent } from './traffic.ts'

const MIB = 1_048_576

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

/** Sends a body as it is, under a content type; undefined for none. */
function send(
  path: string,
  body: string | Buffer,
  type: string | undefined = 'application/json',
  more: Partial<Sent> = {},
) {
  const headers = { ...ADMIN, ...(type !== undefined && { 'content-type': type }), ...more.headers }
  return api.send({ method: 'POST', path, body, ...more, headers })
}

const order = (change: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ order_id: `order-${randomUUID()}`, platform: 'live', amount_cents: 4_990, ...change })

/** An order whose amount stands in the text as it is. */
const orderOver = (amount: string) => order({ amount_cents: 'AMOUNT' }).replace('"AMOUNT"', amount)

const made = (answer: Answer): Record<string, unknown> => {
  assert.equal(answer.status, 201, answer.text)
  return answer.json() as Record<string, unknown>
}

describe('the content type of a body', () => {
  const GOOD = [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
    'APPLICATION/JSON; Charset=Utf-8',
    'application/json;',
  ]
  for (const type of GOOD) {
    test(`may be ${JSON.stringify(type)}`, async () => {
      made(await send('/orders', order(), type))
    })
  }

  const BAD = [
    'text/plain',
    'application/json\ta',
    'application/json garbage',
    'application/json, text/plain',
    'application/jsonx',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/*',
    '*/*',
    'json',
    ';',
    '',
  ]
  for (const type of BAD) {
    test(`may not be ${JSON.stringify(type)}`, async () => {
      assertRefused(await send('/orders', order(), type), 415, 'unsupported_media_type')
    })
  }

  test('may stand behind any space, which is none of its own', async () => {
    made(await send('/orders', order(), ' \t application/json'))
  })

  test('may not be missing', async () => {
    const { 'content-type': _, ...headers } = { ...ADMIN, 'content-type': '' }
    assertRefused(
      await api.send({ method: 'POST', path: '/orders', body: order(), headers }),
      415,
      'unsupported_media_type',
    )
  })

  test('applies to an operation without a body, too', async () => {
    const path = `/alerts/${randomUUID()}/recover`
    assertRefused(await send(path, 'surprise', 'text/plain'), 415, 'unsupported_media_type')
  })
})

describe('the coding of a body', () => {
  test('is none: a compressed body is refused, packed or not', async () => {
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'GZIP, identity']) {
      const headers = { 'content-encoding': coding }
      assertRefused(
        await send('/orders', order(), undefined, { headers }),
        415,
        'unsupported_media_type',
        undefined,
        coding,
      )
    }
    const packed = gzipSync(order())
    assertRefused(
      await send('/orders', packed, undefined, { headers: { 'content-encoding': 'gzip' } }),
      415,
      'unsupported_media_type',
    )
    assertRefused(await send('/orders', packed), 400, 'malformed_json')
  })

  test('may be named identity', async () => {
    made(await send('/orders', order(), undefined, { headers: { 'content-encoding': 'identity' } }))
  })

  test('is UTF-8 and nothing else', async () => {
    const [head, tail] = order({ platform: 'AB' }).split('AB') as [string, string]
    const wrong = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe9]]
    for (const bytes of wrong) {
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)])
      assertRefused(
        await send('/orders', body),
        400,
        'malformed_json',
        undefined,
        Buffer.from(bytes).toString('hex'),
      )
    }
    assertRefused(await send('/orders', Buffer.from(order(), 'utf16le')), 400, 'malformed_json')
  })

  test('may come in pieces, even within a character', async () => {
    const platform = '😀'.repeat(64)
    const filled = order({ platform }).replace('{', `{${' '.repeat(16_300)}`)
    assert.equal(made(await send('/orders', filled, undefined, { chunked: true }))['platform'], platform)
  })
})

describe('the size of a body', () => {
  const sized = (bytes: number) => order().padEnd(bytes)

  for (const chunked of [false, true]) {
    const how = chunked ? 'in pieces' : 'with its length'

    test(`may be 1 MiB, ${how}`, async () => {
      made(await send('/orders', sized(MIB), undefined, { chunked }))
    })

    test(`may not be one byte more, ${how}`, async () => {
      assertRefused(await send('/orders', sized(MIB + 1), undefined, { chunked }), 413, 'payload_too_large')
    })
  }

  test('is counted in bytes, not in characters', async () => {
    const text = order({ platform: 'é' }).padEnd(MIB - 1)
    assert.equal(Buffer.byteLength(text), MIB)
    made(await send('/orders', text))
    assertRefused(await send('/orders', `${text} `), 413, 'payload_too_large')
  })

  test('of any other operation is no larger', async () => {
    for (const { method, path } of api.places.filter((place) => place.method !== 'GET')) {
      const sent = { method, path: path.replace(/\{.*?\}/g, 'x'), body: sized(MIB + 1) }
      const headers = { ...ADMIN, 'content-type': 'application/json' }
      assertRefused(
        await api.send({ ...sent, headers }),
        413,
        'payload_too_large',
        undefined,
        `${method} ${path}`,
      )
    }
  })
})

describe('JSON', () => {
  const MALFORMED = [
    '{',
    '{}x',
    '{}{}',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '[1,]',
    'undefined',
    'NaN',
    '{"amount_cents":Infinity}',
    '{"amount_cents":01}',
    '{"amount_cents":+1}',
    '{"amount_cents":0x10}',
    '{"amount_cents":1n}',
    '// a comment\n{}',
    '{"platform":"\n"}',
    '{"platform":"\\x41"}',
    '{"platform":"\\ud83"}',
    '\u0000',
    ' ',
    '"',
    '<order/>',
    'order_id=1',
    '\u00a0{}',
  ]
  for (const text of MALFORMED) {
    test(`is not ${JSON.stringify(text)}`, async () => {
      assertRefused(await send('/orders', text), 400, 'malformed_json')
    })
  }

  test('that is missing altogether lacks its object', async () => {
    assertRefused(await send('/orders', ''), 400, 'validation_failed', '')
    assertRefused(await api.send({ method: 'POST', path: '/orders' }), 400, 'validation_failed', '')
  })

  test('may begin with a byte order mark', async () => {
    made(await send('/orders', `\ufeff${order()}`))
  })

  test('that names a field twice is refused: another reader could take the other one', async () => {
    const text = order().replace('{', '{"amount_cents":1,')
    assertRefused(await send('/orders', text), 400, 'malformed_json')
  })

  const HOSTILE = [
    '{"__proto__":{"roles":["admin"]}}',
    '{"__proto__":null}',
    '{"\\u005f_proto__":{}}',
    '{"constructor":{"prototype":{"roles":["admin"]}}}',
    '{"payload":{"deep":[{"__proto__":{}}]},"subject":"a"}',
  ]
  for (const text of HOSTILE) {
    test(`may not reach for the prototype: ${text}`, async () => {
      for (const path of ['/orders', '/messages/publish'])
        assertRefused(await send(path, text), 400, 'validation_failed', '', path)
    })
  }

  test('of 120,000 levels is refused at once, wherever it stands', async () => {
    const deep = '['.repeat(120_000) + ']'.repeat(120_000)
    const objects = '{"a":'.repeat(120_000) + '1' + '}'.repeat(120_000)
    for (const text of [
      deep,
      objects,
      `{"subject":"a","payload":${deep}}`,
      `{"subject":"a","payload":${objects}}`,
    ]) {
      for (const path of ['/orders', '/messages/publish', `/alerts/${randomUUID()}/recover`])
        assertRefused(await send(path, text), 400, 'validation_failed', '', path)
    }
    assertRefused(await send('/messages/publish', '['.repeat(500_000)), 400, 'malformed_json')
  })

  test('may be nested 64 levels deep, and no deeper', async () => {
    const message = (levels: number) =>
      `{"subject":"shop.opened","payload":${'['.repeat(levels - 1)}1${']'.repeat(levels - 1)}}`
    assert.equal((await send('/messages/publish', message(64))).status, 202)
    assertRefused(await send('/messages/publish', message(65)), 400, 'validation_failed', '')
  })

  test('of very many fields is refused', async () => {
    const fields = Object.fromEntries(Array.from({ length: 14_000 }, (_, index) => [`field_${index}`, index]))
    assertRefused(await send('/orders', order(fields)), 400, 'validation_failed', 'field_0')
  })
})

describe('a number', () => {
  const AMOUNTS = {
    '0': 0,
    '-0': 0,
    '1.0': 1,
    '1e3': 1_000,
    '9007199254740991': Number.MAX_SAFE_INTEGER,
    '1E+2': 100,
  }
  for (const [text, amount] of Object.entries(AMOUNTS)) {
    test(`may be written ${text}`, async () => {
      assert.equal(made(await send('/orders', orderOver(text)))['amount_cents'], amount)
    })
  }

  const REFUSED = [
    '-1',
    '1.5',
    '1e-1',
    '9007199254740992',
    '9007199254740993',
    '1e400',
    '-1e400',
    '1e16',
    '9'.repeat(400),
  ]
  for (const text of REFUSED) {
    test(`of cents may not be ${text.slice(0, 20)}`, async () => {
      assertRefused(await send('/orders', orderOver(text)), 400, 'validation_failed', 'amount_cents')
    })
  }

  test('that no double holds is refused wherever it stands, and not published as null', async () => {
    const message = `{"subject":"shop.opened","payload":{"prices":[1,{"highest":1e400}]}}`
    assertRefused(
      await send('/messages/publish', message),
      400,
      'validation_failed',
      'payload.prices.1.highest',
    )
    const large = '{"subject":"shop.opened","payload":[1e308,"1e400","9e999"]}'
    assert.deepEqual(((await send('/messages/publish', large)).json() as { payload: unknown }).payload, [
      1e308,
      '1e400',
      '9e999',
    ])
  })
})

describe('text', () => {
  const TEXTS = [
    '😀',
    'e\u0301',
    'é',
    '\u202egnp',
    '\uffff',
    '\ufeffx',
    "'; drop table orders; --",
    '%00',
    '\\u0000',
    '\u2028',
    '\u0001\u001f\u007f',
  ]
  for (const platform of TEXTS) {
    test(`comes back as it was sent: ${JSON.stringify(platform)}`, async () => {
      const { order_id } = made(await send('/orders', order({ platform })))
      const answer = await api.send({ method: 'GET', path: `/orders/${String(order_id)}` })
      assert.equal((answer.json() as { platform: string }).platform, platform)
      const listed = await api.send({
        method: 'GET',
        path: `/orders?platform=${encodeURIComponent(platform)}`,
      })
      const { items } = listed.json() as { items: { order_id: string }[] }
      assert.equal(items[0]?.order_id, order_id)
    })
  }

  test('of a million characters is refused by its field, not by a slow pattern', async () => {
    const long = 'a-'.repeat(500_000)
    const fields = { order_id: long, platform: long, expires_at: long }
    for (const [field, value] of Object.entries(fields)) {
      assertRefused(await send('/orders', order({ [field]: value })), 400, 'validation_failed', field)
    }
    for (const subject of ['a.'.repeat(500_000), `${'a'.repeat(999_000)} `]) {
      assertRefused(
        await send('/messages/publish', JSON.stringify({ subject, payload: 1 })),
        400,
        'validation_failed',
        'subject',
      )
    }
  })
})

test('a refusal names every fault at its place', async () => {
  const body = {
    subject: 'a b',
    headers: { 'x-shop': 7, 'no/header~': 'a', 'nats-msg-id': 'b' },
    surprise: 1,
  }
  const answer = await send('/messages/publish', JSON.stringify(body))
  for (const path of [
    'payload',
    'surprise',
    'subject',
    'headers.x-shop',
    'headers.no/header~',
    'headers.nats-msg-id',
  ])
    assertRefused(answer, 400, 'validation_failed', path)
})

test('nothing that was sent has reached the prototype of all objects, or stopped the platform', async () => {
  const answer = await api.send({ method: 'GET', path: '/auth/me', headers: { 'x-user-id': 'nobody' } })
  assert.deepEqual(answer.json(), { id: 'nobody', name: 'nobody', roles: [] })
  assert.deepEqual(
    api.platform.logs().filter(({ level }) => level === 'error'),
    [],
  )
})
