// The limit of any mock provider on this machine: `node:http` alone reads the three requests of a flow and answers
// each with prepared text of the length that a provider's answer has.
import { createServer, type ServerResponse } from 'node:http'

const TOKEN = 'u-0123456789abcdef0123456789abcdef'
const TOKENS = JSON.stringify({
  access_token: TOKEN,
  token_type: 'Bearer',
  expires_in: 7200,
  refresh_token: `ur${TOKEN}`,
  scope: 'profile',
})
const USER = JSON.stringify({ sub: 'mock_user_docvalue_0001', name: 'Mock User', padding: 'x'.repeat(150) })

const sendJson = (response: ServerResponse, body: string) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)

createServer((request, response) => {
  if (request.url?.startsWith('/authorize')) {
    const location = `http://127.0.0.1:9989/auth/oauth/callback?code=${TOKEN.slice(2)}&state=s`
    response.writeHead(302, { location, 'content-length': 0 }).end()
    return
  }
  if (request.url === '/userinfo') {
    sendJson(response, USER)
    return
  }
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => sendJson(response, new URLSearchParams(text).has('code') ? TOKENS : '{}'))
}).listen(Number(process.argv[2]), '127.0.0.1')
