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
import { overviewWords } from './overview/words.ts'
import { messageWords } from './messages/words.ts'
import { silenceWords } from './silences/words.ts'
import { telemetryWords } from './telemetry/words.ts'
import { ticketWords } from './tickets/words.ts'
import { userWords } from './users/words.ts'
import type { ViewProps } from './view.ts'
import { vpnAuditWords } from './vpn-audit/words.ts'
import { vpnSessionWords } from './vpn-sessions/words.ts'

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
    name: 'overview',
    title: () => overviewWords().title,
    icon: 'overview',
    operation: 'getOverview',
    key: 'w',
    component: lazy(async () => (await import('./overview/page.tsx')).OverviewPage),
  },
  {
    name: 'orders',
    title: () => orderWords().title,
    icon: 'orders',
    operation: 'listOrders',
    key: 'o',
    component: lazy(async () => (await import('./orders/page.tsx')).OrdersPage),
  },
  {
    name: 'messages',
    title: () => messageWords().title,
    icon: 'messages',
    operation: 'listMessages',
    key: 'm',
    component: lazy(async () => (await import('./messages/page.tsx')).MessagesPage),
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
    name: 'vpn-sessions',
    title: () => vpnSessionWords().title,
    icon: 'tunnels',
    operation: 'listVpnSessions',
    key: 'v',
    component: lazy(async () => (await import('./vpn-sessions/page.tsx')).VpnSessionsPage),
  },
  {
    name: 'vpn-audit',
    title: () => vpnAuditWords().title,
    icon: 'audit',
    operation: 'listVpnAudit',
    key: 'i',
    component: lazy(async () => (await import('./vpn-audit/page.tsx')).VpnAuditPage),
  },
  {
    name: 'telemetry',
    title: () => telemetryWords().title,
    icon: 'telemetry',
    operation: 'listTelemetryAgents',
    key: 'e',
    component: lazy(async () => (await import('./telemetry/page.tsx')).TelemetryPage),
  },
  {
    name: 'users',
    title: () => userWords().title,
    icon: 'users',
    operation: 'listUsers',
    key: 'u',
    component: lazy(async () => (await import('./users/page.tsx')).UsersPage),
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
