// The peer: npm package oauth2-mock-server, from the directory that it was installed in.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

interface Peer {
  readonly OAuth2Server: new () => {
    readonly issuer: { readonly keys: { generate(algorithm: string): Promise<unknown> } }
    start(port: number, host: string): Promise<void>
  }
}

const [, , port, directory = '.'] = process.argv
const path = createRequire(`${directory}/`).resolve('oauth2-mock-server')
const { OAuth2Server } = (await import(pathToFileURL(path).href)) as Peer
const server = new OAuth2Server()
await server.issuer.keys.generate('RS256')
await server.start(Number(port), '127.0.0.1')
