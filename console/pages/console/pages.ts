import lazy from 'preact-iso/lazy'
import type { OperationName } from '../../api/operations.ts'
import type { IconName } from '../../parts/icons.ts'
import { alertWords } from './alerts/words.ts'
import { certificateWords } from './certificates/words.ts'
import { commandWords } from './commands/words.ts'
import { dataBackupWords } from './data-backups/words.ts'
import { executionWords } from './executions/words.ts'
import { heartbeatWords } from './heartbeats/words.ts'
import { menuWords } from './menus/words.ts'
import { orderWords } from './orders/words.ts'
import { settingWords } from './settings/words.ts'
import { silenceWords } from './silences/words.ts'
import { ticketWords } from './tickets/words.ts'
import type { ViewProps } from './view.ts'

export interface ConsolePage {
  /** Behind `/console/`. */
  readonly name: string
  readonly title: () => string
  readonly icon: IconName
  /** The page exists for users who may call it. */
  readonly operation: OperationName
  /** Typed after `g`. */
  readonly key: string
  /** Loaded when the page is opened. It gets the part of the path behind the name as `id`. */
  readonly component: (props: ViewProps) => preact.VNode
}

/** The pages in the order of the navigation: everything that lists pages reads this list. */
export const PAGES: readonly ConsolePage[] = [
  {
    name: 'orders',
    title: () => orderWords().title,
    icon: 'orders',
    operation: 'listOrders',
    key: 'o',
    component: lazy(async () => (await import('./orders/page.tsx')).OrdersPage),
  },
  {
    name: 'alerts',
    title: () => alertWords().title,
    icon: 'alerts',
    operation: 'listAlerts',
    key: 'a',
    component: lazy(async () => (await import('./alerts/page.tsx')).AlertsPage),
  },
  {
    name: 'silences',
    title: () => silenceWords().title,
    icon: 'mute',
    operation: 'listSilences',
    key: 's',
    component: lazy(async () => (await import('./silences/page.tsx')).SilencesPage),
  },
  {
    name: 'heartbeats',
    title: () => heartbeatWords().title,
    icon: 'heart',
    operation: 'listHeartbeats',
    key: 'h',
    component: lazy(async () => (await import('./heartbeats/page.tsx')).HeartbeatsPage),
  },
  {
    name: 'tickets',
    title: () => ticketWords().title,
    icon: 'tickets',
    operation: 'listTickets',
    key: 't',
    component: lazy(async () => (await import('./tickets/page.tsx')).TicketsPage),
  },
  {
    name: 'commands',
    title: () => commandWords().title,
    icon: 'commands',
    operation: 'listCommands',
    key: 'c',
    component: lazy(async () => (await import('./commands/page.tsx')).CommandsPage),
  },
  {
    name: 'executions',
    title: () => executionWords().title,
    icon: 'executions',
    operation: 'listExecutions',
    key: 'x',
    component: lazy(async () => (await import('./executions/page.tsx')).ExecutionsPage),
  },
  {
    name: 'menus',
    title: () => menuWords().title,
    icon: 'menus',
    operation: 'getMenus',
    key: 'n',
    component: lazy(async () => (await import('./menus/page.tsx')).MenusPage),
  },
  {
    name: 'certificates',
    title: () => certificateWords().title,
    icon: 'certificates',
    operation: 'listCertificates',
    key: 'k',
    component: lazy(async () => (await import('./certificates/page.tsx')).CertificatesPage),
  },
  {
    name: 'data-backups',
    title: () => dataBackupWords().title,
    icon: 'dataBackups',
    operation: 'listDataBackups',
    key: 'b',
    component: lazy(async () => (await import('./data-backups/page.tsx')).DataBackupsPage),
  },
  {
    name: 'settings',
    title: () => settingWords().title,
    icon: 'settings',
    operation: 'getConfig',
    key: ',',
    component: lazy(async () => (await import('./settings/page.tsx')).SettingsPage),
  },
]
