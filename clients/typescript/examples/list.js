// Reads all pages of a list.
import { createClient } from 'backend-platform-client'

const { PLATFORM_URL = 'http://127.0.0.1:9600', PLATFORM_TOKEN } = process.env
const platform = createClient({ url: PLATFORM_URL, token: PLATFORM_TOKEN })

for (const order_id of ['shop-1', 'shop-2', 'shop-3']) {
  await platform.call('createOrder', { body: { order_id, platform: 'shop', amount_cents: 100 } })
}

// Newest first. `limit` is the size of a page.
for await (const order of platform.list('listOrders', { query: { platform: 'shop', limit: 2 } })) {
  console.log(order.order_id, order.amount_cents)
}
