// Checks that no two modules of a program export the same name, so that a name has one meaning in it.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The platform, the browser pages, the separate programs and the clients; each is checked by itself. */
const PROGRAMS = ['src', 'console', 'programs/*', 'clients/*']
const DECLARATION =
  /^export (?:declare |abstract |async )*(?:class|function\*?|const|let|type|interface) (\w+)/gm

/** One line for each name that several modules of a program below `root` export, with their files. */
export function repeatedNames(root: string): string[] {
  return globSync(PROGRAMS, { cwd: root })
    .sort()
    .flatMap((program) => repeatedIn(root, program))
}

function repeatedIn(root: string, program: string): string[] {
  const modules = globSync(`${program}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/*.test.ts'] }).sort()
  const exports = modules.flatMap((file) => namesIn(root, file).map((name) => ({ name, file })))
  return [...Map.groupBy(exports, ({ name }) => name)]
    .filter(([, all]) => all.length > 1)
    .map(([name, all]) => `${name}: ${all.map(({ file }) => file).join(', ')}`)
}

/** The names that a module declares and exports; the signatures of an overloaded function count once. */
function namesIn(root: string, file: string): string[] {
  const declarations = readFileSync(join(root, file), 'utf8').matchAll(DECLARATION)
  return [...new Set([...declarations].map(([, name = '']) => name))]
}

if (import.meta.main) {
  const problems = repeatedNames(join(import.meta.dirname, '..'))
  for (const problem of problems) console.error(`several modules export ${problem}`)
  console.log(`names: problems: ${problems.length}`)
  if (problems.length > 0) process.exitCode = 1
}
