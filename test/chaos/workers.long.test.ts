import { workers } from './workers.ts'
import { shortForm } from './support/short-form.ts'

shortForm(workers)
