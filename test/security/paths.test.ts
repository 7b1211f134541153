import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ADMIN, openApi, openClient } from '../integration/http/client.ts'
import { bodySchema, type Place, type Schema } from '../integration/http/document.ts'
import type { Answer, Sent } from '../integration/http/traffic.ts'
import { signIn } from '../integration/http/tokens.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { PATH_PAYLOADS, writings } from './path-payloads.ts'
import { sampleBody } from './openapi-fuzz/values.ts'

const AT_ONCE = 16

const directory = temporaryDirectory()
after(() => directory[Symbol.dispose]())
const audited = temporaryDirectory()
after(() => audited[Symbol.dispose]())
const trace = join(audited.path, 'trace')
// -D: the program stays our child. --seccomp-bpf: other calls never stop for the tracer.
const audit = [
  'strace',
  '-D',
  '-f',
  '-qq',
  '--seccomp-bpf',
  '-e',
  'trace=open,openat,openat2,execve',
  '-o',
  trace,
]
const api = await openApi({ DATA_DIR: directory.path }, audit)
after(() => api[Symbol.asyncDispose]())
const tracedBefore = readFileSync(trace).length
const files = () => readdirSync(directory.path).sort()
const before = files()
const bystander = await signIn(api, ['auditor'])

// What a file that was read, or a command that was run, would show.
const TRACES = [/root:[^:]*:0:0:/, /uid=\d+\(/, /"dependencies"/, /SQLite format 3/, /\[fonts\]/, /PATH=\//]

test('there are at least 300 payloads', () =>
  assert.ok(PATH_PAYLOADS.length >= 300, String(PATH_PAYLOADS.length)))

for (const [number, place] of api.places.filter(({ path }) => path.includes('{')).entries()) {
  describe(`${place.method} ${place.path}`, () => {
    test('finds nothing under an id that is a path, a command or a query', async () => {
      const segments = PATH_PAYLOADS.map((payload, index) => oneWriting(payload, number + index))
      for (let at = 0; at < segments.length; at += AT_ONCE) {
        const some = segments.slice(at, at + AT_ONCE)
        await Promise.all(
          some.map(async (segment) => {
            const answer = await api.send(requestAt(place, segment))
            if (!isChosenName(place, segment)) assertNothing(answer, segment)
          }),
        )
      }
    })
  })
}

/** Each place gets every payload in one of its writings, the next place in another: together they get all. */
function oneWriting(payload: string, turn: number): string {
  const all = writings(payload)
  return all[turn % all.length] as string
}

/** Whether the client chooses the name, and the text is one: then it may be created and removed. */
function isChosenName({ operation }: Place, segment: string): boolean {
  const chosen = ['putHeartbeat', 'deleteHeartbeat'].includes(operation.operationId)
  const decoded = segment.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return chosen && /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(decoded)
}

test('the API page serves no file but its own', async () => {
  // The document does not describe its pages, so only status and text are checked.
  using client = openClient(api.platform.url)
  for (const prefix of ['/docs/', '/docs/assets/', '/']) {
    for (const segment of PATH_PAYLOADS.flatMap(writings)) {
      const answer = await client.send({ method: 'GET', path: prefix + segment, headers: {} })
      // `/docs/%2e` and the like are the page itself.
      if (answer.status === 200) assert.match(answer.text, /<div id="page">|"openapi"/, segment)
      else assertNothing(answer, segment)
    }
  }
})

test('nothing was made, changed or removed, and nobody is missing', async () => {
  assert.deepEqual(files(), before)
  assert.equal((await api.send({ method: 'GET', path: `/users/${bystander.id}` })).status, 200)
  assert.deepEqual(
    // There is no bus, which is an error after a minute.
    api.platform.logs().filter(({ level, part }) => level === 'error' && part !== 'bus'),
    [],
  )
})

// Modules and pages of the program itself are loaded when they are first needed.
const OWN_PLACES = [directory.path, join(import.meta.dirname, '../..')]
// What Node.js and the C library read about the machine when threads start and end.
const OF_THE_MACHINE = /^\/(?:sys|proc\/(?:meminfo|sys\/vm\/overcommit_memory$|self\/(?:cgroup|maps)$))/

test('no file was opened but those of the platform, and no program was started', () => {
  const lines = readFileSync(trace, 'utf8').slice(tracedBefore).split('\n').filter(Boolean)
  // A call that another thread's call interrupts has two lines, and its path is in the first one.
  const calls = lines.filter((line) => !/^\d+ +<\.\.\. \w+ resumed>/.test(line))
  assert.ok(calls.length > 0, 'the audit has seen nothing')
  const foreign = calls.filter((call) => {
    const path = /open\w*\([^"]*"([^"]*)"/.exec(call)?.[1]
    return path === undefined || !(isOwn(path) || OF_THE_MACHINE.test(path))
  })
  assert.deepEqual(foreign, [])
  assert.deepEqual(
    calls.filter((call) => call.includes('jwt-secret')),
    [],
  )
})

function isOwn(path: string): boolean {
  return OWN_PLACES.some((place) => `${path}/`.startsWith(`${place}/`))
}

function requestAt({ method, path, operation }: Place, segment: string): Sent {
  const schema = bodySchema(operation)
  const body = schema && { body: JSON.stringify(bodyOf(schema)) }
  const type = schema && { 'content-type': 'application/json' }
  return { method, path: path.replace(/\{[^}]+\}/, () => segment), headers: { ...ADMIN, ...type }, ...body }
}

/** A good one, but for a password: it would be hashed before its user is looked for. */
function bodyOf(schema: Schema): unknown {
  return 'password' in (schema.properties ?? {}) ? {} : sampleBody(schema)
}

/** Not there, or refused; what is found below `/orders/../` is another operation, and as harmless. */
function assertNothing({ status, text, headers }: Answer, segment: string): void {
  const what = `${segment.slice(0, 80)} → ${status} ${text.slice(0, 200)}`
  assert.ok([301, 302, 303, 400, 404, 405, 409, 413, 415, 431].includes(status), what)
  for (const trace of TRACES) assert.doesNotMatch(text, trace, what)
  assert.equal(headers['set-cookie'], undefined, what)
  assert.doesNotMatch(String(headers['location'] ?? ''), /^(\/\/|https?:|\\)/, what)
}
