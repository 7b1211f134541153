import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const dataBackupWords = defineWords({
  ...PAGE_WORDS['data-backups'],
  list: ['List of data backups', '数据备份列表'],
  empty: ['There is no backup of the data yet.', '还没有数据备份。'],
  how: {
    text: [
      '“New backup” makes one; data.backup_every makes them regularly. On the server:',
      '“新建备份”可创建备份；data.backup_every 可定期备份。在服务器上：',
    ],
    command: sameInBoth('platform data backup'),
  },
  noMatch: ['No backup matches the filters.', '没有符合筛选条件的备份。'],
  fields: {
    created_at: ['Created', '创建时间'],
    status: ['Status', '状态'],
    size_bytes: ['Size', '大小'],
    note: ['Note', '备注'],
    finished_at: ['Finished', '完成时间'],
    verified_at: ['Verified', '校验时间'],
    requested_by: ['By', '操作者'],
    schema_version: ['Schema', '结构版本'],
    sha256: sameInBoth('SHA-256'),
    error: ['Error', '错误'],
    keep: ['How many to keep', '保留数量'],
  },
  hints: {
    keep: [
      'The newest completed backups stay, and always the newest verified one.',
      '保留最新完成的备份，并始终保留最新一个已校验的备份。',
    ],
  },
  statuses: {
    running: ['Running', '进行中'],
    completed: ['Completed', '已完成'],
    failed: ['Failed', '失败'],
  },
  running: [
    'The backup is being written, then verified. Orders go on meanwhile.',
    '正在写入并校验备份，订单处理不受影响。',
  ],
  create: ['Start the backup', '开始备份'],
  started: ['The backup has started.', '备份已开始。'],
  finished: {
    completed: ['The backup is complete.', '备份已完成。'],
    failed: ['The backup has failed.', '备份失败。'],
  },
  prune: ['Delete old backups', '删除旧备份'],
  wouldPrune: [(count: string) => `Backups to be deleted: ${count}.`, (count) => `将删除备份：${count} 个。`],
  pruned: [(count: string) => `Backups deleted: ${count}.`, (count) => `已删除备份：${count} 个。`],
  nonePruned: ['There was no older backup to delete.', '没有更旧的备份可删除。'],
  remove: {
    action: ['Delete', '删除'],
    title: ['Delete this backup?', '要删除此备份吗？'],
    text: ['Its file is deleted, too. This cannot be undone.', '备份文件也会被删除，且无法撤销。'],
    done: ['The backup is deleted.', '备份已删除。'],
  },
  tables: ['Rows by table', '各表行数'],
  restore: ['Restore', '恢复'],
  restoreText: [
    'A restore replaces all data, so it is not done from here. Stop every process of the platform, then run on its host, as its user:',
    '恢复会替换全部数据，因此不能在此执行。请停止平台的所有进程，然后在其主机上以平台的用户运行：',
  ],
  restoreVariable: [
    (name: string) => `${name} of the platform is a secret. Set it in the environment of the command, too.`,
    (name) => `平台的 ${name} 是机密，请在运行命令的环境中也设置它。`,
  ],
  restorePlaceholders: [
    'DATA_DIR stands for the data directory of the platform (setting data_dir), FILE for its configuration file. Administrators see both here.',
    'DATA_DIR 代表平台的数据目录（设置项 data_dir），FILE 代表其配置文件。管理员可在此看到这两项。',
  ],
})
