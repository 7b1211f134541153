// Reads the error of a call that is given up after ten seconds.
import { createClient, PlatformError } from 'backend-platform-client'

const { PLATFORM_URL = 'http://127.0.0.1:9600', PLATFORM_TOKEN } = process.env
const platform = createClient({ url: PLATFORM_URL, token: PLATFORM_TOKEN })

try {
  await platform.call('getOrder', { path: { order_id: 'unknown' }, signal: AbortSignal.timeout(10_000) })
} catch (error) {
  if (!(error instanceof PlatformError)) throw error
  console.log(error.status, error.code, error.requestId)
}
