import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const executionWords = defineWords({
  ...PAGE_WORDS.executions,
  wide: ['Whole window', '全屏查看'],
  list: ['Executions of commands', '命令执行记录'],
  empty: ['No command was run yet.', '还没有运行过命令。'],
  how: {
    text: [
      'Commands are tables [commands.NAME] of the configuration, and are run on the page “Commands”.',
      '命令是配置中的 [commands.NAME] 表，可在“命令”页面运行。',
    ],
  },
  noMatch: ['No execution matches the filters.', '没有符合筛选条件的执行记录。'],
  fields: {
    command_id: ['Command', '命令'],
    status: ['Status', '状态'],
    status_reason: ['Why it never started', '未启动的原因'],
    params: ['Parameters', '参数'],
    requested_by: ['Requested by', '申请人'],
    created_at: ['Requested', '申请时间'],
    reason: ['Reason', '原因'],
    started_at: ['Started', '开始时间'],
    finished_at: ['Finished', '结束时间'],
    expires_at: ['Approval until', '审批截止'],
    exit_code: ['Exit code', '退出码'],
    signal: ['Signal', '信号'],
    host: ['Host', '主机'],
    comment: ['Comment', '备注'],
  },
  statuses: {
    awaiting_approval: ['Awaiting approval', '等待审批'],
    queued: ['Queued', '排队中'],
    running: ['Running', '运行中'],
    succeeded: ['Succeeded', '成功'],
    failed: ['Failed', '失败'],
    timed_out: ['Timed out', '超时'],
    cancelled: ['Cancelled', '已取消'],
    incomplete: ['Incomplete', '未完成'],
    rejected: ['Rejected', '已拒绝'],
    expired: ['Expired', '已过期'],
    interrupted: ['Interrupted by a restoration', '因恢复备份而中断'],
  },
  statusReasons: {
    no_longer_allowed: [
      'The person who requested it may not run this command any more.',
      '申请人已无权运行此命令。',
    ],
    not_started: ['No worker began it in time.', '没有工作进程及时启动它。'],
  },
  approve: ['Approve', '批准'],
  approveText: [
    (command: string, by: string, reason: string) =>
      `“${command}” runs at once. Requested by ${by}: ${reason}`,
    (command, by, reason) => `“${command}”将立即运行。申请人 ${by}：${reason}`,
  ],
  approved: ['The execution is approved.', '已批准执行。'],
  reject: ['Reject', '拒绝'],
  rejectText: ['The command does not run.', '命令不会运行。'],
  rejected: ['The execution is rejected.', '已拒绝执行。'],
  cancel: {
    action: ['Cancel the run', '取消运行'],
    title: ['Cancel this execution?', '要取消此次执行吗？'],
    text: [
      'A program that runs is stopped, after 10 seconds by force.',
      '正在运行的程序会被停止，10 秒后强制终止。',
    ],
    done: ['The execution is being cancelled.', '正在取消执行。'],
  },
  parameters: ['Parameters', '参数'],
  output: ['Output', '输出'],
  noOutput: ['There is no output.', '没有输出。'],
  outputBegin: ['Only the last part of the output was kept.', '仅保留了输出的最后一部分。'],
  waiting: ['The output appears here as it comes.', '输出会实时显示在这里。'],
  decisions: ['Decisions', '审批'],
  decided: { approved: ['Approved', '已批准'], rejected: ['Rejected', '已拒绝'] },
  wouldRun: ['What would run', '将运行的内容'],
  own: ['You requested it: another person has to decide.', '这是您的申请，需要由另一人审批。'],
  deciders: [
    (roles: string) => `Only these roles decide: ${roles}.`,
    (roles) => `只有以下角色可以审批：${roles}。`,
  ],
})
