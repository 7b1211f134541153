import { copyFileSync, existsSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleCode, type BundledCode } from '../build-platform.ts'
import { consoleDirectory } from '../console-build.mjs'
import { runToEnd } from './run-to-end.ts'
import { runtimeFor, type Runtime } from './runtimes.ts'
import type { Architecture } from './architecture.ts'

export interface ExecutableOptions {
  /** The file to write. */
  readonly output: string
  readonly architecture: Architecture
}

const COMPILE = join(import.meta.dirname, 'compile.mjs')
const LOADER = join(import.meta.dirname, 'loader.cjs')

/**
 * Builds the platform as one file that needs no Node.js: the runtime with the code, the threads and the pages inside.
 * The console must be built already.
 */
export async function buildExecutable({ output, architecture }: ExecutableOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-executable-'))
  try {
    const code = await bundleCode(directory)
    const runtime = await runtimeFor(architecture)
    runToEnd(runtime.builder, ['--hash-seed=1', COMPILE, ...code.program], { cwd: directory })
    copyFileSync(LOADER, join(directory, 'loader.cjs'))
    const executable = join(directory, 'node')
    copyFileSync(runtime.file, executable)
    removeSymbols(executable, architecture)
    // Renamed at the end: a running executable cannot be overwritten, and an interrupted build leaves no half of one.
    const fresh = join(dirname(output), `.platform-${process.pid}`)
    writeFileSync(join(directory, 'sea.json'), JSON.stringify(configuration(code, fresh, runtime)))
    runToEnd(runtime.builder, ['--build-sea', 'sea.json'], { cwd: directory })
    renameSync(fresh, output)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * See "Single executable applications" in the documentation of Node.js. The paths become part of the executable, so
 * they are relative: two builds are equal.
 */
function configuration({ program, threads }: BundledCode, output: string, { runsHere }: Runtime): object {
  return {
    main: 'loader.cjs',
    mainFormat: 'commonjs',
    executable: 'node',
    output,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS could load other code into the program, or stop it from starting.
    execArgvExtension: 'none',
    assets: {
      ...inside([...program, ...threads]),
      // Code that was compiled for one architecture is useless to another.
      ...(runsHere && inside(program.map((name) => `${name}.cache`))),
      ...pages(),
    },
  }
}

function inside(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]))
}

function pages(): Record<string, string> {
  const files = globSync('*/{index.html,assets/*}', { cwd: consoleDirectory }).sort()
  if (files.length === 0)
    throw new Error(`${consoleDirectory} has no pages; run scripts/build-console.ts first`)
  return Object.fromEntries(files.map((name) => [`console/${name}`, join(consoleDirectory, name)]))
}

/** Symbols for debuggers are a fifth of the runtime. Without the tool they stay, and the file works all the same. */
function removeSymbols(file: string, { stripTools }: Architecture): void {
  const tool = stripTools.find((path) => existsSync(path))
  if (tool) runToEnd(tool, ['--strip-all', '--enable-deterministic-archives', file])
  else console.error(`build: none of ${stripTools.join(', ')} is installed; the executable keeps its symbols`)
}
