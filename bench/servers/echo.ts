// The limit of any JSON API on this machine: `node:http` alone parses a JSON body and answers with JSON.
import { createServer } from 'node:http'

createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => {
    const answer = JSON.stringify(JSON.parse(text))
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
      .end(answer)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
