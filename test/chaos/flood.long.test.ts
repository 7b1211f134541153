import { flood } from './flood.ts'
import { shortForm } from './support/short-form.ts'

shortForm(flood)
