import telemetryIcon from 'lucide/dist/esm/icons/activity.mjs'
import muteIcon from 'lucide/dist/esm/icons/bell-off.mjs'
import certificatesIcon from 'lucide/dist/esm/icons/badge-check.mjs'
import docsIcon from 'lucide/dist/esm/icons/book-open.mjs'
import viewIcon from 'lucide/dist/esm/icons/bookmark.mjs'
import newerIcon from 'lucide/dist/esm/icons/chevron-left.mjs'
import olderIcon from 'lucide/dist/esm/icons/chevron-right.mjs'
import goodIcon from 'lucide/dist/esm/icons/circle-check.mjs'
import boardIcon from 'lucide/dist/esm/icons/columns-3.mjs'
import paymentsIcon from 'lucide/dist/esm/icons/credit-card.mjs'
import dataBackupsIcon from 'lucide/dist/esm/icons/database-backup.mjs'
import downloadIcon from 'lucide/dist/esm/icons/download.mjs'
import filterIcon from 'lucide/dist/esm/icons/funnel.mjs'
import gripIcon from 'lucide/dist/esm/icons/grip-vertical.mjs'
import heartIcon from 'lucide/dist/esm/icons/heart-pulse.mjs'
import inboxIcon from 'lucide/dist/esm/icons/inbox.mjs'
import keyboardIcon from 'lucide/dist/esm/icons/keyboard.mjs'
import languageIcon from 'lucide/dist/esm/icons/languages.mjs'
import overviewIcon from 'lucide/dist/esm/icons/layout-dashboard.mjs'
import menusIcon from 'lucide/dist/esm/icons/list-tree.mjs'
import listIcon from 'lucide/dist/esm/icons/list.mjs'
import signOutIcon from 'lucide/dist/esm/icons/log-out.mjs'
import messagesIcon from 'lucide/dist/esm/icons/mail.mjs'
import menuIcon from 'lucide/dist/esm/icons/menu.mjs'
import moonIcon from 'lucide/dist/esm/icons/moon.mjs'
import tunnelsIcon from 'lucide/dist/esm/icons/network.mjs'
import editIcon from 'lucide/dist/esm/icons/pencil.mjs'
import executionsIcon from 'lucide/dist/esm/icons/play.mjs'
import receiversIcon from 'lucide/dist/esm/icons/send.mjs'
import plusIcon from 'lucide/dist/esm/icons/plus.mjs'
import refreshIcon from 'lucide/dist/esm/icons/refresh-cw.mjs'
import reconciliationsIcon from 'lucide/dist/esm/icons/scale.mjs'
import auditIcon from 'lucide/dist/esm/icons/scroll-text.mjs'
import searchIcon from 'lucide/dist/esm/icons/search.mjs'
import settingsIcon from 'lucide/dist/esm/icons/settings.mjs'
import copyIcon from 'lucide/dist/esm/icons/copy.mjs'
import ordersIcon from 'lucide/dist/esm/icons/shopping-cart.mjs'
import alertsIcon from 'lucide/dist/esm/icons/siren.mjs'
import policyIcon from 'lucide/dist/esm/icons/shield-check.mjs'
import commandsIcon from 'lucide/dist/esm/icons/square-terminal.mjs'
import sunIcon from 'lucide/dist/esm/icons/sun.mjs'
import systemIcon from 'lucide/dist/esm/icons/sun-moon.mjs'
import ticketsIcon from 'lucide/dist/esm/icons/ticket.mjs'
import warningIcon from 'lucide/dist/esm/icons/triangle-alert.mjs'
import userIcon from 'lucide/dist/esm/icons/user.mjs'
import usersIcon from 'lucide/dist/esm/icons/users.mjs'
import webhookIcon from 'lucide/dist/esm/icons/webhook.mjs'
import brokenIcon from 'lucide/dist/esm/icons/wifi-off.mjs'
import closeIcon from 'lucide/dist/esm/icons/x.mjs'

/** The icons of the console by what they stand for. Only these are part of the page. */
export const ICONS = {
  search: searchIcon,
  menu: menuIcon,
  close: closeIcon,
  filter: filterIcon,
  view: viewIcon,
  edit: editIcon,
  download: downloadIcon,
  copy: copyIcon,
  sun: sunIcon,
  moon: moonIcon,
  system: systemIcon,
  language: languageIcon,
  orders: ordersIcon,
  payments: paymentsIcon,
  reconciliations: reconciliationsIcon,
  alerts: alertsIcon,
  receivers: receiversIcon,
  tickets: ticketsIcon,
  overview: overviewIcon,
  signOut: signOutIcon,
  keyboard: keyboardIcon,
  newer: newerIcon,
  older: olderIcon,
  warning: warningIcon,
  good: goodIcon,
  inbox: inboxIcon,
  plus: plusIcon,
  heart: heartIcon,
  grip: gripIcon,
  mute: muteIcon,
  refresh: refreshIcon,
  board: boardIcon,
  list: listIcon,
  broken: brokenIcon,
  tunnels: tunnelsIcon,
  docs: docsIcon,
  commands: commandsIcon,
  executions: executionsIcon,
  policy: policyIcon,
  dataBackups: dataBackupsIcon,
  certificates: certificatesIcon,
  menus: menusIcon,
  settings: settingsIcon,
  telemetry: telemetryIcon,
  webhook: webhookIcon,
  messages: messagesIcon,
  audit: auditIcon,
  users: usersIcon,
  user: userIcon,
} as const

export type IconName = keyof typeof ICONS
