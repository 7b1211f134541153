import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { JsonText } from '../../kernel/text.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { PageOf, PageQuery } from '../../wire/page.ts'
import { ok, type Answer, type Route, routeOf } from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import { createHttpServer } from './server.ts'

const route = routeOf('Things')

const LONG = 'a long text '.repeat(200)
const ANSWERS: Readonly<Record<string, Answer>> = {
  data: ok({ text: LONG }),
  json: ok(new JsonText(JSON.stringify({ text: LONG }))),
  text: ok(LONG, { 'content-type': 'text/plain; charset=utf-8' }),
  short: ok({ text: 'short' }),
  tagged: ok({ text: LONG }, { etag: '"7"' }),
}

function things(method: 'GET' | 'POST'): Route {
  return route({
    method,
    path: '/things/:name',
    operation: `${method.toLowerCase()}Thing`,
    summary: 'A thing',
    access: 'public',
    params: Type.Object({ name: Type.String({ maxLength: 64 }) }),
    answers: { 200: { description: 'The thing.' } },
    read: ({ params }) => ANSWERS[params.name] ?? ok({}),
  })
}

const LIST = route({
  method: 'GET',
  path: '/numbers',
  operation: 'listNumbers',
  summary: 'Numbers',
  access: 'public',
  query: Fields({ ...PageQuery }),
  answers: { 200: { description: 'A page.', schema: PageOf(Fields({ n: Type.Integer() })) } },
  read: () => ok({ items: [{ n: 1 }], next_cursor: null }),
})

async function serve(t: TestContext) {
  const server = await createHttpServer({
    routes: [things('GET'), things('POST'), LIST],
    identify: () => undefined,
    logger: silentLogger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  t.after(() => server.close())
  const url = `http://${await server.listen({ host: '127.0.0.1', port: 0 })}`
  return async (path: string, headers: IncomingHttpHeaders, method = 'GET') => {
    const asked = request(url + path, { method, headers }).end()
    const [response] = await once(asked, 'response')
    return { headers: response.headers as IncomingHttpHeaders, body: await buffer(response) }
  }
}

const GZIP = { 'accept-encoding': 'br, gzip;q=0.5' }

test('a long answer to a read is compressed for a client that asks, with the length of what is sent', async (t) => {
  const ask = await serve(t)
  for (const name of ['data', 'json', 'text']) {
    const plain = await ask(`/things/${name}`, {})
    const packed = await ask(`/things/${name}`, GZIP)
    assert.deepEqual(
      [plain, packed].map(({ headers }) => [headers['content-encoding'], headers.vary]),
      [
        [undefined, 'accept-encoding'],
        ['gzip', 'accept-encoding'],
      ],
    )
    assert.deepEqual(gunzipSync(packed.body), plain.body)
    assert.equal(packed.headers['content-type'], plain.headers['content-type'])
    const head = await ask(`/things/${name}`, GZIP, 'HEAD')
    for (const { headers } of [packed, head])
      assert.equal(headers['content-length'], String(packed.body.length))
  }
})

test('a short answer, one with a tag and one to a change stay as they are', async (t) => {
  const ask = await serve(t)
  for (const [name, method] of [
    ['short', 'GET'],
    ['tagged', 'GET'],
    ['data', 'POST'],
  ] as const) {
    const { headers, body } = await ask(`/things/${name}`, GZIP, method)
    assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined], name)
    assert.ok(body.toString().startsWith('{"text":'))
  }
})

test('caches hear that a list depends on the type that the client takes', async (t) => {
  const ask = await serve(t)
  for (const accept of ['text/csv', 'application/json'])
    assert.equal((await ask('/numbers', { accept })).headers.vary, 'accept')
})
