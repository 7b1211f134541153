import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { CERTIFICATE, freshCertificate } from '../../support/certificate-sample.ts'
import { eventually } from '../../support/eventually.ts'
import { assertLooks, consoleWorld, HOSTILE } from './console-world.ts'

const world = consoleWorld()

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title })
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

async function create(path: string, body: object): Promise<string> {
  const answer = await world.platform.call('POST', path, { body })
  assert.ok(answer.ok, `${path}: ${answer.status}`)
  return ((await answer.json()) as { id: string }).id
}

/** What the button "Download" saves. */
async function downloadedText(page: Page, shown: Locator): Promise<string> {
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    shown.getByRole('button', { name: 'Download' }).press('Enter'),
  ])
  return readFileSync(await saved.path(), 'latin1')
}

const EMPTY = [
  { path: 'certificates', en: 'No certificate is registered.', zh: '尚未登记证书。' },
  { path: 'data-backups', en: 'There is no backup of the data yet.', zh: '还没有数据备份。' },
] as const

test('empty lists say so, in both languages', async (t) => {
  const page = await world.open(t, 'certificates')
  for (const { path, en, zh } of EMPTY) {
    await page.goto(`${world.platform.url}/console/${path}`)
    await page.getByText(en).waitFor()
    await page.getByLabel('Language').selectOption('zh')
    await page.getByText(zh).waitFor()
    await page.getByLabel('语言').selectOption('en')
  }
})

test('a certificate is refused at its field, read from a file, revoked and deleted', async (t) => {
  const page = await world.open(t, 'certificates')
  await page.getByRole('button', { name: 'Register a certificate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Register a certificate' })
  await dialog.getByLabel('Name').fill('shop.example.com')
  const pem = dialog.getByRole('textbox', { name: 'Certificate and chain' })
  await pem.fill('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  await dialog.getByText('and ends later replaces it.').waitFor()
  await dialog.getByRole('button', { name: 'Register' }).click()
  await dialog.locator('.fault').getByText('certificate').waitFor()
  let isSent = false
  page.on('request', (request) => (isSent ||= request.postData()?.includes('PRIVATE KEY') === true))
  await pem.fill(`${CERTIFICATE}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`)
  await dialog.getByRole('button', { name: 'Register' }).click()
  await dialog.locator('.fault').getByText('This is a private key. It was not sent').waitFor()
  assert.deepEqual([await pem.inputValue(), isSent], ['', false])
  assert.equal(await pem.getAttribute('aria-invalid'), 'true')
  await assertLooks(page, 'certificates-refused')
  const choose = (name: string, buffer: Buffer) =>
    dialog.getByLabel('From a file').setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
  await choose('shop.key', Buffer.from('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'))
  await dialog.getByText('This file has a private key. It was not read.').waitFor()
  assert.equal(await pem.inputValue(), '')
  await choose('shop.der', new X509Certificate(CERTIFICATE).raw)
  await eventually('the certificate in PEM', async () => (await pem.inputValue()) === CERTIFICATE)
  assert.equal(await dialog.locator('.fault').count(), 0)
  await choose('shop.pem', Buffer.from(CERTIFICATE))
  await dialog.getByRole('button', { name: 'Register' }).click()
  const shown = drawer(page, 'shop.example.com')
  await shown.getByText('It is signed with its own key.').waitFor()
  assert.equal(await downloadedText(page, shown), CERTIFICATE)
  await assertLooks(page, 'certificates-drawer')
  await shown.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('the key was lost')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await shown.getByRole('list', { name: 'History' }).getByText('the key was lost').waitFor()
  await shown.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No certificate is registered.').waitFor()
})

test('a certificate is registered and revoked by keyboard alone', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await page.getByRole('button', { name: 'Register a certificate' }).waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('k')
  await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Tab')
  await page.keyboard.insertText(freshCertificate())
  await page.getByRole('dialog').getByRole('button', { name: 'Register' }).press('Enter')
  const shown = drawer(page, 'by keyboard')
  await shown.getByRole('button', { name: 'Revoke' }).press('Enter')
  await page.getByRole('dialog', { name: 'Revoke' }).getByLabel('Reason').press('x')
  await page.getByRole('dialog', { name: 'Revoke' }).getByRole('button', { name: 'Revoke' }).press('Enter')
  await shown.getByRole('list', { name: 'History' }).getByText('x', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await shown.waitFor({ state: 'detached' })
})

test('a certificate that another one replaces leads to it, and a reader changes nothing', async (t) => {
  const id = await create('/certificates', { name: HOSTILE.slice(0, 90), pem: freshCertificate() })
  await create('/certificates', { name: 'the newer one', pem: freshCertificate(2127) })
  const page = await world.open(t, `certificates/${id}`, { role: 'auditor' })
  await drawer(page, HOSTILE.slice(0, 40)).getByText('Replaced', { exact: true }).first().waitFor()
  assert.equal(await page.getByRole('button', { name: /Register|Revoke|Delete/ }).count(), 0)
  await assertLooks(page, 'certificates-hostile')
  await page.getByRole('link', { name: 'The newer certificate' }).click()
  await drawer(page, 'the newer one').getByText('Valid', { exact: true }).first().waitFor()
  await page.goto(`${world.platform.url}/console/certificates/unknown`)
  await page.getByRole('alert').waitFor()
})

test('a backup is started, followed to its end by another browser, and deleted by keyboard', async (t) => {
  const watching = await world.open(t, 'data-backups', { role: 'devops' })
  await watching.getByText('Live', { exact: true }).waitFor()
  const page = await world.open(t, 'data-backups')
  await page.getByRole('button', { name: 'New backup' }).waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('b')
  const dialog = page.getByRole('dialog', { name: 'New backup' })
  await dialog.getByLabel('Note').fill(HOSTILE)
  await dialog.getByRole('button', { name: 'Start the backup' }).press('Enter')
  const shown = page.locator('.drawer')
  await page.getByRole('status').filter({ hasText: 'The backup is complete.' }).waitFor()
  await shown.getByText('Completed', { exact: true }).waitFor()
  await watching.getByRole('table').getByText('Completed').waitFor()
  await watching.getByRole('table').getByRole('link').press('Enter')
  await watching.getByText(/^platform data restore DATA_DIR\/backups\/\S+ --config FILE$/).waitFor()
  await watching.keyboard.press('Escape')
  assert.equal(await watching.getByRole('button', { name: 'Delete', exact: true }).count(), 0)
  await shown.getByText('Rows by table').press('Enter')
  await shown.getByText('platform data restore').waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await shown.getByRole('button', { name: 'Copy' }).press('Enter')
  await shown.getByRole('button', { name: 'Copied' }).waitFor()
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /^DATA_DIR=(\/\S+) platform data restore \1\/backups\/[\da-f-]{36}\.db --config \1\/platform\.toml$/,
  )
  await shown.getByText('you', { exact: true }).waitFor()
  assert.match(await downloadedText(page, shown), /^SQLite format 3/)
  await assertLooks(page, 'data-backups-drawer')
  await shown.getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).press('Enter')
  await watching.getByText('There is no backup of the data yet.').waitFor()
})

test('old backups are deleted, and a backup that cannot be read is described', async (t) => {
  const page = await world.open(t, 'data-backups')
  await page.getByRole('button', { name: 'Delete old backups' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete old backups' })
  await dialog.getByText('Backups to be deleted: 0.').waitFor()
  await dialog.getByLabel('How many to keep').fill('0')
  await dialog.getByRole('button', { name: 'Delete old backups' }).click()
  await dialog.locator('.fault').waitFor()
  await dialog.getByLabel('How many to keep').fill('1')
  await dialog.getByRole('button', { name: 'Delete old backups' }).click()
  await toast(page, 'There was no older backup to delete.').waitFor()
  await page.goto(`${world.platform.url}/console/data-backups/unknown`)
  await page.getByRole('alert').waitFor()
})
