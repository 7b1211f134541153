/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. Read only here: everything else gets it as an argument. */
export function processEnvironment(): Environment {
  return process.env
}

/** An empty variable counts as unset: a unit file cannot remove one. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

/** Milliseconds since the epoch. */
export function currentTime(): number {
  return new Date().getTime()
}
