export { install, uninstall } from './commands/install.ts'
export { restore } from './commands/restore.ts'
export type { CommandResult } from './commands/result.ts'
export { retryBackup } from './commands/retry.ts'
export { runBackup } from './commands/run.ts'
export { selfcheck } from './commands/selfcheck.ts'
export { backupStatus } from './commands/status.ts'
export {
  BackupParts,
  findTimerFaults,
  lostNightDirectory,
  placesOf,
  readNight,
  recognitionOf,
  secretFilesOf,
  type SecretFile,
} from './parts.ts'
export { RECOGNITION_REMEDIES } from './host/platform-reader.ts'
