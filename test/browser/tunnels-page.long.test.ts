import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/kernel/errors.ts'
import { READER, TOKENS } from '../support/tunnels-double.ts'
import { gatewayItem, sessionItem, timeBefore, tunnelsAnswer } from '../support/tunnels-sample.ts'
import { alert, FIVE, haveRows, nodes, open, openSignedIn, signInWithToken, user } from './tunnels-world.ts'

describe('signing in', () => {
  test('with name and password shows the tunnels, and signing out forgets the token', async (t) => {
    const { page } = await open(t)
    await page.getByLabel('Name', { exact: true }).fill(READER.username)
    await page.getByLabel('Password', { exact: true }).fill(READER.password)
    await page.keyboard.press('Enter')
    await nodes(page, /^Gateway primary, up, 4 sessions/).waitFor()
    await page.getByText('Signed in as ada').waitFor()
    assert.equal(await page.evaluate(() => sessionStorage.length), 1)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0)
    assert.equal(await page.evaluate(() => document.cookie), '')
  })

  test('with a token survives a reload', async (t) => {
    const { page } = await open(t)
    await signInWithToken(page, ` Bearer ${TOKENS.reader}\n`)
    await nodes(page).first().waitFor()
    await page.reload()
    await nodes(page).first().waitFor()
  })

  test('with a wrong password shows an error and stays', async (t) => {
    const { page } = await open(t)
    await page.getByLabel('Name', { exact: true }).fill(READER.username)
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await alert(page, /Name or password is wrong/).waitFor()
  })

  test('with an invalid token shows an error', async (t) => {
    const { page } = await open(t)
    await signInWithToken(page, 'not a tökén')
    await alert(page, /not a token/).waitFor()
    await signInWithToken(page, 'unknown')
    await alert(page, /does not accept this token/).waitFor()
  })

  test('without the role says which one is needed', async (t) => {
    const { page } = await open(t)
    await signInWithToken(page, TOKENS.stranger)
    const refusal = alert(page, /admin, devops or auditor/)
    await refusal.waitFor()
    assert.match(await refusal.innerText(), /signed in as sam, with the role service/)
    await page.getByRole('button', { name: 'Sign in as another user' }).click()
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  })
})

describe('live', () => {
  test('sessions come and go without a reload', async (t) => {
    const { double, page } = await openSignedIn(t)
    await page.evaluate(() => (document.body.dataset['loaded'] = 'once'))
    await haveRows(page, 5)
    double.state = tunnelsAnswer([
      ...FIVE.slice(1),
      sessionItem({ virtual_ip: '100.64.0.20', ...user('zoe'), device: 'kiosk' }),
      sessionItem({ virtual_ip: '100.64.0.21', ...user('zoe') }),
    ])
    await nodes(page, /^100\.64\.0\.20, kiosk, round trip 12 ms, fast/).waitFor()
    await nodes(page, /^100\.64\.0\.2,/).waitFor({ state: 'detached' })
    await haveRows(page, 6)
    assert.equal(await page.title(), '6 tunnels open')
    assert.equal(await page.evaluate(() => document.body.dataset['loaded']), 'once')
  })

  test('a gateway that is away is described in words', async (t) => {
    const { double, page } = await openSignedIn(t)
    const away = gatewayItem('primary', '10.0.0.5:9700', { alive: false, last_seen_at: timeBefore(41_000) })
    double.state = tunnelsAnswer(FIVE, { gateways: [away, gatewayItem('standby', '10.0.0.6:9700')] })
    await nodes(page, /^Gateway primary, away for 41 s, 4 sessions: 4 silent/).waitFor()
    await page.getByText('1 away').waitFor()
  })

  test('a standby says when the sessions of its primary are missing', async (t) => {
    const { double, page } = await openSignedIn(t)
    const note = page.getByRole('status').filter({ hasText: 'Only the sessions of this standby are shown.' })
    assert.equal(await note.count(), 0)
    double.state = tunnelsAnswer(FIVE, { primary: 'unavailable' })
    await note.waitFor()
  })

  test('the use of the pool is shown in words, with a warning', async (t) => {
    const { double, page } = await openSignedIn(t)
    const pool = { cidr: '100.64.0.0/28', size: 13, used: 11, cooling: 1, free: 1 }
    double.state = tunnelsAnswer(FIVE, { pool })
    const words = '11 of 13 addresses in use, 1 cooling down, 1 free'
    await page.getByRole('img', { name: words }).waitFor()
    await page.getByText('filling up').waitFor()
  })

  test('what is more than the gateway sends is counted all the same', async (t) => {
    const { double, page } = await openSignedIn(t)
    double.state = tunnelsAnswer(FIVE, { total: 2_345 })
    await page.getByText('5 shown').waitFor()
    assert.equal(await page.title(), '2,345 tunnels open')
  })

  test('a token that ends leads back to the form, with the reason', async (t) => {
    const { double, page } = await openSignedIn(t)
    double.refusal = new AppError('unauthenticated', 'unauthenticated', 'The token has expired.')
    await alert(page, /Your sign-in has ended/).waitFor()
    assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  })

  test('a gateway that does not answer is said so, and the last picture stays', async (t) => {
    const { double, page } = await openSignedIn(t)
    double.refusal = new AppError(
      'unavailable',
      'store_unavailable',
      'The database cannot take the call now.',
    )
    const status = page.getByRole('status').filter({ hasText: 'What you see is the last answer' })
    await status.waitFor()
    assert.match(
      await status.innerText(),
      /The database does not answer at the moment\. .* Next attempt in \d+ s/,
    )
    await haveRows(page, 5)
    await page.getByRole('button', { name: 'Try now' }).click()
    double.refusal = null
    await page.getByText('Live', { exact: true }).waitFor()
  })

  test('it pauses while nobody looks', async (t) => {
    const { page } = await openSignedIn(t)
    const look = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await look(true)
    await page.getByText('Paused', { exact: true }).waitFor()
    await look(false)
    await page.getByText('Live', { exact: true }).waitFor()
  })

  test('without a session it says how to open one', async (t) => {
    const { double, page } = await openSignedIn(t, [])
    await page.getByText('No tunnel is open').waitFor()
    const command = `platform vpn connect --gateway ${double.url} --token-file token.txt`
    await page.getByText(command).waitFor()
    assert.equal(await nodes(page).count(), 2)
    double.state = tunnelsAnswer(FIVE)
    await haveRows(page, 5)
  })
})
