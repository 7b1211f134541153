// Reads and parses the trade bill that is named, and does nothing with its rows.
import { rowsOfTradeBill } from '../../src/infra/payments/wechatpay/bill.ts'

for await (const row of rowsOfTradeBill(process.argv[2] ?? '', 'wechatpay'))
  if (row.amountCents < 0) process.exitCode = 1
