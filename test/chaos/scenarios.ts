import { busStorm } from './bus-storm.ts'
import { clockJumps } from './clock-jumps.ts'
import { cluster } from './cluster.ts'
import { commandKills } from './command-kills.ts'
import { diskFull } from './disk-full.ts'
import { drain } from './drain.ts'
import { flood } from './flood.ts'
import { halfOpen } from './half-open.ts'
import { ioErrors } from './io-errors.ts'
import { killStorm } from './kill-storm.ts'
import { lockContention } from './lock-contention.ts'
import { massExpiry } from './mass-expiry.ts'
import { migration } from './migration.ts'
import { night } from './night.ts'
import { paymentStorm } from './payment-storm.ts'
import { powerLoss } from './power-loss.ts'
import { robotStorm } from './robot-storm.ts'
import { supervision } from './supervision.ts'
import type { Scenario } from './support/scenario.ts'
import { telemetryStorm } from './telemetry-storm.ts'
import { twoServers } from './two-servers.ts'
import { webhookStorm } from './webhook-storm.ts'
import { workers } from './workers.ts'

/** Every scenario, grouped by the kind of its fault. */
export const SCENARIOS: readonly Scenario[] = [
  killStorm,
  telemetryStorm,
  powerLoss,
  ioErrors,
  diskFull,
  busStorm,
  halfOpen,
  clockJumps,
  massExpiry,
  workers,
  twoServers,
  cluster,
  drain,
  supervision,
  lockContention,
  migration,
  flood,
  robotStorm,
  commandKills,
  paymentStorm,
  webhookStorm,
  night,
]
