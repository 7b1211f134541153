import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { notifierWorld } from '/work/main/test/support/notifier.ts'
import { ticket } from '/work/main/test/support/ticket-api.ts'
const idOf = (n: number) => `019a8f00-0000-7000-8000-${String(n).padStart(12, '0')}`
const titleOf = (n: number) => `磁盘 disk almost full on db-${n}`
const PRE=`data:text/javascript,${encodeURIComponent(`import { readFileSync } from 'node:fs'
process.on('exit',()=>{const s=readFileSync('/proc/self/status','utf8');const u=process.resourceUsage();process.stderr.write(JSON.stringify({message:'peak',mb:Number(/VmHWM:\\s*(\\d+)/.exec(s)[1])*1.024/1000,cpu:(u.userCPUTime+u.systemCPUTime)/1e6,heap:process.memoryUsage()})+'\\n')})`)}`
async function go(entries: number, channels: ('mail'|'robot')[], told: number, more=''){
  await using w = await notifierWorld()
  w.configure(channels)
  const now=Date.now()
  const lines = Array.from({length: entries},(_,n)=>`${JSON.stringify(idOf(n))}:${JSON.stringify({status:'open',level:'high',title:titleOf(n),updated_at:new Date(now-n*20000).toISOString()})}`)
  mkdirSync(dirname(w.stateFile),{recursive:true}); writeFileSync(w.stateFile,`{\n${lines.join(',\n')}\n}\n`,{mode:0o600})
  w.api.tickets=Array.from({length:500},(_,n)=>ticket(idOf(n),{title:titleOf(n),...(n<told&&{status:'resolved'})}))
  const t=performance.now()
  const run=await w.run([],{command:[process.execPath,...(more?[more]:[]),'/work/main/dist/ticket-notify/ticket-notify.mjs'],env:{NODE_OPTIONS:`--import=${PRE}`}})
  const ms=performance.now()-t
  const p=run.lines.find(l=>l.message==='peak') as any
  console.log(entries,channels.join('+'),told,more,'wall-send',Math.round(ms-Number(run.done?.['sending_ms'])),'cpu',p.cpu.toFixed(2),'peak',p.mb.toFixed(0), JSON.stringify(p.heap))
}
await go(10,['robot'],0);await go(10,['robot'],20);await go(10,['mail'],1);await go(10000,['mail','robot'],20);await go(100000,['mail','robot'],0);await go(100000,['mail','robot'],20)
await go(100000,['mail','robot'],20,'--max-semi-space-size=2')
