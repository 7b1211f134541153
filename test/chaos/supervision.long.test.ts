import { supervision } from './supervision.ts'
import { shortForm } from './support/short-form.ts'

shortForm(supervision)
