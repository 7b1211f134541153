import { halfOpen } from './half-open.ts'
import { shortForm } from './support/short-form.ts'

shortForm(halfOpen)
