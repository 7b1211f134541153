import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsPage } from './metrics.ts'

const ORDERS = '# HELP platform_orders_total Orders.\n# TYPE platform_orders_total counter\n'
const PROCESS =
  '# HELP platform_process_cpu_seconds_total Time.\n# TYPE platform_process_cpu_seconds_total counter\n'

test('the page lists the metrics of the platform before those of the process', () => {
  const page = metricsPage(PROCESS + ORDERS)
  assert.ok(page.indexOf('platform_orders_total') < page.indexOf('platform_process_cpu_seconds_total'))
})

for (const { exposition, title } of [
  { exposition: '', title: 'Platform' },
  { exposition: '{"code":"store_unavailable"}', title: 'Platform' },
  { exposition: ORDERS, title: 'Process' },
]) {
  test(`an exposition without metrics for a section is an error: ${JSON.stringify(exposition)}`, () => {
    assert.throws(() => metricsPage(exposition), { message: new RegExp(`section "${title}", got none`) })
  })
}
