import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { killGroup } from '../support/process-group.ts'

/** One window of a browser that is not Chromium. It is driven by the protocol of W3C that the browser itself has. */
export interface OtherBrowser extends AsyncDisposable {
  goTo(url: string): Promise<void>
  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>
  /** What the page's scripts and the browser complained of since `goTo`. */
  complaints(): Promise<readonly string[]>
}

type Started = (resources: AsyncDisposableStack) => Promise<Omit<OtherBrowser, typeof Symbol.asyncDispose>>

export const startFirefox = () => withResources(startedFirefox)
export const startWebKit = () => withResources(startedWebKit)

async function withResources(start: Started): Promise<OtherBrowser> {
  await using resources = new AsyncDisposableStack()
  const browser = await start(resources)
  const started = resources.move()
  return { ...browser, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/** Firefox speaks WebDriver BiDi itself. */
async function startedFirefox(resources: AsyncDisposableStack) {
  const { path } = resources.use(temporaryDirectory())
  const args = ['--headless', '--no-remote', '--profile', path, '--remote-debugging-port=0']
  const { stderr } = startProgram(resources, 'firefox-esr', args, { HOME: path })
  const address = await lineOf(stderr, /^WebDriver BiDi listening on (ws:.+)$/)
  const connection = await BidiConnection.open(`${address}/session`)
  const complaints: string[] = []
  connection.onLog = ({ level, text }) => {
    if (level === 'error' || level === 'warn') complaints.push(text ?? '')
  }
  await connection.send('session.new', { capabilities: {} })
  await connection.send('session.subscribe', { events: ['log.entryAdded'] })
  const { contexts = [] } = await connection.send('browsingContext.getTree', {})
  const context = contexts[0]?.context
  return {
    async goTo(url: string) {
      await connection.send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async evaluate<T>(expression: string) {
      const asked = { expression: asJson(expression), target: { context }, awaitPromise: false }
      const { result, exceptionDetails } = await connection.send('script.evaluate', asked)
      if (!result) throw new Error(exceptionDetails?.text)
      return JSON.parse(result.value) as T
    },
    complaints: async () => complaints,
  }
}

interface BidiLog {
  readonly level: string
  readonly text: string | null
}

/** The parts of the results that are used here. */
interface BidiResult {
  readonly contexts?: readonly { readonly context: string }[]
  readonly result?: { readonly value: string }
  readonly exceptionDetails?: { readonly text: string }
}

interface BidiMessage {
  readonly id?: number
  readonly result?: BidiResult
  readonly message?: string
  readonly params?: BidiLog
}

class BidiConnection {
  onLog: (entry: BidiLog) => void = () => undefined
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<BidiResult>>()

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.onmessage = ({ data }) => this.#take(JSON.parse(String(data)) as BidiMessage)
  }

  static async open(address: string): Promise<BidiConnection> {
    const socket = new WebSocket(address)
    const connection = new BidiConnection(socket)
    await once(socket, 'open')
    return connection
  }

  send(method: string, params: object): Promise<BidiResult> {
    const answer = Promise.withResolvers<BidiResult>()
    const id = this.#waiting.size + 1
    this.#waiting.set(id, answer)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer.promise
  }

  #take({ id, result, message, params }: BidiMessage): void {
    if (id === undefined) return params && this.onLog(params)
    if (result) this.#waiting.get(id)?.resolve(result)
    else this.#waiting.get(id)?.reject(new Error(message))
  }
}

// The window of WebKitGTK needs a display. The tests may run as root in a container, where the sandbox does not start.
const WEBKIT_ENV = { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1' }

/** WebKit, the engine of Safari, by WebDriver. It reports no log, so that the page keeps it. */
async function startedWebKit(resources: AsyncDisposableStack) {
  const { path } = resources.use(temporaryDirectory())
  const screen = startProgram(resources, 'Xvfb', ['-displayfd', '2', '-screen', '0', '1440x900x24'], {})
  const display = `:${await lineOf(screen.stderr, /^(\d+)$/)}`
  const port = await freePort()
  startProgram(resources, 'WebKitWebDriver', [`--port=${port}`], {
    HOME: path,
    DISPLAY: display,
    ...WEBKIT_ENV,
  })
  const send = async <T>(method: string, command: string, body?: object): Promise<T> => {
    const init = { method, ...(body && { body: JSON.stringify(body) }) }
    const answer = await fetch(`http://127.0.0.1:${port}${command}`, init)
    if (!answer.ok) throw new Error(`${command}: ${await answer.text()}`)
    return ((await answer.json()) as { value: T }).value
  }
  await eventually('WebKitWebDriver to be ready', () => send('GET', '/status'))
  const { sessionId } = await send<{ sessionId: string }>('POST', '/session', {
    capabilities: { alwaysMatch: {} },
  })
  const session = `/session/${sessionId}`
  resources.defer(() => send('DELETE', session))
  const execute = (script: string) => send<string>('POST', `${session}/execute/sync`, { script, args: [] })
  return {
    async goTo(url: string) {
      await send('POST', `${session}/url`, { url })
      await execute(KEEP_COMPLAINTS)
    },
    evaluate: async <T>(expression: string) => JSON.parse(await execute(`return ${asJson(expression)}`)) as T,
    complaints: async () => JSON.parse(await execute('return JSON.stringify(complaints)')) as string[],
  }
}

const KEEP_COMPLAINTS = `
  globalThis.complaints = []
  const keep = (...parts) => void complaints.push(parts.map(String).join(' '))
  console.error = console.warn = keep
  addEventListener('error', ({ message }) => keep(message))
  addEventListener('unhandledrejection', ({ reason }) => keep(reason))`

function asJson(expression: string): string {
  return `JSON.stringify((${expression}) ?? null)`
}

function startProgram(
  resources: AsyncDisposableStack,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess & { readonly stderr: Readable } {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  process.once('exit', () => killGroup(child))
  resources.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    killGroup(child)
    await exited
  })
  return child
}

/** What the first line has that matches. */
async function lineOf(output: Readable, pattern: RegExp): Promise<string> {
  for await (const line of createInterface(output)) {
    const found = pattern.exec(line)?.[1]
    if (found === undefined) continue
    // Otherwise the program would stop at a full pipe.
    output.resume()
    return found
  }
  throw new Error(`The program ended before it wrote ${pattern}.`)
}
