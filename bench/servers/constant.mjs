// The limit of any page on this machine: `node:http` alone answers every request with the same prepared bytes, those
// of a file or two of its own. JavaScript, because reading types away would be part of its start.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , port, file] = process.argv
const body = file === undefined ? Buffer.from('{}') : readFileSync(file)
const head = { 'content-type': 'application/json', 'content-length': body.length }

createServer((_request, response) => response.writeHead(200, head).end(body)).listen(
  Number(port),
  '127.0.0.1',
)
