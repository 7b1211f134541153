// What the release and the bundle of the dependencies have in common.
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The driver of PostgreSQL has a native half that is optional. */
export const NOT_BUNDLED = ['pg-native']

const SWAGGER_STATIC = join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))), 'static')

/** Copies the files of the API page to where its code looks for them when that code is in `directory`. */
export function copyApiPage(directory: string): void {
  cpSync(SWAGGER_STATIC, join(directory, '../static'), { recursive: true })
  cpSync(join(SWAGGER_STATIC, 'logo.svg'), join(directory, 'static/logo.svg'))
}
