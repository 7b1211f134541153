import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { killGroup } from './process-group.ts'
import { patternOf, plain } from './shown-output.ts'

const ROOT = join(import.meta.dirname, '../..')
const TOUR = '## A five-minute tour'
const STEP_MS = 120_000
/** What the tour starts in a terminal of its own. */
export const START_BUS = 'nats-server -a 127.0.0.1 -p 9996 -js -sd nats-data'
// What runs until Ctrl-C, in a terminal of its own; the tour knows the gateway by its usual address.
const HELD_OPEN = 'npx platform vpn connect '
const USUAL_GATEWAY = 'http://127.0.0.1:9994'

/** A block of code in a document. */
export interface Block {
  readonly language: string
  readonly text: string
}

interface Step {
  readonly command: string
  /** What is printed; `…` stands for anything on a line, and one id, time or token is as good as another. */
  readonly output: string
}

/** The section of the README. */
export function tour(): string {
  return (readFileSync(join(ROOT, 'README.md'), 'utf8').split(TOUR)[1] ?? '').split('\n## ')[0] ?? ''
}

export function blocksOf(text: string): Block[] {
  const fences = text.matchAll(/^```(\w+)\n(.*?)\n```$/gms)
  return [...fences].map(([, language = '', content = '']) => ({ language, text: content }))
}

export function stepsOf(text: string): Step[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = '', ...output] = step.trimEnd().split('\n')
      return { command, output: output.join('\n') }
    })
}

export interface Shells {
  readonly shell: Shell
  /** For a command that runs until Ctrl-C. */
  readonly ownTerminal: Shell
}

/** A person who follows a document. */
export interface Reader extends Shells {
  /** What the person fills in, by the name of the variable. */
  readonly values: Readonly<Record<string, string>>
  readonly gatewayUrl: string
}

export async function followSteps({ values, gatewayUrl, ...shells }: Reader, { language, text }: Block) {
  assert.equal(language, 'console', `a block that is run shows what it prints:\n${text}`)
  for (const { command, output } of stepsOf(text)) {
    if (command.startsWith(HELD_OPEN)) await holdOpen(shells.ownTerminal, gatewayUrl, { command, output })
    else assert.match(plain(await shells.shell.run(withValues(command, values))), patternOf(output), command)
  }
}

/** The columns are as wide as the address, which is not the usual one. */
async function holdOpen(terminal: Shell, gatewayUrl: string, { command, output }: Step) {
  const shown = patternOf(output.replaceAll(/ +/g, ' '))
  const printed = terminal.start(command.replaceAll(USUAL_GATEWAY, gatewayUrl))
  await eventually(
    `what ${command} prints`,
    () => shown.test(plain(printed().trimEnd().replaceAll(gatewayUrl, USUAL_GATEWAY).replaceAll(/ +/g, ' '))),
    { timeoutMs: STEP_MS },
  )
}

/** The reader fills in some variables; so does the test. */
export function withValues(command: string, values: Readonly<Record<string, string>>): string {
  const name = /^([A-Z]+)=/.exec(command)?.[1] ?? ''
  return name in values ? `${name}='${values[name]}'` : command
}

export interface Shell extends AsyncDisposable {
  /** Runs a command to its end, which must be a good one, and answers what it printed. */
  run(command: string): Promise<string>
  /** Leaves a command running, and answers what it has printed so far whenever it is asked. */
  start(command: string): () => string
}

/** One bash for all steps, so that variables and functions last, in the checkout; `wrapper` starts it elsewhere. */
export function startShell(env: Readonly<Record<string, string>>, wrapper: readonly string[] = []): Shell {
  const [program, ...args] = [...wrapper, 'bash', '--noprofile', '--norc']
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
    // A group of its own, so that a step that hangs goes with it.
    detached: true,
  })
  let isOver = false
  const closed = once(child, 'close').then(() => (isOver = true))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    start(command) {
      stdout = ''
      child.stdin.write(`${command} </dev/null\n`)
      return () => stdout
    },
    async run(command) {
      const mark = `end-${randomBytes(6).toString('hex')}`
      const end = new RegExp(`\\n${mark} (\\d+)\\n$`)
      stdout = ''
      child.stdin.write(`{ ${command}\n} </dev/null; printf '\\n${mark} %s\\n' $?\n`)
      await eventually(`the end of: ${command}`, () => isOver || end.test(stdout), { timeoutMs: STEP_MS })
      const [whole = '', status = 'none: the shell has ended'] = end.exec(stdout) ?? []
      assert.equal(status, '0', `${command}\n${stdout}${stderr}`)
      return stdout.slice(0, -whole.length).trimEnd()
    },
    async [Symbol.asyncDispose]() {
      killGroup(child)
      await closed
    },
  }
}
