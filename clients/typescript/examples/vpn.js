// Opens a session with a gateway, and calls the api through it.
import { createClient } from 'backend-platform-client'
import { connectVpn } from 'backend-platform-client/vpn'

const { PLATFORM_GATEWAY = 'http://127.0.0.1:9994', PLATFORM_TOKEN = '' } = process.env
const vpn = connectVpn({ gateways: [PLATFORM_GATEWAY], token: PLATFORM_TOKEN, device: 'example' })
console.log('connected as', await vpn.connected)

const platform = createClient({ url: '', fetch: vpn.fetch })
const me = await platform.call('getMe')
console.log(me.name, me.roles)
await vpn.stop()
