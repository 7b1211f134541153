// Reads all pages of a list.
import { createClient } from 'backend-platform-client'

const { PLATFORM_URL = 'http://127.0.0.1:9600', PLATFORM_TOKEN } = process.env
const platform = createClient({ url: PLATFORM_URL, token: PLATFORM_TOKEN })

for (const title of ['First', 'Second', 'Third']) {
  await platform.call('createTicket', { body: { title, level: 'low', source: 'example' } })
}

// Newest first. `limit` is the size of a page.
for await (const ticket of platform.list('listTickets', { query: { source: 'example', limit: 2 } })) {
  console.log(ticket.title, ticket.status)
}
