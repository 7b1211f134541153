/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process; read here only, so that everything else can be given another. */
export function processEnvironment(): Environment {
  return process.env
}
