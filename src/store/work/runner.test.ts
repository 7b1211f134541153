import { describeRunnerContract } from '../../../test/contract/runner.contract.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'

onEveryDialect('a runner', (dialect) => describeRunnerContract(() => testStore(dialect)))
