import { Visitor } from '@swc/core/Visitor.js'

type Declarators = Parameters<Visitor['visitVariableDeclarators']>[0]

interface UsingDeclaration {
  readonly type: 'UsingDeclaration'
  readonly decls: Declarators
}

function isUsing(statement: { readonly type: string }): statement is UsingDeclaration {
  return statement.type === 'UsingDeclaration'
}

/**
 * Teaches the visitor with which dependency-cruiser walks a module the declarations `using` and `await using`: swc
 * reads them, but the visitor knows no such statement and throws.
 */
export function teachUsing(): void {
  const { visitStatement } = Visitor.prototype
  Visitor.prototype.visitStatement = function (statement) {
    const node: { readonly type: string } = statement
    if (!isUsing(node)) return visitStatement.call(this, statement)
    this.visitVariableDeclarators(node.decls)
    return statement
  }
}
