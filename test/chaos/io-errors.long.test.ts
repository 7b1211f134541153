import { ioErrors } from './io-errors.ts'
import { shortForm } from './support/short-form.ts'

shortForm(ioErrors)
