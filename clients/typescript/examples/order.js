// Creates an order, and changes it only if nobody else has changed it meanwhile.
import { createClient } from 'backend-platform-client'

const { PLATFORM_URL = 'http://127.0.0.1:9600', PLATFORM_TOKEN } = process.env
const platform = createClient({ url: PLATFORM_URL, token: PLATFORM_TOKEN })

const created = await platform.send('createOrder', {
  body: { order_id: 'client-1001', platform: 'live', amount_cents: 4990 },
})
console.log(created.status, created.value.status)

const paid = await platform.call('moveOrder', {
  path: { order_id: 'client-1001' },
  body: { status: 'paid' },
  headers: { 'If-Match': created.etag },
})
console.log(paid.order_id, paid.status)
