import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const certificateWords = defineWords({
  ...PAGE_WORDS.certificates,
  list: ['Certificates by their end', '按到期时间排列的证书'],
  empty: [
    'No certificate is registered. The platform warns before a registered certificate ends.',
    '尚未登记证书。平台会在已登记的证书到期前提醒。',
  ],
  how: {
    text: ['“Register a certificate” takes the text or the file of one.', '“登记证书”接受文本或文件。'],
  },
  noMatch: ['No certificate matches the filters.', '没有符合筛选条件的证书。'],
  fields: {
    name: ['Name', '名称'],
    status: ['Status', '状态'],
    days_left: ['Time left', '剩余时间'],
    not_before: ['Valid from', '生效时间'],
    not_after: ['Valid until', '到期时间'],
    ends: ['Ends', '到期'],
    created_at: ['Registered', '登记时间'],
    names: ['Valid for', '适用于'],
    subject: ['Subject', '主体'],
    issuer: ['Issuer', '颁发者'],
    key: ['Key', '密钥'],
    signature: ['Signature', '签名'],
    serial: ['Serial number', '序列号'],
    fingerprint_sha256: sameInBoth('SHA-256'),
    revoke_reason: ['Reason of the revocation', '吊销原因'],
    replaced_by: ['Replaced by', '替换为'],
    pem: ['Certificate and chain (PEM)', '证书及证书链（PEM）'],
    reason: ['Reason', '原因'],
  },
  hints: {
    pem: [
      'The certificate first, then its chain. Never a private key: it is refused. A certificate that has at least the names of another one and ends later replaces it.',
      '先放证书，再放证书链。切勿包含私钥，否则会被拒绝。新证书若至少包含另一证书的全部名称且更晚到期，则会替换它。',
    ],
  },
  keyInFile: [
    'This file has a private key. It was not read. Choose the file of the certificate.',
    '此文件含有私钥，未读取。请选择证书文件。',
  ],
  notACertificate: [
    'This file is not a certificate, in PEM or in DER. It was not read.',
    '此文件不是 PEM 或 DER 格式的证书，未读取。',
  ],
  fileEmpty: ['The file is empty.', '文件为空。'],
  keyRefused: [
    'This is a private key. It was not sent, and the field was emptied. Enter only the certificate and its chain.',
    '这是私钥。它没有被发送，输入框已清空。请只输入证书及证书链。',
  ],
  statuses: {
    valid: ['Valid', '有效'],
    not_yet_valid: ['Not valid yet', '尚未生效'],
    expiring: ['Ends soon', '即将到期'],
    expired: ['Expired', '已过期'],
    revoked: ['Revoked', '已吊销'],
    replaced: ['Replaced', '已替换'],
  },
  wrongChain: ['Valid, but its chain is wrong', '有效，但证书链有误'],
  warnings: {
    weak_key: ['The key is weak.', '密钥强度不足。'],
    weak_signature: ['The signature algorithm is weak.', '签名算法强度不足。'],
    self_signed: ['It is signed with its own key.', '该证书为自签名。'],
    ca_as_leaf: ['It belongs to a certificate authority.', '该证书属于证书颁发机构。'],
    chain_order: ['The chain is in the wrong order.', '证书链顺序错误。'],
    chain_broken: [
      'A certificate of the chain does not sign the one before it.',
      '证书链中有证书未签署其前一个证书。',
    ],
    chain_expires_first: ['A certificate of the chain ends earlier.', '证书链中有证书更早到期。'],
  },
  missingSigner: [
    (issuer: string, next: string) =>
      `“${issuer}” has issued the certificate, but “${next}” follows it: put the certificate of its issuer there.`,
    (issuer, next) => `证书由“${issuer}”颁发，但其后是“${next}”：请在此处放入颁发者的证书。`,
  ],
  warningTitle: ['Warnings', '警告'],
  register: ['Register', '登记'],
  registered: [(name: string) => `The certificate ${name} is registered.`, (name) => `已登记证书 ${name}。`],
  revoke: ['Revoke', '吊销'],
  revoked: ['The certificate is revoked. It raises no more alerts.', '证书已吊销，不再产生告警。'],
  remove: {
    action: ['Delete', '删除'],
    title: [(name: string) => `Delete the certificate ${name}?`, (name) => `要删除证书 ${name} 吗？`],
    text: [
      'Its file is deleted, too, and its end is not reported.',
      '证书文件也会被删除，平台不再提醒其到期。',
    ],
    done: ['The certificate is deleted.', '证书已删除。'],
  },
  inspect: ['Inspect now', '立即检查'],
  chain: ['Chain', '证书链'],
  issuedBy: [(issuer: string) => `Issued by ${issuer}`, (issuer) => `颁发者：${issuer}`],
  noChain: ['It has no chain.', '没有证书链。'],
  history: ['History', '历史记录'],
  occasions: {
    registered: ['Registered', '登记'],
    begins: ['Becomes valid', '生效'],
    revoked: ['Revoked', '吊销'],
    ends: ['Ends', '到期'],
  },
  newCertificateOf: ['The newer certificate', '较新的证书'],
  expiresAt: [(time: string) => `until ${time}`, (time) => `到期：${time}`],
})
