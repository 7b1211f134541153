import { lockContention } from './lock-contention.ts'
import { shortForm } from './support/short-form.ts'

shortForm(lockContention)
