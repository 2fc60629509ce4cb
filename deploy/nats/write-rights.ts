// Writes down what each service may do on NATS, for the containers and for a cluster: `node
// deploy/nats/write-rights.ts`.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describeRights, rightsFile } from './rights.ts'

const root = path.resolve(import.meta.dirname, '../..')
writeFileSync(rightsFile, describeRights(root))
console.log(`wrote ${path.relative(root, rightsFile)}`)
