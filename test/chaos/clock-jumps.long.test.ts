import { clockJumps } from './clock-jumps.ts'
import { shortForm } from './support/short-form.ts'

shortForm(clockJumps)
