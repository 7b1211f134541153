import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAssignments } from './assignments.ts'

test('an environment file has values with and without quotes and export, and no part of a value is cut', () => {
  const lines = [
    '# comment',
    'A=a#b=c',
    ' export B = "b c" ',
    "C='c'\r",
    'D="open',
    'E=',
    'A=last',
    'lower=x',
  ]
  assert.deepEqual(Object.fromEntries(parseAssignments(lines.join('\n'))), {
    A: 'last',
    B: 'b c',
    C: 'c',
    D: '"open',
    E: '',
  })
})
