import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAlert, type AlertPercent } from './model.ts'

test('the alert rises at 80 and 95 percent, and recovers only below 70', () => {
  const alerts: AlertPercent[] = []
  let current: AlertPercent = 0
  for (const used of [79, 80, 94, 95, 100, 85, 70, 69, 79, 95, 60]) {
    current = nextAlert(current, { used, size: 100 })
    alerts.push(current)
  }
  assert.deepEqual(alerts, [0, 80, 80, 95, 95, 95, 95, 0, 0, 95, 0])
})
