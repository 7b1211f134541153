import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { someSessions } from '../support/tunnels-sample.ts'
import { haveRows, nodes, openSignedIn, PATIENCE, PHONE, rows } from './tunnels-world.ts'

describe('few and many', () => {
  test('5 sessions are drawn one by one', async (t) => {
    const { page } = await openSignedIn(t)
    // Two gateways, four users, five addresses.
    await eventually('11 nodes', async () => (await nodes(page).count()) === 11, PATIENCE)
    await nodes(page, /^ada, 2 sessions, median round trip 12 ms, worst is fair/).waitFor()
    await nodes(page, /^100\.64\.0\.12, measuring/).waitFor()
    assert.equal(await page.locator('.edge-time').count(), 5)
  })

  test('500 sessions are drawn as clusters of users, and one of them opens', async (t) => {
    const sessions = someSessions(500, 120)
    const { page } = await openSignedIn(t, sessions)
    const users = new Set(sessions.map((each) => `${each.gateway} ${each.user.id}`)).size
    await eventually('all users', async () => (await nodes(page).count()) === users + 2, PATIENCE)
    await page.getByText('500 sessions', { exact: true }).first().waitFor()
    const own = sessions.filter((each) => each.user.id === 'yara' && each.gateway === 'primary')
    assert.ok(own.length > 0)
    await nodes(page, /^yara, /)
      .first()
      .click()
    await haveRows(page, own.length)
    for (const { virtual_ip } of own)
      await nodes(page, new RegExp(`^${RegExp.escape(virtual_ip)},`)).waitFor()
  })

  test('the table shows more on demand', async (t) => {
    const { page } = await openSignedIn(t, someSessions(500, 120))
    await haveRows(page, 40)
    await page.getByRole('button', { name: 'Show 40 more' }).click()
    await haveRows(page, 80)
  })

  test('users beyond the room become one node, which draws them', async (t) => {
    const { page } = await openSignedIn(t, someSessions(500, 400), { viewport: PHONE })
    const more = nodes(page, /more users; Enter draws them/)
    await more.first().focus()
    const before = await nodes(page).count()
    await page.keyboard.press('Enter')
    await eventually('more nodes', async () => (await nodes(page).count()) > before, PATIENCE)
  })
})

describe('finding', () => {
  test('words and states narrow picture and table', async (t) => {
    const { page } = await openSignedIn(t)
    const find = page.getByRole('searchbox', { name: 'Find sessions' })
    await find.fill('ada phone')
    await haveRows(page, 1)
    await nodes(page, /^100\.64\.0\.4,/).waitFor({ state: 'detached' })
    await find.fill('nobody')
    await page.getByText('No session matches').waitFor()
    await page.getByRole('button', { name: 'Show all', exact: true }).click()
    await haveRows(page, 5)
    const slow = page.getByRole('button', { name: /^Slow/ })
    await slow.click()
    await haveRows(page, 1)
    assert.equal(await slow.getAttribute('aria-pressed'), 'true')
  })

  test('a column sorts both ways, and shows the direction', async (t) => {
    const { page } = await openSignedIn(t)
    const column = page.getByRole('columnheader', { name: 'Round trip' })
    const times = () => page.locator('td.column-rtt .cell-main').allInnerTexts()
    await column.getByRole('button').click()
    assert.equal(await column.getAttribute('aria-sort'), 'ascending')
    assert.deepEqual(await times(), ['12 ms', '31 ms', '134 ms', '412 ms', '–'])
    await column.getByRole('button').click()
    assert.equal(await column.getAttribute('aria-sort'), 'descending')
    assert.deepEqual(await times(), ['–', '412 ms', '134 ms', '31 ms', '12 ms'])
  })

  test('pointing at a row lights its way in the picture', async (t) => {
    const { page } = await openSignedIn(t)
    await rows(page).filter({ hasText: 'boris' }).hover()
    await page.locator('.node:not(.faint)', { hasText: 'boris' }).waitFor()
    await page.locator('.node.faint', { hasText: 'clara' }).waitFor()
  })
})

describe('by keyboard', () => {
  test('the picture is one stop of the tab key, and the arrows walk through it', async (t) => {
    const { page } = await openSignedIn(t)
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
    await page.getByRole('searchbox').focus()
    // Five states to filter by, then the picture.
    for (let stop = 0; stop < 6; stop += 1) await page.keyboard.press('Tab')
    assert.match(await focused(), /^Gateway primary/)
    await page.keyboard.press('ArrowRight')
    assert.match(await focused(), /^ada, 2 sessions/)
    await page.keyboard.press('ArrowDown')
    assert.match(await focused(), /^100\.64\.0\.2,/)
    await page.keyboard.press('ArrowLeft')
    assert.match(await focused(), /^ada, 2 sessions/)
    await page.keyboard.press('Enter')
    await haveRows(page, 2)
    await page.keyboard.press('Escape')
    await haveRows(page, 5)
    await page.keyboard.press('End')
    assert.match(await focused(), /^100\.64\.0\.9,/)
    await page.keyboard.press('Home')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement?.closest('[role=tree]')), null)
  })

  test('Escape takes the selection back wherever the focus is, and / goes to the search', async (t) => {
    const { page } = await openSignedIn(t)
    await nodes(page, /^ada,/).click()
    await haveRows(page, 2)
    await page.locator('.details').waitFor()
    await page.getByRole('columnheader', { name: 'Round trip' }).getByRole('button').focus()
    await page.keyboard.press('Escape')
    await haveRows(page, 5)
    assert.equal(await page.locator('.details').count(), 0)
    await page.keyboard.press('/')
    await page.keyboard.type('clara')
    await haveRows(page, 1)
  })

  test('where the focus is can be seen', async (t) => {
    const { page } = await openSignedIn(t)
    await page.getByRole('button', { name: 'Sign out' }).focus()
    await page.keyboard.press('Shift+Tab')
    const stops = new Set<string>()
    for (let stop = 0; stop < 24; stop += 1) {
      await page.keyboard.press('Tab')
      const seen = await page.evaluate(() => {
        const element = document.activeElement
        if (!element || element === document.body) return null
        const ring = element.querySelector('.hub-box, .user-box, .hit')
        const width = ring ? getComputedStyle(ring).strokeWidth : getComputedStyle(element).outlineWidth
        return { what: element.outerHTML.slice(0, 80), width: parseFloat(width) }
      })
      if (!seen) continue
      stops.add(seen.what)
      assert.ok(seen.width >= 2, `${seen.what}: ${seen.width}`)
    }
    assert.ok(stops.size >= 12, [...stops].join('\n'))
  })

  test('an address in the table leads to its node', async (t) => {
    const { page } = await openSignedIn(t)
    const address = page.getByRole('button', { name: '100.64.0.9', exact: true })
    await address.focus()
    await page.keyboard.press('Enter')
    await page.locator('[role=treeitem][aria-selected=true]', { hasText: '100.64.0.9' }).waitFor()
    await haveRows(page, 1)
    await page.getByRole('button', { name: 'Show all again, not only 100.64.0.9' }).click()
    await haveRows(page, 5)
  })
})
