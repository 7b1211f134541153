import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import {
  nightAlertsWorld,
  reportTitle,
  type NightAlertsWorld,
  type Reaction,
} from '../../../test/support/night-alerts.ts'
import { MortalProcess, type Death } from '../../../test/support/mortal-alerts.ts'
import type { NightAlerts } from './night-alerts.ts'
import { DirectoryOutboxFiles, type OutboxFiles } from './outbox-files.ts'
import { drillTicket } from './tickets.ts'

const TEMPLATES = { 'backup.start': { title: '${backup_id}' } }

/** One process: the reports that it makes, how the platform reacts to its calls, and where it is killed. */
interface Life {
  readonly reports: number
  readonly reactions: readonly Reaction[]
  readonly otherwise: Reaction
  readonly death: Death | undefined
}

const reaction = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Reaction>('accept') },
  { weight: 3, arbitrary: fc.constantFrom<Reaction>('away', 'lost', 503, 500, 429) },
  { weight: 1, arbitrary: fc.constant<Reaction>(400) },
)

const life: fc.Arbitrary<Life> = fc.record({
  reports: fc.nat(4),
  reactions: fc.array(reaction, { maxLength: 6 }),
  otherwise: fc.constantFrom<Reaction>('accept', 'away', 503),
  death: fc.option(
    fc.record({ step: fc.integer({ min: 1, max: 14 }), when: fc.constantFrom('before', 'after') }),
    { nil: undefined },
  ),
})

/** Runs processes one after the other on the same files, and then one that nothing disturbs. */
async function live(lives: readonly Life[]) {
  const w = nightAlertsWorld({ templates: TEMPLATES })
  const begun: string[] = []
  const kept: string[] = []
  for (const { reports, reactions, otherwise, death } of lives) {
    const mortal = new MortalProcess(death)
    const alerts = w.another({ files: mortal.files(w.files), api: mortal.api(w.api) })
    w.api.reactions = [...reactions]
    w.api.otherwise = otherwise
    for (let index = 0; index < reports && !mortal.isDead; index++) {
      const title = `${begun.length}`
      begun.push(title)
      const done = alerts.report('backup_started', reportTitle(title)).then(() => void kept.push(title))
      await Promise.race([done, mortal.died])
    }
  }
  w.api.reactions = []
  w.api.otherwise = 'accept'
  await w.another().deliver()
  return { ...w, begun, kept }
}

test('whatever happens to platform and processes, no report is lost, doubled or out of order', async () => {
  const lives = fc.array(life, { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(lives, async (given) => {
      const { api, files, begun, kept } = await live(given)
      const accepted = api.titles()
      const refused = files.refused().map(({ entry }) => entry?.body.title ?? '')
      assert.deepEqual(files.lines(), [])
      assert.deepEqual(
        accepted,
        begun.filter((title) => accepted.includes(title)),
        'in order, and none twice',
      )
      for (const title of kept)
        assert.ok(accepted.includes(title) || refused.includes(title), `${title} is lost`)
      // A repeated call needs a killed process or a lost answer before it.
      const excuses = given.flatMap(({ death, reactions }) => [
        death,
        ...reactions.filter((each) => each === 'lost'),
      ])
      const keys = api.calls.map(({ idempotencyKey }) => idempotencyKey)
      const effects = api.effects.map(({ idempotencyKey }) => idempotencyKey)
      assert.equal(new Set(effects).size, effects.length)
      assert.ok(new Set(keys).size <= begun.length)
      assert.ok(refused.length - new Set(refused).size <= excuses.filter(Boolean).length)
    }),
    { numRuns: 500 },
  )
})

/** A night: reports, tickets and beats. Each step has one effect, and yields when it is done. */
async function* night(alerts: NightAlerts) {
  yield await alerts.report('backup_started', reportTitle('begun'))
  yield await alerts.report('backup_succeeded', reportTitle('done'))
  yield await alerts.beat('backup')
  const ticket = await alerts.openTicket(drillTicket('20260131-020000'))
  yield
  yield await alerts.editTicket(ticket, { comment: 'restore completed' })
  yield await alerts.editTicket(ticket, { status: 'resolved' })
  yield await alerts.editTicket(ticket, { status: 'closed' })
}

function directoryFiles(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'outbox-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return { directory, files: new DirectoryOutboxFiles(join(directory, 'backups')) }
}

/** The effects of a night; those of a ticket have the same path. */
const paths = ({ api }: NightAlertsWorld) =>
  api.effects.map(({ method, path, body }) => {
    const { comment = '', status = '' } = Object(body) as Readonly<Record<string, string>>
    return `${method} ${path} ${comment}${status}`
  })

test('a kill at every step of a night repeats at most the interrupted call, and loses nothing', async (t) => {
  const undisturbed = nightAlertsWorld({ templates: TEMPLATES })
  const counted = new MortalProcess()
  assert.equal(await liveNight(counted, undisturbed, undisturbed.files), 7)
  const expected = paths(undisturbed)
  assert.equal(expected.length, 7)
  for (let step = 1; step <= counted.steps; step++) {
    for (const when of ['before', 'after'] as const) {
      const { files } = directoryFiles(t)
      const w = nightAlertsWorld({ templates: TEMPLATES })
      const done = await liveNight(new MortalProcess({ step, when }), w, files)
      // As a process that is killed while it writes leaves it.
      writeFileSync(`${files.path('outbox.jsonl')}.tmp`, '{"id":"half an en')
      await w.another({ files }).deliver()
      const seen = paths(w)
      assert.deepEqual(seen, expected.slice(0, Math.max(done, seen.length)), `${when} step ${step}`)
      assert.equal(files.read('outbox.jsonl'), '')
      assert.ok(repeatedCalls(w) <= 1, `${when} step ${step}`)
    }
  }
})

/** The number of steps of a night that the process has completed. */
async function liveNight(process: MortalProcess, w: NightAlertsWorld, files: OutboxFiles): Promise<number> {
  let done = 0
  const steps = night(w.another({ files: process.files(files), api: process.api(w.api) }))
  const life = (async () => {
    for await (const _ of steps) done++
  })()
  await Promise.race([life, process.died])
  return done
}

/** Calls with the same content as an earlier one; every change of a ticket asks for its id again. */
function repeatedCalls({ api }: NightAlertsWorld): number {
  const calls = api.calls.filter(({ method, path }) => method !== 'GET' && path !== '/tickets')
  return calls.length - new Set(calls.map((call) => JSON.stringify(call))).size
}

test('the files of an outbox are private', async (t) => {
  const { directory, files } = directoryFiles(t)
  const w = nightAlertsWorld({ files })
  w.api.otherwise = 400
  await w.alerts.beat('backup')
  w.api.otherwise = 'away'
  await w.alerts.beat('backup')
  const modeOf = (name: string) => statSync(join(directory, 'backups', name)).mode & 0o777
  assert.deepEqual([modeOf('outbox.jsonl'), modeOf('outbox.refused.jsonl')], [0o600, 0o600])
  assert.match(readFileSync(files.path('outbox.jsonl'), 'utf8'), /^\{"kind":"beat".*\}\n$/)
})

test('a directory, or a file that is too large, in the place of the outbox is moved aside', async (t) => {
  const { directory, files } = directoryFiles(t)
  const w = nightAlertsWorld({ files, templates: TEMPLATES })
  files.replace('outbox.jsonl', '')
  for (const title of ['a', 'b']) {
    rmSync(files.path('outbox.jsonl'))
    if (title === 'a') new DirectoryOutboxFiles(files.path('outbox.jsonl')).replace('outbox.jsonl', 'x')
    else writeFileSync(files.path('outbox.jsonl'), Buffer.alloc(17 * 1_024 ** 2, 120))
    await w.alerts.report('backup_started', reportTitle(title))
    w.clock.advance(1)
  }
  assert.deepEqual(w.api.titles(), ['a', 'b'])
  const aside = readdirSync(join(directory, 'backups')).filter((name) => name.includes('.unreadable-'))
  assert.equal(aside.length, 2)
  const sizes = aside.map((name) => statSync(join(directory, 'backups', name)).size)
  assert.ok(Math.max(...sizes) > 16 * 1_024 ** 2)
})
