import { DryRunDrive } from '../../../programs/backup/drive/dry-run-drive.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { driveContract } from '../../contract/drive.contract.ts'
import { driveWorld } from '../../support/drive-world.ts'

driveContract('the protocol', async () => {
  const world = await driveWorld()
  return { drive: world.open(), [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
})

driveContract('a dry run', async () => ({
  drive: new DryRunDrive({ clock: systemClock, print: () => undefined }),
  [Symbol.asyncDispose]: async () => undefined,
}))
