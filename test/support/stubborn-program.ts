import { readdirSync, readFileSync } from 'node:fs'

/**
 * A shell script that starts so many processes, each by a double fork in a session of its own, which ignore every signal that
 * they can ignore. It prints `started` when all of them run, and goes on itself. They carry a mark in their arguments.
 */
export function stubbornScript(children: number, mark: string): string {
  // Perl sleeps in one process. A loop of `sleep 1` would start hundreds of processes a second, and slow everything else down.
  const child = `trap "" TERM HUP INT; exec perl -e sleep ${mark}`
  return [
    'trap "" TERM HUP INT',
    `i=0; while [ $i -lt ${children} ]; do (setsid sh -c '${child}' &); i=$((i+1)); done`,
    'echo started',
    `exec perl -e sleep ${mark}`,
  ].join('\n')
}

/** How many living processes of this host have a text in their arguments. */
export function countProcesses(mark: string): number {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const others = ids.filter((id) => Number(id) !== process.pid).map(argumentsOf)
  // A program that is still setpriv(1) may not have the signal yet that it gets at the end of its parent.
  return others.filter((text) => text.includes(mark) && !text.startsWith('setpriv\0')).length
}

/** Empty for a process that has ended. */
function argumentsOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
