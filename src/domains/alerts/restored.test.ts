import assert from 'node:assert/strict'
import { it } from 'node:test'
import { notificationWorld } from '../../../test/support/notification-world.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { SECOND } from '../../kernel/time.ts'
import { DUE_TABLES, restoreNotifications } from './restored.ts'
import { SETTLE_MS } from './silences/model.ts'

onEveryDialect('a restored database', (dialect) => {
  it('drops what it was to send, and tells once what fires and was not told', async () => {
    await using w = await notificationWorld(dialect)
    const first = w.sender()
    await w.report({ title: 'told' })
    await w.drain()
    await first.stop()
    await w.report({ title: 'never told' })
    await w.report({ title: 'over' })
    await w.report({ title: 'over', level: 'CLOSE' })
    const sent = w.robots.requests.length
    await w.store.write((tx) => restoreNotifications(tx, w.clock.now(), DUE_TABLES))
    assert.equal(await w.pending(), 0)
    w.startSender()
    await w.pass(5 * SECOND)
    assert.equal(w.robots.requests.length, sent)
    w.clock.advance(SETTLE_MS)
    for (let runs = 0; runs < 2; runs++) await w.silences.settleEnded(new AbortController().signal)
    await w.drain()
    const texts = w.robots.requests.slice(sent).map(({ body }) => JSON.stringify(body))
    assert.equal(texts.length, 1)
    assert.match(texts[0] ?? '', /never told/)
  })
})
