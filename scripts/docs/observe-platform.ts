import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPlatform } from '../../src/app/platform.ts'
import { loadConfig, type LoadedConfig } from '../../src/config/config.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import type { OpenApiDocument } from './open-api.ts'
import { readReport } from './read-report.ts'

/** What a running platform reports about itself. */
export interface Observations {
  readonly openApi: OpenApiDocument
  /** In the Prometheus text format. */
  readonly metrics: string
}

/** Starts the platform with an empty database and free ports, reads its reports, and stops it. */
export async function observePlatform(): Promise<Observations> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-docs-'))
  try {
    const listening = createListeningLogger()
    const platform = await startPlatform({
      ...configIn(directory),
      logger: listening.logger,
      onFirstAdmin: () => undefined,
    })
    try {
      return await observe(`http://${listening.address()}`)
    } finally {
      await platform.stop()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function observe(url: string): Promise<Observations> {
  const [openApi, metrics] = await Promise.all([
    readReport(`${url}/openapi.json`),
    readReport(`${url}/metrics`),
  ])
  return { openApi: JSON.parse(openApi) as OpenApiDocument, metrics }
}

function configIn(directory: string): LoadedConfig {
  // No bus listens on this port: a bus that runs on this host must not be used.
  const env = {
    DATA_DIR: directory,
    LISTEN_ADDR: '127.0.0.1:0',
    GATEWAY_LISTEN_ADDR: '127.0.0.1:0',
    BUS_SERVER: 'nats://127.0.0.1:1',
  }
  return loadConfig({ env, cwd: directory, systemConfigPath: join(directory, 'none.toml') })
}

/** A logger without output that remembers the address of the api. */
function createListeningLogger(): { logger: Logger; address(): string } {
  let address: unknown
  const logger: Logger = {
    ...silentLogger,
    info(fields, message) {
      if (message === 'listening' && fields['module'] === 'api') address = fields['address']
    },
    child: () => logger,
  }
  return { logger, address: () => String(address) }
}
