import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { servePlatform } from '../../support/platform.ts'
import { assertLooks, consoleWorld } from './console-world.ts'

const RULES = {
  'data.prune': { roles: ['devops'] },
  'old-one': { roles: ['admin'] },
  'old-two': { roles: ['devops'] },
}

const world = consoleWorld({}, { prepare: setRulesOfOldCommands })

/** The configuration loses two commands that have rules. */
async function setRulesOfOldCommands(dataDir: string): Promise<void> {
  const file = join(dataDir, 'platform.toml')
  renameSync(file, `${file}.later`)
  const commands = ['old-one', 'old-two'].map((id) => `[commands.${id}]\ntitle = "Old"\nrun = ["true"]\n`)
  writeFileSync(file, commands.join('\n'))
  await using platform = await servePlatform({ dataDir })
  const answer = await platform.call('PUT', '/commands/policy', { body: { rules: RULES } })
  assert.equal(answer.status, 200)
  renameSync(`${file}.later`, file)
}

test('the page names the rules without a command, and the next change removes them', async (t) => {
  const page = await world.open(t, 'command-policy/old-one')
  const old = page.getByRole('region', { name: 'old-one' })
  await old.getByText('commands that do not exist: old-one, old-two.').waitFor()
  await page.getByRole('row', { name: 'old-two (Does not exist)' }).waitFor()
  assert.equal(await page.getByRole('row', { name: /data.prune \(Does not/ }).count(), 0)
  assert.equal(await old.getByRole('button', { name: 'Edit the rule' }).count(), 0)
  await assertLooks(page, 'command-policy-missing')
  await page.getByLabel('Language').selectOption('zh')
  await old.getByText('以下命令不存在但有规则：old-one, old-two。').waitFor()
  await page.getByLabel('语言').selectOption('en')
  await page.getByRole('link', { name: 'data.prune' }).click()
  const kept = page.getByRole('region', { name: 'Delete old data backups' })
  await kept.getByText('commands that do not exist').waitFor()
  await kept.getByRole('button', { name: 'Edit the rule' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save the rule' }).click()
  await page.getByRole('status').filter({ hasText: 'The policy is changed.' }).waitFor()
  await page.getByRole('row', { name: /old-one/ }).waitFor({ state: 'detached' })
  assert.equal(await page.getByText('do not exist').count(), 0)
  const answer = await world.platform.call('GET', '/commands/policy')
  assert.deepEqual((await answer.json()) as object, {
    revision: 3,
    rules: { 'data.prune': { roles: ['devops'], approvers: ['admin'] } },
  })
})
