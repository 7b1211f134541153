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
 * Adds `using` and `await using` to the visitor that dependency-cruiser uses: swc parses these declarations, but its
 * visitor throws on them.
 */
export function supportUsing(): void {
  const { visitStatement } = Visitor.prototype
  Visitor.prototype.visitStatement = function (statement) {
    const node: { readonly type: string } = statement
    if (!isUsing(node)) return visitStatement.call(this, statement)
    this.visitVariableDeclarators(node.decls)
    return statement
  }
}
