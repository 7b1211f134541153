import { drain } from './drain.ts'
import { shortForm } from './support/short-form.ts'

shortForm(drain)
