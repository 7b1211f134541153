import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const vpnSessionWords = defineWords({
  sessionsOfUser: ['Sessions of this user', '此用户的会话'],
  ...PAGE_WORDS['vpn-sessions'],
  list: ['List of VPN sessions', 'VPN 会话列表'],
  empty: ['Nobody is connected to a gateway.', '目前没有连接到网关的会话。'],
  how: {
    text: ['A client opens a session with its token:', '客户端用其令牌建立会话：'],
    command: sameInBoth(
      'platform vpn connect --gateway http://GATEWAY:9994 --token-file FILE --device laptop',
    ),
  },
  noMatch: ['No session matches the filters.', '没有符合筛选条件的会话。'],
  fields: {
    user_name: ['User', '用户'],
    user: ['User', '用户'],
    user_id: ['User id', '用户标识'],
    state: ['State', '状态'],
    virtual_ip: ['Address', '地址'],
    device: ['Device', '设备'],
    gateway: ['Gateway', '网关'],
    remote_address: ['Connected from', '来源地址'],
    rtt_ms: ['Round trip', '往返时间'],
    connected_at: ['Connected', '连接时间'],
    last_seen_at: ['Last answer', '最近应答'],
    closed_at: ['Closed', '关闭时间'],
    close_code: ['Close code', '关闭代码'],
    created: ['Connected', '连接时间'],
  },
  states: { open: ['Connected', '已连接'], closed: ['Closed', '已关闭'] },
  summary: ['Address pool and gateways', '地址池和网关'],
  freeAddresses: ['Free addresses', '空闲地址'],
  poolNote: [
    (cidr: string, used: string, cooling: string) => `${cidr}: ${used} in use, ${cooling} cooling down`,
    (cidr, used, cooling) => `${cidr}：使用中 ${used}，冷却中 ${cooling}`,
  ],
  used: [(share: string) => `${share} used`, (share) => `已用 ${share}`],
  gateway: [(name: string) => `Gateway ${name}`, (name) => `网关 ${name}`],
  reachable: ['Running', '运行中'],
  silent: ['Silent', '无响应'],
  picture: ['Picture of the tunnels', '隧道图'],
  disconnect: {
    action: ['Disconnect', '断开连接'],
    title: [(name: string) => `Disconnect ${name}?`, (name) => `要断开 ${name} 的连接吗？`],
    text: [
      'The usual client ("platform vpn connect") stays off until it is started again; other clients may connect again. Disable the user to prevent that.',
      '常用客户端（platform vpn connect）在重新启动之前不会再连接，其他客户端可能重新连接。若要阻止，请停用该用户。',
    ],
    done: [
      'The session is disconnected. The list shows the closed sessions now.',
      '会话已断开，列表现在显示已关闭的会话。',
    ],
  },
})
