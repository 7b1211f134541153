import assert from 'node:assert/strict'
import { test } from 'node:test'
import { menuWorld } from '../../../test/support/menus.ts'
import { chanceFrom, chanceOf, type Chance } from '../../../test/support/random.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import type { AppError } from '../../kernel/errors.ts'
import type { Store } from '../../store/store.ts'
import { placeEdit } from './items.ts'
import { levelsOf } from './plan.ts'
import { LEVEL_LIMIT, type MenuEdit, type MenuNode } from './model.ts'
import type { Menus } from './service.ts'

const CLIENTS = 8
/** Number for all clients together; `OPERATIONS=10000` in the environment asks for more. */
const OPERATIONS = Number(process.env['OPERATIONS'] ?? 400)
const ROUNDS = 30
// Few, so that the changes meet each other.
const IDS = 'abcdefghijkl'.split('')
const REFUSALS = ['menu_cycle', 'validation_failed', 'menu_not_found', 'menu_has_children']

interface Process {
  readonly store: Store
  readonly service: Menus
}

/** Every parent is there, no node is below itself, and none is too deep. */
function assertForest(nodes: readonly MenuNode[]): void {
  const levels = levelsOf(new Map(nodes.map((node) => [node.id, node])))
  for (const { id } of nodes) {
    const level = levels.get(id) ?? assert.fail(`${id} is on a cycle, or without its parent`)
    assert.ok(level <= LEVEL_LIMIT, `${id} is on level ${level}`)
  }
}

function editBy({ pick, number }: Chance): MenuEdit {
  const items = [pick(IDS), pick(IDS)].map((id) => ({ id, title: id, parentId: pick([...IDS, null]) }))
  return { items: number() < 0.5 ? items : items.slice(0, 1), replace: number() < 0.02 }
}

/** One client: moves, creates and deletes at random. Counts what happened by its code. */
async function change(of: Process, chance: Chance, operations: number, counts: Map<string, number>) {
  for (let count = 0; count < operations; count++) {
    const id = chance.pick(IDS)
    const edit = chance.number() < 0.3 ? undefined : editBy(chance)
    const outcome = await of.store
      .write<unknown>((tx) =>
        edit ? of.service.edit(tx, placeEdit(edit), 'client') : of.service.remove(tx, id, 'client'),
      )
      .then(
        () => 'changed',
        (error: AppError) => error.code,
      )
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
}

/** Reads the tree again and again until the work has ended, and checks what it reads. Returns how often. */
async function readUntil(work: Promise<unknown>, menus: Menus): Promise<number> {
  let isRunning = true
  void work.finally(() => (isRunning = false))
  let last = 0
  for (let reads = 1; ; reads++) {
    const { revision, nodes } = await menus.read()
    assertForest(nodes)
    assert.ok(revision >= last, 'the revision only grows')
    last = revision
    if (!isRunning) return reads
    await new Promise((resolve) => setImmediate(resolve))
  }
}

onEveryDialect('concurrent changes of the menus', (dialect) => {
  test(`leave a forest after each of ${OPERATIONS} changes by ${CLIENTS} clients`, async (t) => {
    const chance = chanceOf(t)
    await using w = await menuWorld(dialect)
    const processes: Process[] = [w, w.another]
    const counts = new Map<string, number>()
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      change(
        processes[index % 2] as Process,
        chanceFrom(chance.between(1, 2 ** 31)),
        OPERATIONS / CLIENTS,
        counts,
      ),
    )
    const [reads] = await Promise.all([readUntil(Promise.all(clients), w.service), ...clients])

    const { revision, nodes } = await w.service.read()
    assertForest(nodes)
    // Each change has a revision and an event of its own.
    const revisions = [...w.events, ...w.another.events].map(({ data }) => data.revision)
    assert.deepEqual(
      revisions.toSorted((one, other) => one - other),
      Array.from({ length: revision - 1 }, (_, index) => index + 2),
    )
    t.diagnostic(`${JSON.stringify(Object.fromEntries(counts))}, ${reads} reads, revision ${revision}`)
    assert.deepEqual(
      [...counts.keys()].filter((code) => ![...REFUSALS, 'changed'].includes(code)),
      [],
    )
    for (const code of ['changed', 'menu_cycle', 'menu_has_children']) assert.ok(counts.has(code), code)
  })

  test('two simultaneous moves never make a cycle', async () => {
    await using w = await menuWorld(dialect)
    for (let round = 0; round < ROUNDS; round++) {
      await w.menus.edit({ items: [node('a'), node('b')], replace: true }, 'ada')
      const moves = await Promise.allSettled([
        w.store.write((tx) => w.service.edit(tx, placeEdit({ items: [node('a', 'b')] }), 'ada')),
        w.another.store.write((tx) =>
          w.another.service.edit(tx, placeEdit({ items: [node('b', 'a')] }), 'bob'),
        ),
      ])
      assertForest((await w.service.read()).nodes)
      assert.deepEqual(moves.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
      assert.equal(codeOf(moves.find(({ status }) => status === 'rejected')), 'menu_cycle')
    }
  })

  test('a child that arrives while its parent is deleted is refused, or keeps the parent', async () => {
    await using w = await menuWorld(dialect)
    for (let round = 0; round < ROUNDS; round++) {
      await w.menus.edit({ items: [node('parent')], replace: true }, 'ada')
      const remove = () => w.store.write((tx) => w.service.remove(tx, 'parent', 'ada'))
      const insert = () =>
        w.another.store.write((tx) =>
          w.another.service.edit(tx, placeEdit({ items: [node('child', 'parent')] }), 'bob'),
        )
      // Which one comes first depends on the engine, so both begin half of the rounds.
      const [removed, inserted] = await Promise.allSettled<unknown>(
        round % 2 === 0 ? [remove(), insert()] : [insert(), remove()].toReversed(),
      )
      const { nodes } = await w.service.read()
      assertForest(nodes)
      if (removed?.status === 'fulfilled') {
        assert.deepEqual([codeOf(inserted), nodes], ['validation_failed', []])
      } else {
        assert.deepEqual([codeOf(removed), inserted?.status], ['menu_has_children', 'fulfilled'])
      }
    }
  })
})

function node(id: string, parentId: string | null = null) {
  return { id, title: id, parentId }
}

function codeOf(result: PromiseSettledResult<unknown> | undefined): string | undefined {
  return result?.status === 'rejected' ? (result.reason as AppError).code : undefined
}
