/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process; read here only, so that everything else can be given another. */
export function processEnvironment(): Environment {
  return process.env
}

/** An empty variable counts as unset: unit files cannot take one away. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

/** Milliseconds since the epoch. The released file has no other room to ask. */
export function presentTime(): number {
  return new Date().getTime()
}
