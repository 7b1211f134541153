import { killStorm } from './kill-storm.ts'
import { shortForm } from './support/short-form.ts'

shortForm(killStorm)
