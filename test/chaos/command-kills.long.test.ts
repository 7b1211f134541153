import { commandKills } from './command-kills.ts'
import { shortForm } from './support/short-form.ts'

shortForm(commandKills)
