// `npm run brand -- check [folder]`: what is missing or wrong in a brand. `npm run brand -- preview [folder]`: a page with
// everything that it writes to people.
import { once } from 'node:events'
import { checkBrand, loadBrand, loadExerciseNames } from '@tandem/brand-kit'
import { screen } from '@tandem/local-servers/screen.ts'
import { ConfigError } from '@tandem/process-kit'
import Fastify from 'fastify'
import { libraryIds } from '../../services/dashboard/exercises/library.ts'

const [command, folder = process.env['BRAND_DIR'], ...others] = process.argv.slice(2)
if (!['check', 'preview'].includes(command ?? '') || others.length > 0) {
  screen.error('usage: npm run brand -- check [folder], or npm run brand -- preview [folder]')
  process.exit(1)
}

const faults = listFaults()
for (const fault of faults) screen.error(fault)
if (command === 'preview') {
  await preview()
} else if (faults.length > 0) {
  process.exitCode = 1
} else {
  screen.done('The brand is complete.')
}

function listFaults () {
  try {
    const brand = loadBrand(folder)
    loadExerciseNames(libraryIds, folder)
    return checkBrand(brand)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const line of error.message.split('\n')) screen.error(line)
    process.exit(1)
  }
}

/** Serves the page until it is interrupted. `npm start` has it too, at /brand of the developer page. */
async function preview () {
  if (folder) process.env['BRAND_DIR'] = folder
  // Its pages read the brand of this process.
  const { serveBrandPreview } = await import('./brand-preview/serve.ts')
  const app = Fastify({ forceCloseConnections: true })
  serveBrandPreview(app)
  screen.done(`${await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 0) })}/brand`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await app.close()
}
