import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Argument, Command, Option } from 'commander'
import { commandTree, completionScript, manualPage } from './index.ts'

function sample() {
  const tool = new Command('tool').description("A tool that isn't large.").helpCommand(false)
  const user = tool.command('user').description('users').helpCommand(false)
  user
    .command('add')
    .argument('<name>')
    .description('create a user')
    .addOption(new Option('--role <role...>', 'roles').choices(['admin', 'viewer']))
    .option('--config <file>', 'configuration file')
    .option('--quiet', 'print nothing')
  tool
    .command('paint')
    .addArgument(new Argument('<colour>').choices(['red', 'blue']))
    .description('paint it')
  return commandTree(tool)
}

test('the tree has every command with its options and values', () => {
  const [user, paint] = sample().commands
  assert.deepEqual(paint?.choices, ['red', 'blue'])
  assert.deepEqual(user?.commands[0]?.path, ['tool', 'user', 'add'])
  assert.deepEqual(
    user?.commands[0]?.options.map(({ long, value }) => [long, value.kind]),
    [
      ['--role', 'choice'],
      ['--config', 'file'],
      ['--quiet', 'none'],
    ],
  )
})

test('each shell completes commands, options, their values and file names', () => {
  const expected = {
    bash: ["'user add') words='--role --config --quiet --help'", "-W 'admin viewer'", 'compgen -f'],
    zsh: ["'user add')", "'--role:roles'", "'red' 'blue'", '--config) _files'],
    fish: [
      "complete -c tool -n '__tool_at user add' -l role -d 'roles' -x -a 'admin viewer'",
      "-l config -d 'configuration file' -r -F",
      "complete -c tool -n '__tool_at paint' -a red",
    ],
  } as const
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(shell, sample())
    for (const text of expected[shell]) assert.ok(script.includes(text), `${shell}: ${text}\n${script}`)
  }
})

test('the manual page has every command, and text that roff would read as a request', () => {
  const page = manualPage(sample(), '1.2.3')
  assert.match(page, /^[.]TH TOOL 1 "" "tool 1[.]2[.]3" "User Commands"$/m)
  assert.match(page, /^tool \\- A tool that isn't large$/m)
  assert.match(page, /^[.]SS tool user add \[options\] <name>\ncreate a user$/m)
  assert.match(page, /^[.]B \\-\\-role <role[.]{3}>\nroles \(one of: admin, viewer\)$/m)
  assert.doesNotMatch(page, /undefined/)
})
