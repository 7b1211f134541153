// Follows the events of orders, from the first one that the platform still has.
import { createClient } from 'backend-platform-client'

const { PLATFORM_URL = 'http://127.0.0.1:9600', PLATFORM_TOKEN } = process.env
const platform = createClient({ url: PLATFORM_URL, token: PLATFORM_TOKEN })

for await (const event of platform.events({ subjects: ['order.*'], lastEventId: '0' })) {
  // Events were deleted before they could be read: read the present state instead.
  if (event.kind === 'reset') continue
  console.log(event.subject, event.envelope.subject)
  if (event.subject === 'order.paid') break
}
