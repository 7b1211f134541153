import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SCENARIOS } from './scenarios.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8')
const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading)

describe('the scenarios', () => {
  for (const { name, row, shortForm = `test/chaos/${name}.long.test.ts` } of SCENARIOS) {
    test(`${name} has a short form in the tests, and a section in docs/reliability.md`, () => {
      const isNamed = (heading: string) => heading.split(/[ :]/).includes(row)
      assert.ok(headings.some(isNamed), `no heading names ${row}`)
      assert.ok(existsSync(join(import.meta.dirname, '../..', shortForm)))
    })
  }
})
