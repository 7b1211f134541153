import { migration } from './migration.ts'
import { shortForm } from './support/short-form.ts'

shortForm(migration)
